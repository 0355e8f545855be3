"""CC: contrastive clustering, as nt_xent of rows, nt_xent of columns, and cluster_entropy_loss."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from torch import Tensor

from likewise.methods.architecture import Architecture
from likewise.methods.centres import CentresClusterer
from likewise.methods.choices import check_choices
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.shared_parameters import NetworkParameters
from likewise.methods.source import Source
from likewise.methods.streaming import learn_from_part
from likewise.nn import training as order
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent
from likewise.nn.training import train_epoch
from likewise.seeds import derive

Indexes = npt.NDArray[np.intp]

PAPER = Plan(epochs_per_round=1000, batch_size=256, learning_rate=3e-4)
CHOICES = {"heads": ("both", "instance", "cluster"), "views": ("two", "one", "none")}
SMALL = Plan(epochs_per_round=40, batch_size=256, learning_rate=1e-3)


@dataclass(eq=False, repr=False)
class CC(NetworkParameters, CentresClusterer, ContrastiveClusterer):
    r"""Contrastive clustering: unsupervised, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, cluster_temperature : float
        :math:`\tau_I` and :math:`\tau_C`.
    heads : {"both", "instance", "cluster"}
        Which nt_xent is trained; the latter two are the paper's ablation.
        ``instance`` alone has no assignment head to read, so k-means on its
        projections gives the clusters.
    views : {"two", "one", "none"}
        Two random views; one view against the plain image; two equal views,
        which collapse: the paper's other ablation.
    preset : {"paper", "small"}, optional
        Values for every parameter left at its default; `from_preset` changes one back to it.
    encoder : str or Encoder
        How pictures become vectors when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the pictures themselves: by name from scratch; of a module, a copy.
    architecture : Architecture, optional
        Widths of the network, sizes and views of its input.
    plan : Plan, optional
    random_state : int, optional

    Notes
    -----
    With two views a, b of a batch, projections :math:`z` and assignments
    :math:`y`, the loss is [CC]_ Eq. (7),

    .. math:: L = L_{ins}(z^a, z^b; \tau_I) + L_{clu}(y^a, y^b; \tau_C) - H(Y),

    Eq. (3) over rows of z, Eq. (6) over columns of y, H the entropy of the mean
    assignment of each view.

    Fidelity: a row is not its own rival (the printed sums count it, prose and
    public code do not); H enters as log K − H ≥ 0. Views of vectors are ours:
    the paper knows only pictures.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(90, n_features=8, centers=3, random_state=0)
    >>> CC(n_clusters=3, plan=Plan(epochs_per_round=5), random_state=0).fit(X).labels_.shape
    (90,)
    """

    n_clusters: int = 8
    _: KW_ONLY
    instance_temperature: float = 0.5
    cluster_temperature: float = 1.0
    heads: Literal["both", "instance", "cluster"] = "both"

    asks: ClassVar[tuple[str, ...]] = ()
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "plan": PAPER,
            "backbone": "resnet34",
            "architecture": Architecture(size=224),
        },
        "small": {"plan": SMALL},
    }

    def fit(self, X: Any, y: object = None, *, extra: Any = None, **given: Any) -> Self:
        """Cluster `X`; see `PersonalClusterer.fit` for what else may be given.

        Parameters
        ----------
        X, y, given
            As there.
        extra : as `X`, optional
            Further images that belong to no cluster, such as STL-10's unlabelled ones:
            each epoch goes through them first, with the instance nt_xent alone.
        """
        self._extra_images = extra
        return super().fit(X, y, **given)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn from one part of a stream, which is then forgotten; see ``streaming.py``."""
        learn_from_part(self, X)
        return self

    def predict_stream(self, parts: Iterable[Any]) -> Iterator[npt.NDArray[np.intp]]:
        """Yield the clusters of each part of a stream; one part is in memory at a time."""
        return (self.predict(part) for part in parts)

    def _build(self) -> None:
        check_choices(self._settings, CHOICES)
        super()._build()
        extra = getattr(self, "_extra_images", None)
        self._extra = None if extra is None else self._read(extra, reset=False)

    def _train_one_epoch(self) -> None:
        if self._extra is not None:
            self._train_on(self._extra)
        super()._train_one_epoch()

    def _train_on(self, extra: Source) -> None:
        """Go once through images that only the instance nt_xent sees."""
        images, self._source = self._source, extra
        self.network_.train()
        try:
            seed, size = derive(self._seed, "extra"), self._plan.batch_size
            batches = order.shuffled_batches(len(extra), size, seed, self._epoch)
            train_epoch(batches, self._extra_terms, self._optimiser, clip_norm=self._plan.clip_norm)
        finally:
            self._source = images

    def _extra_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        a, b = self._look_twice(number, *self._shared(indexes))
        return {"instance": nt_xent(a.z, b.z, temperature=self._settings.instance_temperature)}

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        settings = self._settings
        terms = {}
        if settings.heads != "cluster":
            terms["instance"] = nt_xent(a.z, b.z, temperature=settings.instance_temperature)
        if settings.heads != "instance":
            terms["cluster"] = nt_xent(a.p.T, b.p.T, temperature=settings.cluster_temperature)
            terms["balance"] = cluster_entropy_loss(a.p, b.p)
        return terms

    @property
    def _needs_centres(self) -> bool:
        return bool(self._settings.heads == "instance")
