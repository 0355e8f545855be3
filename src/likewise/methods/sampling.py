"""Which images meet in a batch: any, or partly those that answers link."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.engine.order import shuffled_batches
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
    groups = graph.groups()
    _, first, size = np.unique(groups, return_index=True, return_counts=True)
    touched = np.concatenate([groups[first[size > 1]], graph.apart().reshape(-1)])
    if not len(touched):
        return np.empty((0, 2), dtype=np.intp)
    images = np.flatnonzero(np.isin(groups, touched))
    rows = [(i, j) for i, j in _answered(graph) if i != j]
    inside = np.isin(np.array(rows).reshape(-1, 2), images).all(axis=1)
    return np.array(rows, dtype=np.intp).reshape(-1, 2)[inside]


def _answered(graph: ConstraintGraph) -> list[tuple[int, int]]:
    """Return image pairs of the answers; labels pair an image with another of its group."""
    pairs = []
    groups = graph.groups()
    order = np.argsort(groups, kind="stable")
    for answer_id, answer in graph.answers.items():
        if answer_id in graph.set_aside:
            continue
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
