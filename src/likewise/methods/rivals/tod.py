"""TOD: labels for the images of which the output changed most between two rounds."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from likewise.constraints.question import Question
from likewise.estimators.data import Data
from likewise.estimators.deep.dsac_targets import labels_of
from likewise.estimators.deep.networks import EmbeddingNetwork
from likewise.estimators.label_questioner import check_open, closed_images
from likewise.estimators.pair_questioner import unit_rows
from likewise.estimators.params import TrainingPlan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.rivals.deep import DeepRival, Indexes
from likewise.methods.shared_parameters import TrainingParameters
from likewise.progress import Progress
from likewise.seeds import stream
from likewise.types import Floats


@dataclass(eq=False, repr=False)
class TOD(TrainingParameters, DeepRival):
    r"""Temporal output discrepancy: asks for labels where the network changed its mind.

    Parameters
    ----------
    n_clusters : int
        Classes; one that no label names yet keeps its place.
    weight : float
        Of the agreement with the last round, over all images.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. Labels are asked for between rounds.

    Notes
    -----
    S. Huang, T. Wang, H. Xiong, J. Huan, D. Dou: *Semi-supervised active learning with temporal
    output discrepancy*. ICCV 2021; the parent of OCC's CSD, which compares similarities of pairs
    where this compares outputs of images. With f_c the network after round c,

    .. math:: D(x) = \|f_c(x) - f_{c-1}(x)\|

    bounds the loss of an image from below, without its label: the images of largest D are labelled
    next. Training adds :math:`\lambda \|f(x) - f_{c-1}(x)\|^2` over images without a label.

    Choices. f are class probabilities. The first labels are random, as in the paper. Half of
    every batch are labelled images, since a person gives a hundred labels, not thousands.
    *Fidelity:* the paper's earlier network is a moving average; here its outputs of the last round
    are kept, one row an image. Before any label there is nothing to teach, and k-means on the
    untrained embedding stands in, as it does for `DSAC`. "Same" and "different" are honoured,
    not learned from.

    Published property: D is larger where the loss is larger.
    """

    network_: EmbeddingNetwork = field(init=False)
    asks: ClassVar[tuple[str, ...]] = ("label",)
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        n_rounds=5, epochs_per_round=15, batch_size=256
    )

    n_clusters: int = 8
    _: KW_ONLY
    weight: float = 0.1

    def _build(self) -> None:
        super()._build()
        self._centres: Floats | None = None
        self._earlier: Floats | None = None  # outputs of all images, one round ago
        self._classes = np.full(len(self._source), -1, dtype=np.intp)

    def _make_network(self) -> EmbeddingNetwork:
        backbone, n_features, scaling = self._body()
        return EmbeddingNetwork(
            backbone,
            n_features,
            n_embedding=self._settings.architecture.n_projection,
            n_classes=self._n_clusters,
            scaling=scaling,
        )

    # -- training -------------------------------------------------------------

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        self._classes = labels_of(self.constraints_, self._n_clusters)
        if not self._is_mid_round:
            self._earlier = super()._read_out(self._source)[1]
        super()._improve(n_epochs, progress)
        rows = unit_rows(super()._read_out(self._source)[0])
        is_taught = (self._classes >= 0).any()
        self._centres = None if is_taught else fit_centroids(rows, self._n_clusters, self._seed)

    def _batches(self) -> Iterator[Indexes]:
        labelled = np.flatnonzero(self._classes >= 0)
        rng = stream(self._seed, "labelled", self._epoch)
        for batch in super()._batches():
            some = rng.permutation(labelled)[: max(1, len(batch) // 2)]
            yield np.concatenate([some, batch])[: len(batch)]

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        view = self._look_plain(indexes[share])
        self._count(view)
        assert self._earlier is not None  # `_improve` keeps it
        known = torch.from_numpy(self._classes[indexes]).to(view.p.device)
        before = torch.from_numpy(self._earlier[indexes]).to(view.p.device)
        changed = (view.p - before).square().sum(dim=1)
        terms = {"discrepancy": self._settings.weight * changed.mean()}
        if (known >= 0).any():
            log_p = self.network_.classifier(view.z).log_softmax(dim=1)
            terms["class"] = F.nll_loss(log_p, known, ignore_index=-1)
        return terms

    # -- questions --------------------------------------------------------------

    @property
    def discrepancy_(self) -> Floats:
        """Return D of every image, (n,); zero before there are two rounds to compare."""
        check_is_fitted(self, "labels_")
        if self._earlier is None:
            return np.zeros(len(self._source), dtype=np.float32)
        now = super()._read_out(self._source)[1]
        changed: Floats = np.linalg.norm(now - self._earlier, axis=1)
        return changed

    def ask(self, n: int = 1) -> list[Question]:
        """Return the `n` images whose output changed most; any, before the first label."""
        check_is_fitted(self, "constraints_")
        check_open(self.constraints_, n)
        return self._ask_what_is_left(n)

    def _ask_what_is_left(self, n: int) -> list[Question]:
        open_images = np.flatnonzero(~closed_images(self.constraints_))
        draw, self._asker.n_calls = self._asker.n_calls, self._asker.n_calls + 1
        order = stream(self._seed, "label at random", draw).permutation(open_images)
        if (self._classes >= 0).any():
            order = order[np.argsort(-self.discrepancy_[order], kind="stable")]
        chosen = order[:n]
        self._asker.n_asked += len(chosen)
        return [Question.label(int(image)) for image in chosen]

    # -- reading it out -----------------------------------------------------------

    def _read_out(self, source: Data) -> tuple[Floats, Floats]:
        rows, probabilities = super()._read_out(source)
        rows = unit_rows(rows)
        if self._centres is not None:
            probabilities = cosine_soft_assign(rows, self._centres)
        return rows, probabilities

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres, "earlier": self._earlier}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres, self._earlier = arrays.get("centres"), arrays.get("earlier")
        self._classes = labels_of(self.constraints_, self._n_clusters)
