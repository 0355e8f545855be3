"""IDFD: every image its own class, every feature dimension its own meaning, then k-means."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.centres import CentresClusterer
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.two_views import Bank, TwoViewsRival
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.training import generator

_MOMENTUM = 0.5


@dataclass(eq=False, repr=False)
class IDFD(TrainingParameters, CentresClusterer, TwoViewsRival):
    r"""Instance discrimination and feature decorrelation: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        :math:`\tau`, of the images.
    decorrelation_temperature : float
        :math:`\tau_2`, of the dimensions.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    Y. Tao, K. Takagi, K. Nakata: *Clustering-friendly representation learning via instance
    discrimination and feature decorrelation*. ICLR 2021. A memory bank holds a unit row
    :math:`v_i` for every image; with :math:`z` the projections of a batch and :math:`f_l` its
    columns at length one,

    .. math:: L = -\log \frac{e^{v_i^\top z_i / \tau}}{\sum_j e^{v_j^\top z_i / \tau}}
              - \log \frac{e^{f_l^\top f_l / \tau_2}}{\sum_m e^{f_m^\top f_l / \tau_2}},

    :math:`\tau = 1`, :math:`\tau_2 = 2`. A row moves half-way to its newest projection. K-means
    on z gives clusters.

    Choices. Both views of a batch teach, where the paper draws one: that is two of its epochs at
    once. 64 columns by default instead of 128, Adam instead of SGD at 0.03 over 2,000 epochs.
    The bank is in memory and saved with the model.

    Published property: dimensions of z are nearly uncorrelated.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    temperature: float = 1.0
    decorrelation_temperature: float = 2.0

    def _build(self) -> None:
        super()._build()
        width = self._settings.architecture.n_projection
        self._bank_rows = Bank(len(self._source), width, generator(self._seed, "bank"), _MOMENTUM)

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        views = self._look_twice(number, indexes, share)
        self._count(views[0])
        s = self._settings
        terms = {
            "instance": mean_of(self._discrimination(indexes, view) for view in views),
            "decorrelation": mean_of(
                decorrelation(view.z, s.decorrelation_temperature) for view in views
            ),
        }
        self._bank_rows.move(indexes, F.normalize(views[0].z + views[1].z, dim=1))
        return terms

    def _discrimination(self, indexes: Indexes, view: NetworkOutput) -> Tensor:
        alike = view.z @ self._bank_rows.rows.clone().to(view.z).T / self._settings.temperature
        return F.cross_entropy(alike, torch.from_numpy(indexes).to(alike.device))

    def _extra_arrays(self) -> dict[str, Any]:
        return {**super()._extra_arrays(), "bank": self._bank_rows.rows.numpy()}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        super()._take_extra_arrays(arrays)
        self._bank_rows.rows = torch.from_numpy(arrays["bank"])


def decorrelation(z: Tensor, temperature: float) -> Tensor:
    """Return how hard it is to tell the columns of `z` apart."""
    columns = F.normalize(z, dim=0).T  # (d, n)
    return F.cross_entropy(
        columns @ columns.T / temperature, torch.arange(len(columns)).to(z.device)
    )


def mean_of(terms: Any) -> Tensor:
    """Return the mean of the terms of both views."""
    return torch.stack(list(terms)).mean()
