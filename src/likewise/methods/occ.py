"""OCC: oracle-guided contrastive clustering, as active nt_xent in two spaces over CC."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor

from likewise.methods.architecture import Architecture
from likewise.methods.asking import Candidates
from likewise.methods.choices import check_choices
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.shared_parameters import NetworkParameters
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.constrained import constrained_nt_xent, positive_weights
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.queries.base import QueryStrategy

CHOICES = {
    "spaces": ("both", "representation", "assignment"),
    "loss": ("logsum", "pairlog"),
    "balance": ("view", "pooled"),
    "query_space": ("z", "backbone"),
    "views": ("two", "one", "none"),
}
PAPER = Plan(
    epochs_per_round=1000,
    batch_size=256,
    learning_rate=3e-4,
    cadence="batch",
    questions_per_batch=2,
    first_query_epoch=1,
)
# Each round trains anew on all answers, and most of a batch are images that answers link: else
# the clustering that all views agree on is there before the answers count, and stays.
SMALL = Plan(
    n_rounds=3,
    epochs_per_round=20,
    batch_size=128,
    sampler="linked",
    linked_share=0.9,
    fresh=True,
)
_PRINTED: Mapping[str, Any] = {
    "plan": PAPER,
    "backbone": "resnet34",
    "architecture": Architecture(size=224),
    "cluster_temperature": 1.0,
    "candidates": "random",
    "parity": False,
    "balance": "pooled",
    "include_self": True,
    "extension": 0.5,
    "query_space": "backbone",
}


@dataclass(eq=False, repr=False)
class OCC(NetworkParameters, ContrastiveClusterer):
    r"""Oracle-guided contrastive clustering: "same" answers become further positives.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, assignment_temperature, cluster_temperature : float
        Of projections, of assignment rows, of assignment columns.
    strength : float
        :math:`\lambda` at the start; it falls in a line to 0 over all epochs, or over those of
        each round where each begins anew (``Plan(fresh=True)``).
    spaces : {"both", "representation", "assignment"}
        Where answers act; the latter two are the paper's ablation.
    loss : {"logsum", "pairlog"}
        Positives summed inside one logarithm (the paper's Eq. 3), or a mean of logarithms in
        which "different" counts too, as in PCL's public code and, compiled, in OCC's: its
        weights, one ratio for the batch, a dot product of assignments. `strength` and
        `include_self` are not used there.
    include_self : bool
        Let a row be its own rival, as the paper prints.
    balance : {"view", "pooled"}
        Entropy of the mean assignment of each view, or of both together.
    extension, extension_threshold : float
        Over the last share `extension` of the epochs the model guesses one
        confident "same" a batch; 0 switches it off.
    query_space : {"z", "backbone"}
        Where CSD compares images.
    strategy : str or QueryStrategy
    candidates : {"random", "anchored", "anchored-wide"}
        Between rounds: which pairs are considered: any; images drawn at random, each with one
        image of every known group; or the same with ten times as many images to choose from.
    parity : bool
        With two clusters: different from different is same.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`; the preset ``pairlog`` is ``paper`` with that loss.

    Notes
    -----
    :math:`L(\hat Z, C) + L(\hat Y, C) + L(\hat Y^\top, 0) + \sum_k p_k \log p_k`, [OCC]_
    Eq. (3) to (5), with :math:`\lambda(e) = 50 (1 - e / E)`. With ``logsum``
    "different" answers do not enter the loss; they only prevent asking again.

    Fidelity: see ``docs/fidelity.md``, O1 to O9.
    """

    n_clusters: int = 8
    _: KW_ONLY
    instance_temperature: float = 0.5
    assignment_temperature: float = 1.0
    cluster_temperature: float = 4.0
    strength: float = 50.0
    spaces: Literal["both", "representation", "assignment"] = "both"
    loss: Literal["logsum", "pairlog"] = "logsum"
    include_self: bool = False
    balance: Literal["view", "pooled"] = "view"
    extension: float = 0.0
    extension_threshold: float = 0.9999
    query_space: Literal["z", "backbone"] = "z"
    strategy: str | QueryStrategy = "csd"
    candidates: Candidates = "anchored"
    parity: bool = True

    default_plan: ClassVar[Plan] = SMALL
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PRINTED,
        "pairlog": {**_PRINTED, "loss": "pairlog"},
        "small": {"plan": SMALL},
    }

    def _build(self) -> None:
        check_choices(self._settings, CHOICES)
        super()._build()

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        s = self._settings
        terms = {}
        if s.spaces != "assignment":
            terms["instance"] = self._contrast(a.z, b.z, known, s.instance_temperature, "cosine")
        if s.spaces != "representation":
            terms["assignment"] = self._contrast(a.p, b.p, known, s.assignment_temperature, "dot")
        terms["cluster"] = nt_xent(a.p.T, b.p.T, temperature=s.cluster_temperature)
        terms["balance"] = cluster_entropy_loss(a.p, b.p, pooled=s.balance == "pooled")
        return terms

    def _contrast(
        self, a: Tensor, b: Tensor, known: Known, temperature: float, similarity: str
    ) -> Tensor:
        s = self._settings
        if s.loss == "pairlog":
            weights = positive_weights(known.relations, known.guesses, kind="authors")
            return constrained_nt_xent(
                a,
                b,
                known.relations,
                weights,
                temperature=temperature,
                similarity=similarity,
                norm="global",
            )
        weight = s.strength * (1 - self._progress_share)
        return occ_contrastive(
            a, b, known.all, weight=weight, temperature=temperature, include_self=s.include_self
        )
