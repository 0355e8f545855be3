"""What DSAC learns from in one round: labels, their spread, and how much each counts."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import LikewiseWarning
from likewise.methods.seeded_kmeans import NO_LABEL, Grouping
from likewise.nn.losses.dsac import (
    center_loss,
    class_means,
    knn_compactness,
    self_paced,
    weighted_cross_entropy,
)
from likewise.queries.dsac import pace, pseudo_labels

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Lesson:
    """Everything the loss of one round needs, image by image.

    Parameters
    ----------
    targets : array of shape (n,)
        Class of each labelled or pseudo-labelled image, -1 for the others.
    importance : array of shape (n,)
        Compactness of these, 1 on average; 0 for the others.
    class_means : array of shape (k, d)
        Over all labelled and pseudo-labelled images.
    centres : array of shape (k, d)
        Of the clusters, to which the others are pulled.
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
        """Return whether there is anything to teach the classifier."""
        return bool((self.targets != NO_LABEL).any())

    def terms(
        self, indexes: Indexes, rows: Tensor, logits: Tensor, *, gamma: float, pull: float
    ) -> dict[str, Tensor]:
        """Return the loss terms of a batch: class, center_loss and self-paced pull.

        A batch without labelled images, or without others, has 0 there.
        """
        targets = torch.from_numpy(self.targets[indexes]).to(rows.device)
        weight = torch.from_numpy(self.importance[indexes]).to(rows.device)
        means = torch.from_numpy(self.class_means).to(rows.device)
        own = torch.from_numpy(self.centres[self.clusters[indexes]]).to(rows.device)
        known, other = targets != NO_LABEL, targets == NO_LABEL
        taught = targets[known], weight[known]
        return {
            "class": weighted_cross_entropy(logits[known], *taught),
            "centre": center_loss(rows[known], taught[0], means, taught[1], gamma=gamma),
            "pull": pull * self_paced(rows[other], own[other], pace=float(self.pace[0])),
        }

    def arrays(self) -> dict[str, Any]:
        """Return the lesson as arrays, for a checkpoint."""
        return {f"lesson.{f.name}": getattr(self, f.name) for f in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self | None:
        """Return what `arrays` wrote, if it did."""
        names = [f.name for f in fields(cls)]
        if f"lesson.{names[0]}" not in arrays:
            return None
        return cls(**{name: arrays[f"lesson.{name}"] for name in names})


def make_lesson(rows: Floats, found: Grouping, labels: Indexes, n_spread: int) -> Lesson:
    """Return the lesson of a round.

    Parameters
    ----------
    rows : array of shape (n, d)
        Embeddings.
    found : Grouping
    labels : array of shape (n,)
    n_spread : int
        Images of each cluster, nearest its center_loss first, that get its label; 0 for none.
    """
    targets = pseudo_labels(found.clusters, found.distances, labels, n_spread)
    known = np.flatnonzero(targets != NO_LABEL)
    everything = torch.from_numpy(rows)
    taught = everything[torch.from_numpy(known)]
    importance = np.zeros(len(rows), dtype=np.float32)
    if len(known):
        importance[known] = knn_compactness(taught, everything).numpy()
    means = class_means(taught, torch.from_numpy(targets[known]), len(found.centres))
    left = pace(found.distances[targets == NO_LABEL])
    return Lesson(
        targets,
        importance,
        means.numpy(),
        found.centres,
        found.clusters,
        np.array([left], dtype=np.float32),
    )


def named_classes(graph: ConstraintGraph, n_classes: int) -> Indexes:
    """Return the class of each image that a label reaches, else -1.

    Classes are the names in the order of the log, at most `n_classes`; images of a later
    name stay without a class, and a warning says so.
    """
    names = graph.group_names()
    said = (a.answer for a in graph.answers.values() if a.question.kind == "label")
    standing = set(names.values())
    classes = [name for name in dict.fromkeys(said) if name in standing]
    if len(classes) > n_classes:
        warnings.warn(
            f"{len(classes)} groups are named but n_clusters={n_classes}, so "
            f"{classes[n_classes]!r} and later ones are not learned; raise n_clusters.",
            LikewiseWarning,
            stacklevel=2,
        )
    place = {name: number for number, name in enumerate(classes[:n_classes])}
    of_group = {group: place.get(name, NO_LABEL) for group, name in names.items()}
    labels = [of_group.get(group, NO_LABEL) for group in graph.groups().tolist()]
    return np.array(labels, dtype=np.intp)
