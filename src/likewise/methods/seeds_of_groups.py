"""From the graph of answers to labelled images: which groups are classes, and what is in them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph

Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Seeds:
    """The classes that answers have shown so far.

    Parameters
    ----------
    classes : array of shape (n,)
        Class of each image that is tied to one, else -1.
    keys : tuple of str
        Key of each class, in the order in which answers showed them.
    representatives : tuple of int
        An image of each class, which is shown for it.
    unsettled : list of (images, excluded classes)
        Groups that answers touched but that may be any of several classes.
    """

    classes: Indexes
    keys: tuple[str, ...]
    representatives: tuple[int, ...]
    unsettled: list[tuple[Indexes, frozenset[int]]]

    def facing(self, doubts: Mapping[int, float]) -> "Seeds":
        """Return these classes, each shown by its least doubtful image.

        An image that is in its class by mistake, shown for it, would make every later
        answer a mistake too.

        Parameters
        ----------
        doubts : mapping of int to float
            For labelled images the chance that they are in the wrong class.
        """
        faces = list(self.representatives)
        for image, doubt in doubts.items():
            place = self.classes[image]
            if place >= 0 and doubt < doubts.get(faces[place], 1.0):
                faces[place] = image
        return replace(self, representatives=tuple(faces))


def seeds_of(graph: ConstraintGraph, n_clusters: int | None) -> Seeds:
    """Return the classes: groups known to differ from each other, earliest first.

    At most `n_clusters` of them, the largest. With all of them known, a group that differs
    from all but one belongs to that one.
    """
    groups = graph.groups()
    order = _order_of_groups(graph, groups)
    apart = _neighbours(graph)
    members = _members(groups, order)
    chosen = _chosen(order, members, apart, n_clusters)
    place = {group: number for number, group in enumerate(chosen)}
    classes = np.full(graph.n_images, -1, dtype=np.intp)
    unsettled = []
    for group in order:
        excluded = frozenset(place[o] for o in apart.get(group, ()) if o in place)
        left = [c for c in range(len(chosen)) if c not in excluded]
        if group in place:
            classes[members[group]] = place[group]
        elif len(chosen) == n_clusters and len(left) == 1:
            classes[members[group]] = left[0]
        else:
            unsettled.append((members[group], excluded))
    names = graph.group_names()
    keys = tuple(names.get(g, f"group {number + 1}") for number, g in enumerate(chosen))
    first = tuple(int(members[group][0]) for group in chosen)
    return Seeds(classes, keys, first, unsettled)


def _chosen(
    order: list[int],
    members: Mapping[int, Indexes],
    apart: Mapping[int, set[int]],
    n_clusters: int | None,
) -> list[int]:
    """Return the largest groups that all differ from each other, in the order of the log.

    The largest, since one wrong answer makes a group of one image, but not of ten.
    """
    chosen: set[int] = set()
    for group in sorted(order, key=lambda group: -len(members[group])):
        if len(chosen) == n_clusters:
            break
        if chosen <= apart.get(group, set()):
            chosen.add(group)
    return [group for group in order if group in chosen]


def _order_of_groups(graph: ConstraintGraph, groups: Indexes) -> list[int]:
    """Return the groups that standing answers touch, in the order of the log."""
    aside, bad = graph.conflicts, graph.bad_images
    seen: dict[int, None] = {}
    for number, answer in graph.answers.items():
        if number in aside or answer.answer in ("cannot_tell", "bad_image"):
            continue
        for image in answer.question.images:
            if image not in bad:
                seen.setdefault(int(groups[image]))
    return list(seen)


def _neighbours(graph: ConstraintGraph) -> dict[int, set[int]]:
    apart: dict[int, set[int]] = {}
    for one, other in graph.cannot_links().tolist():
        apart.setdefault(one, set()).add(other)
        apart.setdefault(other, set()).add(one)
    return apart


def _members(groups: Indexes, wanted: list[int]) -> dict[int, Indexes]:
    if not wanted:
        return {}
    is_wanted = np.zeros(len(groups), dtype=bool)
    is_wanted[wanted] = True  # a group is called by its first image
    inside = np.flatnonzero(is_wanted[groups])
    by_group = inside[np.argsort(groups[inside], kind="stable")]
    ids, starts = np.unique(groups[by_group], return_index=True)
    parts = np.split(by_group, starts[1:])
    return {int(group): part for group, part in zip(ids, parts, strict=True)}
