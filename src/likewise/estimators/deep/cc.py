"""CC: contrastive clustering, by NT-Xent of rows, NT-Xent of columns, and cluster entropy."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

from torch import Tensor, nn

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import (
    DEFAULT_CONFIG,
    cluster_network_factory,
    make_views,
    network_input,
)
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.params import NetworkConfig, TrainingPlan, check_choice
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner, State
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent
from likewise.nn.training import shuffled_batches
from likewise.random_streams import derive
from likewise.types import Floats

PAPER = TrainingPlan(epochs_per_round=1000, batch_size=256, learning_rate=3e-4)
SMALL = TrainingPlan(epochs_per_round=40, batch_size=256, learning_rate=1e-3)


@dataclass(eq=False)
class CCObjective(Objective):
    """The loss of CC, and k-means centroids if no assignment head is trained.

    Parameters
    ----------
    instance_temperature, cluster_temperature : float
    heads : {"both", "instance", "cluster"}
    extra : Data, optional
        Further images, trained on with the instance loss before each epoch.
    """

    instance_temperature: float
    cluster_temperature: float
    heads: str
    extra: Data | None = None
    centroids: Floats | None = None

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return Eq. (7)."""
        a, b = batch.views
        terms = {}
        if self.heads != "cluster":
            terms["instance"] = nt_xent(a.z, b.z, temperature=self.instance_temperature)
        if self.heads != "instance":
            terms["cluster"] = nt_xent(a.p.T, b.p.T, temperature=self.cluster_temperature)
            terms["balance"] = cluster_entropy_loss(a.p, b.p)
        return terms

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Train once on the further images."""
        if self.extra is None:
            return
        seed, size = derive(learner.seed, "extra"), learner.plan.batch_size
        batches = shuffled_batches(len(self.extra), size, seed, learner.epoch)
        learner.train_steps(batches, self._instance_term, self.extra)

    def _instance_term(self, batch: Batch) -> dict[str, Tensor]:
        a, b = batch.views
        return {"instance": nt_xent(a.z, b.z, temperature=self.instance_temperature)}

    def end_training(self, learner: NetworkLearner) -> None:
        """Find centroids, if there is no assignment head to read."""
        if self.heads == "instance":
            rows = learner.forward_all().embeddings
            self.centroids = fit_centroids(rows, learner.n_clusters, learner.seed)

    def predict(self, prediction: Prediction) -> Prediction:
        """Assign to centroids, if there are any."""
        if self.centroids is None:
            return prediction
        soft = cosine_soft_assign(prediction.embeddings, self.centroids)
        return prediction._replace(probabilities=soft)

    def get_state(self) -> State:
        """Return the centroids."""
        return {} if self.centroids is None else {"centres": self.centroids}

    def set_state(self, state: State) -> None:
        """Restore the centroids."""
        self.centroids = state.get("centres")


@dataclass(eq=False, repr=False)
class CC(InteractiveClusterer):
    r"""Contrastive clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, cluster_temperature : float
        :math:`\tau_I` and :math:`\tau_C`.
    heads : {"both", "instance", "cluster"}
        Which NT-Xent is trained; the latter two are the paper's ablation. ``instance`` alone
        has no assignment head, so k-means on its projections gives the clusters.
    views : {"two", "one", "none"}
        Two random views; one random view and the plain image; two equal views, which
        collapse: the paper's other ablation.
    preset : {"paper", "small"}, optional
        Values for every parameter left at its default; `from_preset` changes some of them.
    encoder : str or Encoder, optional
        Embeds images, so that the network is trained on vectors. Without one it is trained
        on the images themselves.
    backbone : str or nn.Module, optional
        The network for images: a name, trained from scratch (default ``resnet18``), or a
        module, of which a copy is trained.
    architecture : NetworkConfig, optional
        Layer widths, image size and augmentation.
    plan : TrainingPlan, optional
    random_state : int, optional

    Notes
    -----
    With two views a, b of a batch, projections :math:`z` and assignments
    :math:`y`, the loss is [CC]_ Eq. (7),

    .. math:: L = L_{ins}(z^a, z^b; \tau_I) + L_{clu}(y^a, y^b; \tau_C) - H(Y),

    Eq. (3) over rows of z, Eq. (6) over columns of y, H the entropy of the mean
    assignment of each view.

    Fidelity: a row is not its own negative (the printed sums count it, text and public code
    do not); H enters as log K − H ≥ 0. Augmentation of vectors is ours: the paper has
    images only.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(90, n_features=8, centers=3, random_state=0)
    >>> plan = TrainingPlan(epochs_per_round=5)
    >>> CC(n_clusters=3, plan=plan, random_state=0).fit(X).labels_.shape
    (90,)
    """

    n_clusters: int = 8
    _: KW_ONLY
    instance_temperature: float = 0.5
    cluster_temperature: float = 1.0
    heads: Literal["both", "instance", "cluster"] = "both"
    views: Literal["two", "one", "none"] = "two"
    preset: str | None = None
    encoder: Any = None
    backbone: str | nn.Module | None = None
    architecture: NetworkConfig | None = None
    plan: TrainingPlan | None = None
    random_state: int | None = None

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TrainingPlan()
    default_architecture: ClassVar[NetworkConfig] = DEFAULT_CONFIG
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "plan": PAPER,
            "backbone": "resnet34",
            "architecture": NetworkConfig(size=224),
        },
        "small": {"plan": SMALL},
    }

    def fit(self, X: Any, y: object = None, *, extra: Any = None, **given: Any) -> Self:
        """Cluster `X`; see `InteractiveClusterer.fit` for what else can be given.

        Parameters
        ----------
        X, y, given
            As there.
        extra : as `X`, optional
            Further images that belong to no cluster, such as STL-10's unlabelled ones: each
            epoch first trains on them, with the instance loss alone.
        """
        self._extra_images = extra
        return super().fit(X, y, **given)

    def _input_spec(self) -> InputSpec:
        s = self.settings_
        return network_input(s.encoder, s.backbone, s.architecture or self.default_architecture)

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        check_choice("heads", s.heads, ("both", "instance", "cluster"))
        check_choice("views", s.views, ("two", "one", "none"))
        config = s.architecture or self.default_architecture
        extra = getattr(self, "_extra_images", None)
        objective = CCObjective(
            s.instance_temperature,
            s.cluster_temperature,
            s.heads,
            extra=None if extra is None else self._read(extra, reset=False),
        )
        learner = NetworkLearner(
            cluster_network_factory(data, s.backbone, config, s.n_clusters),
            objective,
            make_views(data, config, s.views),
            s.plan or self.default_plan,
        )
        return learner, NoQuestions()
