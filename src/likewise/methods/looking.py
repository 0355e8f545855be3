"""Base of the methods with a network: how it is built, and how it looks at images."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from likewise.images.collection import ImageCollection
from likewise.methods.architecture import Architecture
from likewise.methods.base import PersonalClusterer
from likewise.methods.builder import build_network, build_scaling, build_views
from likewise.methods.fitted import Floats
from likewise.methods.network import Network, View
from likewise.methods.source import Source, VectorSource, read_pictures
from likewise.nn import training as order
from likewise.nn.device import make_runtime
from likewise.nn.distributed import gather_rows, share_batch_statistics
from likewise.nn.seeding import borrowed_global_generator, generator
from likewise.nn.training import make_optimiser
from likewise.oracles.base import Oracle

Indexes = npt.NDArray[np.intp]
_READ_OUT = 1024  # images looked at together in evaluation
_SCALE_ONCE = 200_000  # vectors up to which all are scaled beforehand


class NetworkClusterer(PersonalClusterer):
    """A network on vectors or on pictures: built, shown views, read out; how it trains is open."""

    network_: Network
    default_architecture: ClassVar[Architecture] = Architecture(n_features=256, n_hidden=256)
    _bank: Tensor | None = None  # fixed companions of evaluation, where there is a context

    # -- building -----------------------------------------------------------

    @property
    def _reads_vectors(self) -> bool:  # type: ignore[override]
        return self._settings.backbone is None

    def _read_pictures(self, collection: ImageCollection, *, reset: bool) -> Source:
        if self._reads_vectors:
            return super()._read_pictures(collection, reset=reset)
        shape: Architecture = self._settings.architecture or self.default_architecture
        return read_pictures(collection, shape.size)

    def _build(self) -> None:
        plan, pictures = self._plan, self._source.n_columns is None
        self._settings.architecture = self._settings.architecture or self.default_architecture
        log_to = Path(plan.log_to) if plan.log_to else None
        self._runtime = make_runtime(plan.precision, pictures=pictures, log_to=log_to)
        self._epoch = self._epochs_due = 0
        self._oracle: Oracle | None = None  # who answers inside batches
        self._views = build_views(self._settings, self._source)
        self._fitted_scaling: nn.Module | None = None
        self._scaled: tuple[Source, Tensor] | None = None
        self._begin_anew()
        self._scale_once()

    def _begin_anew(self) -> None:
        """Make the network, untrained, and its optimiser."""
        plan, names = self._plan, ("network", self._epoch) if self._epoch else ("network",)
        with borrowed_global_generator(self._seed, *names):
            network = self._make_network()
        self.network_ = network.to(self._runtime.device)
        share_batch_statistics(self.network_)
        parameters = self.network_.parameters()
        self._optimiser = make_optimiser(
            parameters, plan.optimiser, plan.learning_rate, plan.weight_decay
        )
        self.constraints_.clear_pseudo()  # guesses of a network that is no more

    def _make_network(self) -> Network:
        return build_network(self._settings, self._source, self._scaling)

    @property
    def _scaling(self) -> nn.Module | None:
        """Return the scaling of vectors, fitted when it is first wanted; the same in all rounds."""
        if self._fitted_scaling is None:
            self._fitted_scaling = build_scaling(self._source)
        return self._fitted_scaling

    @torch.no_grad()
    def _scale_once(self) -> None:
        """Keep all vectors scaled, if they are not too many: epochs then need not do it."""
        source, n = self._source, len(self._source)
        if isinstance(source, VectorSource) and n <= _SCALE_ONCE:
            chunks = np.array_split(np.arange(n), -(-n // _READ_OUT))
            self._scaled = source, torch.cat([self._rows(source, chunk) for chunk in chunks])

    def _modules_to_save(self) -> dict[str, Any]:
        return {"network": self.network_, "optimiser": self._optimiser}

    # -- looking at images ----------------------------------------------------

    def _shared(self, indexes: Indexes) -> tuple[Indexes, slice]:
        """Return the batch as far as processes divide it evenly, and the share of this one."""
        share = order.share(len(indexes), self._runtime.rank, self._runtime.n_processes)
        return indexes[: (share.stop - share.start) * self._runtime.n_processes], share

    def _look_plain(self, indexes: Indexes) -> View:
        """Return the plain view of the whole batch, of which `indexes` are this process's share."""
        rows = self._views.plain(self._rows(self._source, indexes))
        with self._runtime.autocast():
            features = self.network_.features(self._runtime.laid_out(rows))
        return self.network_.heads(gather_rows(features.float()))

    def _look_twice(self, number: int, indexes: Indexes, share: slice) -> tuple[View, View]:
        """Return both views of the whole batch, of which this process computes its share."""
        shards = order.covering_shards(share, len(indexes))
        drawn = [self._draw(number, indexes, shard) for shard in shards]
        offset = shards[0].start
        inside = slice(share.start - offset, share.stop - offset)
        both = []
        for views in zip(*drawn, strict=True):
            rows = self._runtime.laid_out(torch.cat(views)[inside])
            with self._runtime.autocast():
                features = self.network_.features(rows)
            both.append(self.network_.heads(gather_rows(features.float())))
        return both[0], both[1]

    def _draw(self, number: int, indexes: Indexes, shard: slice) -> tuple[Tensor, Tensor]:
        rng = generator(self._seed, "views", self._epoch, number, shard.start)
        return self._views.draw(self._rows(self._source, indexes[shard]), rng)

    def _rows(self, source: Source, indexes: Indexes) -> Tensor:
        if self._scaled is not None and source is self._scaled[0]:
            return self._scaled[1][torch.from_numpy(indexes).to(self._runtime.device)]
        rows: Tensor = self.network_.scaling(source.batch(indexes).to(self._runtime.device))
        return rows

    # -- reading it out -----------------------------------------------------

    @property
    def _n_together(self) -> int:
        """Return how many images are looked at together: a batch where they see each other."""
        return self._plan.batch_size if getattr(self._settings, "companions", False) else _READ_OUT

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        self.network_.eval()
        embeddings, probabilities = [], []  # and no features: they are wide, and not wanted
        size = self._n_together
        for start in range(0, len(source), size):
            view = self._look(source, np.arange(start, min(start + size, len(source))))
            embeddings.append(view.z.float().cpu().numpy())
            probabilities.append(view.p.float().cpu().numpy())
        return np.concatenate(embeddings), np.concatenate(probabilities)

    def _rows_to_compare(self) -> Floats | None:
        if getattr(self._settings, "query_space", "z") != "backbone":
            return super()._rows_to_compare()
        chunks = np.array_split(np.arange(len(self._source)), -(-len(self._source) // _READ_OUT))
        rows = torch.cat([self._look(self._source, chunk).features for chunk in chunks])
        features: Floats = rows.cpu().numpy()
        return features

    @torch.no_grad()
    def _look(self, source: Source, indexes: Indexes) -> View:
        rows = self._views.plain(self._rows(source, indexes))
        with self._runtime.autocast():
            features = self.network_.features(self._runtime.laid_out(rows))
        return self.network_.heads(features.float(), self._bank)
