"""DSAC: self-paced active clustering, by labels of chosen images, pseudo-labels, and a pull."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.dsac_targets import Targets, labels_of, make_targets
from likewise.estimators.deep.inputs import make_views, network_input
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import DEFAULT_CONFIG, embedding_network_factory
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.deep.seeded_kmeans import Clusters, seeded_kmeans, soft_assign
from likewise.estimators.label_questioner import SELECTIONS, LabelQuestioner
from likewise.estimators.pair_questioner import unit_rows
from likewise.estimators.params import NetworkConfig, TrainingPlan, check_choice
from likewise.estimators.parts import Learner, Prediction, Questioner, State
from likewise.nn.losses.contrastive import nt_xent
from likewise.queries.density import N_CANDIDATES, check_n_candidates
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


class DSACObjective(Objective):
    """The loss of DSAC, and its targets, which are made anew in each round.

    Parameters
    ----------
    settings : DSAC
        Its `gamma`, `pull`, `pseudo_labels`, `spread_first`, `spread_more` and `temperature`
        are used.
    constraints : ConstraintGraph
    """

    pretrains: ClassVar[bool] = True

    def __init__(self, settings: "DSAC", constraints: ConstraintGraph) -> None:
        self._settings, self._constraints = settings, constraints
        self.targets: Targets | None = None
        self.n_rounds = 0  # of targets
        self._centres: Floats | None = None
        self._clusters: tuple[Floats, Clusters, Indexes] | None = None

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of the pre-training, or Eq. (1) to (6)."""
        s = self._settings
        if batch.learner.is_pretraining:
            a, b = batch.views
            return {"simclr": nt_xent(a.z, b.z, temperature=s.temperature)}
        assert self.targets is not None  # made by `begin_training`
        rows = batch.plain.z
        logits = batch.network.classifier(rows)
        return self.targets.terms(batch.indexes, rows, logits, gamma=s.gamma, pull=s.pull)

    def begin_training(self, learner: NetworkLearner) -> None:
        """Cluster anew with all labels so far, and make targets."""
        if learner.is_pretraining:
            return
        s = self._settings
        n_spread = s.spread_first + s.spread_more * self.n_rounds if s.pseudo_labels else 0
        self.targets = make_targets(*self._cluster(learner), n_spread)
        self.n_rounds += 1

    def before_prediction(self, learner: NetworkLearner) -> None:
        """Cluster the images, to choose questions and, without labels, to assign by."""
        self._clusters = self._cluster(learner)
        self._centres = self._clusters[1].centres

    def predict(self, prediction: Prediction) -> Prediction:
        """Return unit rows; probabilities are those of the classifier once it has labels."""
        rows, probabilities = prediction.embeddings, prediction.probabilities
        if self.targets is None or not self.targets.has_labels:
            assert self._centres is not None  # found by `before_prediction`
            probabilities = soft_assign(rows, self._centres)
        return Prediction(unit_rows(rows), probabilities)

    def clusters(self, learner: NetworkLearner) -> tuple[Floats, Clusters]:
        """Return the embeddings and clusters of all images, as of the last prediction."""
        if self._clusters is None:  # restored
            self._clusters = self._cluster(learner)
        return self._clusters[:2]

    def _cluster(self, learner: NetworkLearner) -> tuple[Floats, Clusters, Indexes]:
        labels = labels_of(self._constraints, learner.n_clusters)
        rows = learner.forward_all().embeddings
        return rows, seeded_kmeans(rows, learner.n_clusters, labels, learner.seed), labels

    def get_state(self) -> State:
        """Return targets and centres."""
        found = {} if self.targets is None else self.targets.get_state()
        if self._centres is not None:
            found["centres"] = self._centres
        return {**found, "round": np.array(self.n_rounds)}

    def set_state(self, state: State) -> None:
        """Restore targets and centres."""
        self._clusters = None
        self._centres = state["centres"]
        self.targets = Targets.from_state(state)
        self.n_rounds = int(state["round"])


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
        Weight of the self-paced pull; 1 in the paper, where clusters are classes already.
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
        (:math:`k_2`); 50 and 1000 in the paper. If the criterion is not the most obvious one,
        pseudo-labels are wrong; with 0 and 0, the default, `pseudo_labels` has no effect.
    pretrain : {None, "simclr"}
        Contrast two views during the plan's warm-up epochs, before any label.
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

    [DSAC]_ Eq. (1) to (6). Between rounds, seeded k-means gives new centres and clusters;
    pseudo-labels are made anew and never exclude an image from being asked about.

    Fidelity: see ``docs/research/fidelity.md``, D1 to D10. ``reset_each_round=True`` is
    not allowed.
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_embedding: int = 200
    gamma: float = 0.01
    pull: float = 0.001
    selection: Literal["full", "random", "difficult", "representative"] = "full"
    n_candidates: int = N_CANDIDATES
    pseudo_labels: bool = True
    spread_first: int = 0
    spread_more: int = 0
    pretrain: Literal["simclr"] | None = None
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
        "paper": {
            "plan": PAPER,
            "backbone": "convnext-tiny",
            "architecture": NetworkConfig(size=96, recipe="simclr-dsac"),
            "pull": 1.0,
            "spread_first": 50,
            "spread_more": 1000,
            "pretrain": "simclr",
        },
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
                "DSAC needs reset_each_round=False, got True: it learns from the centres of the "
                "network of the round before. Use TrainingPlan(reset_each_round=False)."
            )
        return plan if s.pretrain else plan.replace(warmup_epochs=0)

    def _input_spec(self) -> InputSpec:
        s = self.settings_
        return network_input(s.encoder, s.backbone, s.architecture or self.default_architecture)
