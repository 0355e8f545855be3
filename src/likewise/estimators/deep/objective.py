"""What a deep method defines: the named terms of a step's loss, which is their unweighted sum."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.relations import BatchRelations, relations_of
from likewise.estimators.parts import Prediction, State
from likewise.nn.distributed import gather_rows
from likewise.nn.training import covering_shards, generator, process_share
from likewise.types import Indexes

if TYPE_CHECKING:
    from likewise.estimators.deep.learner import NetworkLearner


class Objective(ABC):
    """The loss of a method, and whatever it keeps between steps; only `terms` is required.

    Attributes
    ----------
    pretrains : bool
        Whether the plan's warm-up epochs are a stage that `train` does first if `fit` did not.
    supports_batch_queries : bool
        Whether questions may be asked inside a batch: `terms` uses two views and relations.
    """

    pretrains: ClassVar[bool] = False
    supports_batch_queries: ClassVar[bool] = False

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
        self.learner, self.number, self.indexes = learner, number, indexes[:n_used]
        self.data = learner.data if data is None else data

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
    def relations(self) -> BatchRelations:
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
