"""MiCE: a mixture of contrastive experts, one for each cluster, and a gating network."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import Network, NetworkOutput
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner, State
from likewise.nn.training import generator
from likewise.types import Floats
from likewise_bench.baselines.network_baseline import NetworkBaseline

_TEACHER_MOMENTUM = 0.99
_INITIAL_FRACTION = 0.25  # of all epochs, in which the posterior is that of k-means


@dataclass(eq=False, repr=False, kw_only=True)
class MiCE(NetworkBaseline):
    r"""Mixture of contrastive experts: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        :math:`\tau`, of the experts.
    gate_temperature : float
        :math:`\kappa`, of the gating network.
    n_queue : int
        Earlier images that serve as negatives.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    T. Tsai, C. Li, J. Zhu: *MiCE: mixture of contrastive experts for unsupervised image
    clustering*. ICLR 2021. Which of all images is the other view of x? Expert k answers by

    .. math:: \Phi_k(x, y) = \exp\big(v_y^\top (f_k(x) + \mu_k) / \tau\big),

    f of a student network, v of a teacher that is its moving average, :math:`\mu_k` its prototype;
    negatives come from a queue of earlier v. The gate :math:`\pi_k(x)` is a softmax over fixed
    directions. EM: the posterior :math:`q_k \propto \pi_k \Phi_k / Z_k` is computed and held
    fixed; the bound :math:`\sum_k q_k (\log \pi_k + \log \Phi_k / Z_k)` is maximised.

    Choices. EM needs an initialisation: in the first quarter of the epochs the posterior is that
    of k-means on the untrained gate, since with few images random gates often leave a cluster
    empty. The gate's part of the bound is complemented by :math:`\mathrm{KL}(q \| \pi(x'))`, with
    the gate of the other view x' (up to a constant the same part for that view), so that both
    views get the same assignment. The queue holds 512 rows instead of 16,384 and the momentum of
    the teacher is 0.99 instead of 0.999, both for collections of thousands. *Fidelity:*
    prototypes follow the gradient at length one instead of the paper's special update, and
    assignments are the gate's, which at the end of training agrees with the posterior.

    Published property: experts divide the images among them without a balance term.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        epochs_per_round=25, batch_size=256, learning_rate=2e-3
    )

    temperature: float = 1.0
    gate_temperature: float = 0.5
    n_queue: int = 512

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = partial(
            ExpertNetwork,
            width=self._config.n_projection,
            n_clusters=s.n_clusters,
            n_queue=s.n_queue,
            temperature=s.gate_temperature,
        )
        return self._network_learner(data, network, MiCEObjective(s.temperature)), NoQuestions()


class MiCEObjective(Objective):
    """The EM bound of the experts and the gate, with a moving-average teacher.

    Parameters
    ----------
    temperature : float
        Of the experts.
    """

    def __init__(self, temperature: float) -> None:
        self.temperature = temperature
        self._teacher: ExpertNetwork | None = None
        self._initial_posterior: Floats | None = None

    def setup(self, learner: NetworkLearner) -> None:
        """Copy the untrained network as the teacher."""
        assert isinstance(learner.network, ExpertNetwork)
        self._teacher = deepcopy(learner.network).requires_grad_(False)

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Before the first epoch: the posterior of k-means on the untrained gate."""
        if learner.epoch == 0:
            z = learner.forward_all().embeddings
            centroids = fit_centroids(z, learner.n_clusters, learner.seed)
            self._initial_posterior = cosine_soft_assign(z, centroids)

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return minus the bound, the experts' and the gate's part; then update the queue."""
        student, other = batch.views
        network, tau = batch.network, self.temperature
        assert isinstance(network, ExpertNetwork)
        targets = self._teacher_embeddings(batch)
        experts = network.expert_embeddings(student.features)
        queries = experts + F.normalize(network.prototypes, dim=1)
        own = (queries * targets).sum(dim=2) / tau  # (b, k)
        negatives = torch.einsum("bkd,qkd->bkq", queries, network.queue.clone()) / tau
        log_expert = own - torch.cat([own[:, :, None], negatives], dim=2).logsumexp(dim=2)
        log_gate = student.p.clamp_min(1e-8).log()
        q = (log_gate + log_expert).detach().softmax(dim=1)
        if batch.learner.progress_fraction < _INITIAL_FRACTION:
            assert self._initial_posterior is not None  # see `begin_epoch`
            q = torch.from_numpy(self._initial_posterior[batch.indexes]).to(q)
        network.enqueue(targets)
        other_gate = F.kl_div(other.p.clamp_min(1e-8).log(), q, reduction="batchmean")
        return {
            "experts": -(q * log_expert).sum(dim=1).mean(),
            "gate": -(q * log_gate).sum(dim=1).mean() + other_gate,
        }

    @torch.no_grad()
    def _teacher_embeddings(self, batch: Batch) -> Tensor:
        """Return the teacher's embeddings of another view; then update the teacher."""
        teacher, learner = self._teacher, batch.learner
        assert teacher is not None  # see `setup`
        rng = generator(learner.seed, "teacher", learner.epoch, batch.number)
        rows = batch.draw(rng)[1]
        embeddings = teacher.expert_embeddings(teacher.features(rows).float())
        pairs = zip(teacher.parameters(), batch.network.parameters(), strict=True)
        for slow, fast in pairs:
            slow.lerp_(fast, 1 - _TEACHER_MOMENTUM)
        return embeddings

    def modules(self) -> dict[str, nn.Module]:
        """Return the teacher."""
        return {} if self._teacher is None else {"teacher": self._teacher}

    def get_state(self) -> State:
        """Return the initial posterior."""
        return {} if self._initial_posterior is None else {"beginning": self._initial_posterior}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self._initial_posterior = state.get("beginning")


class ExpertNetwork(Network):
    """A gate over clusters, and an embedding by the expert of each cluster.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, width, n_clusters, n_queue : int
    temperature : float
        Of the gate.
    """

    directions: Tensor
    queue: Tensor

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        width: int,
        n_clusters: int,
        n_queue: int,
        temperature: float,
        scaling: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling)
        self.temperature = temperature
        self.gate = nn.Linear(n_features, width)
        self.experts = nn.Linear(n_features, n_clusters * width)
        self.prototypes = nn.Parameter(F.normalize(torch.randn(n_clusters, width), dim=1))
        # Fixed and orthogonal: the gate cannot merge clusters by moving them.
        spread = torch.linalg.qr(torch.randn(max(width, n_clusters), max(width, n_clusters)))[0]
        self.register_buffer("directions", F.normalize(spread[:n_clusters, :width], dim=1))
        queue = F.normalize(torch.randn(n_queue, n_clusters, width), dim=2)
        self.register_buffer("queue", queue)

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return the gate's embedding and its probabilities."""
        z = F.normalize(self.gate(features), dim=1)
        return NetworkOutput(features, z, (z @ self.directions.T / self.temperature).softmax(dim=1))

    def expert_embeddings(self, features: Tensor) -> Tensor:
        """Return the embedding of each image by each expert, ``(b, k, d)``."""
        n_clusters, width = self.prototypes.shape
        return F.normalize(self.experts(features).view(-1, n_clusters, width), dim=2)

    @torch.no_grad()
    def enqueue(self, rows: Tensor) -> None:
        """Add the newest rows in front, and drop the oldest."""
        self.queue.copy_(torch.cat([rows, self.queue])[: len(self.queue)])
