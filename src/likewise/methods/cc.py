"""CC: contrastive clustering, as contrast of rows, contrast of columns, and balance."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from likewise.errors import UnknownNameError
from likewise.losses.balance import balance
from likewise.losses.contrast import contrast
from likewise.methods.architecture import Architecture
from likewise.methods.base import Floats
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.source import Source
from likewise.progress import Progress

PAPER = Plan(epochs_per_round=1000, batch_size=256, learning_rate=3e-4)
HEADS = ("both", "instance", "cluster")
SMALL = Plan(epochs_per_round=40, batch_size=256, learning_rate=1e-3)


class CC(ContrastiveClusterer):
    r"""Contrastive clustering: unsupervised, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    instance_temperature, cluster_temperature : float
        :math:`\tau_I` and :math:`\tau_C`.
    heads : {"both", "instance", "cluster"}
        Which contrast is trained; the latter two are the paper's ablation.
        ``instance`` alone has no assignment head to read, so k-means on its
        projections gives the clusters.
    views : {"two", "one", "none"}
        Two random views; one view against the plain image; two equal views,
        which collapse: the paper's other ablation.
    preset : {"paper", "small"}, optional
        Values for every parameter left at its default.
    encoder : str or Encoder
        How pictures become vectors when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the pictures themselves, from scratch.
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

    asks: ClassVar[tuple[str, ...]] = ()
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "plan": PAPER,
            "backbone": "resnet34",
            "architecture": Architecture(size=224),
        },
        "small": {"plan": SMALL},
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        instance_temperature: float = 0.5,
        cluster_temperature: float = 1.0,
        heads: Literal["both", "instance", "cluster"] = "both",
        views: Literal["two", "one", "none"] = "two",
        preset: str | None = None,
        encoder: Any = "bundled",
        backbone: str | nn.Module | None = None,
        architecture: Architecture | None = None,
        plan: Plan | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.instance_temperature = instance_temperature
        self.cluster_temperature = cluster_temperature
        self.heads = heads
        self.views = views
        self.preset = preset
        self.encoder = encoder
        self.backbone = backbone
        self.architecture = architecture
        self.plan = plan
        self.random_state = random_state

    def _build(self) -> None:
        if self._settings.heads not in HEADS:
            raise UnknownNameError("choice of heads", self._settings.heads, HEADS)
        super()._build()
        self._centres: Floats | None = None

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        settings = self._settings
        terms = {}
        if settings.heads != "cluster":
            terms["instance"] = contrast(a.z, b.z, temperature=settings.instance_temperature)
        if settings.heads != "instance":
            terms["cluster"] = contrast(a.p.T, b.p.T, temperature=settings.cluster_temperature)
            terms["balance"] = balance(a.p, b.p)
        return terms

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        super()._improve(n_epochs, progress)
        if self._settings.heads == "instance":
            embeddings = super()._read_out(self._source)[0]
            self._centres = fit_centres(embeddings, self._n_clusters, self._seed)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        embeddings, probabilities = super()._read_out(source)
        if self._centres is None:
            return embeddings, probabilities
        return embeddings, nearness(embeddings, self._centres)

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
