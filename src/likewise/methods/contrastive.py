"""Base of the methods that learn from two views, and may ask inside a batch."""

from abc import abstractmethod
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from likewise.methods.known import Known, extend, known_of
from likewise.methods.network import View
from likewise.methods.stepping import Indexes, SteppingClusterer


class ContrastiveClusterer(SteppingClusterer):
    """Two views of every image, one network, named loss terms; a method adds only the terms."""

    asks_in_batches: ClassVar[bool] = True

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
