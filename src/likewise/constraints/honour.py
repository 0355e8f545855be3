"""Clusters that honour the answers: the model's probabilities decide only what nobody has said."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.colour_search import Neighbours
from likewise.constraints.colouring import colour
from likewise.constraints.facts import said
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Indexes, Pairs
from likewise.errors import InvalidParameterError

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Honoured:
    """Clusters that honour the answers, and how far the model was from them.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of each image.
    n_violations : int
        Standing answers that the most probable cluster of each image violates.
    n_unmet : int
        Standing answers that `labels` violates all the same: more groups are
        known to be different than there are clusters for them.
    """

    labels: Indexes
    n_violations: int
    n_unmet: int


def honour(probabilities: Floats, graph: ConstraintGraph) -> Honoured:
    """Return the clusters nearest to `probabilities` that honour every standing answer.

    Images said to be the same get one cluster, that of the largest product of
    their probabilities; groups said to be different get different ones.

    Parameters
    ----------
    probabilities : array of shape (n, k)
    graph : ConstraintGraph

    Notes
    -----
    Different clusters for groups that differ is graph colouring. Parts of up to
    eight groups are solved exactly, two clusters too; else a colouring is found
    greedily or by a bounded search and then improved (see ``colouring.py``).

    Examples
    --------
    >>> from likewise.constraints.relation import Relation
    >>> graph = ConstraintGraph(3)
    >>> _ = graph.add(0, 1, Relation.SAME), graph.add(1, 2, Relation.DIFFERENT)
    >>> honoured = honour(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), graph)
    >>> honoured.labels.tolist(), honoured.n_violations
    ([0, 0, 1], 1)
    """
    checked = _checked(probabilities, graph)
    likeliest: Indexes = checked.argmax(axis=1)
    labels = nearest_labels(checked, graph.groups(), graph.apart())
    return Honoured(labels, len(violated(likeliest, graph)), len(violated(labels, graph)))


def nearest_labels(probabilities: Floats, groups: Indexes, apart: Pairs) -> Indexes:
    """Return the clusters of `honour`, from `graph.groups()` and `graph.apart()` alone.

    Both are copies, so that answers may go on coming in meanwhile.
    """
    labels: Indexes = probabilities.argmax(axis=1)
    is_bound = np.bincount(groups, minlength=len(groups)) > 1  # more than one image
    is_bound[apart] = True
    images = np.flatnonzero(is_bound[groups])  # those of which something is said
    if len(images):
        members, place = np.unique(groups[images], return_inverse=True)
        scores = _scores(probabilities[images], place)
        neighbours = _neighbours(np.searchsorted(members, apart), len(members))
        sizes = np.bincount(place).tolist()
        labels[images] = np.array(colour(scores, neighbours, sizes))[place]
    return labels


def violated(labels: Indexes, graph: ConstraintGraph) -> list[int]:
    """Return the ids of the standing answers that clusters violate.

    Each name means one cluster, no two names the same one, so that as few
    answers as possible are violated.
    """
    pairs, named = [], []
    for answer_id in sorted(graph.answers.keys() - graph.set_aside.keys()):
        for image, other, relation in said(graph.answers[answer_id], graph.n_images):
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
    """Return the cluster that each name means; a name too many means none."""
    if not named:
        return {}
    from scipy.optimize import linear_sum_assignment

    names = list(dict.fromkeys(name for _, _, name in named))
    row = {name: position for position, name in enumerate(names)}
    clusters, column = np.unique(labels[[image for _, image, _ in named]], return_inverse=True)
    votes = np.zeros((len(names), len(clusters)), dtype=np.intp)
    for (_, _, name), cluster in zip(named, column.tolist(), strict=True):
        votes[row[name], cluster] += 1
    matched, columns = linear_sum_assignment(votes, maximize=True)
    return {names[i]: int(clusters[j]) for i, j in zip(matched, columns, strict=True)}


def _scores(probabilities: Floats, place: Indexes) -> Floats:
    """Return the sum of log probabilities of each group, (groups, k)."""
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny), dtype=np.float64)
    columns = [np.bincount(place, weights=column) for column in logs.T]
    return np.stack(columns, axis=1)


def _neighbours(apart: Pairs, n_groups: int) -> Neighbours:
    """Return the groups that each group differs from."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for first, second in apart.tolist():
        found[first].append(second)
        found[second].append(first)
    return [found[group] for group in range(n_groups)]


def _checked(probabilities: Floats, graph: ConstraintGraph) -> Floats:
    """Return probabilities as an array, or raise in words."""
    array = np.asarray(probabilities)
    if array.ndim != 2 or array.shape[0] != graph.n_images or array.shape[1] < 1:
        raise InvalidParameterError(
            f"probabilities of shape {array.shape} do not fit the {graph.n_images} images of the "
            f"graph; give one row an image, one column a cluster."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InvalidParameterError(
            "probabilities hold a value that is negative, infinite or not a number; "
            "give rows that sum to one."
        )
    return array
