"""The status of one criterion: results, groups, counts of answers, and progress."""

import contextlib
import json
import os
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints.constraint import was_predicted
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import RESERVED, Answer
from likewise.errors import SessionError
from likewise.estimators.kernel.calibration import ProgressEstimate, estimate_progress
from likewise.estimators.kernel.training_set import labeled_groups
from likewise.session.atomic import make_folder, write_atomic
from likewise.session.groups import Groups
from likewise.session.results import Results, load_results
from likewise.session.session import Session
from likewise.session.validation import MAX_BYTES
from likewise.types import Indexes
from likewise.workspace.gallery import Gallery, make_gallery

COUNTED = ("same", "different", "cannot_tell", "bad_image", "placed", "none", "new")
_ANY_ROW = np.ones((1, 1), dtype=np.float32)


class Status:
    """The results of the last training and what follows from them and the answers.

    Parameters
    ----------
    session : Session
    name : str
        Of the criterion.

    Attributes
    ----------
    results : Results or None
        Of the last training.
    version : int
        Of the results; increases with every training.
    n_violations : int
        Answers that the model alone would violate.

    Notes
    -----
    Values are cached until an answer changes them, so that answering never waits for a computation
    of the page. The gallery is made without holding the session's lock; code that needs both
    must make the gallery first.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name
        self.results: Results | None = None
        self.version, self.n_violations = 0, 0
        self._predicted = PredictedAnswers(session.model_folder(name))
        self._gallery_lock = threading.Lock()  # acquired before the session's lock, never after
        self._gallery: tuple[object, Gallery] | None = None
        self._n_determined: int | None = None
        self._collection_progress: tuple[int, ProgressEstimate] | None = (
            None  # with its results version
        )
        self.invalidate()
        self._ensure_groups(session.criterion(name).n_clusters or 0)
        self.load()

    def invalidate(self) -> None:
        """Discard all cached values, after answers were retracted or groups changed."""
        self._must_links: MustLinkIndex | None = None
        self._groups: Groups | None = None
        self._counts: Counter[str] | None = None

    # -- results ----------------------------------------------------------------

    def load(self, n_determined: int | None = None) -> None:
        """Load the results of the last training, and create the groups they contain.

        Parameters
        ----------
        n_determined : int, optional
            Images whose group follows from answers alone, if the worker has counted them.
        """
        results = load_results(self._session, self._name)
        if results is not None and results.keys:
            self._ensure_groups(len(results.keys))
            self._n_determined = n_determined
            self.results, self._must_links = results, None
            self.version += 1
        self._predicted.save()

    def reload(self) -> None:
        """Load the results again, after their columns or the images of the session changed."""
        self.load(self._n_determined)

    def _ensure_groups(self, n: int) -> None:
        """Create groups until there are `n`."""
        with self._session.lock:
            made = self._session.groups(self._name).all()
            names = [f"group {number}" for number in range(len(made) + 1, n + 1)]
            if names:
                self._session.make_groups(self._name, names)
            self._groups = None

    @property
    def groups(self) -> Groups:
        """Return the groups with their current names and colours."""
        groups = self._groups
        if groups is None:
            groups = self._groups = self._session.groups(self._name)
        return groups

    def gallery(self) -> Gallery:
        """Return the images of each group, by the results and all answers since.

        Raises
        ------
        SessionError
            If the criterion has no results yet.
        """
        with self._gallery_lock:
            if self.results is None:
                raise SessionError(
                    f"Criterion {self._name!r} has no groups yet; they appear after the first "
                    "training."
                )
            state = self.version, self._session.last_entry(self._name)
            if self._gallery is None or self._gallery[0] != state:
                self._gallery = state, make_gallery(self._session, self._name, self.results)
            return self._gallery[1]

    def must_linked(self, image: int, n: int) -> list[int]:
        """Return at most `n` images that answers say are the same as `image`.

        By the answers at the last training; later ones could only add images.
        """
        index = self._must_links
        if index is None:
            index = self._must_links = MustLinkIndex(self._session.graph(self._name).groups())
        return index.linked(image, n)

    # -- answers and progress -----------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return the number of active answers of each kind."""
        counts = self._counts
        if counts is None:
            with self._session.lock:
                answers = self._session.answers(self._name)
                counts = self._counts = Counter(_counted_as(entry.answer) for entry in answers)
        return {kind: counts[kind] for kind in COUNTED}

    @property
    def n_answers(self) -> int:
        """Return the number of active answers."""
        return sum(self.counts().values())

    def count(self, answer: Answer) -> None:
        """Add a new answer to the counts."""
        if self._counts is not None:
            self._counts[_counted_as(answer.answer)] += 1

    def compare_with_prediction(self, answer: Answer) -> bool | None:
        """Return whether the results predicted a new answer, and record it; None if unknown."""
        return self._predicted.record(answer, self.results)

    def progress(self) -> ProgressEstimate | None:
        """Return how well the model predicts the answers; None before the first training."""
        results = self.results
        if results is None or not results.n_answers:
            return None
        with self._gallery_lock:
            if self._collection_progress is None or self._collection_progress[0] != self.version:
                if self._n_determined is None:
                    with self._session.lock:
                        graph = self._session.graph(self._name)
                        n_clusters = self._session.criterion(self._name).n_clusters
                        self._n_determined = n_determined(graph, n_clusters)
                estimate = estimate_progress([], results.probabilities, self._n_determined)
                self._collection_progress = self.version, estimate
            estimate = self._collection_progress[1]
        return replace(
            estimate_progress(self._predicted.outcomes, _ANY_ROW, 0),
            expected_accuracy=estimate.expected_accuracy,
            expected_changes=estimate.expected_changes,
        )


def n_determined(graph: ConstraintGraph, n_clusters: int | None) -> int:
    """Return the number of images whose group follows from answers alone."""
    return labeled_groups(graph, n_clusters).n_labeled


def _counted_as(answer: str) -> str:
    return answer if answer in RESERVED else "placed"


class MustLinkIndex:
    """The must-linked images of each image, at one time.

    Parameters
    ----------
    components : array of shape (n,)
        See `ConstraintGraph.groups`.

    Examples
    --------
    >>> MustLinkIndex(np.array([0, 1, 0, 0, 4])).linked(2, 5)
    [0, 3]
    """

    def __init__(self, components: Indexes) -> None:
        self._components = components
        sizes = np.bincount(components, minlength=len(components))
        linked = np.flatnonzero(sizes[components] > 1)
        self._members: dict[int, list[int]] = {}
        for image, component in zip(linked.tolist(), components[linked].tolist(), strict=True):
            self._members.setdefault(component, []).append(image)

    def linked(self, image: int, n: int) -> list[int]:
        """Return at most `n` other images of a component; none if the image is newer."""
        if not 0 <= image < len(self._components):
            return []
        members = self._members.get(int(self._components[image]), [])
        return [other for other in members[: n + 1] if other != image][:n]


class PredictedAnswers:
    """Whether each of the latest answers was predicted, before the model was trained with it.

    Parameters
    ----------
    folder : Path
        Of the criterion's model. If the file in it is lost, counting starts again.
    """

    FILE, FILE_0_1 = "predicted_answers.json", "agreement.json"
    _MAX_OUTCOMES = 200

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.FILE
        saved = read_json(self._path, folder / self.FILE_0_1)
        self.outcomes = [bool(one) for one in saved] if isinstance(saved, list) else []

    def record(self, answer: Answer, results: Results | None) -> bool | None:
        """Compare an answer with the results and record the outcome; None if they predict none."""
        if results is None or not results.n_answers:
            return None
        images = list(answer.question.images)
        rows = results.probabilities[images]
        if not rows.any(axis=1).all():
            return None
        question = replace(answer.question, images=tuple(range(len(images))))
        outcome = was_predicted(replace(answer, question=question), rows)
        if outcome is not None:
            self.outcomes = [*self.outcomes, outcome][-self._MAX_OUTCOMES :]
        return outcome

    def save(self) -> None:
        """Write the outcomes to the file, if possible."""
        write_json(self._path, self.outcomes)


def read_json(*paths: Path) -> Any:
    """Return the content of the first file that exists; None if none does or it is damaged."""
    path = next((one for one in paths if one.exists()), None)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if path is None or path.stat().st_size > MAX_BYTES:
            return None
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def write_json(path: Path, value: Any) -> None:
    """Write a small file atomically, if possible; only for data whose loss does no harm."""
    with contextlib.suppress(OSError, SessionError):
        make_folder(path.parent)
        write_atomic(path, lambda descriptor: os.write(descriptor, json.dumps(value).encode()))
