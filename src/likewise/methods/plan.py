"""How a method spends its time: rounds, questions, epochs, batch size, step size."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from likewise.errors import InvalidParameterError, UnknownNameError

CADENCES = ("round", "batch")
SAMPLERS = ("uniform", "linked", "fixed")
_COUNTS = ("n_rounds", "epochs_per_round", "batch_size", "checkpoint_every")
_NOT_NEGATIVE = ("warmup_epochs", "questions_per_batch", "first_query_epoch", "weight_decay")


@dataclass(frozen=True)
class Plan:
    """Rounds, questions, epochs, batch and step size of one training.

    Parameters
    ----------
    warmup_epochs : int
        Epochs before the first question of a ``round`` cadence.
    n_rounds, epochs_per_round : int
        Ask some, train some, so many times.
    batch_size : int
        Images in a step, over all processes together.
    learning_rate, weight_decay : float
    optimiser : {"adam", "adamw", "sgd"}
    clip_norm : float, optional
        Longest gradient allowed.
    cadence : {"round", "batch"}
        ``round``: questions between rounds, for people and the default.
        ``batch``: in every step pick pairs inside the batch at hand and use the
        answers in that same step's loss, as the papers do.
    questions_per_batch, first_query_epoch : int
        Of the ``batch`` cadence: OCC asks 2 from epoch 1, PCL 1 from epoch 10.
    sampler : {"uniform", "linked", "fixed"}
        Which images meet in a batch: any, partly those that answers link, or
        always the same ones (PCL's public code, for parity only).
    linked_share : float
        How much of a batch ``linked`` gives over to images that answers link, at most.
    fresh : bool
        Begin every round with an untrained network, which learns from all answers so far:
        assignments that have hardened without an answer hardly soften again.
    precision : {"auto", "float32", "bf16"}
    checkpoint_every : int
        Epochs between two checkpoints, where a checkpoint folder is given.
    log_to : str, optional
        Folder for TensorBoard.
    """

    warmup_epochs: int = 0
    n_rounds: int = 1
    epochs_per_round: int = 20
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    optimiser: str = "adam"
    clip_norm: float | None = None
    cadence: Literal["round", "batch"] = "round"
    questions_per_batch: int = 1
    first_query_epoch: int = 1
    sampler: Literal["uniform", "linked", "fixed"] = "uniform"
    linked_share: float = 0.5
    fresh: bool = False
    precision: str = "auto"
    checkpoint_every: int = 10
    log_to: str | None = None

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise InvalidParameterError(
                    f"Plan: {name}={getattr(self, name)} must be at least 1."
                )
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise InvalidParameterError(
                    f"Plan: {name}={getattr(self, name)} must not be negative; 0 switches it off."
                )
        _check_shares(self.learning_rate, self.linked_share)
        for what, name, known in (
            ("cadence", self.cadence, CADENCES),
            ("sampler", self.sampler, SAMPLERS),
        ):
            if name not in known:
                raise UnknownNameError(what, name, known)

    def but(self, **changes: Any) -> Self:
        """Return this plan with some entries changed; a wrong name is refused in words."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                raise UnknownNameError("entry of a plan", name, known)
        return replace(self, **changes)

    def questions_in_round(self, n_questions: int, number: int) -> int:
        """Return how many of `n_questions` fall into round `number` (from 0)."""
        share, rest = divmod(n_questions, self.n_rounds)
        return share + (number < rest)


def _check_shares(learning_rate: float, linked_share: float) -> None:
    if not learning_rate > 0:
        raise InvalidParameterError(f"Plan: learning_rate={learning_rate} must be greater than 0.")
    if not 0 <= linked_share <= 1:
        raise InvalidParameterError(
            f"Plan: linked_share={linked_share} is no share of a batch; give 0 to 1."
        )
