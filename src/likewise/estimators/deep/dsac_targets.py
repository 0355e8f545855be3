"""Clusters and targets of one round of DSAC: seeded k-means, labels, pseudo-labels, weights."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import LikewiseWarning
from likewise.nn.losses.dsac import (
    center_loss,
    class_means,
    knn_compactness,
    self_paced,
    weighted_cross_entropy,
)
from likewise.queries.density import pace, pseudo_labels
from likewise.random_streams import derive, stream
from likewise.types import Floats, Indexes

NO_LABEL = -1
_MAX_STEPS = 100
_INVERSE_TEMPERATURE = 5.0
_CHUNK = 8192  # rows whose distances are held at once


@dataclass(frozen=True)
class Clusters:
    """Clusters of all images.

    Parameters
    ----------
    centres : array of shape (k, d)
    clusters : array of shape (n,)
    distances : array of shape (n,)
        Squared distance of each image to the centre of its cluster.
    """

    centres: Floats
    clusters: Indexes
    distances: Floats


def seeded_kmeans(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Clusters:
    """Return the clusters of `rows`; cluster c is class c wherever class c has a label.

    Parameters
    ----------
    rows : array of shape (n, d)
    n_clusters : int
    labels : array of shape (n,)
        Class of each labelled image, -1 for all others. Labelled images stay in their
        class. A class without a label has a cluster too, which starts far from all others.
    seed : int

    Notes
    -----
    [DSAC]_ section III-C ("semi-supervised k-means"). *Fidelity:* the authors' code has it
    and never calls it; seeds and constraints are those of Basu et al., 2002.
    """
    if (labels == NO_LABEL).all():
        state = derive(seed, "k-means") % 2**31
        centres = KMeans(n_clusters, n_init=5, random_state=state).fit(rows).cluster_centers_
        return assign_to_centres(rows, centres.astype(np.float32), labels)
    found = assign_to_centres(rows, _first_centres(rows, n_clusters, labels, seed), labels)
    for _ in range(_MAX_STEPS):
        before = found.clusters
        found = assign_to_centres(rows, _means(rows, found, n_clusters), labels)
        if np.array_equal(before, found.clusters):
            break
    return found


def assign_to_centres(rows: Floats, centres: Floats, labels: Indexes) -> Clusters:
    """Return the clusters of given centres; labelled images are in their class."""
    nearest = (np.square(centres).sum(axis=1) - 2 * rows @ centres.T).argmin(axis=1)
    clusters = np.where(labels == NO_LABEL, nearest, labels).astype(np.intp)
    away = rows - centres[clusters]
    return Clusters(centres, clusters, np.einsum("nd,nd->n", away, away))


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Return the squared distance of every row to every centre, ``(n, k)``."""
    # By differences: the distances of a row must not depend on the number of rows.
    table = np.empty((len(rows), len(centres)), dtype=np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        for k, centre in enumerate(centres):
            away = part - centre
            table[start : start + _CHUNK, k] = np.einsum("nd,nd->n", away, away)
    return table


def soft_assign(rows: Floats, centres: Floats) -> Floats:
    r"""Return soft assignments ``(n, k)`` that order as the distances do.

    Notes
    -----
    The softmax over k of :math:`-5 \delta_{ik} / \bar\delta_i`, with the distance of image i
    to centre k and their mean over k.
    """
    away = np.sqrt(squared_distances(rows, centres))
    scale = away.mean(axis=1, keepdims=True).clip(1e-12)
    nearest = away.min(axis=1, keepdims=True)
    weights = np.exp(_INVERSE_TEMPERATURE * (nearest - away) / scale)
    shares: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _first_centres(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Floats:
    """Return class means; for classes without a label, rows far from all centres so far."""
    rng = stream(seed, "seeds of k-means")
    centres = np.zeros((n_clusters, rows.shape[1]), dtype=np.float32)
    labelled = np.unique(labels[labels != NO_LABEL])
    for c in labelled:
        centres[c] = rows[labels == c].mean(axis=0)
    known = centres[labelled]
    for c in np.setdiff1d(np.arange(n_clusters), labelled):
        nearest = squared_distances(rows, known).min(axis=1).astype(np.float64)
        nearest[labels != NO_LABEL] = 0
        total = nearest.sum()
        chance = nearest / total if total > 0 else np.full(len(rows), 1 / len(rows))
        centres[c] = rows[rng.choice(len(rows), p=chance)]
        known = np.concatenate([known, centres[c : c + 1]])
    return centres


def _means(rows: Floats, found: Clusters, n_clusters: int) -> Floats:
    """Return the mean of each cluster; an empty one keeps its centre."""
    means = found.centres.copy()
    for c in range(n_clusters):
        members = rows[found.clusters == c]
        if len(members):
            means[c] = members.mean(axis=0)
    return means


@dataclass(frozen=True)
class Targets:
    """Everything that the loss of one round needs, image by image.

    Parameters
    ----------
    targets : array of shape (n,)
        Class of each labelled or pseudo-labelled image, -1 for the others.
    importance : array of shape (n,)
        Compactness of these, 1 on average; 0 for the others.
    class_means : array of shape (k, d)
        Over all labelled and pseudo-labelled images.
    centres : array of shape (k, d)
        Of the clusters, to which the other images are pulled.
    clusters : array of shape (n,)
    pace : array of shape (1,)
        Squared distance from which an image is not pulled.
    """

    targets: Indexes
    importance: Floats
    class_means: Floats
    centres: Floats
    clusters: Indexes
    pace: Floats

    @property
    def has_labels(self) -> bool:
        """Return whether any image has a label."""
        return bool((self.targets != NO_LABEL).any())

    def terms(
        self, indexes: Indexes, rows: Tensor, logits: Tensor, *, gamma: float, pull: float
    ) -> dict[str, Tensor]:
        """Return class, centre and self-paced loss of a batch.

        A term is 0 if the batch has no image for it.
        """
        targets = torch.from_numpy(self.targets[indexes]).to(rows.device)
        weight = torch.from_numpy(self.importance[indexes]).to(rows.device)
        means = torch.from_numpy(self.class_means).to(rows.device)
        own = torch.from_numpy(self.centres[self.clusters[indexes]]).to(rows.device)
        known, other = targets != NO_LABEL, targets == NO_LABEL
        labels, importance = targets[known], weight[known]
        return {
            "class": weighted_cross_entropy(logits[known], labels, importance),
            "centre": center_loss(rows[known], labels, means, importance, gamma=gamma),
            "pull": pull * self_paced(rows[other], own[other], pace=float(self.pace[0])),
        }

    def get_state(self) -> dict[str, Any]:
        """Return the targets as named arrays."""
        return {f"targets.{f.name}": getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self | None:
        """Return what `get_state` wrote, if it did; release 0.1 called it a lesson."""
        for prefix in ("targets", "lesson"):  # "lesson" in release 0.1
            if f"{prefix}.targets" in state:
                return cls(**{f.name: state[f"{prefix}.{f.name}"] for f in fields(cls)})
        return None


def make_targets(rows: Floats, found: Clusters, labels: Indexes, n_spread: int) -> Targets:
    """Return the targets of a round.

    Parameters
    ----------
    rows : array of shape (n, d)
        Embeddings.
    found : Clusters
    labels : array of shape (n,)
    n_spread : int
        Images of each cluster, nearest to its centre first, that get its label; 0 for none.
    """
    targets = pseudo_labels(found.clusters, found.distances, labels, n_spread)
    known = np.flatnonzero(targets != NO_LABEL)
    all_rows = torch.from_numpy(rows)
    labelled_rows = all_rows[torch.from_numpy(known)]
    importance = np.zeros(len(rows), dtype=np.float32)
    if len(known):
        importance[known] = knn_compactness(labelled_rows, all_rows).numpy()
    means = class_means(labelled_rows, torch.from_numpy(targets[known]), len(found.centres))
    threshold = pace(found.distances[targets == NO_LABEL])
    return Targets(
        targets,
        importance,
        means.numpy(),
        found.centres,
        found.clusters,
        np.array([threshold], dtype=np.float32),
    )


def labels_of(graph: ConstraintGraph, n_classes: int) -> Indexes:
    """Return the class of each image that has a label, given or implied, else -1.

    Classes are the group names in the order in which they were given, at most `n_classes`;
    images with a later name have no class, and a warning is issued.
    """
    names = graph.group_names()
    given = (a.answer for a in graph.answers.values() if a.question.kind == "label")
    active = set(names.values())
    classes = [name for name in dict.fromkeys(given) if name in active]
    if len(classes) > n_classes:
        warnings.warn(
            f"{len(classes)} groups are named but n_clusters={n_classes}, so "
            f"{classes[n_classes]!r} and later ones are not learned; raise n_clusters.",
            LikewiseWarning,
            stacklevel=2,
        )
    number = {name: c for c, name in enumerate(classes[:n_classes])}
    of_group = {group: number.get(name, NO_LABEL) for group, name in names.items()}
    labels = [of_group.get(group, NO_LABEL) for group in graph.groups().tolist()]
    return np.array(labels, dtype=np.intp)
