"""Context attention: an image seen in the light of others, of its batch or of a fixed bank."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, UnknownNameError

ATTENTIONS = ("plain", "residual")


class ContextAttention(nn.Module):
    r"""Multi-head attention across images: each image is a token.

    While training, the images of a batch attend to each other. To predict, give
    `context`, features kept from training: every image then attends to these
    alone, so that its outcome does not depend on its companions.

    Parameters
    ----------
    n_features : int
        Width of the features, in and out; divisible by `n_heads`.
    n_heads : int
        The paper's are 8 heads of 64.
    attn : {"plain", "residual"}
        ``"plain"`` returns what attention gathers and nothing of the image
        itself, as in the paper; ``"residual"`` adds it to the image and normalises before.

    Notes
    -----
    [PCL]_ section 3.1: :math:`\mathrm{softmax}(Q K^\top / \sqrt{64})\, V` in each head,
    heads side by side; no bias, output layer, dropout or mask.

    Fidelity: ``"plain"`` is the authors' network; its rows start nearly equal, since
    attention is nearly uniform at first. They attend to companions also when they
    predict; with `context` ours never does.

    Examples
    --------
    >>> attention = ContextAttention(16, n_heads=2)
    >>> bank = torch.randn(5, 16)
    >>> tuple(attention(torch.ones(3, 16), context=bank).shape)
    (3, 16)
    """

    def __init__(self, n_features: int = 512, n_heads: int = 8, *, attn: str = "plain") -> None:
        super().__init__()
        if attn not in ATTENTIONS:
            raise UnknownNameError("attention", attn, ATTENTIONS)
        if n_heads < 1 or n_features % n_heads:
            raise InvalidParameterError(
                f"n_features={n_features} cannot be shared by n_heads={n_heads}; choose a number "
                "of heads that divides it."
            )
        self.n_heads = n_heads
        self.query = nn.Linear(n_features, n_features, bias=False)
        self.key = nn.Linear(n_features, n_features, bias=False)
        self.value = nn.Linear(n_features, n_features, bias=False)
        self.norm = nn.LayerNorm(n_features) if attn == "residual" else None

    def forward(self, features: Tensor, context: Tensor | None = None) -> Tensor:
        """Return features in context, ``(b, n_features)``.

        Parameters
        ----------
        features : Tensor of shape (b, n_features)
        context : Tensor of shape (m, n_features), optional
            What to attend to; the batch itself if None.
        """
        others = features if context is None else context.to(features)
        if self.norm is None:
            return self._attend(features, others)
        return features + self._attend(self.norm(features), self.norm(others))

    def _attend(self, rows: Tensor, others: Tensor) -> Tensor:
        q, k, v = self.query(rows), self.key(others), self.value(others)
        heads = [t.unflatten(1, (self.n_heads, -1)).transpose(0, 1)[None] for t in (q, k, v)]
        gathered = F.scaled_dot_product_attention(*heads)  # (1, heads, b, width)
        return gathered[0].transpose(0, 1).flatten(1)


@torch.no_grad()
def draw_context(features: Tensor, n_context: int, generator: torch.Generator) -> Tensor:
    """Return a context bank: at most `n_context` of the rows of `features`, at random."""
    chosen = torch.randperm(len(features), generator=generator)[:n_context]
    return features[chosen.sort().values.to(features.device)].clone()
