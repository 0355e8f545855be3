"""PCL: personalised clustering, by constrained NT-Xent on features attended across images.

The parts of [PCL]_ and where they are:

- network (section 3.1): `ContextNetwork` below; its attention in `likewise.nn.heads`
- loss (section 3.2, Eq. 1 to 5): `PCLObjective.terms` below; in `likewise.nn.losses.constrained`
- questions (section 3.3, Eq. 6 to 8): `likewise.queries.pcl`
- training (Algorithm 1): `NetworkLearner` in `likewise.estimators.deep.learner`, whose `_terms`
  is one step: ask about pairs of the batch, extend labels, compute the loss
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import (
    DEFAULT_CONFIG,
    ClusterNetwork,
    cluster_network_factory,
    make_views,
    network_input,
)
from likewise.estimators.deep.objective import Batch, LabelExtension, Objective
from likewise.estimators.params import NetworkConfig, TrainingPlan, check_choice
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.nn.heads import ContextAttention
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.constrained import constrained_nt_xent, positive_weights
from likewise.nn.losses.contrastive import nt_xent
from likewise.queries.base import QueryStrategy
from likewise.random_streams import stream

PAPER = TrainingPlan(
    epochs_per_round=500,
    batch_size=128,
    learning_rate=1e-5,
    query_timing="batch",
    questions_per_batch=1,
    first_query_epoch=10,
    sampler="linked",
)
# Each round trains a new network on all answers: once assignments are confident, answers
# hardly change them. Most of a batch are images of constrained pairs, as in OCC's.
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
    "architecture": NetworkConfig(size=128, recipe="pcl"),
    "cluster_temperature": 1.0,
    "candidates": "random",
    "two_groups": False,
    "attention": "plain",
    "norm": "anchor",
    "assignment_similarity": "cosine",
    "hard": "eq7",
    "balance": "pooled",
    "initial_questions": 100,
    "extension": 0.5,
}
#: What must differ from print so that training does not collapse (the first two), and so that
#: the assignment head follows the answers (the others).
_DEPARTURES: Mapping[str, Any] = {
    "plan": PAPER.replace(learning_rate=3e-4),
    "attention": "gated",
    "norm": "mixed",
    "assignment_similarity": "log",
}
#: Normalisation of Eq. (3) for projections and for assignments.
_NORMS = {
    "mixed": ("anchor", "global"),
    "anchor": ("anchor", "anchor"),
    "global": ("global", "global"),
}
_CHOICES = {
    "norm": tuple(_NORMS),
    "assignment_similarity": ("log", "cosine", "dot"),
    "balance": ("view", "pooled"),
    "attention": ("gated", "residual", "plain", "none"),
    "hard": ("bernoulli", "eq7"),
    "views": ("two", "one", "none"),
}


class ContextNetwork(ClusterNetwork):
    """Attends across images: of the batch while training, of a fixed bank for prediction.

    Parameters
    ----------
    bank_size : int
        Number of images whose features are kept as the context of predictions.
    backbone, n_features, widths
        As in `ClusterNetwork`.

    Notes
    -----
    [PCL]_ section 3.1. *Fidelity:* in the paper a prediction attends to the images that happen to
    be in the same batch, so that it depends on them.
    """

    bank: Tensor

    def __init__(
        self, backbone: nn.Module, n_features: int, *, bank_size: int, **widths: Any
    ) -> None:
        super().__init__(backbone, n_features, **widths)
        self.register_buffer("bank", torch.zeros(bank_size, n_features))

    def attend(self, features: Tensor) -> Tensor:
        """Return features in the context of the batch, or of the bank in evaluation mode."""
        assert self.context is not None
        attended: Tensor = self.context(features, None if self.training else self.bank)
        return attended


@dataclass(frozen=True)
class PCLObjective(Objective):
    """The loss of PCL, and the bank of its network.

    Parameters
    ----------
    settings : PCL
        Its temperatures, `strength`, `norm`, `assignment_similarity` and `balance` are used.

    Notes
    -----
    [PCL]_ Eq. (1) to (5). *Fidelity:* four defaults differ from print, each a parameter: gated
    attention, `norm="mixed"`, `assignment_similarity="log"`, and 2 as temperature of columns.
    """

    settings: "PCL"
    supports_batch_queries: ClassVar[bool] = True

    @property
    def collapse_remedy(self) -> str:
        """Return what to do if training collapses."""
        if self.settings.attention == "plain":
            return "Use preset='reproduction', or attention='gated'."
        return super().collapse_remedy

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms whose sum is Eq. (5), of two views a and b of a batch of n images."""
        s, (a, b) = self.settings, batch.views
        constrained = partial(
            constrained_nt_xent,
            relations=batch.relations.relations,
            weights=self.weights(batch),
        )
        row_norm, assignment_norm = _NORMS[s.norm]
        return {
            # Eq. (3) of projections (n, m) and of assignments (n, k): answers act on both
            "instance": constrained(a.z, b.z, temperature=s.instance_temperature, norm=row_norm),
            "assignment": constrained(
                a.p,
                b.p,
                temperature=s.assignment_temperature,
                similarity=s.assignment_similarity,
                norm=assignment_norm,
            ),
            # Eq. (4) of the k columns of the assignments, and H of Eq. (5): without answers
            "cluster": nt_xent(a.p.T, b.p.T, temperature=s.cluster_temperature),
            "balance": cluster_entropy_loss(a.p, b.p, pooled=s.balance == "pooled"),
        }

    def weights(self, batch: Batch) -> Tensor:
        """Return how much each positive counts against the other view, Eq. (2)."""
        relations = batch.relations
        return positive_weights(
            relations.relations, relations.guesses, kind="paper", strength=self.settings.strength
        )

    def before_prediction(self, learner: NetworkLearner) -> None:
        """Fill the bank with features of images drawn at random."""
        network = learner.network
        if isinstance(network, ContextNetwork):
            order = stream(learner.seed, "bank").permutation(len(learner.data))
            with learner.evaluating():
                network.bank.copy_(learner.plain_features(order[: len(network.bank)]))


@dataclass(eq=False, repr=False)
class PCL(InteractiveClusterer):
    r"""Personalised clustering: must-links and cannot-links act on NT-Xent.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, assignment_temperature, cluster_temperature : float
        Of projections, of assignment rows, of assignment columns.
    strength : float
        :math:`\lambda`, the weight of all must-links relative to the other view.
    norm : {"mixed", "anchor", "global"}
        Normalise for each row, as the paper prints, or once for the batch, as the public code
        does. ``mixed``: projections for each row, so that images without answers keep their
        weight, and assignments once, so that answers outweigh what the views agree on.
    assignment_similarity : {"log", "cosine", "dot"}
        Of assignment rows. ``log`` is the logarithm of the probability that both images are in
        one cluster; its gradient does not vanish where both assignments are confident and
        contradict an answer, as that of the printed cosine does.
    balance : {"view", "pooled"}
        Entropy of the mean assignment of each view, or of both together.
    attention : {"gated", "residual", "plain", "none"}
        Attention across images with a residual connection whose weight is learned from 0, or is
        1; as in the paper (``plain``); or none (the paper's CNN-only ablation).
    n_heads, bank_size : int
        Heads of the attention; images whose features are saved as context of predictions.
    hard : {"bernoulli", "eq7"}
        Which score of hard pairs the strategies ``joint``, ``joint-connected`` and ``s-hp`` use,
        also with a parameter as in ``joint:epsilon=0.4``.
    initial_questions : int
        Number of first questions at random; before the first epoch if questions are asked
        inside batches.
    extension, extension_threshold
        As in `OCC`, but of any two images.
    strategy, candidates, two_groups
        As in `OCC`.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`; presets are ``paper``, ``reproduction`` and ``small``. The printed step size
        and attention collapse; ``reproduction`` differs from ``paper`` in what trains: step size
        3e-4, gated attention, ``norm="mixed"``, ``assignment_similarity="log"``.

    Notes
    -----
    [PCL]_ Eq. (1) to (5): constrained NT-Xent of projections and of assignments, NT-Xent of
    assignment columns, and cluster entropy. Eq. (6) to (8) choose the questions.

    Fidelity: the defaults differ from print in attention, norm, similarity of assignments and
    temperature of columns, and in questions between rounds, each of which trains a new network;
    ``docs/methods/pcl.md`` says why, ``docs/research/fidelity.md``, P1 to P20, has every
    difference. Prediction attends to a fixed bank.
    `likewise_bench.baselines.pcl_authors` reproduces the public code.
    """

    n_clusters: int = 8
    _: KW_ONLY
    instance_temperature: float = 0.5
    assignment_temperature: float = 1.0
    cluster_temperature: float = 2.0
    strength: float = 4.0
    norm: Literal["mixed", "anchor", "global"] = "mixed"
    assignment_similarity: Literal["log", "cosine", "dot"] = "log"
    balance: Literal["view", "pooled"] = "view"
    attention: Literal["gated", "residual", "plain", "none"] = "gated"
    n_heads: int = 8
    bank_size: int = 512
    hard: Literal["bernoulli", "eq7"] = "bernoulli"
    initial_questions: int = 0
    extension: float = 0.0
    extension_threshold: float | None = None
    strategy: str | QueryStrategy = "joint"
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
    renamed_parameters: ClassVar[Mapping[str, str | None]] = {
        "parity": "two_groups",
        "weights": None,  # these three are parameters of PCLAuthors
        "companions": None,
        "frozen_after": None,
    }
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PRINTED,
        "reproduction": {**_PRINTED, **_DEPARTURES},
        "small": {"plan": SMALL},
    }

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        self._check_choices()
        config = s.architecture or self.default_architecture
        make_network = partial(ContextNetwork, bank_size=min(s.bank_size, len(data)))
        learner = NetworkLearner(
            cluster_network_factory(
                data,
                s.backbone,
                config,
                s.n_clusters,
                make_network=ClusterNetwork if s.attention == "none" else make_network,
                make_context=self._make_attention(),
            ),
            PCLObjective(s),
            make_views(data, config, s.views),
            s.plan or self.default_plan,
            extension=LabelExtension(s.extension, s.extension_threshold),
        )
        return learner, PairQuestioner(self._strategy(), s.candidates, s.initial_questions)

    def _check_choices(self) -> None:
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self.settings_, name), choices)

    def _make_attention(self) -> Any:
        """Return a function from the width of the features to their attention; None: without."""
        s = self.settings_
        if s.attention == "none":
            return None
        return partial(ContextAttention, n_heads=s.n_heads, attn=s.attention)

    def _strategy(self) -> str | QueryStrategy:
        """Return the query strategy; `hard` is a parameter of three of them."""
        from likewise.queries.registry import make_strategy, strategy_name

        chosen = self.settings_.strategy
        if isinstance(chosen, str) and strategy_name(chosen) in (
            "joint",
            "joint-connected",
            "s-hp",
        ):
            return make_strategy(chosen, hard=self.settings_.hard)
        return chosen

    def _input_spec(self) -> InputSpec:
        s = self.settings_
        return network_input(s.encoder, s.backbone, s.architecture or self.default_architecture)

    def _make_constraints(self, n_images: int) -> ConstraintGraph:
        s = self.settings_
        return ConstraintGraph(n_images, two_groups=s.two_groups and s.n_clusters == 2)
