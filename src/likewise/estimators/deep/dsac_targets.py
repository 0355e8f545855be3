"""What DSAC trains on in one round: labels, pseudo-labels, and the weight of each image."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import LikewiseWarning
from likewise.estimators.deep.seeded_kmeans import NO_LABEL, Clusters
from likewise.nn.losses.dsac import (
    center_loss,
    class_means,
    knn_compactness,
    self_paced,
    weighted_cross_entropy,
)
from likewise.queries.dsac import pace, pseudo_labels
from likewise.types import Floats, Indexes


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
    images of a later name have no class, and a warning says so.
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
