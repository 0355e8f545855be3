"""What was found by one orientation: results, groups, tally, and what more asking would change."""

import threading
from collections import Counter
from dataclasses import replace

import numpy as np

from likewise.constraints.honour import violated
from likewise.constraints.question import RESERVED
from likewise.desk.agreement import Agreement
from likewise.desk.conflicts import Conflict, conflicts
from likewise.desk.gallery import Gallery, make_gallery
from likewise.desk.splitting import without_column
from likewise.desk.suspicion import Doubt, Suspicion
from likewise.desk.ties import Ties
from likewise.errors import SessionError
from likewise.estimators.kernel.calibration import ProgressEstimate, estimate_progress
from likewise.estimators.kernel.training_set import labeled_groups
from likewise.session.criteria import Criterion
from likewise.session.groups import Groups
from likewise.session.log import Entry
from likewise.session.results import Results, load_results, save_results
from likewise.session.session import Session

_NOTHING = np.ones((1, 1), dtype=np.float32)
WORDS = ("same", "different", "cannot_tell", "bad_image", "placed", "none", "new")


class Findings:
    """What the last training found for one orientation, with all answers since honoured.

    Parameters
    ----------
    session : Session
    name : str
        Of the orientation.

    Attributes
    ----------
    version : int
        Of the results; grows with every training.
    n_violations : int
        Answers that the model by itself would have violated.

    Notes
    -----
    What is looked up often is kept until an answer changes it: nobody who answers waits for
    somebody who looks. A gallery is made outside the session's lock; whoever wants both that
    and the lock must have the gallery first.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self.name = session, name
        self.version, self.n_violations = 0, 0
        self._agreement = Agreement(session.model_folder(name))
        self.suspicion = Suspicion()
        self._making = threading.Lock()  # of a gallery; taken before the session's lock
        self._gallery: tuple[object, Gallery] | None = None
        self._results: Results | None = None
        self._n_settled: int | None = None
        self._outlook: tuple[int, ProgressEstimate] | None = (
            None  # of a version: it looks at all images
        )
        self._forget()
        self._make_groups(self.orientation.n_clusters or 0)
        self.refresh()

    def _forget(self) -> None:
        """Forget all that was looked up: what stood before may have fallen."""
        self._ties: Ties | None = None
        self._groups: Groups | None = None
        self._tally: Counter[str] | None = None
        self._conflicts: list[Conflict] | None = None

    @property
    def orientation(self) -> Criterion:
        """Return the orientation as it is on disk."""
        return self._session.criterion(self.name)

    @property
    def results(self) -> Results | None:
        """Return what the last training found."""
        return self._results

    # -- seeing ---------------------------------------------------------------

    def gallery(self) -> Gallery:
        """Return the groups as they are now.

        Raises
        ------
        SessionError
            If nothing was trained yet.
        """
        with self._making:
            if self._results is None:
                raise SessionError(
                    f"There are no groups by {self.name!r} yet; the first ones come in a moment."
                )
            moment = self.version, self._session.last_entry(self.name)
            if self._gallery is None or self._gallery[0] != moment:
                found = make_gallery(self._session, self.name, self._results)
                self._gallery = moment, found
            return self._gallery[1]

    def conflicts(self) -> list[Conflict]:
        """Return the contradictions that wait to be settled."""
        found = self._conflicts
        if found is None:
            with self._session.lock:
                found = self._conflicts = conflicts(self._session, self.name)
        return found

    def doubts(self) -> list[Doubt]:
        """Return answers worth a second look, the most doubtful first."""
        if not self.suspicion:
            return []
        return self.suspicion.doubts(self._standing(), self._session.confirmed(self.name))

    def violations(self) -> list[Entry]:
        """Return the answers that the groups as they are shown do not honour.

        There are some only where more groups are known to differ than there are places.
        """
        labels = self.gallery().group_of
        with self._session.lock:
            graph = self._session.graph(self.name)
            if graph.n_images != len(labels):  # pictures were found this very moment
                return []
            wrong, said = violated(labels, graph), graph.answers
        standing = self._standing()
        are_placed = [n for n in wrong if (labels[list(said[n].question.images)] >= 0).all()]
        return [standing[number] for number in are_placed if number in standing]

    def _standing(self) -> dict[int, Entry]:
        return {entry.id: entry for entry in self._session.answers(self.name)}

    def tied_to(self, image: int, n: int) -> list[int]:
        """Return at most `n` images that answers say are the same as this one.

        Looked up once a training: answers since then could only add some.
        """
        ties = self._ties
        if ties is None:
            ties = self._ties = Ties(self._session.graph(self.name).groups())
        return ties.of(image, n)

    @property
    def groups(self) -> Groups:
        """Return the groups as they are called and coloured now."""
        groups = self._groups
        if groups is None:
            groups = self._groups = self._session.groups(self.name)
        return groups

    def tally(self) -> dict[str, int]:
        """Return how many answers of each kind stand."""
        tally = self._tally
        if tally is None:
            with self._session.lock:
                said = self._session.answers(self.name)
                tally = self._tally = Counter(kind_of(entry.answer) for entry in said)
        return {word: tally[word] for word in WORDS}

    def advice(self) -> ProgressEstimate | None:
        """Return how well the model understood, None before it learned from anybody."""
        results = self._results
        if results is None or not results.n_answers:
            return None
        with self._making:
            if self._outlook is None or self._outlook[0] != self.version:
                n_settled = self._count_settled() if self._n_settled is None else self._n_settled
                self._outlook = (
                    self.version,
                    estimate_progress([], results.probabilities, n_settled),
                )
            outlook = self._outlook[1]
        latest = estimate_progress(self._agreement.guesses, _NOTHING, 0)
        return replace(
            latest,
            expected_accuracy=outlook.expected_accuracy,
            expected_changes=outlook.expected_changes,
        )

    def _count_settled(self) -> int:
        with self._session.lock:
            seeds = labeled_groups(self._session.graph(self.name), self.orientation.n_clusters)
        return int((seeds.classes >= 0).sum())

    # -- the trainer's news -----------------------------------------------------

    def refresh(self, n_settled: int | None = None) -> None:
        """Read what the last training found, and make the groups it speaks of."""
        results = load_results(self._session, self.name)
        if results is not None and results.keys:
            self._make_groups(len(results.keys))
            self._n_settled = n_settled
            self._results, self._ties = results, None
            self.version += 1
        self._agreement.keep()

    def pictures_changed(self) -> None:
        """Take note that there are other pictures now; what is new is in no group yet."""
        with self._session.lock:
            self._forget()
            self.refresh(self._n_settled)

    def _add_column(self, key: str) -> None:
        """Let a group that is new have a place beside those of the last training."""
        if self._results is not None and key not in self._results.keys:
            held, keys = self._results.probabilities, (*self._results.keys, key)
            wider = np.concatenate([held, np.zeros_like(held[:, :1])], axis=1)
            n_answers = self._results.n_answers
            save_results(self._session, self.name, wider, keys=keys, n_answers=n_answers)
            self.refresh(self._n_settled)

    def _drop_column(self, key: str) -> None:
        """Let a group that is no more have no place."""
        if self._results is not None and key in self._results.keys[2:]:
            keys, n_answers = self._results.keys, self._results.n_answers
            left = without_column(self._results.probabilities, keys.index(key))
            others = tuple(other for other in keys if other != key)
            save_results(self._session, self.name, left, keys=others, n_answers=n_answers)
            self.refresh(self._n_settled)

    def _make_groups(self, n: int) -> None:
        with self._session.lock:
            made = self._session.groups(self.name).all()
            names = [f"group {number}" for number in range(len(made) + 1, n + 1)]
            if names:
                self._session.make_groups(self.name, names)
            self._groups = None


def kind_of(answer: str) -> str:
    """Return under which word an answer is counted."""
    return answer if answer in RESERVED else "placed"
