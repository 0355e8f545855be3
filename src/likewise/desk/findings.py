"""What was found by one orientation: results, groups, tally, and what more asking would change."""

from collections import Counter

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.desk.agreement import Agreement
from likewise.desk.conflicts import Conflict, conflicts
from likewise.desk.gallery import Gallery, make_gallery
from likewise.errors import SessionError
from likewise.methods.advice import Advice, advise
from likewise.methods.seeds_of_groups import seeds_of
from likewise.session.groups import Groups
from likewise.session.orientations import Orientation
from likewise.session.results import Results, load_results
from likewise.session.session import Session


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
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self.name = session, name
        self.version, self.n_violations = 0, 0
        self._agreement = Agreement(session.model_folder(name))
        self._ties: Indexes | None = None
        self._groups: Groups | None = None
        self._gallery: tuple[object, Gallery] | None = None
        self._results: Results | None = None
        self._make_groups(self.orientation.n_clusters or 0)
        self.refresh()

    @property
    def orientation(self) -> Orientation:
        """Return the orientation as it is on disk."""
        return self._session.orientation(self.name)

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
        with self._session.lock:
            if self._results is None:
                raise SessionError(
                    f"There are no groups by {self.name!r} yet; the first ones come in a moment."
                )
            moment = self.version, self._last_entry()
            if self._gallery is None or self._gallery[0] != moment:
                found = make_gallery(self._session, self.name, self._results)
                self._gallery = moment, found
            return self._gallery[1]

    def _last_entry(self) -> int:
        entries = self._session.entries(self.name)
        return entries[-1][0].id if entries else 0

    def conflicts(self) -> list[Conflict]:
        """Return the contradictions that wait to be settled."""
        return conflicts(self._session, self.name)

    def tied_to(self, image: int, n: int) -> list[int]:
        """Return at most `n` images that answers say are the same as this one.

        Looked up once a training: answers since then could only add some.
        """
        with self._session.lock:
            if self._ties is None:
                self._ties = self._session.graph(self.name).groups()
            ties = self._ties
        same = np.flatnonzero(ties == ties[image])[: n + 1].tolist()
        return [i for i in same if i != image][:n]

    @property
    def groups(self) -> Groups:
        """Return the groups as they are called and coloured now."""
        with self._session.lock:
            if self._groups is None:
                self._groups = self._session.groups(self.name)
            return self._groups

    def tally(self) -> dict[str, int]:
        """Return how many answers of each kind stand."""
        said: Counter[str] = Counter()
        for entry in self._session.answers(self.name):
            said[entry.answer if entry.group is None else "placed"] += 1
        words = ("same", "different", "cannot_tell", "bad_image", "placed", "none", "new")
        return {word: said[word] for word in words}

    def advice(self) -> Advice | None:
        """Return how well the model understood, None before it learned from anybody."""
        if self._results is None or not self._results.n_answers:
            return None
        with self._session.lock:
            graph = self._session.graph(self.name)
            n_settled = int((seeds_of(graph, self.orientation.n_clusters).classes >= 0).sum())
        return advise(self._agreement.guesses, self._results.probabilities, n_settled)

    # -- the trainer's news -----------------------------------------------------

    def refresh(self) -> None:
        """Read what the last training found, and make the groups it speaks of."""
        results = load_results(self._session, self.name)
        if results is not None and results.keys:
            self._make_groups(len(results.keys))
            self._results, self._ties = results, None
            self.version += 1
        self._agreement.keep()

    def _make_groups(self, n: int) -> None:
        with self._session.lock:
            made = self._session.groups(self.name).all()
            for number in range(len(made) + 1, n + 1):
                self._session.make_group(self.name, name=f"group {number}")
            self._groups = None
