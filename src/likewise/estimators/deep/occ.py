"""OCC: oracle-guided contrastive clustering; must-links are further positives of NT-Xent."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import (
    DEFAULT_CONFIG,
    cluster_network_factory,
    make_views,
    network_input,
)
from likewise.estimators.deep.objective import Batch, LabelExtension, Objective
from likewise.estimators.params import NetworkConfig, TrainingPlan, check_choice
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.constrained import constrained_nt_xent, positive_weights
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.queries.base import QueryStrategy

PAPER = TrainingPlan(
    epochs_per_round=1000,
    batch_size=256,
    learning_rate=3e-4,
    query_timing="batch",
    questions_per_batch=2,
    first_query_epoch=1,
)
# Each round trains a new network on all answers, and most of a batch are images of constrained
# pairs: otherwise clusters that all views agree on exist before the answers count, and stay.
SMALL = TrainingPlan(
    n_rounds=3,
    epochs_per_round=20,
    batch_size=128,
    sampler="linked",
    constrained_fraction=0.9,
    reset_each_round=True,
)
_PRINTED: Mapping[str, Any] = {
    "plan": PAPER,
    "backbone": "resnet34",
    "architecture": NetworkConfig(size=224),
    "cluster_temperature": 1.0,
    "candidates": "random",
    "two_groups": False,
    "balance": "pooled",
    "include_self": True,
    "extension": 0.5,
    "query_space": "backbone",
}
_CHOICES = {
    "spaces": ("both", "representation", "assignment"),
    "loss": ("logsum", "pairlog"),
    "balance": ("view", "pooled"),
    "query_space": ("z", "backbone"),
    "views": ("two", "one", "none"),
}


@dataclass(frozen=True)
class OCCObjective(Objective):
    """The loss of OCC.

    Parameters
    ----------
    settings : OCC
        Its temperatures, `strength`, `spaces`, `loss`, `include_self` and `balance` are used.
    """

    settings: "OCC"
    supports_batch_queries: ClassVar[bool] = True

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return Eq. (3) in both spaces, NT-Xent of assignment columns, and cluster entropy."""
        s, (a, b) = self.settings, batch.views
        terms = {}
        if s.spaces != "assignment":
            terms["instance"] = self._contrast(batch, a.z, b.z, s.instance_temperature, "cosine")
        if s.spaces != "representation":
            terms["assignment"] = self._contrast(batch, a.p, b.p, s.assignment_temperature, "dot")
        terms["cluster"] = nt_xent(a.p.T, b.p.T, temperature=s.cluster_temperature)
        terms["balance"] = cluster_entropy_loss(a.p, b.p, pooled=s.balance == "pooled")
        return terms

    def _contrast(
        self, batch: Batch, a: Tensor, b: Tensor, temperature: float, similarity: str
    ) -> Tensor:
        s, relations = self.settings, batch.relations
        if s.loss == "pairlog":
            weights = positive_weights(relations.relations, relations.guesses, kind="authors")
            return constrained_nt_xent(
                a,
                b,
                relations.relations,
                weights,
                temperature=temperature,
                similarity=similarity,
                norm="global",
            )
        weight = s.strength * (1 - batch.learner.progress_fraction)  # Eq. (4): falls to 0
        return occ_contrastive(
            a, b, relations.all, weight=weight, temperature=temperature, include_self=s.include_self
        )


@dataclass(eq=False, repr=False)
class OCC(InteractiveClusterer):
    r"""Oracle-guided contrastive clustering: must-links become further positives.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, assignment_temperature, cluster_temperature : float
        Of projections, of assignment rows, of assignment columns.
    strength : float
        :math:`\lambda` at the start; it falls linearly to 0 over all epochs, or over those of
        each round if each starts anew (``TrainingPlan(reset_each_round=True)``).
    spaces : {"both", "representation", "assignment"}
        Where answers act; the latter two are the paper's ablation.
    loss : {"logsum", "pairlog"}
        Positives summed inside one logarithm (the paper's Eq. 3), or a mean of logarithms in
        which cannot-links count too, as in PCL's public code and, compiled, in OCC's: its
        weights, one ratio for the batch, a dot product of assignments. `strength` and
        `include_self` are not used there.
    include_self : bool
        Count a row among its own negatives, as the paper prints.
    balance : {"view", "pooled"}
        Entropy of the mean assignment of each view, or of both together.
    extension : float
        Over the last fraction `extension` of the epochs, one confident pair in each batch, with
        an image of an answer, is added as a pseudo-link; 0 switches it off.
    extension_threshold : float, optional
        Smallest probability of both images, and smallest similarity of the pair; None: the
        upper quarter of the probabilities, the upper tenth of the similarities of a batch.
    query_space : {"z", "backbone"}
        Where CSD compares images.
    strategy : str or QueryStrategy
    candidates : {"random", "anchored", "anchored-wide"}
        Between rounds, which pairs are considered: any; images drawn at random, each with one
        image of every known group; or the same with ten times as many images to choose from.
    two_groups : bool
        With two clusters: two cannot-links imply a must-link.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`; the preset ``pairlog`` is ``paper`` with that loss.

    Notes
    -----
    :math:`L(\hat Z, C) + L(\hat Y, C) + L(\hat Y^\top, 0) + \sum_k p_k \log p_k`, [OCC]_
    Eq. (3) to (5), with :math:`\lambda(e) = 50 (1 - e / E)`. With ``logsum`` cannot-links do
    not enter the loss; they only prevent that a pair is asked about again.

    Fidelity: see ``docs/research/fidelity.md``, O1 to O9.
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
    extension_threshold: float | None = None
    query_space: Literal["z", "backbone"] = "z"
    strategy: str | QueryStrategy = "csd"
    candidates: Candidates = "anchored"
    two_groups: bool = True
    views: Literal["two", "one", "none"] = "two"
    preset: str | None = None
    encoder: Any = None
    backbone: str | nn.Module | None = None
    architecture: NetworkConfig | None = None
    plan: TrainingPlan | None = None
    random_state: int | None = None

    default_plan: ClassVar[TrainingPlan] = SMALL
    default_architecture: ClassVar[NetworkConfig] = DEFAULT_CONFIG
    renamed_parameters: ClassVar[Mapping[str, str | None]] = {"parity": "two_groups"}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PRINTED,
        "pairlog": {**_PRINTED, "loss": "pairlog"},
        "small": {"plan": SMALL},
    }

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(s, name), choices)
        config = s.architecture or self.default_architecture
        learner = NetworkLearner(
            cluster_network_factory(data, s.backbone, config, s.n_clusters),
            OCCObjective(s),
            make_views(data, config, s.views),
            s.plan or self.default_plan,
            extension=LabelExtension(s.extension, s.extension_threshold, from_answers=True),
            query_space=s.query_space,
        )
        return learner, PairQuestioner(s.strategy, s.candidates)

    def _input_spec(self) -> InputSpec:
        s = self.settings_
        return network_input(s.encoder, s.backbone, s.architecture or self.default_architecture)

    def _make_constraints(self, n_images: int) -> ConstraintGraph:
        s = self.settings_
        return ConstraintGraph(n_images, two_groups=s.two_groups and s.n_clusters == 2)
