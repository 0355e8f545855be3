"""The shared autoencoder: trained to reconstruct, then given centres, then trained by a loss."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import Network, NetworkOutput
from likewise.estimators.pair_questioner import unit_rows
from likewise.estimators.params import TrainingPlan
from likewise.methods.rivals.deep import DeepRival, Indexes
from likewise.nn.losses.clustering import sharpen, student_t, target_divergence
from likewise.progress import Progress
from likewise.seeds import derive
from likewise.types import Floats

_PIXELS = 16  # a side of the copy that is reconstructed of a picture


class Linked(NamedTuple):
    """The pairs of a batch of which something is known, as places in the batch."""

    first: Tensor
    second: Tensor
    relations: Tensor


class AutoencoderNetwork(Network):
    """Features, a short embedding z, its decoder, and a centre for each cluster in z.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, n_embedding, n_hidden, n_out, n_clusters : int
        `n_out` is the width of what is reconstructed.
    """

    is_placed: Tensor

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        n_embedding: int,
        n_hidden: int,
        n_out: int,
        n_clusters: int,
        scaling: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling)
        self.embed = nn.Linear(n_features, n_embedding)
        self.decoder = nn.Sequential(
            nn.Linear(n_embedding, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_out)
        )
        self.centres = nn.Parameter(torch.zeros(n_clusters, n_embedding))
        self.register_buffer("is_placed", torch.zeros((), dtype=torch.bool))

    def heads(self, features: Tensor, bank: Tensor | None = None) -> NetworkOutput:
        """Return embeddings, of any length, and Student-t assignments [DEC]_."""
        z = self.embed(features)
        return NetworkOutput(features, z, student_t(z, self.centres))

    @torch.no_grad()
    def place(self, rows: Floats, seed: int) -> None:
        """Put the centres where k-means finds them among all embeddings."""
        found = KMeans(len(self.centres), n_init=5, random_state=seed).fit(rows)
        self.centres.copy_(torch.from_numpy(found.cluster_centers_))
        self.is_placed.fill_(True)


class AutoencoderRival(DeepRival):
    """Reconstruct first, during the plan's warm-up; then place centres and train by `_terms`."""

    network_: AutoencoderNetwork
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        warmup_epochs=30,
        n_rounds=4,
        epochs_per_round=12,
        batch_size=256,
        learning_rate=2e-3,
        sampler="linked",
    )
    n_embedding: ClassVar[int] = 10  # width of z, as in [DEC]_
    places_anew: ClassVar[bool] = False  # k-means after every training, not just the first

    @abstractmethod
    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        """Return the named terms of one step after the pre-training."""

    # -- building -----------------------------------------------------------

    def _make_network(self) -> AutoencoderNetwork:
        backbone, n_features, scaling = self._body()
        return self._make_autoencoder(
            backbone,
            n_features,
            n_embedding=self.n_embedding,
            n_hidden=self._settings.architecture.n_hidden,
            n_out=self._n_out(scaling),
            n_clusters=self._n_clusters,
            scaling=scaling,
        )

    def _make_autoencoder(self, *given: Any, **widths: Any) -> AutoencoderNetwork:
        return AutoencoderNetwork(*given, **widths)

    def _n_out(self, scaling: Any) -> int:
        return 3 * _PIXELS**2 if scaling is None else int(scaling[1].n_out)

    # -- training -----------------------------------------------------------

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        self._pretrain(n_epochs, progress)
        self._place()
        super()._improve(n_epochs, progress)
        self._place(anew=self.places_anew)

    def _place(self, *, anew: bool = False) -> None:
        is_due = anew or not self.network_.is_placed
        if is_due and not self._is_pretraining:
            self.network_.place(self._all()[0], derive(self._seed, "centres") % 2**31)

    def _all(self) -> tuple[Floats, Floats]:
        """Return embeddings, of any length, and assignments of all images."""
        return super()._read_out(self._source)

    def _train_one_epoch(self) -> None:
        if not self._is_pretraining:
            self._begin_epoch()
        super()._train_one_epoch()

    def _begin_epoch(self) -> None:
        """Prepare what the terms of one epoch need of all images."""

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        view = self._look_plain(indexes[share])
        self._count(view)
        if self._is_pretraining:
            return self._pretraining_terms(indexes, view)
        return self._terms(indexes, view)

    def _pretraining_terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        return {"reconstruction": self._reconstruction(indexes, view.z)}

    def _reconstruction(self, indexes: Indexes, z: Tensor) -> Tensor:
        """Return the mean squared error of what is decoded from `z`."""
        rows = self._views.plain(self._rows(self._source, indexes))
        if rows.dim() == 4:
            rows = F.adaptive_avg_pool2d(rows.float(), _PIXELS)
        return F.mse_loss(self.network_.decoder(z), rows.flatten(1))

    def _linked(self, indexes: Indexes, device: torch.device) -> Linked | None:
        """Return the pairs of a batch that answers relate, given or implied; None: there is none.

        Nor is there any use of them with one cluster.
        """
        relations = np.triu(self.constraints_.relations(indexes), k=1)
        first, second = np.nonzero(relations)
        if not len(first) or self._n_clusters < 2:
            return None
        found = (first, second, relations[first, second])
        return Linked(*(torch.from_numpy(a).to(device) for a in found))

    # -- reading it out -------------------------------------------------------

    def _read_out(self, source: Data) -> tuple[Floats, Floats]:
        rows, probabilities = super()._read_out(source)
        return unit_rows(rows), probabilities


class SelfTraining:
    """The targets of [DEC]_: all assignments, sharpened, once an epoch.

    Parameters
    ----------
    assignments : array of shape (n, k)
    """

    def __init__(self, assignments: Floats) -> None:
        self.targets = sharpen(torch.from_numpy(assignments))

    def divergence(self, indexes: Indexes, view: NetworkOutput) -> Tensor:
        """Return how far the assignments of a batch are from their targets."""
        targets = self.targets[torch.from_numpy(indexes)].to(view.p.device)
        return target_divergence(view.p, targets)


class SelfTrainingRival(AutoencoderRival):
    """An autoencoder rival that is its own teacher, as in [DEC]_."""

    def _begin_epoch(self) -> None:
        self._teacher = SelfTraining(self._all()[1])

    def _divergence(self, indexes: Indexes, view: NetworkOutput) -> Tensor:
        return self._teacher.divergence(indexes, view)
