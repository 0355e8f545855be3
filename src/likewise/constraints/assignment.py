"""Constrained assignment: the most probable clusters that satisfy the answers."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.constraint import given_relations
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.graph_colouring import Neighbours, colour_graph
from likewise.errors import InvalidParameterError
from likewise.types import Indexes, Pairs

Probabilities = npt.NDArray[np.floating]


@dataclass(frozen=True)
class ConstrainedAssignment:
    """Clusters that satisfy the answers, and how far the model was from them.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of each image.
    n_violations : int
        Number of active answers that the most probable cluster of each image violates.
    """

    labels: Indexes
    n_violations: int


def constrained_assignment(
    probabilities: Probabilities, graph: ConstraintGraph
) -> ConstrainedAssignment:
    """Return the most probable clusters that satisfy every active answer.

    Must-linked images get one cluster, that with the largest product of their
    probabilities; groups with a cannot-link get different clusters.

    Parameters
    ----------
    probabilities : array of shape (n, k)
    graph : ConstraintGraph

    Notes
    -----
    Different clusters for cannot-linked groups is a graph colouring problem.
    Connected parts of up to eight groups, cliques and two clusters are solved
    exactly; other parts greedily, then repaired by tabu search and improved
    (see ``graph_colouring.py``). Where there are more mutually different groups
    than clusters, some cannot-links remain violated.

    Examples
    --------
    >>> from likewise.constraints.question import Relation
    >>> graph = ConstraintGraph(3)
    >>> _ = graph.add(0, 1, Relation.SAME), graph.add(1, 2, Relation.DIFFERENT)
    >>> result = constrained_assignment(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), graph)
    >>> result.labels.tolist(), result.n_violations
    ([0, 0, 1], 1)
    """
    checked = _checked(probabilities, graph)
    most_probable: Indexes = checked.argmax(axis=1)
    labels = constrained_labels(checked, graph.groups(), graph.cannot_links())
    return ConstrainedAssignment(labels, len(violated_answers(most_probable, graph)))


def constrained_labels(
    probabilities: Probabilities, groups: Indexes, cannot_links: Pairs
) -> Indexes:
    """Return the labels of `constrained_assignment` from arrays instead of the graph.

    Parameters
    ----------
    probabilities : array of shape (n, k)
    groups : array of shape (n,)
        ``graph.groups()``; a copy, so the graph may change in the meantime.
    cannot_links : array of shape (m, 2)
        ``graph.cannot_links()``.
    """
    labels: Indexes = probabilities.argmax(axis=1)
    is_constrained = np.bincount(groups, minlength=len(groups)) > 1  # has more than one image
    is_constrained[cannot_links] = True
    images = np.flatnonzero(is_constrained[groups])
    if len(images):
        members, position = np.unique(groups[images], return_inverse=True)
        scores = _log_probabilities(probabilities[images], position)
        neighbours = _neighbours(np.searchsorted(members, cannot_links), len(members))
        sizes = np.bincount(position).tolist()
        labels[images] = np.array(colour_graph(scores, neighbours, sizes))[position]
    return labels


def violated_answers(labels: Indexes, graph: ConstraintGraph) -> list[int]:
    """Return the ids of the active answers that cluster labels violate.

    Each group name is matched with one cluster, and no two names with the same
    one, such that the fewest answers are violated.
    """
    pairs, named = [], []
    for answer_id, answer in sorted(graph.active_answers.items()):
        for image, other, relation in given_relations(answer, graph.n_images):
            if isinstance(other, str):
                named.append((answer_id, image, other))
            else:
                pairs.append((answer_id, image, other, relation))
    ids, first, second, relations = np.array(pairs, dtype=np.intp).reshape(-1, 4).T
    is_wrong = (labels[first] == labels[second]) != (relations > 0)
    cluster = _clusters_of_names(labels, named)
    wrong = {answer_id for answer_id, image, name in named if labels[image] != cluster.get(name)}
    return sorted(wrong.union(ids[is_wrong].tolist()))


def _clusters_of_names(labels: Indexes, named: list[tuple[int, int, str]]) -> dict[str, int]:
    """Return the cluster of each name; none for a name if there are more names than clusters."""
    if not named:
        return {}
    from scipy.optimize import linear_sum_assignment

    names = list(dict.fromkeys(name for _, _, name in named))
    row = {name: position for position, name in enumerate(names)}
    clusters, column = np.unique(labels[[image for _, image, _ in named]], return_inverse=True)
    counts = np.zeros((len(names), len(clusters)), dtype=np.intp)
    for (_, _, name), cluster in zip(named, column.tolist(), strict=True):
        counts[row[name], cluster] += 1
    matched, columns = linear_sum_assignment(counts, maximize=True)
    return {names[i]: int(clusters[j]) for i, j in zip(matched, columns, strict=True)}


def _log_probabilities(probabilities: Probabilities, position: Indexes) -> Probabilities:
    """Return the sum of the log probabilities of the images of each group, (groups, k)."""
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny), dtype=np.float64)
    columns = [np.bincount(position, weights=column) for column in logs.T]
    return np.stack(columns, axis=1)


def _neighbours(cannot_links: Pairs, n_groups: int) -> Neighbours:
    """Return the groups that each group has a cannot-link to."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for first, second in cannot_links.tolist():
        found[first].append(second)
        found[second].append(first)
    return [found[group] for group in range(n_groups)]


def _checked(probabilities: Probabilities, graph: ConstraintGraph) -> Probabilities:
    """Return probabilities as an array; raise if they are not valid."""
    array = np.asarray(probabilities)
    if array.ndim != 2 or array.shape[0] != graph.n_images or array.shape[1] < 1:
        raise InvalidParameterError(
            f"probabilities must have shape (n_images, n_clusters) with n_images="
            f"{graph.n_images}, got {array.shape}."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InvalidParameterError(
            "probabilities must be finite and >= 0, got a value that is negative, infinite or NaN."
        )
    return array
