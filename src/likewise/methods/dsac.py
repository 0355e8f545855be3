"""DSAC: self-paced active clustering, as chosen labels, their spread, and a pull on the rest."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.methods.architecture import Architecture
from likewise.methods.asking import unit
from likewise.methods.base import Floats
from likewise.methods.builder import build_body
from likewise.methods.choices import check_choices
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.labelling import SELECTIONS, check_open, choose, closed_images
from likewise.methods.lesson import Lesson, make_lesson, named_classes
from likewise.methods.network import EmbeddingNetwork, View
from likewise.methods.plan import Plan
from likewise.methods.seeded_kmeans import Grouping, nearness, seeded_kmeans
from likewise.methods.shared_parameters import NetworkParameters
from likewise.methods.source import Source
from likewise.nn.losses.contrastive import nt_xent
from likewise.progress import Progress
from likewise.queries.density import N_CANDIDATES, check_n_candidates

Indexes = npt.NDArray[np.intp]
CHOICES = {
    "selection": SELECTIONS,
    "pretrain": ("simclr", None),
    "views": ("two", "one", "none"),
}
PAPER = Plan(
    warmup_epochs=12,
    n_rounds=5,
    epochs_per_round=100,
    batch_size=128,
    learning_rate=2e-5,
    weight_decay=0.01,
    optimiser="adamw",
)
SMALL = Plan(
    warmup_epochs=12,  # of `pretrain`; without it there is none
    n_rounds=5,
    epochs_per_round=20,
    batch_size=128,
    optimiser="adamw",
)


@dataclass(eq=False, repr=False)
class DSAC(NetworkParameters, ContrastiveClusterer):
    r"""Self-paced active clustering: asks for labels, a few in each round.

    Parameters
    ----------
    n_clusters : int
        Classes; one that no label names yet keeps its place.
    n_embedding : int
        Width of the embedding F.
    gamma : float
        :math:`\gamma`, weight of the centre loss.
    pull : float
        Weight of the self-paced pull; 1 in the paper, where clusters are classes already.
    selection : {"full", "random", "difficult", "representative"}
        Which images are labelled: one representative a cluster, else difficult ones;
        any (the paper's DSAC-R); only one of the two kinds.
    n_candidates : int
        Images nearest the centre, and farthest from it, of which the most compact are
        labelled (:math:`k_1`).
    pseudo_labels : bool
        Spread the label of each cluster to the images nearest its centre.
    spread_first, spread_more : int
        To how many, in the first round, and more with each round (:math:`k_2`); 50 and 1000
        in the paper. Where another grouping is meant than the obvious one, it is wrong to; with
        0 and 0, the default, `pseudo_labels` changes nothing.
    pretrain : {None, "simclr"}
        Contrast two views during the plan's warm-up epochs, 12 by default, before any label.
    temperature : float
        Of that nt_xent.
    views, preset, encoder, backbone, architecture, plan, random_state
        As in `CC`.

    Notes
    -----
    With U the images without and L those with a label or pseudo-label,

    .. math::
        L = \tfrac1{|U|} \sum_U w_i d_i + \lambda(\tfrac12 w_i^2 - w_i)
            + \tfrac1{|L|} \sum_L C_i \big(H(y_i, f(F_i)) + \gamma \|F_i - c'_{y_i}\|^2\big),

    [DSAC]_ Eq. (1) to (6). Between rounds, seeded k-means gives centres and clusters anew;
    pseudo-labels are made anew and never keep an image from being asked about.

    Fidelity: see ``docs/fidelity.md``, D1 to D10. ``Plan(fresh=True)`` is refused.
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_embedding: int = 200
    gamma: float = 0.01
    pull: float = 0.001
    selection: Literal["full", "random", "difficult", "representative"] = "full"
    n_candidates: int = N_CANDIDATES
    pseudo_labels: bool = True
    spread_first: int = 0
    spread_more: int = 0
    pretrain: Literal["simclr"] | None = None
    temperature: float = 0.5

    network_: EmbeddingNetwork = field(init=False)
    asks: ClassVar[tuple[str, ...]] = ("label",)
    asks_in_batches: ClassVar[bool] = False
    default_plan: ClassVar[Plan] = SMALL
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "plan": PAPER,
            "backbone": "convnext-tiny",
            "architecture": Architecture(size=96, recipe="simclr-dsac"),
            "pull": 1.0,
            "spread_first": 50,
            "spread_more": 1000,
            "pretrain": "simclr",
        },
        "small": {"plan": SMALL},
    }

    def _build(self) -> None:
        check_choices(self._settings, CHOICES)
        check_n_candidates(self._settings.n_candidates)
        if self._plan.fresh:
            raise InvalidParameterError(
                "fresh=True begins each round with an untrained network, but the centres that "
                "DSAC learns from are those of the network before; choose Plan(fresh=False)."
            )
        super()._build()
        self._grouped: tuple[Floats, Grouping, Indexes] | None = None
        self._lesson: Lesson | None = None

    def _make_network(self) -> EmbeddingNetwork:
        s = self._settings
        backbone, n_features = build_body(s, self._source)
        return EmbeddingNetwork(
            backbone,
            n_features,
            n_embedding=s.n_embedding,
            n_classes=self._n_clusters,
            scaling=self._scaling,
        )

    @property
    def _plan(self) -> Plan:
        plan = super()._plan
        return plan if self._settings.pretrain else plan.but(warmup_epochs=0)

    # -- training -------------------------------------------------------------

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        self._pretrain(n_epochs, progress)
        if not self._is_mid_round and not self._is_pretraining:
            self._prepare_lesson()
        super()._improve(n_epochs, progress)

    def _prepare_lesson(self) -> None:
        """Cluster anew with all labels so far, and spread them anew."""
        s = self._settings
        n_spread = s.spread_first + s.spread_more * self._round if s.pseudo_labels else 0
        self._lesson = make_lesson(*self._group(), n_spread)

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        if self._is_pretraining:
            return super()._step_terms(number, indexes)
        assert self._lesson is not None  # `_improve` prepares it
        indexes, share = self._shared(indexes)
        view = self._look_plain(indexes[share])
        self._count(view)
        s, logits = self._settings, self.network_.classifier(view.z)
        return self._lesson.terms(indexes, view.z, logits, gamma=s.gamma, pull=s.pull)

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        """Return the loss of the pre-training."""
        return {"simclr": nt_xent(a.z, b.z, temperature=self._settings.temperature)}

    # -- questions --------------------------------------------------------------

    def ask(self, n: int = 1) -> list[Question]:
        """Return the `n` images whose labels should help most."""
        check_is_fitted(self, "constraints_")
        check_open(self.constraints_, n)
        return self._ask_what_is_left(n)

    def _ask_what_is_left(self, n: int) -> list[Question]:
        if self._grouped is None:
            self._grouped = self._group()
        rows, found, _ = self._grouped
        draw, self._asker.n_calls = self._asker.n_calls, self._asker.n_calls + 1
        s, closed = self._settings, closed_images(self.constraints_)
        k1 = s.n_candidates
        chosen = choose(s.selection, rows, found, closed, n, draw, self._seed, n_candidates=k1)
        self._asker.n_asked += len(chosen)
        return [Question.label(int(image)) for image in chosen]

    # -- reading it out -----------------------------------------------------------

    def _group(self) -> tuple[Floats, Grouping, Indexes]:
        """Return all embeddings, their clusters, and the classes of labelled images."""
        labels = named_classes(self.constraints_, self._n_clusters)
        rows = super()._read_out(self._source)[0]
        return rows, seeded_kmeans(rows, self._n_clusters, labels, self._seed), labels

    def _assign(self) -> None:
        self._grouped = self._group()
        self._centres = self._grouped[1].centres
        super()._assign()

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        rows, probabilities = super()._read_out(source)
        if self._lesson is None or not self._lesson.has_labels:
            probabilities = nearness(rows, self._centres)
        return unit(rows), probabilities

    def _extra_arrays(self) -> dict[str, Any]:
        lesson = {} if self._lesson is None else self._lesson.arrays()
        return {"centres": self._centres, **lesson}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._grouped = None  # from the restored network, when it is needed
        self._centres = arrays["centres"]
        self._lesson = Lesson.of_arrays(arrays)
