"""ADC (Sun): active deep clustering: representation, clusters and questions in one framework."""

from typing import Any, Literal

from torch import Tensor, nn

from likewise.methods.architecture import Architecture
from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.pair_losses import margin_distance
from likewise.queries.pool import QueryStrategy


class ADC(SelfTrainingRival):
    r"""Active deep clustering: asks where it is unsure, contrasts only pairs that were answered.

    Parameters
    ----------
    n_clusters : int
    weight : float
        Of the pairs beside the clustering.
    margin : float
        Distance that "different" images should have.
    strategy : str or QueryStrategy
        How pairs are chosen; by default those of which the model is least sure.
    candidates : {"random", "anchored"}
        Which pairs are considered; by default an image with one of a known group.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    B. Sun, P. Zhou, L. Du, X. Li: *Active deep image clustering*. Knowledge-Based Systems 2022.
    Not the ADC of Haeusser et al., 2018, which is another system. Representation, clustering and
    the choice of pairs are one loop; labelled and unlabelled images both train the network; the
    contrastive loss compares answered pairs only, and must-links tell more than cannot-links.

    There is no public code, and this is what was *inferred* from its description in [PCL]_ and
    [DSAC]_: unlabelled images follow the self-training of `DEC`; an answered pair costs
    :math:`d^2` if same and :math:`\max(0, m - d)^2` if not; both kinds weigh the same as a kind,
    so the rarer must-links count more each; between rounds, the pairs asked are those whose
    chance of being the same is nearest one half, each of a new image and one that answers have
    placed already, for that is how must-links are found.

    Published property: its questions help more than as many at random.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weight: float = 0.1,
        margin: float = 5.0,
        strategy: str | QueryStrategy = "uncertainty",
        candidates: Literal["random", "anchored"] = "anchored",
        encoder: Any = "bundled",
        backbone: str | nn.Module | None = None,
        architecture: Architecture | None = None,
        plan: Plan | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weight = weight
        self.margin = margin
        self.strategy = strategy
        self.candidates = candidates
        self.encoder = encoder
        self.backbone = backbone
        self.architecture = architecture
        self.plan = plan
        self.random_state = random_state

    def _terms(self, indexes: Indexes, view: View) -> dict[str, Tensor]:
        s = self._settings
        terms = {"clusters": self._divergence(indexes, view)}
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            for name, kind in (("same", linked.relations > 0), ("different", linked.relations < 0)):
                if kind.any():
                    first, second = view.z[linked.first[kind]], view.z[linked.second[kind]]
                    told = linked.relations[kind]
                    terms[name] = s.weight * margin_distance(first, second, told, margin=s.margin)
        return terms
