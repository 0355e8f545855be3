"""NetworkLearner: trains a network with an objective and predicts; used by all deep methods."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.estimators.data import Data, VectorData
from likewise.estimators.deep.collapse import CollapseDetector
from likewise.estimators.deep.networks import Augmentation, Network, NetworkOutput
from likewise.estimators.deep.objective import (
    Batch,
    LabelExtension,
    Objective,
    constrained_batches,
    fraction_met,
)
from likewise.estimators.fit_rounds import BatchQuestions
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, Prediction, State
from likewise.nn.device import Runtime, make_runtime, share_batch_statistics
from likewise.nn.training import (
    TrainingStep,
    borrowed_global_generator,
    make_optimiser,
    optimiser_state,
    restore_optimiser,
    shuffled_batches,
    train_epoch,
)
from likewise.operating_system import default_cache_folder
from likewise.types import Floats, Indexes, Progress

PREDICT_BATCH = 1024  # images predicted together
_SCALE_ONCE = 200_000  # vectors up to which all are scaled in advance
_ONE_IMAGE = "A batch of one image has nothing to contrast it with: use a larger batch_size."


class NetworkLearner(Learner):
    """Trains a network by an objective.

    Parameters
    ----------
    make_network : callable
        Returns an untrained network.
    objective : Objective
    augmentation : Augmentation
    plan : TrainingPlan
    extension : LabelExtension, optional
    query_space : {"z", "backbone"}
        Where query strategies compare images: projections or features.
    predict_batch : int
        Images predicted together.

    Notes
    -----
    `train` runs epochs (`_train_one_epoch`) of steps (`_terms`). A step draws two views of a batch,
    asks about its pairs if questions are asked inside batches, adds a pseudo-link if labels are
    extended, and takes one optimiser step along the sum of the objective's terms.
    """

    network: Network
    optimiser: torch.optim.Optimizer
    constraints: ConstraintGraph

    def __init__(
        self,
        make_network: Callable[[], Network],
        objective: Objective,
        augmentation: Augmentation,
        plan: TrainingPlan,
        *,
        extension: LabelExtension | None = None,
        query_space: Literal["z", "backbone"] = "z",
        predict_batch: int = PREDICT_BATCH,
    ) -> None:
        self.objective = objective
        self.augmentation = augmentation
        self.plan = plan
        self.supports_batch_queries: bool = objective.supports_batch_queries
        self._make_network, self._extension = make_network, extension or LabelExtension(0.0)
        self._query_space, self._predict_batch = query_space, predict_batch

    # -- building -------------------------------------------------------------------

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        """Make the network, untrained."""
        self.data = data
        self.n_clusters = n_clusters
        self.seed = seed
        log_to = Path(self.plan.log_to) if self.plan.log_to else None
        on_images = data.n_columns is None
        self.runtime: Runtime = make_runtime(self.plan.precision, images=on_images, log_to=log_to)
        self.epoch: int = 0
        self.epochs_left: int = 0
        self._scaled: Tensor | None = None
        size = min(self.plan.batch_size, max(len(data), 1))
        remedy = self.objective.collapse_remedy if size > 1 else _ONE_IMAGE
        self._collapse = CollapseDetector(n_clusters, size, remedy)
        self._reset_network()
        self._scale_once()
        self.objective.setup(self)

    def _reset_network(self) -> None:
        """Make a new network and optimiser."""
        plan, names = self.plan, ("network", self.epoch) if self.epoch else ("network",)
        with borrowed_global_generator(self.seed, *names):
            network = self._make_network()
        self.network = share_batch_statistics(network.to(self.device))
        if plan.compiled:
            self.network.backbone.compile()
        self._step = self.runtime.prepare(TrainingStep(self.network))
        self.optimiser = make_optimiser(
            self.network.parameters(), plan.optimiser, plan.learning_rate, plan.weight_decay
        )

    @torch.no_grad()
    def _scale_once(self) -> None:
        """Keep all vectors scaled, if they are not too many, so that epochs need not do it."""
        n = len(self.data)
        if isinstance(self.data, VectorData) and n <= _SCALE_ONCE:
            chunks = np.array_split(np.arange(n), -(-n // PREDICT_BATCH))
            self._scaled = torch.cat([self.inputs(chunk) for chunk in chunks])

    @property
    def device(self) -> torch.device:
        """Return where the network is."""
        return self.runtime.device

    # -- training -------------------------------------------------------------------

    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        """Train for one round of the plan, or for `epochs`."""
        self.constraints = constraints
        if epochs is None and self.objective.pretrains and self.is_pretraining:
            self._train_epochs(self.plan.warmup_epochs - self.epoch, progress)
        self._train_epochs(epochs, progress)
        self.objective.end_training(self)
        self._warn_if_not_extended()

    def _train_epochs(self, epochs: int | None, progress: Progress) -> None:
        plan = self.plan
        if not self.is_mid_round:
            self.epochs_left = plan.epochs_per_round if epochs is None else epochs
            if plan.reset_each_round and epochs is None and self.epoch:
                self._reset_network()
                self.constraints.clear_pseudo()  # guesses of the network before
            self.objective.begin_training(self)
        self._choose_format()
        total = self.epochs_left
        while self.epochs_left:
            self._train_one_epoch()
            progress(total - self.epochs_left, total)

    def _choose_format(self) -> None:
        """Measure once in which precision and memory format the network trains fastest."""
        n = min(len(self.data), self.plan.batch_size)
        if not self.runtime.is_chosen and n > 1:  # which batch normalisation needs
            images = self.augmentation.plain(self.inputs(np.arange(n)))
            cache = default_cache_folder()
            self.runtime = self.runtime.with_fastest_format(self.network.backbone, images, cache)

    def _train_one_epoch(self) -> None:
        if self.batch_questions is not None:
            self.batch_questions.begin_epoch()
        self.network.train()
        self.objective.begin_epoch(self)
        self._collapse.begin_epoch()
        self._n_extended = 0
        batches = list(self.objective.batches(self))
        self._check_batch_sizes(batches)
        means = self.train_steps(batches, self._terms)
        self.history.append({**means, **self._diagnostics(batches)})
        if self.plan.log_to:
            self.runtime.accelerator.log(self.history[-1], step=self.epoch)
        self.epoch += 1
        self.epochs_left -= 1
        self._collapse.warn(self.epoch, means)

    def train_steps(
        self,
        batches: Iterable[Indexes],
        terms: Callable[[Batch], dict[str, Tensor]],
        data: Data | None = None,
    ) -> dict[str, float]:
        """Take one step for each batch; return the mean of each term and of the loss."""

        def terms_of(number: int, indexes: Indexes) -> dict[str, Tensor]:
            found: dict[str, Tensor] = self._step(terms, Batch(self, number, indexes, data))
            return found

        clip_norm = self.plan.clip_norm
        return train_epoch(batches, terms_of, self.optimiser, clip_norm=clip_norm)

    def _terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss terms of one step; questions are asked before."""
        if self.batch_questions is not None:
            self._ask_in_batch(batch, self.batch_questions)
        if self._is_extending:
            added = self._extension.add_one(self.constraints, batch.indexes, *batch.views)
            self._n_extended += added is not None
        terms = self.objective.terms(batch)
        if batch.first_output is not None:
            self._collapse.add(batch.first_output)
        return terms

    @property
    def _is_extending(self) -> bool:
        """Return whether pseudo-links are added in this epoch."""
        return self.progress_fraction > 1 - self._extension.fraction

    def _warn_if_not_extended(self) -> None:
        """Warn at the end of all epochs that label extension had no effect."""
        is_wanted = self._extension.fraction > 0 and self.progress_fraction == 1
        if self._extension.from_answers and not self.constraints.n_answers:
            return
        if is_wanted and not self.constraints.pseudo():
            warnings.warn(
                "Label extension added no pair: no two images of a batch reached "
                f"extension_threshold={self._extension.threshold}. Use "
                "extension_threshold=None, which is relative to each batch.",
                LikewiseWarning,
                stacklevel=4,
            )

    def _ask_in_batch(self, batch: Batch, ask: BatchQuestions) -> None:
        """Ask about pairs of the batch; the loss of this step includes the answers."""
        a, b = batch.views
        rows = [self._query_rows(view).detach().float().cpu().numpy() for view in (a, b)]
        probabilities = ((a.p + b.p) / 2).detach().cpu().numpy()
        ask(self.epoch, batch.indexes, (rows[0], rows[1]), probabilities)

    def _query_rows(self, output: NetworkOutput) -> Tensor:
        """Return the unit rows in which a strategy compares images."""
        return F.normalize(output.features, dim=1) if self._query_space == "backbone" else output.z

    def sample_batches(self) -> Iterator[Indexes]:
        """Yield the batches of one epoch, as the plan says."""
        n, size, epoch = len(self.data), self.plan.batch_size, self.epoch
        if self.plan.sampler == "linked":
            fraction = self.plan.constrained_fraction
            return constrained_batches(self.constraints, size, self.seed, epoch, fraction=fraction)
        return shuffled_batches(n, size, self.seed, epoch)

    def _check_batch_sizes(self, batches: list[Indexes]) -> None:
        kind = nn.modules.batchnorm._BatchNorm
        if any(len(batch) == 1 for batch in batches) and any(
            isinstance(module, kind) for module in self.network.modules()
        ):
            raise InvalidParameterError(
                "Batch normalisation needs at least 2 images in a batch, got 1; use a larger "
                "batch_size, and at least 2 images."
            )

    def _diagnostics(self, batches: list[Indexes]) -> dict[str, float]:
        """Return metrics that show collapsed clusters, and constraints that no batch contains."""
        found = {"size_entropy": self._collapse.size_entropy}
        if self._is_extending:
            found["n_extended"] = self._n_extended
        if self.constraints.n_answers:
            found["links_met"] = fraction_met(self.constraints, batches)
        return found

    # -- where training is ------------------------------------------------------------

    @property
    def is_mid_round(self) -> bool:  # type: ignore[override]  # a plain attribute of the base
        """Return whether epochs of a round are left to do."""
        return self.epochs_left > 0

    @property
    def is_checkpoint_due(self) -> bool:  # type: ignore[override]
        """Return whether a checkpoint is due after this epoch."""
        return self.epoch % self.plan.checkpoint_every == 0

    @property
    def is_pretraining(self) -> bool:
        """Return whether warm-up epochs are left."""
        return self.epoch < self.plan.warmup_epochs

    @property
    def progress_fraction(self) -> float:
        """Return the fraction of planned epochs that is done; of this round if each is reset."""
        plan = self.plan
        if plan.reset_each_round:
            return max(1 - self.epochs_left / plan.epochs_per_round, 0.0)
        return min(self.epoch / (plan.warmup_epochs + plan.n_rounds * plan.epochs_per_round), 1.0)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Open and close the log for TensorBoard, if the plan has one."""
        if self.plan.log_to:
            self.runtime.accelerator.init_trackers("likewise")
        try:
            yield
        finally:
            if self.plan.log_to:
                self.runtime.accelerator.end_training()

    # -- prediction ---------------------------------------------------------------------

    def predict(self, data: Data) -> Prediction:
        """Return embeddings and probabilities of `data`, image by image."""
        if data is not self.data:
            return self.objective.predict(self.forward_all(data))
        self.objective.before_prediction(self)
        prediction = self.objective.predict(self.forward_all(data))
        if self._query_space == "backbone":
            prediction = prediction._replace(query_rows=self._all_features())
        return prediction

    @torch.no_grad()
    def forward_all(self, data: Data | None = None) -> Prediction:
        """Return what the network itself gives for all images, without augmentation."""
        data = self.data if data is None else data
        embeddings, probabilities = [], []  # and no features: they are wide
        with self.evaluating():
            for start in range(0, len(data), self._predict_batch):
                indexes = np.arange(start, min(start + self._predict_batch, len(data)))
                output = self.network.heads(self.plain_features(indexes, data))
                embeddings.append(output.z.float().cpu().numpy())
                probabilities.append(output.p.float().cpu().numpy())
        return Prediction(np.concatenate(embeddings), np.concatenate(probabilities))

    @torch.no_grad()
    def plain_features(self, indexes: Indexes, data: Data | None = None) -> Tensor:
        """Return the backbone's features of some images, without augmentation."""
        return self.features(self.augmentation.plain(self.inputs(indexes, data)))

    def features(self, rows: Tensor) -> Tensor:
        """Return the backbone's features of network input."""
        with self.runtime.autocast():
            features = self.network.features(self.runtime.to_memory_format(rows))
        return features.float()

    def inputs(self, indexes: Indexes, data: Data | None = None) -> Tensor:
        """Return scaled vectors ``(b, d)`` or images ``(b, 3, s, s)`` uint8, on the device."""
        data = self.data if data is None else data
        if self._scaled is not None and data is self.data:
            return self._scaled[torch.from_numpy(indexes).to(self.device)]
        rows = torch.from_numpy(data.batch(indexes))
        if data.n_columns is None:
            rows = rows.permute(0, 3, 1, 2)
        scaled: Tensor = self.network.scaling(rows.to(self.device))
        return scaled

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Put the network into evaluation mode inside a ``with`` block."""
        was_training = self.network.training
        self.network.eval()
        try:
            yield
        finally:
            self.network.train(was_training)

    def _all_features(self) -> Floats:
        n = len(self.data)
        with self.evaluating():
            chunks = np.array_split(np.arange(n), -(-n // PREDICT_BATCH))
            features = torch.cat([self.plain_features(chunk) for chunk in chunks])
        found: Floats = features.cpu().numpy()
        return found

    # -- state --------------------------------------------------------------------------

    def get_state(self) -> State:
        """Return network, optimiser, objective, and the epoch."""
        found: dict[str, npt.NDArray[Any]] = {
            "epoch": np.array(self.epoch),
            "epochs_left": np.array(self.epochs_left),
        }
        if self.runtime.is_chosen:  # so that a resumed training continues in the same digits
            found["format"] = np.array(self.runtime.format_number)
        for name, module in self._modules().items():
            for key, tensor in module.state_dict().items():
                found[f"{name}:{key}"] = tensor.detach().cpu().numpy()
        for key, tensor in optimiser_state(self.optimiser).items():
            found[f"optimiser:{key}"] = tensor.detach().cpu().numpy()
        return found | {f"objective:{k}": array for k, array in self.objective.get_state().items()}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self.epoch = int(state["epoch"])
        self.epochs_left = int(state["epochs_left"])
        if "format" in state and self.plan.precision == "auto":
            self.runtime = self.runtime.with_format(int(state["format"]))
        parts: dict[str, dict[str, npt.NDArray[Any]]] = {"objective": {}}
        for name, array in state.items():
            part, _, key = name.rpartition(":") if ":" not in name else name.partition(":")
            parts.setdefault(part or "objective", {})[key] = array
        for name, module in self._modules().items():
            module.load_state_dict({k: torch.from_numpy(a) for k, a in parts[name].items()})
        tensors = {k: torch.from_numpy(a) for k, a in parts.get("optimiser", {}).items()}
        restore_optimiser(self.optimiser, tensors)
        self.objective.set_state(parts["objective"])

    def _modules(self) -> dict[str, nn.Module]:
        return {"network": self.network, **self.objective.modules()}
