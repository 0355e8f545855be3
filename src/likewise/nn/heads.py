"""Network heads: trunk for vectors, projection, assignment, classifier, attention."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, UnknownNameError


class VectorTrunk(nn.Module):
    """Linear layers with ReLU, from vectors of any width to features.

    Vectors should be standardised before.

    Parameters
    ----------
    n_in : int
        Width of the vectors.
    n_features : int
        Width of the features, and of the layers between.
    n_layers : int
        At least 1.

    Examples
    --------
    >>> import torch
    >>> trunk = VectorTrunk(30, n_features=8)
    >>> tuple(trunk(torch.ones(2, 30)).shape)
    (2, 8)
    """

    def __init__(self, n_in: int, n_features: int = 512, n_layers: int = 1) -> None:
        super().__init__()
        if n_layers < 1:
            raise InvalidParameterError(
                f"n_layers={n_layers} leaves vectors as they are; choose at least 1."
            )
        self.n_features = n_features
        widths = [n_in] + [n_features] * n_layers
        layers = [
            nn.Sequential(nn.Linear(wide, narrow), nn.ReLU()) for wide, narrow in pairwise(widths)
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return features ``(b, n_features)``."""
        features: Tensor = self.layers(vectors)
        return features


class ProjectionHead(nn.Module):
    """Two layers and a unit length: [CC]_'s instance head.

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
        self.layers = nn.Sequential(
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
        self.layers = nn.Sequential(
            nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_clusters)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return assignment probabilities ``(b, n_clusters)``."""
        return self.logits(features).softmax(dim=1)

    def logits(self, features: Tensor) -> Tensor:
        """Return what the softmax is taken of, ``(b, n_clusters)``."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))


CLASSIFIERS = ("paper", "authors")


class ClassifierHead(nn.Module):
    """One linear layer: [DSAC]_'s classifier; it returns logits.

    Parameters
    ----------
    n_in : int
        Width of the embedding; 200 in the paper.
    n_classes : int
    kind : {"paper", "authors"}
        The authors' code puts a ReLU and batch normalisation before the layer.

    Examples
    --------
    >>> tuple(ClassifierHead(8, 3)(torch.ones(2, 8)).shape)
    (2, 3)
    """

    def __init__(self, n_in: int, n_classes: int, *, kind: str = "paper") -> None:
        super().__init__()
        if kind not in CLASSIFIERS:
            raise UnknownNameError("classifier", kind, CLASSIFIERS)
        before = [nn.ReLU(), nn.BatchNorm1d(n_in)] if kind == "authors" else []
        self.layers = nn.Sequential(*before, nn.Linear(n_in, n_classes))

    def forward(self, features: Tensor) -> Tensor:
        """Return logits ``(b, n_classes)``, float32 at least."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))


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
