"""DCC: IDEC with the likelihood of answered pairs."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.shared_parameters import PairParameters, TrainingParameters
from likewise.nn.losses.pairwise import pairwise_nll


@dataclass(eq=False, repr=False)
class DCC(PairParameters, TrainingParameters, SelfTrainingRival):
    r"""Deep constrained clustering: assignments that make the answers likely.

    Parameters
    ----------
    n_clusters : int
    gamma : float
        Weight of the clustering beside the reconstruction.
    weight : float
        Weight of the answers.
    strategy, candidates
        How pairs are chosen, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    H. Zhang, T. Zhan, S. Basu, I. Davidson: *A framework for deep constrained clustering*. 2021,
    [DCC]_. To the loss of `IDEC` come, with :math:`s = \sum_k q_{ik} q_{jk}`,

    .. math:: \ell_{ML} = -\log s, \qquad \ell_{CL} = -\log(1 - s).

    Choices. The paper goes through all images, then through must-links, then through cannot-links;
    here both kinds come in every batch, half of which are images with answers. What follows from
    answers counts as they do. *Fidelity:* instance difficulty, triplets and global size
    constraints of the framework are left out: the oracle gives pairs.

    Published property: with answers it improves over `IDEC` and `DEC`; without any it is `IDEC`.
    """

    n_clusters: int = 8
    _: KW_ONLY
    gamma: float = 0.1
    weight: float = 1.0

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        s = self._settings
        terms = {
            "reconstruction": self._reconstruction(indexes, view.z),
            "clusters": s.gamma * self._divergence(indexes, view),
        }
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            log_q = view.p.clamp_min(torch.finfo(view.p.dtype).tiny).log()
            first, second = log_q[linked.first], log_q[linked.second]
            terms["pairs"] = s.weight * pairwise_nll(first, second, linked.relations)
        return terms
