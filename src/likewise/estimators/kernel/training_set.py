"""Training set of the GP classifier: labels from constraints, placeholders, pseudo-labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

_PLACEHOLDER, _UNDECIDED, _PSEUDO = 0.2, 0.5, 0.2  # sample weights; an answer has 1
_MAX_PSEUDO_LABELS = 400
_MAX_CANDIDATES = 10_000  # images among which confident ones are searched
_MIN_LABELS, _MIN_WEIGHT = 3, 0.05  # of `downweight`


@dataclass(frozen=True)
class LabeledGroups:
    """The classes that the answers have established so far.

    Parameters
    ----------
    classes : array of shape (n,)
        Class of each image whose class follows from the answers, else -1.
    keys : tuple of str
        Key of each class, in the order in which the answers established them.
    prototypes : tuple of int
        An image of each class, which questions show for it.
    undecided : list of (images, excluded classes)
        Sets of images that must-links join but that may belong to several classes.
    """

    classes: Indexes
    keys: tuple[str, ...]
    prototypes: tuple[int, ...]
    undecided: list[tuple[Indexes, frozenset[int]]]

    @property
    def n_labeled(self) -> int:
        """Return for how many images the class follows from the answers."""
        return int((self.classes >= 0).sum())

    def with_prototypes(self, label_errors: Mapping[int, float]) -> "LabeledGroups":
        """Return these classes, the prototype of each its image with the most reliable label.

        A prototype that is in its class by mistake would turn each later answer into a mistake.

        Parameters
        ----------
        label_errors : mapping of int to float
            For labelled images the probability that their label is wrong.
        """
        prototypes = list(self.prototypes)
        for image, error in label_errors.items():
            number = self.classes[image]
            if number >= 0 and error < label_errors.get(prototypes[number], 1.0):
                prototypes[number] = image
        return replace(self, prototypes=tuple(prototypes))


def labeled_groups(graph: ConstraintGraph, n_clusters: int | None) -> LabeledGroups:
    """Return the classes: groups known to differ from each other, earliest first.

    At most `n_clusters` of them, the largest. Once all of them are known, a group that differs
    from all but one belongs to that one.
    """
    groups = graph.groups()
    order = _answered_groups(graph, groups)
    different = _cannot_linked(graph)
    members = _members(groups, order)
    chosen = _choose_classes(order, members, different, n_clusters)
    class_of = {group: number for number, group in enumerate(chosen)}
    classes = np.full(graph.n_images, -1, dtype=np.intp)
    undecided = []
    for group in order:
        excluded = frozenset(class_of[o] for o in different.get(group, ()) if o in class_of)
        possible = [c for c in range(len(chosen)) if c not in excluded]
        if group in class_of:
            classes[members[group]] = class_of[group]
        elif len(chosen) == n_clusters and len(possible) == 1:
            classes[members[group]] = possible[0]
        else:
            undecided.append((members[group], excluded))
    names = graph.group_names()
    keys = tuple(names.get(g, f"group {number + 1}") for number, g in enumerate(chosen))
    first = tuple(int(members[group][0]) for group in chosen)
    return LabeledGroups(classes, keys, first, undecided)


def _choose_classes(
    order: list[int],
    members: Mapping[int, Indexes],
    different: Mapping[int, set[int]],
    n_clusters: int | None,
) -> list[int]:
    """Return the largest groups that all differ from each other, in the order of the answers.

    The largest, because one wrong answer creates a group of one image, but not of ten.
    """
    chosen: set[int] = set()
    for group in sorted(order, key=lambda group: -len(members[group])):
        if len(chosen) == n_clusters:
            break
        if chosen <= different.get(group, set()):
            chosen.add(group)
    return [group for group in order if group in chosen]


def _answered_groups(graph: ConstraintGraph, groups: Indexes) -> list[int]:
    """Return the groups with an image in an active answer, in the order of the answers."""
    bad = graph.bad_images
    seen: dict[int, None] = {}
    for answer in graph.active_answers.values():
        if answer.answer in ("cannot_tell", "bad_image"):
            continue
        for image in answer.question.images:
            if image not in bad:
                seen.setdefault(int(groups[image]))
    return list(seen)


def _cannot_linked(graph: ConstraintGraph) -> dict[int, set[int]]:
    different: dict[int, set[int]] = {}
    for first, second in graph.cannot_links().tolist():
        different.setdefault(first, set()).add(second)
        different.setdefault(second, set()).add(first)
    return different


def _members(groups: Indexes, wanted: list[int]) -> dict[int, Indexes]:
    if not wanted:
        return {}
    is_wanted = np.zeros(len(groups), dtype=bool)
    is_wanted[wanted] = True  # the id of a group is its first image
    inside = np.flatnonzero(is_wanted[groups])
    by_group = inside[np.argsort(groups[inside], kind="stable")]
    ids, starts = np.unique(groups[by_group], return_index=True)
    parts = np.split(by_group, starts[1:])
    return {int(group): part for group, part in zip(ids, parts, strict=True)}


@dataclass(frozen=True)
class TrainingSet:
    """Images with a class and a sample weight each.

    Parameters
    ----------
    images, classes : arrays of shape (m,)
    sample_weight : array of shape (m,)
    n_classes : int
    """

    images: Indexes
    classes: Indexes
    sample_weight: npt.NDArray[np.float64]
    n_classes: int

    def append(self, images: Indexes, classes: Indexes, weight: float) -> "TrainingSet":
        """Return this training set with further images."""
        more = TrainingSet(images, classes, np.full(len(images), weight), self.n_classes)
        return self.extend(more)

    def take(self, rows: Indexes) -> "TrainingSet":
        """Return some of the images, by position in this training set."""
        return TrainingSet(
            self.images[rows], self.classes[rows], self.sample_weight[rows], self.n_classes
        )

    def extend(self, other: "TrainingSet") -> "TrainingSet":
        """Return this training set with the images of another one."""
        return TrainingSet(
            np.concatenate([self.images, other.images]),
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.sample_weight, other.sample_weight]),
            self.n_classes,
        )

    def downweight(self, label_errors: npt.NDArray[np.float64]) -> "TrainingSet":
        """Return this training set with less weight for labels that are probably wrong.

        Classes with fewer than three labels keep their weights: there, every label is surprising.
        """
        n_labels = np.bincount(self.classes, minlength=self.n_classes)[self.classes]
        errors = np.where(n_labels >= _MIN_LABELS, label_errors, 0.0)
        weight = self.sample_weight * (1 - errors).clip(_MIN_WEIGHT)
        return TrainingSet(self.images, self.classes, weight, self.n_classes)


def labeled_set(groups: LabeledGroups, graph: ConstraintGraph, n_classes: int) -> TrainingSet:
    """Return the images whose class follows from the answers, in the order of the answers."""
    order: dict[int, None] = {}
    for answer in graph.answers.values():
        order.update(dict.fromkeys(answer.question.images))
    order.update(dict.fromkeys(np.flatnonzero(groups.classes >= 0).tolist()))
    images = np.array([i for i in order if groups.classes[i] >= 0], dtype=np.intp)
    return TrainingSet(images, groups.classes[images], np.ones(len(images)), n_classes)


def add_placeholders(training: TrainingSet, blocks: Mapping[str, Floats]) -> TrainingSet:
    """Return the training set with a placeholder for each class without an image.

    A placeholder is the image farthest from all chosen so far: a guess at what a missing class may
    be, dropped as soon as the answers establish that class.
    """
    missing = np.setdiff1d(np.arange(training.n_classes), training.classes)
    if not len(missing):
        return training
    nearest = _similarity(blocks, training.images).max(axis=1)
    for number in missing:
        farthest = nearest.argmin(keepdims=True)
        training = training.append(farthest, np.array([number]), _PLACEHOLDER)
        nearest = np.maximum(nearest, _similarity(blocks, farthest)[:, 0])
    return training


def _similarity(blocks: Mapping[str, Floats], images: Indexes) -> Floats:
    """Return the summed cosine similarity of each image to the given ones, ``(n, m)``."""
    total: Floats = sum(rows @ rows[images].T for rows in blocks.values())  # type: ignore[assignment]  # never empty
    return total


def add_pseudo_labels(
    training: TrainingSet,
    groups: LabeledGroups,
    predict_at: Callable[[Indexes], Floats],
    fraction: float,
    seed: int,
) -> TrainingSet:
    """Return the training set with undecided groups and the most confident predictions added.

    Parameters
    ----------
    training : TrainingSet
    groups : LabeledGroups
    predict_at : callable
        Given images, returns their probabilities ``(m, k)``.
    fraction : float
        Of the most confident images of each class.
    seed : int
    """
    extended = training
    for images, excluded in groups.undecided:
        log_likelihood = np.log(predict_at(images).clip(1e-9)).sum(axis=0)
        log_likelihood[list(excluded)] = -np.inf
        best = np.full(len(images), log_likelihood.argmax(), dtype=np.intp)
        extended = extended.append(images, best, _UNDECIDED)
    is_free = np.ones(len(groups.classes), dtype=bool)
    is_free[extended.images] = False
    free = np.flatnonzero(is_free)
    free = free[:: max(1, -(-len(free) // _MAX_CANDIDATES))]
    if not len(free) or not fraction:
        return extended
    probabilities = predict_at(free)
    rows = _most_confident(probabilities, fraction, seed)
    return extended.append(free[rows], probabilities[rows].argmax(axis=1), _PSEUDO)


def _most_confident(probabilities: Floats, fraction: float, seed: int) -> Indexes:
    """Return the rows of the most confident `fraction` of each class, at most 400 in all."""
    confidence, predicted = probabilities.max(axis=1), probabilities.argmax(axis=1)
    confident = [np.empty(0, dtype=np.intp)]
    for number in range(probabilities.shape[1]):
        members = np.flatnonzero(predicted == number)
        order = np.argsort(-confidence[members], kind="stable")
        confident.append(members[order[: int(fraction * len(members))]])
    chosen = np.concatenate(confident)
    return stream(seed, "guesses").permutation(chosen)[:_MAX_PSEUDO_LABELS]
