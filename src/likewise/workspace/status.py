"""Status of one criterion: latest results, groups, and counts of answers."""

import contextlib
import json
import os
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints.question import RESERVED, Answer
from likewise.errors import NoGroupsError, SessionError
from likewise.session.atomic import make_folder, write_atomic
from likewise.session.groups import Group, Groups
from likewise.session.results import Quality, Results, load_results
from likewise.session.session import Session
from likewise.session.validation import MAX_BYTES
from likewise.types import Indexes
from likewise.workspace.gallery import Gallery, make_gallery

COUNTED = ("same", "different", "cannot_tell", "bad_image", "placed", "none", "new", "ticked")
DEFAULT_NAME = re.compile(r"group \d+")
_MIN_TO_NAME = 3  # placed images, from which a name is asked for


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
        Answers that the model alone would violate; 0 after a retraction until the next training.
    suspected : frozenset of int
        Images whose answers are label issues; they are not shown as examples of a group.

    Notes
    -----
    Values are cached until an answer changes them, so that answering never waits for a computation
    of the page. The gallery is made without holding the session's lock; code that needs both
    must make the gallery first.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name
        self.results: Results | None = None
        self.version: int = 0
        self.n_violations: int = 0
        self.suspected: frozenset[int] = frozenset()
        self._gallery_lock = threading.Lock()  # acquired before the session's lock, never after
        self._gallery: tuple[object, Gallery] | None = None
        self.invalidate()
        self._ensure_groups(session.criterion(name).n_clusters or 0)
        self.load()

    def invalidate(self) -> None:
        """Discard all cached values, after answers were retracted or groups changed."""
        self._must_links: MustLinkIndex | None = None
        self._examples: dict[str, int] | None = None
        self._groups: Groups | None = None
        self._counts: Counter[str] | None = None

    # -- results ----------------------------------------------------------------

    def load(self) -> None:
        """Load the results of the last training, and create the groups they contain.

        `gallery` then has the new groups, corrected to satisfy all answers (`place_images`).
        """
        results = load_results(self._session, self._name)
        if results is not None and results.keys:
            self._ensure_groups(len(results.keys))
            self.results, self._must_links, self._examples = results, None, None
            self.version += 1

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

    def shown_groups(self) -> tuple[Group, ...]:
        """Return the groups that the last results use; before the first training, all groups."""
        shown, results = self.groups.shown(), self.results
        if results is None:
            return shown
        used = {self.groups.resolve(key) for key in results.keys}
        return tuple(group for group in shown if group.key in used)

    def gallery(self) -> Gallery:
        """Return the images of each group, by the results and all answers since.

        Raises
        ------
        NoGroupsError
            If the criterion has no results yet.
        """
        with self._gallery_lock:
            if self.results is None:
                raise NoGroupsError(
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

    def examples(self) -> dict[str, int]:
        """Return the most confident image of each group at the last training, placed ones first."""
        results, found = self.results, self._examples
        if results is None:
            return {}
        if found is None:
            n, resolve, examples = len(results.labels), self.groups.resolve, dict[str, int]()
            usable = np.zeros(n, dtype=np.bool_)
            askable = self._session.images.askable
            usable[askable[askable < n]] = True
            usable[[i for i in self.suspected if i < n]] = False
            placed = np.zeros(n)
            for images in self._placed_images(results).values():
                placed[images] = 1
            for column, key in enumerate(results.keys):
                inside = np.flatnonzero(usable & (results.labels == column))
                if len(inside):
                    sure = results.probabilities[inside, column] + placed[inside]
                    examples.setdefault(resolve(key), int(inside[sure.argmax()]))
            found = self._examples = examples
        return found

    def unnamed_group(self) -> tuple[str, list[int]] | None:
        """Return the largest group without a name of its own, and images placed in it.

        None if no such group had `_MIN_TO_NAME` placed images at the last training.
        """
        results = self.results
        if results is None:
            return None
        placed, groups = self._placed_images(results), self.groups
        unnamed = [
            (key, images)
            for key, images in placed.items()
            if len(images) >= _MIN_TO_NAME and DEFAULT_NAME.fullmatch(groups.name(key))
        ]
        return max(unnamed, key=lambda one: len(one[1]), default=None)

    def _placed_images(self, results: Results) -> dict[str, list[int]]:
        """Return the images that answers have placed, by the key of their group; cached."""
        index = self._must_links
        if index is None:
            index = self._must_links = MustLinkIndex(self._session.graph(self._name).groups())
        placed: dict[str, list[int]] = {}
        for images in index.components():
            inside = [i for i in images if i < len(results.labels) and results.labels[i] >= 0]
            if inside:
                key = self.groups.resolve(results.keys[results.labels[inside[0]]])
                placed.setdefault(key, []).extend(inside)
        return placed

    # -- answers and quality -----------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return the number of active answers of each kind."""
        counts = self._counts
        if counts is None:
            with self._session.lock:
                answers = self._session.answers(self._name)
                counts = self._counts = Counter(
                    _counted_as(entry.kind, entry.answer) for entry in answers
                )
        return {kind: counts[kind] for kind in COUNTED}

    @property
    def n_answers(self) -> int:
        """Return the number of active answers."""
        return sum(self.counts().values())

    def count(self, answer: Answer) -> None:
        """Add a new answer to the counts."""
        if self._counts is not None:
            self._counts[_counted_as(answer.question.kind, answer.answer)] += 1

    @property
    def quality(self) -> Quality:
        """Return the estimated accuracy and the advice of the last training; empty before it."""
        return {} if self.results is None else self.results.quality


def _counted_as(kind: str, answer: str) -> str:
    return answer if answer in RESERVED or kind == "grid" else "placed"


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

    def components(self) -> list[list[int]]:
        """Return the images of each component with two or more."""
        return list(self._members.values())

    def linked(self, image: int, n: int) -> list[int]:
        """Return at most `n` other images of a component; none if the image is newer."""
        if not 0 <= image < len(self._components):
            return []
        members = self._members.get(int(self._components[image]), [])
        return [other for other in members[: n + 1] if other != image][:n]


def read_json(*paths: Path) -> Any:
    """Return the content of the first file that exists; None if none does or it is damaged."""
    path = next((one for one in paths if one.exists()), None)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if path is None or path.stat().st_size > MAX_BYTES:
            return None
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def write_json(path: Path, value: Any) -> None:
    """Write a small file atomically, if possible; only for data that can be computed again."""
    with contextlib.suppress(OSError, SessionError):
        make_folder(path.parent)
        write_atomic(path, lambda descriptor: os.write(descriptor, json.dumps(value).encode()))
