"""PCL: personalised clustering, as a composition of attention, nt_xent and questions."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from likewise.methods.architecture import Architecture
from likewise.methods.asking import Candidates
from likewise.methods.builder import build_network
from likewise.methods.choices import check_choices
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.network import ClusterNetwork, View
from likewise.methods.plan import Plan
from likewise.methods.shared_parameters import NetworkParameters
from likewise.nn.heads import ContextAttention
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.constrained import constrained_nt_xent, positive_weights
from likewise.nn.losses.contrastive import nt_xent
from likewise.queries.base import QueryStrategy
from likewise.queries.registry import make_strategy, strategy_name

PAPER = Plan(
    epochs_per_round=500,
    batch_size=128,
    learning_rate=1e-5,
    cadence="batch",
    questions_per_batch=1,
    first_query_epoch=10,
    sampler="linked",
)
# Each round trains anew on all answers: once assignments have hardened, answers cannot soften them.
SMALL = Plan(
    n_rounds=3,
    epochs_per_round=20,
    batch_size=128,
    sampler="linked",
    fresh=True,
)
CHOICES = {
    "weights": ("paper", "authors"),
    "norm": ("anchor", "global"),
    "assignment_similarity": ("cosine", "dot"),
    "balance": ("view", "pooled"),
    "attention": ("residual", "plain", "none"),
    "hard": ("bernoulli", "eq7"),
    "views": ("two", "one", "none"),
}
_PICTURES = Architecture(size=128, recipe="pcl")


@dataclass(eq=False, repr=False)
class PCL(NetworkParameters, ContrastiveClusterer):
    r"""Personalised clustering: both answers steer a nt_xent seen through other images.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, assignment_temperature, cluster_temperature : float
        Of projections, of assignment rows, of assignment columns.
    strength : float
        :math:`\lambda`, how much all "same" answers count against the other view.
    weights : {"paper", "authors"}
        Which reading of the positives' weights.
    norm : {"global", "anchor"}
        Normalise once for the batch, as the public code does, or for each row as the
        paper prints: then answers seldom move a clustering that views agree on.
    assignment_similarity : {"cosine", "dot"}
    balance : {"view", "pooled"}
    attention : {"residual", "plain", "none"}
        Cross-instance attention with a residual, as in the paper (``plain``), or none (the
        paper's CNN-only ablation).
    n_heads, bank_size : int
        Heads of the attention; images kept with the model as its fixed context.
    companions : bool
        Predict in the context of whatever images come together, in batches of the plan's
        size, as the public code does; for comparison only.
    frozen_after : int, optional
        Freeze batch statistics after so many epochs, as the public code does by mistake.
    hard : {"bernoulli", "eq7"}
        Which hard-pair score the strategies ``joint`` and ``s-hp`` use, also where a number
        follows the name: ``joint:epsilon=0.4``.
    initial_questions : int
        So many first ones at random, over the whole collection; before the first epoch where
        questions are asked in batches.
    strategy, candidates, parity, extension, extension_threshold
        As in `OCC`.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`; presets are ``paper``, ``small`` and ``authors`` (parity with
        the public code, defects included, for comparison only).

    Notes
    -----
    [PCL]_ Eq. (1) to (6): constrained nt_xent of projections and of assignments,
    nt_xent of assignment columns, and cluster_entropy_loss.

    Fidelity: see ``docs/fidelity.md``, P1 to P20. Prediction attends to a fixed bank.
    """

    n_clusters: int = 8
    _: KW_ONLY
    instance_temperature: float = 0.5
    assignment_temperature: float = 1.0
    cluster_temperature: float = 1.0
    strength: float = 4.0
    weights: Literal["paper", "authors"] = "paper"
    norm: Literal["anchor", "global"] = "global"
    assignment_similarity: Literal["cosine", "dot"] = "cosine"
    balance: Literal["view", "pooled"] = "view"
    attention: Literal["residual", "plain", "none"] = "residual"
    n_heads: int = 8
    bank_size: int = 512
    companions: bool = False
    frozen_after: int | None = None
    hard: Literal["bernoulli", "eq7"] = "bernoulli"
    initial_questions: int = 0
    extension: float = 0.0
    extension_threshold: float = 0.9999
    strategy: str | QueryStrategy = "joint"
    candidates: Candidates = "anchored"
    parity: bool = True

    default_plan: ClassVar[Plan] = SMALL
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "plan": PAPER,
            "backbone": "resnet34",
            "architecture": _PICTURES,
            "candidates": "random",
            "parity": False,
            "attention": "plain",
            "norm": "anchor",
            "hard": "eq7",
            "balance": "pooled",
            "initial_questions": 100,
            "extension": 0.5,
        },
        "small": {"plan": SMALL},
        "authors": {
            "plan": PAPER.but(sampler="fixed", clip_norm=20.0, epochs_per_round=501),
            "backbone": "resnet34",
            "architecture": _PICTURES,
            "instance_temperature": 1.0,
            "cluster_temperature": 2.0,
            "candidates": "random",
            "parity": False,
            "attention": "plain",
            "weights": "authors",
            "assignment_similarity": "dot",
            "strategy": "joint-authors",
            "companions": True,
            "frozen_after": 1,
        },
    }

    def _build(self) -> None:
        check_choices(self._settings, CHOICES)
        super()._build()
        chosen = self._settings.strategy
        if isinstance(chosen, str) and strategy_name(chosen) in ("joint", "s-hp"):
            self._asker.strategy = make_strategy(chosen, hard=self._settings.hard)

    def _make_network(self) -> ClusterNetwork:
        s = self._settings

        def context(n_features: int) -> nn.Module | None:
            if s.attention == "none":
                return None
            return ContextAttention(n_features, s.n_heads, attn=s.attention)

        return build_network(s, self._source, self._scaling, context)

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        s = self._settings
        weights = positive_weights(
            known.relations, known.guesses, kind=s.weights, strength=s.strength
        )
        return {
            "instance": constrained_nt_xent(
                a.z, b.z, known.relations, weights, temperature=s.instance_temperature, norm=s.norm
            ),
            "assignment": constrained_nt_xent(
                a.p,
                b.p,
                known.relations,
                weights,
                temperature=s.assignment_temperature,
                similarity=s.assignment_similarity,
                norm=s.norm,
            ),
            "cluster": nt_xent(a.p.T, b.p.T, temperature=s.cluster_temperature),
            "balance": cluster_entropy_loss(a.p, b.p, pooled=s.balance == "pooled"),
        }

    # -- the fixed context of evaluation ---------------------------------------

    def _assign(self) -> None:
        if self.network_.context is not None and not self._settings.companions:
            self.network_.eval()
            rng = self._rng("bank")
            size = min(self._settings.bank_size, len(self._source))
            chosen = rng.permutation(len(self._source))[:size]
            self._bank = self._look(self._source, chosen).features
        super()._assign()

    def _extra_arrays(self) -> dict[str, Any]:
        return {"bank": None if self._bank is None else self._bank.cpu().numpy()}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        if "bank" in arrays:
            self._bank = torch.from_numpy(arrays["bank"]).to(self._runtime.device)
