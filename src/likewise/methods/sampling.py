"""Which images meet in a batch: any, or partly those that answers link."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.nn.training import shuffled_batches
from likewise.seeds import stream

Indexes = npt.NDArray[np.intp]


def linked_batches(
    graph: ConstraintGraph,
    batch_size: int,
    seed: int,
    epoch: int,
    *,
    share: float = 0.5,
) -> Iterator[Indexes]:
    """Yield shuffled batches, part of each given over to pairs that answers link.

    A loss can only use an answer when both its images are in the batch: with
    `n` images and batches of `b` drawn evenly, that happens to about `b / n` of
    the answers. Here up to `share` of every batch are the images of answered
    pairs, drawn evenly from all answers and laid side by side; the rest is drawn as before.
    """
    pairs = linked_pairs(graph)
    rng = stream(seed, "links", epoch)
    for batch in shuffled_batches(graph.n_images, batch_size, seed, epoch):
        yield batch if not len(pairs) else _with_pairs(batch, pairs, share, rng)


def linked_pairs(graph: ConstraintGraph) -> Indexes:
    """Return the pairs of images that standing answers link, ``(m, 2)``."""
    pairs = np.array(_answered(graph), dtype=np.intp).reshape(-1, 2)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    linked: Indexes = pairs[graph.pair_relations(pairs) != 0]  # not those of "can't tell"
    return linked


def share_met(graph: ConstraintGraph, batches: Iterable[Indexes]) -> float:
    """Return the share of linked pairs whose two images meet in some batch; 1 if there is none."""
    pairs = linked_pairs(graph)
    is_met = np.zeros(len(pairs), dtype=bool)
    for batch in batches:
        is_met |= np.isin(pairs, batch).all(axis=1)
    return float(is_met.mean()) if len(pairs) else 1.0


def _answered(graph: ConstraintGraph) -> list[tuple[int, int]]:
    """Return image pairs of the answers; labels pair an image with another of its group."""
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


def _with_pairs(batch: Indexes, pairs: Indexes, share: float, rng: np.random.Generator) -> Indexes:
    wanted = int(share * len(batch)) // 2
    drawn = pairs[rng.permutation(len(pairs))[:wanted]].reshape(-1)
    linked = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    rest = batch[~np.isin(batch, linked)][: len(batch) - len(linked)]
    return np.concatenate([linked, rest])
