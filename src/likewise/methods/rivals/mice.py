"""MiCE: a mixture of contrastive experts, one for each cluster, and a gate."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.estimators.deep.networks import Network, NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.two_views import TwoViewsRival
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.training import generator

_FOLLOW = 0.99  # share of the teacher that stays in a step
_EARLY = 0.25  # share of all epochs in which the posterior is that of k-means


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
        # Fixed and far from each other: the gate cannot merge clusters by moving them.
        spread = torch.linalg.qr(torch.randn(max(width, n_clusters), max(width, n_clusters)))[0]
        self.register_buffer("directions", F.normalize(spread[:n_clusters, :width], dim=1))
        queue = F.normalize(torch.randn(n_queue, n_clusters, width), dim=2)
        self.register_buffer("queue", queue)

    def heads(self, features: Tensor, bank: Tensor | None = None) -> NetworkOutput:
        """Return the gate's embedding and its opinion."""
        z = F.normalize(self.gate(features), dim=1)
        return NetworkOutput(features, z, (z @ self.directions.T / self.temperature).softmax(dim=1))

    def expertise(self, features: Tensor) -> Tensor:
        """Return the embedding of each image by each expert, ``(b, k, d)``."""
        n_clusters, width = self.prototypes.shape
        return F.normalize(self.experts(features).view(-1, n_clusters, width), dim=2)

    @torch.no_grad()
    def enqueue(self, rows: Tensor) -> None:
        """Add the newest rows in front; the oldest leave."""
        self.queue.copy_(torch.cat([rows, self.queue])[: len(self.queue)])


@dataclass(eq=False, repr=False)
class MiCE(TrainingParameters, TwoViewsRival):
    r"""Mixture of contrastive experts: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        :math:`\tau`, of the experts.
    gate_temperature : float
        :math:`\kappa`, of the gate.
    n_queue : int
        Earlier images that serve as rivals.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    T. Tsai, C. Li, J. Zhu: *MiCE: mixture of contrastive experts for unsupervised image
    clustering*. ICLR 2021. Which of all images is the other view of x? Expert k answers by

    .. math:: \Phi_k(x, y) = \exp\big(v_y^\top (f_k(x) + \mu_k) / \tau\big),

    f of a student, v of a teacher that follows it slowly, :math:`\mu_k` its prototype; rivals come
    from a queue of earlier v. The gate :math:`\pi_k(x)` is a softmax over fixed directions. EM:
    the posterior :math:`q_k \propto \pi_k \Phi_k / Z_k` is computed and held fixed; the bound
    :math:`\sum_k q_k (\log \pi_k + \log \Phi_k / Z_k)` is climbed.

    Choices. EM needs a beginning: in the first quarter of the epochs the posterior is that of
    k-means on the untrained gate, since random gates often leave a cluster empty where there are
    few images. To the gate's part of the bound comes :math:`\mathrm{KL}(q \| \pi(x'))`, with the
    gate of the other view x' (up to a constant the same part for that view), so that both views
    get one opinion. The queue holds 512 rows instead of 16,384 and the teacher keeps 0.99 of itself
    instead of 0.999, both for collections of thousands. *Fidelity:* prototypes follow the
    gradient at length one instead of the paper's special update, and assignments are the gate's,
    which by then agrees with the posterior.

    Published property: experts divide the images among them without a balance term.
    """

    network_: ExpertNetwork = field(init=False)
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        epochs_per_round=25, batch_size=256, learning_rate=2e-3
    )
    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    temperature: float = 1.0
    gate_temperature: float = 0.5
    n_queue: int = 512

    def _build(self) -> None:
        super()._build()
        self._beginning: Any = None
        self._teacher = deepcopy(self.network_).requires_grad_(False)

    def _make_network(self) -> ExpertNetwork:  # type: ignore[override]  # heads of its own
        s = self._settings
        backbone, n_features, scaling = self._body()
        return ExpertNetwork(
            backbone,
            n_features,
            width=s.architecture.n_projection,
            n_clusters=self._n_clusters,
            n_queue=s.n_queue,
            temperature=s.gate_temperature,
            scaling=scaling,
        )

    @property
    def _is_early(self) -> bool:
        return self._progress_share < _EARLY

    def _train_one_epoch(self) -> None:
        if self._epoch == 0:
            z = self._plain_views()[0]
            self._beginning = cosine_soft_assign(z, fit_centroids(z, self._n_clusters, self._seed))
        super()._train_one_epoch()

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        student, other = self._look_twice(number, indexes, share)
        self._count(student)
        taught = self._taught(number, indexes, share)
        network, tau = self.network_, self._settings.temperature
        asked = network.expertise(student.features) + F.normalize(network.prototypes, dim=1)
        own = (asked * taught).sum(dim=2) / tau  # (b, k)
        rivals = torch.einsum("bkd,qkd->bkq", asked, network.queue.clone()) / tau
        log_found = own - torch.cat([own[:, :, None], rivals], dim=2).logsumexp(dim=2)
        log_gate = student.p.clamp_min(1e-8).log()
        q = (log_gate + log_found).detach().softmax(dim=1)
        if self._is_early:
            q = torch.from_numpy(self._beginning[indexes]).to(q)
        network.enqueue(taught)
        gates = F.kl_div(other.p.clamp_min(1e-8).log(), q, reduction="batchmean")
        return {
            "experts": -(q * log_found).sum(dim=1).mean(),
            "gate": -(q * log_gate).sum(dim=1).mean() + gates,
        }

    @torch.no_grad()
    def _taught(self, number: int, indexes: Indexes, share: slice) -> Tensor:
        """Return the teacher's expertise of the other view; then let it follow the student."""
        drawn = generator(self._seed, "teacher", self._epoch, number)
        rows = self._views.draw(self._rows(self._source, indexes), drawn)[1]
        found = self._teacher.expertise(self._teacher.features(rows).float())
        for slow, quick in zip(self._teacher.parameters(), self.network_.parameters(), strict=True):
            slow.lerp_(quick, 1 - _FOLLOW)
        return found

    def _extra_arrays(self) -> dict[str, Any]:
        return {"beginning": self._beginning}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._beginning = arrays.get("beginning")

    def _modules_to_save(self) -> dict[str, Any]:
        return {**super()._modules_to_save(), "teacher": self._teacher}
