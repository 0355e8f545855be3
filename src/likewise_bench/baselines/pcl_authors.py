"""The authors' public code of PCL, with its known defects; for comparison only."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.estimators.data import Data
from likewise.estimators.deep.learner import PREDICT_BATCH, NetworkLearner
from likewise.estimators.deep.networks import ClusterNetwork, cluster_network_factory, make_views
from likewise.estimators.deep.objective import Batch, LabelExtension
from likewise.estimators.deep.pcl import PAPER, PCL, ContextNetwork, PCLObjective
from likewise.estimators.params import NetworkConfig, check_choice
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import PairQuestioner
from likewise.nn.losses.constrained import positive_weights
from likewise.queries.base import FloatArray, Pool, QueryStrategy
from likewise.queries.candidates import all_pairs
from likewise.queries.pairwise import matrix_product
from likewise.queries.pcl import bernoulli_divergence, min_max
from likewise.types import Indexes, Pairs

_MAX_IMAGES = 4096  # (n, n) matrices: for a batch, not for a collection


@dataclass(frozen=True)
class AuthorsObjective(PCLObjective):
    """The loss of the public code, its fixed batches and its frozen batch statistics.

    Parameters
    ----------
    settings : PCLAuthors
    """

    settings: "PCLAuthors"

    def weights(self, batch: Batch) -> Tensor:
        """Return how much each positive counts against the other view, by `weights`."""
        s, relations = self.settings, batch.relations
        return positive_weights(
            relations.relations, relations.guesses, kind=s.weights, strength=s.strength
        )

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Freeze batch statistics, as the code does by mistake."""
        after = self.settings.frozen_after
        if after is not None and learner.epoch >= after:
            learner.network.eval()

    def batches(self, learner: NetworkLearner) -> Iterator[Indexes]:
        """Yield the same batches in every epoch, if `fixed_batches`."""
        if self.settings.fixed_batches:
            return fixed_batches(len(learner.data), learner.plan.batch_size)
        return super().batches(learner)


@dataclass(eq=False, repr=False)
class PCLAuthors(PCL):
    """PCL as the authors' public code computes it, defects included.

    Parameters
    ----------
    n_clusters : int
    weights : {"paper", "authors"}
        Which reading of the positives' weights.
    fixed_batches : bool
        Use the same batches in every epoch, in the order of the images.
    companions : bool
        Predict in the context of whatever images are predicted together, in batches of the
        plan's size.
    frozen_after : int, optional
        Freeze batch statistics after this number of epochs.
    preset : {"authors"}, optional
        None switches the defects off, one by one then on.
    others
        As in `PCL`. The strategy ``joint-authors`` is `JointAuthors`.

    Notes
    -----
    Fidelity: the public code of [PCL]_; see ``docs/research/fidelity.md``.
    """

    _: KW_ONLY
    weights: Literal["paper", "authors"] = "paper"
    fixed_batches: bool = False
    companions: bool = False
    frozen_after: int | None = None
    preset: str | None = "authors"

    renamed_parameters: ClassVar[Mapping[str, str | None]] = {"parity": "two_groups"}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "authors": {
            "plan": PAPER.replace(sampler="uniform", clip_norm=20.0, epochs_per_round=501),
            "backbone": "resnet34",
            "architecture": NetworkConfig(size=128, recipe="pcl"),
            "instance_temperature": 1.0,
            "cluster_temperature": 2.0,
            "candidates": "random",
            "two_groups": False,
            "attention": "plain",
            "weights": "authors",
            "norm": "global",
            "assignment_similarity": "dot",
            "strategy": "joint-authors",
            "fixed_batches": True,
            "companions": True,
            "frozen_after": 1,
        },
    }

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        self._check_choices()
        check_choice("weights", s.weights, ("paper", "authors"))
        config, plan = s.architecture or self.default_architecture, s.plan or self.default_plan
        has_bank = s.attention != "none" and not s.companions
        with_bank = partial(ContextNetwork, bank_size=min(s.bank_size, len(data)))
        make_network = cluster_network_factory(
            data,
            s.backbone,
            config,
            s.n_clusters,
            make_network=with_bank if has_bank else ClusterNetwork,
            make_context=self._make_attention(),
        )
        learner = NetworkLearner(
            make_network,
            AuthorsObjective(s),
            make_views(data, config, s.views),
            plan,
            extension=LabelExtension(s.extension, s.extension_threshold),
            predict_batch=plan.batch_size if s.companions else PREDICT_BATCH,
        )
        return learner, PairQuestioner(self._strategy(), s.candidates, s.initial_questions)

    def _strategy(self) -> str | QueryStrategy:
        chosen = self.settings_.strategy
        is_joint_authors = isinstance(chosen, str) and chosen.replace("_", "-") == "joint-authors"
        return JointAuthors() if is_joint_authors else super()._strategy()


def fixed_batches(n_images: int, batch_size: int) -> Iterator[Indexes]:
    """Yield the same batches in every epoch, in the order of the images."""
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield np.arange(start, start + size, dtype=np.intp)


@dataclass(frozen=True)
class JointAuthors:
    r"""Score as PCL's public code does inside a batch; for comparison only.

    Parameters
    ----------
    epsilon : float
        See `UncertainPairs`.

    Notes
    -----
    With a and b the two views, :math:`\sigma` min-max scaling over *all* entries of the batch,

    .. math::
        S = \tanh \sigma[-|\bar s - \epsilon|]
            + (1-r)\, \sigma[-\mathrm{KL}(s^{aa} \Vert Q_1) - \mathrm{KL}(s^{aa} \Vert Q_2)]

    :math:`Q_1 = s^{ab} + A \odot s^{aa}`, and :math:`Q_2 = Q_1^\top + A \odot s^{aa}` since
    the first is changed in place. A is zero for an open pair, so answers change a candidate's
    score only through the range of the scaling; the least discrepant pairs win.

    *Fidelity:* reproduces the code, against Eq. (7) and (8). Without `Pool.views` both views
    are the embeddings, and the second term has no preference.
    """

    epsilon: float = 0.2

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair."""
        n = pool.constraints.n_images
        if n > _MAX_IMAGES:
            raise InvalidParameterError(
                f"Strategy 'joint-authors' needs batches of at most {_MAX_IMAGES} images, "
                f"got {n}; use smaller batches, or choose 'joint'."
            )
        a, b = pool.views or (pool.embeddings, pool.embeddings)
        s_aa = matrix_product(a, a)
        s_bar = (s_aa + matrix_product(b, b)) / 2
        answered = _relation_matrix(pool, n) * s_aa
        q_1 = matrix_product(a, b) + answered
        q_2 = q_1.T + answered
        hard = -bernoulli_divergence(s_aa, q_1) - bernoulli_divergence(s_aa, q_2)
        uncertain = np.tanh(min_max(-np.abs(s_bar - self.epsilon)))
        scores: FloatArray = uncertain + (1 - pool.remaining) * min_max(hard)
        return scores[pairs[:, 0], pairs[:, 1]].astype(float)


def _relation_matrix(pool: Pool, n: int) -> FloatArray:
    """Return the known relations of all pairs, shape (n, n)."""
    matrix = np.zeros((n, n))
    i, j = (pairs := all_pairs(np.arange(n))).T
    matrix[i, j] = matrix[j, i] = pool.constraints.pair_relations(pairs)
    return matrix
