"""Relations of the images of a batch, pseudo-links, and batches that contain constrained pairs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.estimators.deep.networks import NetworkOutput
from likewise.nn.training import shuffled_batches
from likewise.random_streams import stream
from likewise.types import Indexes, Pairs


@dataclass(frozen=True)
class BatchRelations:
    """The relations between the images of one batch: +1 same, -1 different, 0 unknown.

    Parameters
    ----------
    relations : Tensor of shape (n, n), int8
        From answers, given and implied; zero diagonal.
    guesses : Tensor of shape (n, n), int8
        Pseudo-links, only where `relations` is 0.
    """

    relations: Tensor
    guesses: Tensor

    @property
    def all(self) -> Tensor:
        """Return both together."""
        return self.relations + self.guesses


def relations_of(graph: ConstraintGraph, indexes: Indexes, device: torch.device) -> BatchRelations:
    """Return the relations of a batch."""
    given = graph.relations(indexes)
    with_guesses = graph.relations(indexes, pseudo=True)
    guesses = np.where(given == 0, with_guesses, 0).astype(np.int8)
    return BatchRelations(torch.from_numpy(given).to(device), torch.from_numpy(guesses).to(device))


# -- pseudo-links -------------------------------------------------------------------


@dataclass(frozen=True)
class LabelExtension:
    r"""Label extension: confident pairs are added as must-links that can be removed again.

    Parameters
    ----------
    fraction : float
        Over the last `fraction` of the epochs one pair is added in each batch; 0: never.
    threshold : float
        Smallest probability of both images, and smallest similarity of the pair.

    Notes
    -----
    Among pairs without a relation and with the same argmax, both largest probabilities
    above `threshold` and the mean similarity of the two views above it too, the most similar
    pair is added.

    Fidelity: [OCC]_ and [PCL]_ print no threshold; .9999 is that of PCL's public code, which
    has the extension switched off.
    """

    fraction: float
    threshold: float

    @torch.no_grad()
    def add_one(
        self, graph: ConstraintGraph, indexes: Indexes, a: NetworkOutput, b: NetworkOutput
    ) -> tuple[int, int] | None:
        """Add the most confident pair of a batch to `graph`; return it, None if there is none."""
        similarity = (a.z @ a.z.T + b.z @ b.z.T) / 2
        confidence, cluster = a.p.max(dim=1)
        is_sure = confidence > self.threshold
        is_candidate = is_sure[:, None] & is_sure[None, :] & (cluster[:, None] == cluster[None, :])
        is_open = torch.from_numpy(graph.relations(indexes, pseudo=True) == 0)
        is_candidate &= is_open.to(is_candidate.device) & (similarity > self.threshold)
        is_candidate &= torch.ones_like(is_candidate).triu(1)
        if not is_candidate.any():
            return None
        best = int(torch.where(is_candidate, similarity, -torch.inf).argmax())
        i, j = int(indexes[best // len(indexes)]), int(indexes[best % len(indexes)])
        graph.add_pseudo(min(i, j), max(i, j), Relation.SAME)
        return i, j


# -- batches ------------------------------------------------------------------------


def constrained_batches(
    graph: ConstraintGraph, batch_size: int, seed: int, epoch: int, *, fraction: float = 0.5
) -> Iterator[Indexes]:
    """Yield shuffled batches, part of each filled with images of constrained pairs.

    A loss can use an answer only if both images are in the batch: with `n` images and
    batches of `b` drawn uniformly, that happens to about `b / n` of the answers. Here up to
    `fraction` of every batch are images of answered pairs, drawn uniformly from all answers
    and placed next to each other; the rest is drawn as before.
    """
    pairs = constrained_pairs(graph)
    rng = stream(seed, "links", epoch)
    for batch in shuffled_batches(graph.n_images, batch_size, seed, epoch):
        yield batch if not len(pairs) else _with_pairs(batch, pairs, fraction, rng)


def constrained_pairs(graph: ConstraintGraph) -> Pairs:
    """Return the pairs of images that active answers relate, ``(m, 2)``."""
    pairs = np.array(_answered_pairs(graph), dtype=np.intp).reshape(-1, 2)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    constrained: Pairs = pairs[graph.pair_relations(pairs) != 0]  # without "can't tell"
    return constrained


def fraction_met(graph: ConstraintGraph, batches: Iterable[Indexes]) -> float:
    """Return the fraction of constrained pairs whose two images are in one batch; 1 if none."""
    pairs = constrained_pairs(graph)
    is_met = np.zeros(len(pairs), dtype=bool)
    for batch in batches:
        is_met |= np.isin(pairs, batch).all(axis=1)
    return float(is_met.mean()) if len(pairs) else 1.0


def _answered_pairs(graph: ConstraintGraph) -> list[tuple[int, int]]:
    """Return the image pairs of all answers; a label pairs an image with one of its group."""
    pairs = []
    groups = graph.groups()
    order = np.argsort(groups, kind="stable")
    for answer in graph.answers.values():
        image, *others = answer.question.images
        pairs += [(image, other) for other in others]
        if answer.question.kind == "label":
            start, stop = np.searchsorted(groups[order], [groups[image], groups[image] + 1])
            pairs += [(image, int(order[start]))] if stop - start > 1 else []
    return pairs


def _with_pairs(batch: Indexes, pairs: Pairs, fraction: float, rng: np.random.Generator) -> Indexes:
    n_pairs = int(fraction * len(batch)) // 2
    drawn = pairs[rng.permutation(len(pairs))[:n_pairs]].reshape(-1)
    constrained = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    rest = batch[~np.isin(batch, constrained)][: len(batch) - len(constrained)]
    return np.concatenate([constrained, rest])
