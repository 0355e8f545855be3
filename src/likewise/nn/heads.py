"""Network heads: trunk for vectors, projection, assignment, classifier, attention."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, UnknownNameError


class VectorTrunk(nn.Module):
    """A linear layer with ReLU, from vectors of any width to features.

    Vectors should be standardised before.

    Parameters
    ----------
    n_in : int
        Width of the vectors.
    n_features : int
        Width of the features.

    Examples
    --------
    >>> import torch
    >>> trunk = VectorTrunk(30, n_features=8)
    >>> tuple(trunk(torch.ones(2, 30)).shape)
    (2, 8)
    """

    def __init__(self, n_in: int, n_features: int = 512) -> None:
        super().__init__()
        self.n_features = n_features
        # Nested, as in models saved by release 0.1, whose names of parameters depend on it.
        self.layers: nn.Sequential = nn.Sequential(
            nn.Sequential(nn.Linear(n_in, n_features), nn.ReLU())
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Return features ``(b, n_features)``."""
        features: Tensor = self.layers(vectors)
        return features


class ProjectionHead(nn.Module):
    """Two layers and L2 normalisation: [CC]_'s instance head.

    Parameters
    ----------
    n_in, n_hidden, n_out : int
        Widths; the papers' are 512, 512, 128.

    Notes
    -----
    Biases on, no batch normalisation. The output is float32 at least, also under autocast.

    Examples
    --------
    >>> head = ProjectionHead(8, 16, 4)
    >>> tuple(head(torch.ones(3, 8)).shape)
    (3, 4)
    """

    def __init__(self, n_in: int = 512, n_hidden: int = 512, n_out: int = 128) -> None:
        super().__init__()
        self.layers: nn.Sequential = nn.Sequential(
            nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_out)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return embeddings ``(b, n_out)``."""
        rows = self.layers(features)
        return F.normalize(rows.to(torch.promote_types(rows.dtype, torch.float32)), dim=1)


class AssignmentHead(nn.Module):
    """Two layers and a softmax: [CC]_'s cluster head.

    Parameters
    ----------
    n_in, n_hidden : int
        Widths; the papers' are both 512.
    n_clusters : int

    Notes
    -----
    Biases on, no batch normalisation. Logits and probabilities are float32 at
    least, also under autocast.

    Examples
    --------
    >>> head = AssignmentHead(8, 16, 3)
    >>> tuple(head(torch.ones(2, 8)).shape)
    (2, 3)
    """

    def __init__(self, n_in: int, n_hidden: int, n_clusters: int) -> None:
        super().__init__()
        self.layers: nn.Sequential = nn.Sequential(
            nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_clusters)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return assignment probabilities ``(b, n_clusters)``."""
        return self.logits(features).softmax(dim=1)

    def logits(self, features: Tensor) -> Tensor:
        """Return logits, ``(b, n_clusters)``."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))


class ClassifierHead(nn.Module):
    """One linear layer: [DSAC]_'s classifier; it returns logits.

    Parameters
    ----------
    n_in : int
        Width of the embedding; 200 in the paper.
    n_classes : int

    Notes
    -----
    Fidelity: the authors' code puts a ReLU and batch normalisation before the layer.

    Examples
    --------
    >>> tuple(ClassifierHead(8, 3)(torch.ones(2, 8)).shape)
    (2, 3)
    """

    def __init__(self, n_in: int, n_classes: int) -> None:
        super().__init__()
        self.layers: nn.Sequential = nn.Sequential(nn.Linear(n_in, n_classes))

    def forward(self, features: Tensor) -> Tensor:
        """Return logits ``(b, n_classes)``, float32 at least."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))


ATTENTIONS = ("plain", "residual", "gated")


class ContextAttention(nn.Module):
    r"""Multi-head attention across images: each image is a token.

    While training, the images of a batch attend to each other. For prediction give
    `context`, features kept from training: every image then attends to these only, so
    that its prediction does not depend on other images.

    Parameters
    ----------
    n_features : int
        Width of the features, in and out; divisible by `n_heads`.
    n_heads : int
        The paper's are 8 heads of 64.
    attn : {"plain", "residual", "gated"}
        ``"plain"`` returns the attended features only, as in the paper; ``"residual"``
        adds them to the image's own, with layer normalisation before; ``"gated"`` multiplies
        them by a learned factor for each column before, which starts at 0.

    Notes
    -----
    [PCL]_ section 3.1: :math:`\mathrm{softmax}(Q K^\top / \sqrt{64})\, V` in each head,
    heads side by side; no bias, output layer, dropout or mask.

    Fidelity: ``"plain"`` is the authors' network; its rows start nearly equal, since
    attention is nearly uniform at first. ``"residual"`` adds nearly the same vector to every
    row at first; ``"gated"`` starts as the network without attention. The authors' attends to
    the images of the batch also for prediction; ours attends to `context`.

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
                f"n_heads must divide the number of features, got n_heads={n_heads} for "
                f"n_features={n_features}."
            )
        self.n_heads = n_heads
        self.query: nn.Linear = nn.Linear(n_features, n_features, bias=False)
        self.key: nn.Linear = nn.Linear(n_features, n_features, bias=False)
        self.value: nn.Linear = nn.Linear(n_features, n_features, bias=False)
        self.norm: nn.LayerNorm | None = None if attn == "plain" else nn.LayerNorm(n_features)
        self.gate: nn.Parameter | None = (
            nn.Parameter(torch.zeros(n_features)) if attn == "gated" else None
        )

    def forward(self, features: Tensor, context: Tensor | None = None) -> Tensor:
        """Return features in context, ``(b, n_features)``.

        Parameters
        ----------
        features : Tensor of shape (b, n_features)
        context : Tensor of shape (m, n_features), optional
            Features to attend to; those of the batch if None.
        """
        others = features if context is None else context.to(features)
        if self.norm is None:
            return self._attend(features, others)
        attended = self._attend(self.norm(features), self.norm(others))
        return features + (attended if self.gate is None else self.gate * attended)

    def _attend(self, rows: Tensor, others: Tensor) -> Tensor:
        q, k, v = self.query(rows), self.key(others), self.value(others)
        heads = [t.unflatten(1, (self.n_heads, -1)).transpose(0, 1)[None] for t in (q, k, v)]
        gathered = F.scaled_dot_product_attention(*heads)  # (1, heads, b, width)
        return gathered[0].transpose(0, 1).flatten(1)
