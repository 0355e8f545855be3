"""Base of the methods that learn from two views: network, batches, steps, batch-wise questions."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.engine import order
from likewise.engine.batch_norm import share_batch_statistics
from likewise.engine.gather import gather_rows
from likewise.engine.loop import train_epoch
from likewise.engine.randomness import borrowed_global_generator, generator
from likewise.engine.runtime import make_runtime
from likewise.engine.step import make_optimiser
from likewise.methods.architecture import Architecture
from likewise.methods.base import Floats, PersonalClusterer, Watch
from likewise.methods.builder import build_network, build_views
from likewise.methods.known import Known, extend, known_of
from likewise.methods.monitor import size_entropy
from likewise.methods.network import Network, View
from likewise.methods.sampling import linked_batches
from likewise.methods.source import Source, read_pictures
from likewise.oracles.oracle import Oracle
from likewise.progress import Progress

Indexes = npt.NDArray[np.intp]
_READ_OUT = 1024  # images looked at together in evaluation


class ContrastiveClusterer(PersonalClusterer):
    """Two views of every image, one network, named loss terms; a method adds only the terms."""

    network_: Network
    _bank: Tensor | None = None  # fixed companions of evaluation, where there is a context

    @abstractmethod
    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        """Return the named terms of one step.

        Parameters
        ----------
        a, b : View
            The two views of the whole batch, rows in the same order.
        known : Known
            What answers, and the model's guesses, say of the batch.
        """

    # -- building -----------------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> Source:
        if self._settings.backbone is None:
            return super()._read(X, reset=reset)
        shape: Architecture = self._settings.architecture or Architecture()
        return read_pictures(X, shape.size)

    def _build(self) -> None:
        plan, pictures = self._plan, self._source.n_columns is None
        log_to = Path(plan.log_to) if plan.log_to else None
        self._runtime = make_runtime(plan.precision, pictures=pictures, log_to=log_to)
        with borrowed_global_generator(self._seed, "network"):
            network = self._make_network()
        self.network_ = network.to(self._runtime.device)
        share_batch_statistics(self.network_)
        parameters = self.network_.parameters()
        self._optimiser = make_optimiser(
            parameters, plan.optimiser, plan.learning_rate, plan.weight_decay
        )
        self._views = build_views(self._settings, self._source)
        self._epoch = self._epochs_due = 0
        self._oracle: Oracle | None = None

    def _make_network(self) -> Network:
        return build_network(self._settings, self._source)

    def _modules_to_save(self) -> dict[str, Any]:
        return {"network": self.network_, "optimiser": self._optimiser}

    # -- training -----------------------------------------------------------

    @property
    def _is_mid_round(self) -> bool:
        return self._epochs_due > 0

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        plan = self._plan
        if not self._is_mid_round:
            self._epochs_due = plan.epochs_per_round if n_epochs is None else n_epochs
            self._asker.turn()
        total = self._epochs_due
        while self._epochs_due:
            self._train_one_epoch()
            progress(total - self._epochs_due, total)
            # At the end of a round `_walk` keeps one, with the round counted.
            if self._is_mid_round and self._epoch % plan.checkpoint_every == 0:
                self._keep_checkpoint()

    @property
    def _progress_share(self) -> float:
        """Return how much of all planned epochs is done, 0 to 1."""
        plan = self._plan
        return min(self._epoch / (plan.warmup_epochs + plan.n_rounds * plan.epochs_per_round), 1.0)

    @property
    def _is_frozen(self) -> bool:
        """Return whether batch statistics are frozen: PCL's public code, for parity only."""
        after = getattr(self._settings, "frozen_after", None)
        return after is not None and self._epoch >= after

    def _train_one_epoch(self) -> None:
        if self._oracle is not None:
            self._asker.turn()
        self.network_.train(not self._is_frozen)
        self._sizes = torch.zeros(self._n_clusters, dtype=torch.long)
        means = train_epoch(
            self._batches(), self._step_terms, self._optimiser, clip_norm=self._plan.clip_norm
        )
        self.history_.append({**means, "size_entropy": size_entropy(self._sizes)})
        if self._plan.log_to:
            self._runtime.accelerator.log(self.history_[-1], step=self._epoch)
        self._epoch += 1
        self._epochs_due -= 1

    def _batches(self) -> Iterator[Indexes]:
        n, size = len(self._source), self._plan.batch_size
        if self._plan.sampler == "fixed":
            return order.fixed_batches(n, size)
        if self._plan.sampler == "linked":
            return linked_batches(self.constraints_, size, self._seed, self._epoch)
        return order.shuffled_batches(n, size, self._seed, self._epoch)

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        a, b = self._look_twice(number, indexes, share)
        self._count(a)
        if self._oracle is not None:
            self._ask_in_batch(indexes, a, b)
        if self._progress_share > 1 - getattr(self._settings, "extension", 0.0):
            threshold = self._settings.extension_threshold
            extend(self.constraints_, indexes, a, b, threshold=threshold)
        return self._loss_terms(a, b, known_of(self.constraints_, indexes, a.z.device))

    def _shared(self, indexes: Indexes) -> tuple[Indexes, slice]:
        """Return the batch as far as processes divide it evenly, and the share of this one."""
        share = order.share(len(indexes), self._runtime.rank, self._runtime.n_processes)
        return indexes[: (share.stop - share.start) * self._runtime.n_processes], share

    def _count(self, view: View) -> None:
        """Count the batch into cluster sizes, for the collapse monitor."""
        self._sizes += torch.bincount(view.p.argmax(1).cpu(), minlength=self._n_clusters)

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
        rows: Tensor = self.network_.scaling(source.batch(indexes).to(self._runtime.device))
        return rows

    # -- questions inside a batch (the papers' cadence) ----------------------

    def _ask_in_batch(self, indexes: Indexes, a: View, b: View) -> None:
        """Have the best pairs of the batch answered; the answers are in this step's loss."""
        plan, asker, oracle = self._plan, self._asker, self._oracle
        rows = [self._query_rows(view).detach().float().cpu().numpy() for view in (a, b)]
        n = min(plan.questions_per_batch, asker.budget - asker.n_asked)
        if oracle is not None and n > 0 and self._epoch >= plan.first_query_epoch:
            probabilities = ((a.p + b.p) / 2).detach().cpu().numpy()
            questions = asker.ask_in(indexes, n, (rows[0], rows[1]), probabilities)
            self._put(questions, oracle)
        asker.remember(indexes, rows[0] + rows[1])

    def _query_rows(self, view: View) -> Tensor:
        """Return the unit rows in which a strategy compares images."""
        if getattr(self._settings, "query_space", "z") == "backbone":
            return F.normalize(view.features, dim=1)
        return view.z

    def _walk(
        self, oracle: Oracle | None, n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        in_batches = self._plan.cadence == "batch" and bool(self.asks)
        self._oracle = oracle if in_batches else None
        if self._plan.log_to:
            self._runtime.accelerator.init_trackers("likewise")
        try:
            super()._walk(None if in_batches else oracle, n_questions, progress, watch)
        finally:
            self._oracle = None
            if self._plan.log_to:
                self._runtime.accelerator.end_training()

    # -- reading it out -----------------------------------------------------

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        self.network_.eval()
        embeddings, probabilities = [], []  # and no features: they are wide, and not wanted
        for start in range(0, len(source), _READ_OUT):
            view = self._look(source, np.arange(start, min(start + _READ_OUT, len(source))))
            embeddings.append(view.z.float().cpu().numpy())
            probabilities.append(view.p.float().cpu().numpy())
        return np.concatenate(embeddings), np.concatenate(probabilities)

    def _rows_to_compare(self) -> Floats:
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
