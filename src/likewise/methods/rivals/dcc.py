"""DCC: IDEC with the likelihood of answered pairs."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from likewise.losses.pair_likelihood import pair_likelihood
from likewise.methods.architecture import Architecture
from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes
from likewise.queries.pool import QueryStrategy


class DCC(SelfTrainingRival):
    r"""Deep constrained clustering: assignments that make the answers likely.

    Parameters
    ----------
    n_clusters : int
    gamma : float
        Weight of the clustering beside the reconstruction.
    weight : float
        Weight of the answers.
    strategy : str or QueryStrategy
        How pairs are chosen; the paper draws them at random.
    candidates : {"random", "anchored"}
        Which pairs are considered.
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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float = 0.1,
        weight: float = 1.0,
        strategy: str | QueryStrategy = "random",
        candidates: Literal["random", "anchored"] = "random",
        encoder: Any = "bundled",
        backbone: str | nn.Module | None = None,
        architecture: Architecture | None = None,
        plan: Plan | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.weight = weight
        self.strategy = strategy
        self.candidates = candidates
        self.encoder = encoder
        self.backbone = backbone
        self.architecture = architecture
        self.plan = plan
        self.random_state = random_state

    def _terms(self, indexes: Indexes, view: View) -> dict[str, Tensor]:
        s = self._settings
        terms = {
            "reconstruction": self._reconstruction(indexes, view.z),
            "clusters": s.gamma * self._divergence(indexes, view),
        }
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            log_q = view.p.clamp_min(torch.finfo(view.p.dtype).tiny).log()
            first, second = log_q[linked.first], log_q[linked.second]
            terms["pairs"] = s.weight * pair_likelihood(first, second, linked.relations)
        return terms
