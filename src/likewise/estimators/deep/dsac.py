"""DSAC: self-paced active clustering with labels of selected images and pseudo-labels."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.dsac_targets import (
    NO_LABEL,
    Clusters,
    Targets,
    labels_of,
    make_targets,
    seeded_kmeans,
    soft_assign,
)
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import (
    DEFAULT_CONFIG,
    embedding_network_factory,
    make_views,
    network_input,
)
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.params import NetworkConfig, TrainingPlan, check_choice
from likewise.estimators.parts import Learner, Prediction, Questioner, State
from likewise.estimators.questioners import SELECTIONS, LabelQuestioner, unit_rows
from likewise.nn.losses.contrastive import nt_xent
from likewise.queries.density import N_CANDIDATES, check_n_candidates
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

PAPER = TrainingPlan(
    warmup_epochs=12,
    n_rounds=5,
    epochs_per_round=100,
    batch_size=128,
    learning_rate=2e-5,
    weight_decay=0.01,
    optimiser="adamw",
)
SMALL = TrainingPlan(
    warmup_epochs=12,  # of `pretrain`; without it there is none
    n_rounds=5,
    epochs_per_round=20,
    batch_size=128,
    optimiser="adamw",
)

_PRINTED: Mapping[str, Any] = {
    "plan": PAPER,
    "backbone": "convnext-tiny",
    "architecture": NetworkConfig(size=96, recipe="simclr-dsac"),
    "pull": 1.0,
    "relative_pull": False,
    "spread_first": 50,
    "spread_more": 1000,
    "pretrain": "simclr",
}
#: Both needed from scratch: with the printed step size pre-training hardly changes the network.
_DEPARTURES: Mapping[str, Any] = {
    "plan": PAPER.replace(learning_rate=1e-3),
    "relative_pull": True,
    "pull": 0.1,
}
_SMALLEST_PACE = 1e-12
_LEAST_KNOWN = 8  # images with a label in a batch, if there are as many


class DSACObjective(Objective):
    """The loss of DSAC, and its targets, which are computed again in each round.

    Parameters
    ----------
    settings : DSAC
        Its `gamma`, `pull`, `relative_pull`, `pseudo_labels`, `spread_first`, `spread_more`,
        `pretrain_learning_rate` and `temperature` are used.
    constraints : ConstraintGraph
    """

    pretrains: ClassVar[bool] = True

    def __init__(self, settings: "DSAC", constraints: ConstraintGraph) -> None:
        self._settings, self._constraints = settings, constraints
        self.targets: Targets | None = None
        self.n_rounds: int = 0
        self._centres: Floats | None = None
        self._clustered: tuple[Floats, Clusters] | None = None  # embeddings and their clusters
        self._clustered_with: Indexes | None = None  # the labels of that clustering

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of the pre-training, or Eq. (1) to (6)."""
        s = self._settings
        if batch.learner.is_pretraining:
            a, b = batch.views
            return {"simclr": nt_xent(a.z, b.z, temperature=s.temperature)}
        assert self.targets is not None  # made by `begin_training`
        rows = batch.plain.z
        logits = batch.network.classifier(rows)
        terms = self.targets.terms(batch.indexes, rows, logits, gamma=s.gamma, pull=s.pull)
        if s.relative_pull:
            terms["pull"] = terms["pull"] / max(float(self.targets.pace[0]), _SMALLEST_PACE)
        return terms

    def begin_training(self, learner: NetworkLearner) -> None:
        """Compute targets from all labels so far and the clusters found after the last training."""
        if learner.is_pretraining:
            return
        s = self._settings
        n_spread = s.spread_first + s.spread_more * self.n_rounds if s.pseudo_labels else 0
        labels = labels_of(self._constraints, learner.n_clusters)
        self.targets = make_targets(*self.clusters(learner), labels, n_spread)
        self.n_rounds += 1

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Set the step size, which may be different in pre-training."""
        rate = self._settings.pretrain_learning_rate if learner.is_pretraining else None
        for group in learner.optimiser.param_groups:
            group["lr"] = rate or learner.plan.learning_rate

    def batches(self, learner: NetworkLearner) -> Iterator[Indexes]:
        """Yield batches; each contains randomly drawn images with a label."""
        known = None if self.targets is None else np.flatnonzero(self.targets.targets != NO_LABEL)
        if learner.is_pretraining or known is None or not len(known):
            return learner.sample_batches()
        return labelled_batches(
            known, len(learner.data), learner.plan.batch_size, learner.seed, learner.epoch
        )

    def before_prediction(self, learner: NetworkLearner) -> None:
        """Cluster the images, to choose questions and, without labels, to assign by."""
        self._clustered_with = labels_of(self._constraints, learner.n_clusters)
        self._clustered = None
        self._centres = self.clusters(learner)[1].centres

    def predict(self, prediction: Prediction) -> Prediction:
        """Return unit rows; probabilities are those of the classifier once it has labels."""
        rows, probabilities = prediction.embeddings, prediction.probabilities
        if self.targets is None or not self.targets.has_labels:
            assert self._centres is not None  # found by `before_prediction`
            probabilities = soft_assign(rows, self._centres)
        return Prediction(unit_rows(rows), probabilities)

    def clusters(self, learner: NetworkLearner) -> tuple[Floats, Clusters]:
        """Return the embeddings and clusters of all images, as of the last prediction."""
        if self._clustered is None:  # or restored
            labels = self._clustered_with
            if labels is None:  # saved by release 0.1
                labels = labels_of(self._constraints, learner.n_clusters)
            rows = learner.forward_all().embeddings
            self._clustered = rows, seeded_kmeans(rows, learner.n_clusters, labels, learner.seed)
        return self._clustered

    def get_state(self) -> State:
        """Return targets, centres, and the labels that the images were clustered with."""
        found = {} if self.targets is None else self.targets.get_state()
        if self._centres is not None:
            found["centres"] = self._centres
        if self._clustered_with is not None:
            found["clustered_with"] = self._clustered_with
        return {**found, "round": np.array(self.n_rounds)}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self._clustered, self._clustered_with = None, state.get("clustered_with")
        self._centres = state["centres"]
        self.targets = Targets.from_state(state)
        self.n_rounds = int(state["round"])


def labelled_batches(
    known: Indexes, n_images: int, batch_size: int, seed: int, epoch: int
) -> Iterator[Indexes]:
    r"""Yield the batches of an epoch: images without a label once, and labelled ones with them.

    Every batch has the share of labelled images that the collection has, but at least
    `_LEAST_KNOWN`, so that the means over L and over U of Eq. (7) both have images in every step;
    of 60,000 images with 20 labels, most uniform batches of 128 would have none.

    Parameters
    ----------
    known : array
        Images with a label or pseudo-label, at least one.
    n_images, batch_size, seed, epoch : int
    """
    size = min(batch_size, n_images)
    others = stream(seed, "order", epoch).permutation(
        np.setdiff1d(np.arange(n_images, dtype=np.intp), known)
    )
    share = max(round(size * len(known) / n_images), _LEAST_KNOWN)
    n_known = max(min(share, len(known), size), size - len(others))
    rng = stream(seed, "labelled", epoch)
    n_batches = max(len(others) // max(size - n_known, 1), 1)
    for part in np.array_split(others[: n_batches * (size - n_known)], n_batches):
        yield np.concatenate([rng.permutation(known)[:n_known], part])


@dataclass(eq=False, repr=False)
class DSAC(InteractiveClusterer):
    r"""Self-paced active clustering: asks for labels, a few in each round.

    Parameters
    ----------
    n_clusters : int
        Classes, including those that no label names yet.
    n_embedding : int
        Width of the embedding F.
    gamma : float
        :math:`\gamma`, weight of the centre loss.
    pull : float
        Weight of the self-paced pull; 1 in the paper.
    relative_pull : bool
        Divide the pull by :math:`\lambda`, so that its weight does not depend on the length of
        the embeddings; the paper does not.
    selection : {"full", "random", "difficult", "representative"}
        Which images are labelled: one representative image of each cluster, then difficult
        ones; any (the paper's DSAC-R); only one of the two kinds.
    n_candidates : int
        Images nearest the centre, and farthest from it, of which the most compact are
        labelled (:math:`k_1`).
    pseudo_labels : bool
        Spread the label of each cluster to the images nearest its centre.
    spread_first, spread_more : int
        To how many images in the first round, and how many more in each later round
        (:math:`k_2`); 50 and 1000 in the paper.
    pretrain : {None, "simclr"}
        Contrast two views during the plan's warm-up epochs, before any label.
    pretrain_learning_rate : float, optional
        Step size of the pre-training; None: that of the plan.
    temperature : float
        Of that NT-Xent.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`.

    Notes
    -----
    With U the images without and L those with a label or pseudo-label,

    .. math::
        L = \tfrac1{|U|} \sum_U w_i d_i + \lambda(\tfrac12 w_i^2 - w_i)
            + \tfrac1{|L|} \sum_L C_i \big(H(y_i, f(F_i)) + \gamma \|F_i - c'_{y_i}\|^2\big),

    [DSAC]_ Eq. (1) to (7), in the order of Algorithm 2: questions and pseudo-labels use the
    clusters found after the training before; then training; then seeded k-means with all
    labels. Pseudo-labels are made anew and never exclude an image from being asked about.

    Fidelity: see ``docs/research/fidelity.md``, D1 to D10. ``reset_each_round=True`` is
    not allowed.
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_embedding: int = 200
    gamma: float = 0.01
    pull: float = 0.1
    relative_pull: bool = True
    selection: Literal["full", "random", "difficult", "representative"] = "full"
    n_candidates: int = N_CANDIDATES
    pseudo_labels: bool = True
    spread_first: int = 5
    spread_more: int = 5
    pretrain: Literal["simclr"] | None = None
    pretrain_learning_rate: float | None = None
    temperature: float = 0.5
    views: Literal["two", "one", "none"] = "two"
    preset: str | None = None
    encoder: Any = None
    backbone: str | nn.Module | None = None
    architecture: NetworkConfig | None = None
    plan: TrainingPlan | None = None
    random_state: int | None = None

    asks: ClassVar[tuple[str, ...]] = ("label",)
    default_plan: ClassVar[TrainingPlan] = SMALL
    default_architecture: ClassVar[NetworkConfig] = DEFAULT_CONFIG
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PRINTED,
        "reproduction": {**_PRINTED, **_DEPARTURES},
        "small": {"plan": SMALL},
    }

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        check_choice("selection", s.selection, SELECTIONS)
        check_choice("pretrain", s.pretrain, ("simclr", None))
        check_choice("views", s.views, ("two", "one", "none"))
        check_n_candidates(s.n_candidates)
        config = s.architecture or self.default_architecture
        make_network = embedding_network_factory(
            data, s.backbone, config, s.n_embedding, s.n_clusters
        )
        objective = DSACObjective(s, self.constraints_)
        augmentation = make_views(data, config, s.views)
        learner = NetworkLearner(make_network, objective, augmentation, self._plan())
        questioner = LabelQuestioner(
            partial(objective.clusters, learner), s.selection, s.n_candidates
        )
        return learner, questioner

    def _plan(self) -> TrainingPlan:
        """Return the plan; without pre-training there are no warm-up epochs."""
        s = self.settings_
        plan = s.plan or self.default_plan
        if plan.reset_each_round:
            raise InvalidParameterError(
                "DSAC needs reset_each_round=False, got True: its centres belong to the "
                "network of the previous round. Use TrainingPlan(reset_each_round=False)."
            )
        return plan if s.pretrain else plan.replace(warmup_epochs=0)

    def _input_spec(self) -> InputSpec:
        s = self.settings_
        return network_input(s.encoder, s.backbone, s.architecture or self.default_architecture)
