"""Move images to a group or split a group by hand; each edit is written as answers.

A moved image is the same as one image of its new group, and differs from those of the others.
Split-off images are the same as each other, and differ from all existing groups.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, NEW, Question, Relation
from likewise.errors import InvalidParameterError
from likewise.session.results import placed_groups, save_results
from likewise.session.session import Session
from likewise.types import Floats, Indexes
from likewise.workspace.gallery import Gallery
from likewise.workspace.status import Status, read_json, write_json

GivenAnswer = tuple[Question, str]


def move_answers(
    images: Sequence[int], key: str, gallery: Gallery, graph: ConstraintGraph
) -> list[GivenAnswer]:
    """Return one question and its answer for each image that is moved to group `key`.

    Each is a choice among the groups, shown by one image each: an answered one if there is any,
    else the most confident. If no other image is in the group, they are answered as in a split.
    """
    if set(gallery.in_group(key).tolist()) <= set(images):  # raises if there is no such group
        return split_answers(images, key, gallery, graph)
    order = [key, *(other for other in gallery.members if other != key)]
    shown = _representatives({}, order, set(images), gallery, graph)
    examples, groups = tuple(shown.values()), tuple(shown)
    return [(Question.choice(image, examples, groups), key) for image in dict.fromkeys(images)]


def split_answers(
    images: Sequence[int], key: str, gallery: Gallery, graph: ConstraintGraph
) -> list[GivenAnswer]:
    """Return questions and answers that assign images to the new, still empty group `key`.

    Each is a choice among another split-off image and the existing groups. A single image has no
    such other: it differs from all groups, and is labelled with the key.
    """
    unique, moving = list(dict.fromkeys(images)), set(images)
    first, *rest = unique

    def choice(image: int, start: dict[str, int], answer: str) -> list[GivenAnswer]:
        shown = _representatives(start, list(gallery.members), moving, gallery, graph)
        return [(Question.choice(image, tuple(shown.values()), tuple(shown)), answer)] * bool(shown)

    if not rest:
        return [*choice(first, {}, NEW), (Question.label(first), key)]
    question, _ = choice(rest[0], {key: first}, key)[0]
    others = [(replace(question, images=(image, *question.images[1:])), key) for image in rest]
    return [*choice(first, {key: rest[0]}, key), *others]


def review_grid(
    images: Sequence[int], key: str, ticked: Sequence[int], gallery: Gallery
) -> Question:
    """Return the question that a person answers by ticking images of a group that are not in it.

    The representative is another image that a person placed in the group; without one, the surest
    of the images that were not ticked, or else the most confident other image.
    """
    order = gallery.in_group(key).tolist()  # raises if there is no such group
    asked, wrong = dict.fromkeys(images), set(ticked)
    others = [i for i in order if i not in asked]
    placed = [i for i in others if gallery.answered[i]]
    left = [i for i in (*order, *asked) if i in asked and i not in wrong]
    candidates = [*placed[:1], *(left[:1] if len(asked) > 1 else []), *others[:1]]
    if not candidates:
        raise InvalidParameterError(
            f"Group {key!r} must have an image that belongs to it, got none but the ticked ones; "
            "move the images to other groups instead."
        )
    shown = candidates[0]
    return Question.grid(tuple(i for i in asked if i != shown), shown, key)


def without_copies(
    question: Question, ticked: Sequence[int], first: Indexes
) -> tuple[Question, tuple[int, ...]]:
    """Return a grid and its ticked images with each file only once, by its first copy.

    Parameters
    ----------
    question : Question
    ticked : sequence of int
    first : array of shape (n_images,)
        See `Images.first`.
    """
    if not all(0 <= i < len(first) for i in question.images):
        return question, tuple(ticked)  # the check of the answer names the image
    *asked, shown = question.images
    wrong = dict.fromkeys(int(first[i]) for i in ticked if i in asked)
    unknown = [i for i in ticked if i not in asked]
    own = int(first[shown])
    kept = [i for i in dict.fromkeys(int(first[i]) for i in asked) if i != own or i in wrong]
    return Question.grid(tuple(kept), own, question.groups[0]), (*wrong, *unknown)


def check_split(images: Sequence[int], gallery: Gallery) -> None:
    """Raise if an image does not exist, or no image would be left in the other groups."""
    unknown = [i for i in images if not 0 <= i < len(gallery.group_of)]
    if unknown:
        raise InvalidParameterError(
            f"Image {unknown[0]} is not in this session; images are numbered 0 to "
            f"{len(gallery.group_of) - 1}."
        )
    if len(set(images)) >= int((gallery.group_of >= 0).sum()):
        raise InvalidParameterError(
            "A new group must leave images in the other groups, but all images were selected; "
            "select fewer."
        )


def _representatives(
    shown: dict[str, int],
    order: Sequence[str],
    moving: set[int],
    gallery: Gallery,
    graph: ConstraintGraph,
) -> dict[str, int]:
    """Add an image for each group of `order` to `shown`, up to the number that a choice can show.

    Images that are moved are left out, and those that are the same as an image already shown.
    """
    for group in order[: MAX_GROUPS - len(shown)]:
        staying = (i for i in gallery.members[group].tolist() if i not in moving)
        found = next((i for i in staying if _is_same_as_none(i, shown.values(), graph)), None)
        if found is not None:
            shown[group] = found
    return shown


def _is_same_as_none(image: int, others: Iterable[int], graph: ConstraintGraph) -> bool:
    return all(graph.relation(image, other) is not Relation.SAME for other in others)


class GroupEdits:
    """Adds groups that are split off, and removes them when their last answer is retracted.

    Parameters
    ----------
    session : Session
    name : str
        Of the criterion.
    status : Status
    """

    def __init__(self, session: Session, name: str, status: Status) -> None:
        self._session, self._name, self._status = session, name, status
        self._history = SplitHistory(session.model_folder(name))

    def add_group(self, name: str, n_shown: int) -> str:
        """Create a group and return its key; a fixed number of groups increases by one.

        Parameters
        ----------
        name : str
            Of the group; may be empty.
        n_shown : int
            The number of groups that are shown.
        """
        known = self._session.criterion(self._name)
        if known.n_clusters is not None:
            n = max(known.n_clusters, n_shown) + 1
            self._session.change_criterion(replace(known, n_clusters=n, two_groups=False))
        key = self._unused_key(name)
        self._history.add(key, had_two_groups=known.two_groups)
        return key

    def _unused_key(self, name: str) -> str:
        """Return the key of a group without a column in the results and without images."""
        results = self._status.results
        columns = results.keys if results is not None else ()
        used = {*columns, *self._placed_groups()}
        groups = self._session.groups(self._name)
        unused = next((group.key for group in groups.shown() if group.key not in used), None)
        if unused is None:
            title = name or f"group {len(groups.all()) + 1}"
            return self._session.make_group(self._name, name=title).key
        if name:
            self._session.change_group(self._name, unused, name=name)
        return unused

    def add_columns(self) -> None:
        """Add a column to the results for each group in which answers place images.

        So a new group is shown before the next training, also after one that began before the
        group was made.
        """
        results, groups = self._status.results, self._session.groups(self._name)
        placed = self._placed_groups()
        columns = () if results is None else tuple(groups.resolve(key) for key in results.keys)
        missing = [one.key for one in groups.shown() if one.key in placed - set(columns)]
        if results is not None and missing:
            zeros = np.zeros((len(results.labels), len(missing)), dtype=np.float32)
            wider = np.concatenate([results.probabilities, zeros], axis=1)
            self._save_columns(wider, (*results.keys, *missing))

    def _placed_groups(self) -> set[str]:
        """Return the keys of the groups in which active answers place images."""
        active = self._session.graph(self._name).active_answers
        return placed_groups(active, self._session.groups(self._name))

    def undo_splits(self) -> None:
        """Remove the split-off groups without active answers, from the newest on.

        The columns of the results are in the order in which groups were made, so an older group
        stays until the newer ones are removed.
        """
        used = {entry.answer for entry in self._session.answers(self._name)}
        made = [group.key for group in self._session.groups(self._name).all()]
        while made and self._history.last == made[-1] not in used:
            key, had_two_groups = self._history.remove_last()
            made.pop()
            known = self._session.criterion(self._name)
            if known.n_clusters is not None and known.n_clusters > len(made):
                fewer = replace(known, n_clusters=len(made), two_groups=had_two_groups)
                self._session.change_criterion(fewer)
            self._remove_column(key)

    def _remove_column(self, key: str) -> None:
        results = self._status.results
        if results is not None and key in results.keys[2:]:
            narrower = without_column(results.probabilities, results.keys.index(key))
            self._save_columns(narrower, tuple(other for other in results.keys if other != key))

    def _save_columns(self, probabilities: Floats, keys: tuple[str, ...]) -> None:
        before = self._status.results
        assert before is not None  # the caller has changed its columns
        save_results(
            self._session,
            self._name,
            probabilities,
            keys=keys,
            n_answers=before.n_answers,
            quality=before.quality,
        )
        self._status.load()


class SplitHistory:
    """The keys of split-off groups in order, and whether the criterion had `two_groups` before.

    Parameters
    ----------
    folder : Path
        Of the criterion's model. If the file in it is lost, undoing a split leaves an empty group.
    """

    FILE, FILE_0_1 = "split_groups.json", "split-off.json"

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.FILE
        saved = read_json(self._path, folder / self.FILE_0_1)
        try:
            self._groups = {str(key): bool(had_two) for key, had_two in saved or ()}
        except (TypeError, ValueError):
            self._groups = {}

    @property
    def last(self) -> str | None:
        """Return the key of the newest group, None if there is none."""
        return next(reversed(self._groups), None)

    def add(self, key: str, *, had_two_groups: bool) -> None:
        """Add a group."""
        self._groups[key] = had_two_groups
        write_json(self._path, list(self._groups.items()))

    def remove_last(self) -> tuple[str, bool]:
        """Remove the newest group; return its key and `had_two_groups`."""
        last = self._groups.popitem()
        write_json(self._path, list(self._groups.items()))
        return last


def without_column(probabilities: Floats, column: int) -> Floats:
    """Return probabilities without one group, normalized; certain members become uniform.

    Examples
    --------
    >>> without_column(np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]], dtype=np.float32), 2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    rest = np.delete(probabilities, column, axis=1)
    rest[probabilities.any(axis=1) & ~rest.any(axis=1)] = 1  # nothing is known any more
    return np.asarray(rest / rest.sum(axis=1, keepdims=True).clip(1e-9), dtype=np.float32)
