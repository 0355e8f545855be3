"""The network all contrastive methods share: features, then a projection and an assignment head."""

from dataclasses import dataclass

from torch import Tensor, nn

from likewise.heads.assignment import AssignmentHead
from likewise.heads.projection import ProjectionHead


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


class ClusterNetwork(nn.Module):
    """Scaling or normalisation → backbone → (context) → two heads.

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
        super().__init__()
        self.scaling = nn.Identity() if scaling is None else scaling
        self.backbone = backbone
        self.context = context
        self.instance = ProjectionHead(n_features, n_hidden, n_projection)
        self.cluster = AssignmentHead(n_features, n_hidden, n_clusters)

    def features(self, x: Tensor) -> Tensor:
        """Return the backbone's features of scaled vectors or prepared pictures."""
        features: Tensor = self.backbone(x)
        return features

    def heads(self, features: Tensor, bank: Tensor | None = None) -> View:
        """Return projections and assignments of a whole batch of features.

        Parameters
        ----------
        features : Tensor of shape (n, f)
        bank : Tensor of shape (m, f), optional
            With a context: attend to this bank instead of to the batch.
        """
        seen = features if self.context is None else self.context(features, bank)
        return View(features, self.instance(seen), self.cluster(seen))
