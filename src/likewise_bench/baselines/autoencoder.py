"""Autoencoders: the network and the objective of AE, the DEC family and the pair embeddings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import Network, NetworkOutput
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner
from likewise.estimators.questioners import unit_rows
from likewise.nn.losses.clustering import sharpen, soft_assignment, target_divergence
from likewise.random_streams import derive
from likewise.types import Floats
from likewise_bench.baselines.network_baseline import WIDTH, NetworkBaseline

AUTOENCODER_PLAN = TrainingPlan(
    warmup_epochs=30,
    n_rounds=4,
    epochs_per_round=12,
    batch_size=256,
    learning_rate=2e-3,
    sampler="linked",
)
_N_EMBEDDING = 10  # width of z, as in [DEC]_
_PIXELS = 16  # side length of the copy of an image that is reconstructed


@dataclass(eq=False, repr=False, kw_only=True)
class AE(NetworkBaseline):
    r"""Autoencoder, then k-means on the embeddings: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    Y. Bengio, P. Lamblin, D. Popovici, H. Larochelle: *Greedy layer-wise training of deep
    networks*. NIPS 2007, the row AE of the historical table of [CC]_:
    :math:`\min \|x - g(f(x))\|^2` with an embedding f(x) of 10 columns, then k-means on it.

    Choices. One hidden layer on either side, trained end to end instead of layer by layer. The
    input are the 256 leading principal directions of the same vectors as for all other methods;
    of images, a copy of 16 x 16 is reconstructed. *Fidelity:* the row of the table is computed on
    pixels.

    Published property: a few columns suffice to reconstruct what images have in common.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        network = autoencoder_network(data, self._config, self.settings_.n_clusters)
        objective = AutoencoderObjective(reconstruction=1.0, recluster=True)
        return self._network_learner(data, network, objective), NoQuestions()


class AutoencoderNetwork(Network):
    """Features, an embedding z, its decoder, and a centre for each cluster in z.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, n_embedding, n_hidden, n_out, n_clusters : int
        `n_out` is the width of the reconstruction.
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
        # Whether the centres are initialised; the name is that of saved models.
        self.register_buffer("is_placed", torch.zeros((), dtype=torch.bool))

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return embeddings, not normalised, and Student-t assignments [DEC]_."""
        z = self.embed(features)
        return NetworkOutput(features, z, soft_assignment(z, self.centres))

    @torch.no_grad()
    def initialize_centres(self, z: Floats, seed: int) -> None:
        """Set the centres by k-means on all embeddings."""
        kmeans = KMeans(len(self.centres), n_init=5, random_state=seed).fit(z)
        self.centres.copy_(torch.from_numpy(kmeans.cluster_centers_))
        self.is_placed.fill_(True)


def autoencoder_network(
    data: Data,
    config: NetworkConfig,
    n_clusters: int,
    cls: type[AutoencoderNetwork] = AutoencoderNetwork,
) -> Callable[..., AutoencoderNetwork]:
    """Return what makes an autoencoder for `data`."""
    n_out = 3 * _PIXELS**2 if data.n_columns is None else min(data.n_columns, WIDTH)
    return partial(
        cls,
        n_embedding=_N_EMBEDDING,
        n_hidden=config.n_hidden,
        n_out=n_out,
        n_clusters=n_clusters,
    )


class LinkedPairs(NamedTuple):
    """The pairs of a batch with a must-link (+1) or a cannot-link (-1), as positions in it."""

    first: Tensor
    second: Tensor
    relations: Tensor

    def of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of the first and of the second images."""
        return rows[self.first], rows[self.second]


#: The loss terms of the linked pairs of a batch.
PairTerms = Callable[[NetworkOutput, LinkedPairs], dict[str, Tensor]]


class AutoencoderObjective(Objective):
    """Reconstruction, self-training and pair losses, each if wanted, after pre-training.

    The warm-up epochs of the plan train the reconstruction; then k-means on z initialises the
    centres.

    Parameters
    ----------
    reconstruction : float, optional
        Weight of the reconstruction after pre-training; None: not used.
    clustering : float, optional
        Weight of the self-training of [DEC]_; None: not used.
    pairs : callable, optional
        Terms of the linked pairs of a batch, given or implied.
    pairs_replace_reconstruction : bool
        Reconstruct only in batches without a linked pair.
    recluster : bool
        Run k-means after every training, not only after pre-training.
    """

    pretrains = True

    def __init__(
        self,
        *,
        reconstruction: float | None = None,
        clustering: float | None = None,
        pairs: PairTerms | None = None,
        pairs_replace_reconstruction: bool = False,
        recluster: bool = False,
    ) -> None:
        self.reconstruction, self.clustering, self.pairs = reconstruction, clustering, pairs
        self.pairs_replace_reconstruction = pairs_replace_reconstruction
        self.recluster = recluster

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """After pre-training: initialise the centres once, update the targets every epoch."""
        if learner.is_pretraining:
            return
        self._initialize_centres(learner)
        if self.clustering is not None:
            probabilities = learner.forward_all().probabilities
            self._targets = sharpen(torch.from_numpy(probabilities))

    def end_training(self, learner: NetworkLearner) -> None:
        """Initialise the centres after pre-training; after every training with `recluster`."""
        if not learner.is_pretraining:
            self._initialize_centres(learner, again=self.recluster)

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of the present stage."""
        if batch.learner.is_pretraining:
            return {"reconstruction": reconstruction_loss(batch, batch.plain.z)}
        return self.clustering_terms(batch)

    def clustering_terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms after pre-training."""
        terms = {}
        linked = linked_pairs(batch) if self.pairs is not None else None
        is_replaced = self.pairs_replace_reconstruction and linked is not None
        if self.reconstruction is not None and not is_replaced:
            loss = reconstruction_loss(batch, batch.plain.z)
            terms["reconstruction"] = self.reconstruction * loss
        if self.clustering is not None:
            targets = self._targets[torch.from_numpy(batch.indexes)].to(batch.plain.p.device)
            terms["clusters"] = self.clustering * target_divergence(batch.plain.p, targets)
        if self.pairs is not None and linked is not None:
            terms.update(self.pairs(batch.plain, linked))
        return terms

    def predict(self, prediction: Prediction) -> Prediction:
        """Return unit embeddings."""
        return prediction._replace(embeddings=unit_rows(prediction.embeddings))

    def _initialize_centres(self, learner: NetworkLearner, *, again: bool = False) -> None:
        network = learner.network
        assert isinstance(network, AutoencoderNetwork)
        if again or not network.is_placed:
            seed = derive(learner.seed, "centres") % 2**31
            network.initialize_centres(learner.forward_all().embeddings, seed)


def reconstruction_loss(batch: Batch, z: Tensor) -> Tensor:
    """Return the mean squared error of decoding `z`; images are compared at 16 x 16 pixels."""
    inputs = batch.inputs
    if inputs.dim() == 4:
        inputs = F.adaptive_avg_pool2d(inputs.float(), _PIXELS)
    assert isinstance(batch.network, AutoencoderNetwork)
    return F.mse_loss(batch.network.decoder(z), inputs.flatten(1))


def linked_pairs(batch: Batch) -> LinkedPairs | None:
    """Return the linked pairs of a batch, given or implied; None without any, or with 1 cluster."""
    relations = batch.relations.relations
    first, second = torch.nonzero(relations.triu(1), as_tuple=True)
    if not len(first) or batch.learner.n_clusters < 2:
        return None
    return LinkedPairs(first, second, relations[first, second])
