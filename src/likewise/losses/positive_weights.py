"""What each positive pair of a batch counts: the other view, an answer, a guess."""

from collections.abc import Callable

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.losses.relations import tiled


def positive_weights(
    relations: Tensor,
    pseudo: Tensor | None = None,
    *,
    kind: str = "paper",
    strength: float = 4.0,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""Return the weight of every pair of views as a positive pair.

    Parameters
    ----------
    relations : Tensor of shape (n, n)
        Given and implied: ``+1`` same, ``-1`` different, ``0`` unknown.
    pseudo : Tensor of shape (n, n), optional
        Guesses of the model; a guessed "same" weighs as another view does, and
        nothing where an answer stands.
    kind : {"paper", "authors"}
        Which reading; see Notes.
    strength : float
        :math:`\lambda \ge 0`, how much answers count together.
    dtype : torch.dtype

    Returns
    -------
    weights : Tensor of shape (2n, 2n)
        Zero diagonal.

    Notes
    -----
    With :math:`N_+` the must-links in the batch, [PCL]_ Eq. (2) gives another view
    :math:`N_+` and an answer :math:`\lambda n`; the authors' code gives them 1 and
    :math:`1 + \max(\lambda n / (N_+ + 1), 2)`.

    Fidelity: ``"paper"`` counts :math:`N_+` unordered, ``"authors"`` ordered, as the
    code does. Without must-links the paper divides 0 by 0; another view weighs 1
    then, which leaves the plain contrast.
    """
    if kind not in _KINDS:
        raise UnknownNameError("kind of positive weights", kind, _KINDS)
    if not strength >= 0:
        raise InvalidParameterError(
            f"strength={strength} would push apart what is the same; choose 0 or more."
        )
    n = len(relations)
    answered = tiled(relations, n)  # (2n, 2n)
    view, answer = _KINDS[kind](int((relations == 1).sum()), n, strength)
    another_view = torch.eye(2 * n, device=relations.device, dtype=dtype).roll(n, dims=1)
    weights = another_view * view + (answered == 1).to(dtype) * answer
    if pseudo is None:
        return weights
    guessed = (tiled(pseudo, n) == 1) & (answered == 0)
    return weights + guessed.to(dtype) * view


def _paper(n_ordered: int, n: int, strength: float) -> tuple[float, float]:
    """Return the weight of another view and of an answer."""
    return max(n_ordered / 2, 1.0), strength * n


def _authors(n_ordered: int, n: int, strength: float) -> tuple[float, float]:
    """Return the weight of another view and of an answer."""
    return 1.0, 1 + max(strength * n / (n_ordered + 1), 2.0)


_KINDS: dict[str, Callable[[int, int, float], tuple[float, float]]] = {
    "paper": _paper,
    "authors": _authors,
}
