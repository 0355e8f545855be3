"""Base of the methods that train in epochs, batch by batch; a method adds what a step is."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.methods.base import Watch
from likewise.methods.looking import NetworkClusterer
from likewise.methods.monitor import size_entropy
from likewise.methods.network import View
from likewise.methods.sampling import linked_batches, share_met
from likewise.nn import training as order
from likewise.nn.training import train_epoch
from likewise.oracles.base import Oracle
from likewise.progress import Progress

Indexes = npt.NDArray[np.intp]


class SteppingClusterer(NetworkClusterer):
    """One network, trained in steps of named loss terms; what is looked at in a step is open."""

    asks_in_batches: ClassVar[bool] = False  # or else only between rounds

    @abstractmethod
    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        """Look at one batch and return the named terms of its step.

        Parameters
        ----------
        number : int
            Of the batch in its epoch.
        indexes : array of shape (b,)
            The images of the whole batch, of which each process computes its share.
        """

    def _build(self) -> None:
        if self._plan.cadence == "batch" and self.asks and not self.asks_in_batches:
            raise InvalidParameterError(
                f"cadence='batch' means questions inside a batch, but {type(self).__name__} asks "
                "between rounds only; choose Plan(cadence='round')."
            )
        super()._build()

    # -- epochs and steps -----------------------------------------------------

    @property
    def _is_mid_round(self) -> bool:
        return self._epochs_due > 0

    @property
    def _is_pretraining(self) -> bool:
        return self._epoch < self._plan.warmup_epochs

    def _pretrain(self, n_epochs: int | None, progress: Progress) -> None:
        """Do what is left of the warm-up first, where the verbs are used without `fit`."""
        if n_epochs is None and self._is_pretraining:
            SteppingClusterer._improve(self, self._plan.warmup_epochs - self._epoch, progress)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        plan = self._plan
        if not self._is_mid_round:
            self._epochs_due = plan.epochs_per_round if n_epochs is None else n_epochs
            self._asker.turn()
            if plan.fresh and n_epochs is None and self._epoch:
                self._begin_anew()
        total = self._epochs_due
        while self._epochs_due:
            self._train_one_epoch()
            progress(total - self._epochs_due, total)
            # At the end of a round `_walk` keeps one, with the round counted.
            if self._is_mid_round and self._epoch % plan.checkpoint_every == 0:
                self._keep_checkpoint()

    @property
    def _progress_share(self) -> float:
        """Return how much of all planned epochs is done, 0 to 1; of this round's if it is fresh."""
        plan = self._plan
        if plan.fresh:
            return max(1 - self._epochs_due / plan.epochs_per_round, 0.0)
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
        batches = list(self._batches())
        self._check_sizes(batches)
        means = train_epoch(
            batches, self._step_terms, self._optimiser, clip_norm=self._plan.clip_norm
        )
        self.history_.append({**means, **self._monitors(batches)})
        if self._plan.log_to:
            self._runtime.accelerator.log(self.history_[-1], step=self._epoch)
        self._epoch += 1
        self._epochs_due -= 1

    def _check_sizes(self, batches: list[Indexes]) -> None:
        """Raise where a batch of one image meets statistics of batches."""
        kind = nn.modules.batchnorm._BatchNorm
        if any(len(batch) == 1 for batch in batches) and any(
            isinstance(module, kind) for module in self.network_.modules()
        ):
            raise InvalidParameterError(
                "One picture in a batch has no batch statistics to be normalised by; choose a "
                "batch_size of at least 2, and give at least 2 pictures at a time."
            )

    def _monitors(self, batches: list[Indexes]) -> dict[str, float]:
        """Return what the log shows when training goes wrong: collapse, links that never meet."""
        found = {"size_entropy": size_entropy(self._sizes)}
        if self.constraints_.n_answers:
            found["links_met"] = share_met(self.constraints_, batches)
        return found

    def _batches(self) -> Iterator[Indexes]:
        n, size = len(self._source), self._plan.batch_size
        if self._plan.sampler == "fixed":
            return order.fixed_batches(n, size)
        if self._plan.sampler == "linked":
            share = self._plan.linked_share
            return linked_batches(self.constraints_, size, self._seed, self._epoch, share=share)
        return order.shuffled_batches(n, size, self._seed, self._epoch)

    def _tell_what_is_left(self) -> None:
        """Warn where batches held too few open pairs for all questions to be asked."""
        n_asked, budget = self._asker.n_asked, self._asker.budget
        if self._oracle is not None and n_asked < budget:
            warnings.warn(
                f"Of {budget} questions {n_asked} were asked: no more than "
                f"questions_per_batch={self._plan.questions_per_batch} in a batch, from epoch "
                f"{self._plan.first_query_epoch} on, and only about pairs of that batch that are "
                "still open; train for more epochs, or raise questions_per_batch.",
                LikewiseWarning,
                stacklevel=4,
            )

    def _count(self, view: View) -> None:
        """Count the batch into cluster sizes, for the collapse monitor."""
        self._sizes += torch.bincount(view.p.argmax(1).cpu(), minlength=self._n_clusters)

    # -- the walk -------------------------------------------------------------

    def _walk(
        self, oracle: Oracle | None, n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        in_batches = self._plan.cadence == "batch" and bool(self.asks)
        self._oracle = oracle if in_batches else None
        if self._plan.log_to:
            self._runtime.accelerator.init_trackers("likewise")
        try:
            if self._oracle is not None:
                self._put(self._asker.ask_first(self.probabilities_), self._oracle)
            super()._walk(None if in_batches else oracle, n_questions, progress, watch)
            self._tell_what_is_left()
        finally:
            self._oracle = None
            if self._plan.log_to:
                self._runtime.accelerator.end_training()
