"""The networks of the methods: features, then heads, most often a projection and an assignment."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn

from likewise.nn.heads import AssignmentHead, ClassifierHead, ProjectionHead


@dataclass(frozen=True)
class View:
    """What the network says of one view of a batch.

    Parameters
    ----------
    features : Tensor of shape (n, f)
        Of the backbone, before any head: the papers' h.
    z : Tensor of shape (n, m)
        Projections, unit rows.
    p : Tensor of shape (n, k)
        Soft assignments, rows sum to one.
    """

    features: Tensor
    z: Tensor
    p: Tensor


class Network(nn.Module, ABC):
    """Scaling or normalisation → backbone → (context); a subclass adds its heads.

    Parameters
    ----------
    backbone : nn.Module
        Rows in, features ``(b, n_features)`` out.
    scaling : nn.Module, optional
        Applied to vectors before views are drawn; not trained.
    context : nn.Module, optional
        Cross-instance attention between backbone and heads.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        scaling: nn.Module | None = None,
        context: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.scaling = nn.Identity() if scaling is None else scaling
        self.backbone = backbone
        self.context = context

    def features(self, x: Tensor) -> Tensor:
        """Return the backbone's features of scaled vectors or prepared pictures."""
        features: Tensor = self.backbone(x)
        return features

    @abstractmethod
    def heads(self, features: Tensor, bank: Tensor | None = None) -> View:
        """Return projections and assignments of a whole batch of features.

        Parameters
        ----------
        features : Tensor of shape (n, f)
        bank : Tensor of shape (m, f), optional
            With a context: attend to this bank instead of to the batch.
        """


class ClusterNetwork(Network):
    """The contrastive methods' network: a projection and an assignment head.

    Parameters
    ----------
    backbone : nn.Module
        Rows in, features ``(b, n_features)`` out.
    n_features, n_hidden, n_projection, n_clusters : int
    scaling : nn.Module, optional
        Applied to vectors before views are drawn; not trained.
    context : nn.Module, optional
        Cross-instance attention between backbone and heads.
    """

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        n_hidden: int,
        n_projection: int,
        n_clusters: int,
        scaling: nn.Module | None = None,
        context: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling, context=context)
        self.instance = ProjectionHead(n_features, n_hidden, n_projection)
        self.cluster = AssignmentHead(n_features, n_hidden, n_clusters)

    def heads(self, features: Tensor, bank: Tensor | None = None) -> View:
        """Return projections and assignments of a whole batch of features."""
        seen = features if self.context is None else self.context(features, bank)
        return View(features, self.instance(seen), self.cluster(seen))


class EmbeddingNetwork(Network):
    """A linear embedding of the features, and a classifier on it: [DSAC]_'s F and f.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, n_embedding, n_classes : int
    """

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        n_embedding: int,
        n_classes: int,
        scaling: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling)
        self.embed = nn.Linear(n_features, n_embedding)
        self.classifier = ClassifierHead(n_embedding, n_classes)

    def heads(self, features: Tensor, bank: Tensor | None = None) -> View:
        """Return embeddings, of any length, and class probabilities."""
        rows = self.embed(features)
        return View(features, rows, self.classifier(rows).softmax(dim=1))
