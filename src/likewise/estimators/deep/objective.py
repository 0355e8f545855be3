"""Loss of a deep method (`Objective`), and the batch it is computed on, with its constraints.

The loss of one step is the unweighted sum of the terms that the objective returns.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.parts import Prediction, State
from likewise.nn.device import gather_rows
from likewise.nn.training import covering_shards, generator, process_share, shuffled_batches
from likewise.random_streams import stream
from likewise.types import Indexes, Pairs

if TYPE_CHECKING:
    from likewise.estimators.deep.learner import NetworkLearner

# Quantiles from which a probability of a batch, and a similarity of its open pairs, is high.
_SURE, _ALIKE = 0.75, 0.9


class Objective(ABC):
    """The loss of a method, and its state between steps; only `terms` is required.

    Attributes
    ----------
    pretrains : bool
        Whether the plan's warm-up epochs are a stage that `train` does first if `fit` did not.
    supports_batch_queries : bool
        Whether questions may be asked inside a batch: `terms` uses two views and relations.
    """

    pretrains: ClassVar[bool] = False
    supports_batch_queries: ClassVar[bool] = False

    @property
    def collapse_remedy(self) -> str:
        """Return what to do if training collapses; the last sentence of the warning."""
        return "Use another learning rate, or two random views of each image."

    @abstractmethod
    def terms(self, batch: "Batch") -> dict[str, Tensor]:
        """Return the named terms whose sum is the loss of one step."""

    def setup(self, learner: "NetworkLearner") -> None:
        """Prepare for a network that has just been made; called once."""
        return

    def begin_training(self, learner: "NetworkLearner") -> None:
        """Prepare for a round of epochs; not called when an interrupted round continues."""
        return

    def begin_epoch(self, learner: "NetworkLearner") -> None:
        """Prepare for an epoch; the network is in training mode."""
        return

    def batches(self, learner: "NetworkLearner") -> Iterator[Indexes]:
        """Yield the images of each batch of an epoch."""
        return learner.sample_batches()

    def end_training(self, learner: "NetworkLearner") -> None:
        """Finish a round of epochs."""
        return

    def before_prediction(self, learner: "NetworkLearner") -> None:
        """Prepare for predicting the collection that was trained on."""
        return

    def predict(self, prediction: Prediction) -> Prediction:
        """Return embeddings and probabilities, given those of the network."""
        return prediction

    def modules(self) -> Mapping[str, nn.Module]:
        """Return further networks that belong to the state."""
        return {}

    def get_state(self) -> State:
        """Return the arrays that belong to the state."""
        return {}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        return


class Batch:
    """One batch of images; what the network returns for it is computed when it is first used.

    Parameters
    ----------
    learner : NetworkLearner
    number : int
        Position in the epoch.
    indexes : array of shape (b,)
    data : Data, optional
        Other data than the learner's own.

    Attributes
    ----------
    indexes : array of shape (b,)
        The images of the whole batch; every process computes its share of them.
    """

    def __init__(
        self, learner: "NetworkLearner", number: int, indexes: Indexes, data: Data | None = None
    ) -> None:
        runtime = learner.runtime
        self._share = process_share(len(indexes), runtime.rank, runtime.n_processes)
        n_used = (self._share.stop - self._share.start) * runtime.n_processes
        self.learner = learner
        self.number = number
        self.indexes: Indexes = indexes[:n_used]
        self.data: Data = learner.data if data is None else data

    @property
    def network(self) -> Any:
        """Return the network that is trained."""
        return self.learner.network

    @cached_property
    def views(self) -> tuple[NetworkOutput, NetworkOutput]:
        """Return the network's output for two random views of the batch."""
        shards = covering_shards(self._share, len(self.indexes))
        drawn = [self._draw_shard(shard) for shard in shards]
        offset = shards[0].start
        inside = slice(self._share.start - offset, self._share.stop - offset)
        first, second = (
            self._forward(torch.cat(rows)[inside]) for rows in zip(*drawn, strict=True)
        )
        return first, second

    @cached_property
    def plain(self) -> NetworkOutput:
        """Return the network's output for the batch without augmentation."""
        own = self.indexes[self._share]
        return self._forward(self.learner.augmentation.plain(self.learner.inputs(own, self.data)))

    @cached_property
    def inputs(self) -> Tensor:
        """Return the network's input for the whole batch without augmentation."""
        return self.learner.augmentation.plain(self.learner.inputs(self.indexes, self.data))

    @cached_property
    def relations(self) -> "BatchRelations":
        """Return the relations between the images of the batch."""
        return relations_of(self.learner.constraints, self.indexes, self.learner.device)

    @property
    def first_output(self) -> NetworkOutput | None:
        """Return what was computed first, if anything was."""
        if "views" in self.__dict__:
            return self.views[0]
        return self.plain if "plain" in self.__dict__ else None

    def draw(self, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the network's input for two further random views."""
        return self.learner.augmentation.draw(self.learner.inputs(self.indexes, self.data), rng)

    def _draw_shard(self, shard: slice) -> tuple[Tensor, Tensor]:
        learner = self.learner
        rng = generator(learner.seed, "views", learner.epoch, self.number, shard.start)
        return learner.augmentation.draw(learner.inputs(self.indexes[shard], self.data), rng)

    def _forward(self, rows: Tensor) -> NetworkOutput:
        features = self.learner.features(rows)
        output: NetworkOutput = self.network.heads(gather_rows(features))
        return output


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
        """Return the relations of answers and pseudo-links together."""
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
    threshold : float, optional
        Smallest probability of both images, and smallest similarity of the pair; None: the
        upper quarter of the probabilities of a batch, the upper tenth of the similarities of
        its open pairs.
    from_answers : bool
        Whether one image of the pair must have a relation from an answer in the batch.

    Notes
    -----
    Among pairs without a relation and with the same argmax, both largest probabilities
    and the mean similarity of the two views at least `threshold`, the most similar pair is
    added.

    Fidelity: [OCC]_ and [PCL]_ print no threshold. PCL's public code has .9999 and the extension
    switched off; with that value no pair was ever added in our runs, hence the quantile.
    [OCC]_ section 4.1 labels images similar to *annotated* ones, [PCL]_ any similar pair.
    """

    fraction: float
    threshold: float | None = None
    from_answers: bool = False

    @torch.no_grad()
    def add_one(
        self, graph: ConstraintGraph, indexes: Indexes, a: NetworkOutput, b: NetworkOutput
    ) -> tuple[int, int] | None:
        """Add the most confident pair of a batch to `graph`; return it, None if there is none."""
        similarity = (a.z @ a.z.T + b.z @ b.z.T) / 2
        confidence, cluster = ((a.p + b.p) / 2).max(dim=1)
        is_open = self._open_pairs(graph, indexes).to(similarity.device)
        is_open &= cluster[:, None] == cluster[None, :]
        if not is_open.any():
            return None
        is_sure = confidence >= self._least(confidence, _SURE)
        is_alike = similarity >= self._least(similarity[is_open], _ALIKE)
        is_candidate = is_open & is_alike & is_sure[:, None] & is_sure[None, :]
        if not is_candidate.any():
            return None
        best = int(torch.where(is_candidate, similarity, -torch.inf).argmax())
        i, j = int(indexes[best // len(indexes)]), int(indexes[best % len(indexes)])
        graph.add_pseudo(min(i, j), max(i, j), Relation.SAME)
        return i, j

    def _open_pairs(self, graph: ConstraintGraph, indexes: Indexes) -> Tensor:
        """Return which pairs of a batch, each once, may be added."""
        is_open = graph.relations(indexes, pseudo=True) == 0
        if self.from_answers:
            is_annotated = (graph.relations(indexes) != 0).any(axis=1)
            is_open &= is_annotated[:, None] | is_annotated[None, :]
        return torch.from_numpy(np.triu(is_open, 1))

    def _least(self, values: Tensor, quantile: float) -> Tensor:
        """Return the smallest of `values` that counts as confident."""
        if self.threshold is not None:
            return values.new_tensor(self.threshold)
        return values.quantile(quantile)


# -- batches ------------------------------------------------------------------------


def constrained_batches(
    graph: ConstraintGraph, batch_size: int, seed: int, epoch: int, *, fraction: float = 0.5
) -> Iterator[Indexes]:
    """Yield shuffled batches, part of each filled with images of constrained pairs.

    A loss can use an answer only if both images are in the batch: with `n` images and
    batches of `b` drawn uniformly, that happens to about `b / n` of the answers. Here
    `fraction` of the images of every batch, or all there are, belong to answered pairs drawn
    uniformly from all answers; the rest is drawn as before.
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
    """Return a batch of the same size that begins with images of pairs drawn at random.

    Images are counted, not pairs: answers share images, so a fixed number of pairs would give
    fewer images than wanted.
    """
    n_linked = int(fraction * len(batch))
    drawn = pairs[rng.permutation(len(pairs))].reshape(-1)
    linked = drawn[np.sort(np.unique(drawn, return_index=True)[1])][:n_linked]
    rest = batch[~np.isin(batch, linked)][: len(batch) - len(linked)]
    return np.concatenate([linked, rest])
