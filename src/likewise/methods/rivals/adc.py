"""ADC (Sun): active deep clustering: representation, clusters and questions in one framework."""

from dataclasses import KW_ONLY, dataclass

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.pair_questioner import Candidates
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.pair_losses import margin_distance
from likewise.methods.shared_parameters import PairParameters, TrainingParameters
from likewise.queries.base import QueryStrategy


@dataclass(eq=False, repr=False)
class ADC(PairParameters, TrainingParameters, SelfTrainingRival):
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
    candidates : {"random", "anchored", "anchored-wide"}
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

    Published property: its questions help more than as many at random. On made vectors eight do,
    thanks to `candidates`, not to `strategy`; from thirty on both are enough there.
    """

    n_clusters: int = 8
    _: KW_ONLY
    weight: float = 0.1
    margin: float = 5.0
    strategy: str | QueryStrategy = "uncertainty"
    candidates: Candidates = "anchored"

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
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
