"""Posterior over feature spaces and numbers of clusters, from the first few answers.

The same images can be similar in content, layout or colour. Before the first answer it is unknown
which similarity is meant. Therefore a sample of the collection is clustered in several spaces (all
feature blocks, families of blocks, single blocks), and each answer increases the posterior of the
partitions under which it was likely.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.embedding.words import WORDS
from likewise.estimators.kernel.gp_classifier import squared_distances
from likewise.estimators.kernel.partitions import (
    partitions_into,
    partitions_of_every_size,
)
from likewise.operating_system import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats, Indexes

Doubles = npt.NDArray[np.float64]

#: Families of blocks of the bundled encoder.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "content": ("last", "stage5", "stage6", "visual words of patches"),
    "layout": ("grid", "stage4"),
    "colour": ("palette", "visual words of colours", "stage0"),
    "texture": ("stage1", "stage2", "stage3"),
}
_SAMPLE = 2_000  # images on which everything is fitted
_BLOCK_COLUMNS, _SPACE_COLUMNS = 48, 64  # principal components of a block, and of a space
_TRUST_PRIOR = 5.0  # labels that the initial trust of 1 counts for
_PRIOR_ALL = 0.5  # prior probability of the space of all blocks
_PRIOR_WORDS = 0.5  # of the space of similarities to words, if there are words
_CONCENTRATION = 0.5  # of the Dirichlet prior over the groups in a cluster
_NEW_IN_CLUSTER = 0.3  # prior share of a further group in a cluster that has answers
_KNOWN_IN_NEW = 0.2  # probability that a cluster without answers belongs to a known group
_MISSING_GROUP = 3.0  # penalty on the log likelihood for each group more than K
_CHAO_FROM, _CHAO_FACTOR = 8, 1.5  # labels from which K is capped; margin of the cap
_NEGLIGIBLE = 0.01  # weight below which a block is left out


@dataclass(frozen=True)
class SpacePosterior:
    """Posterior over the feature spaces and the number of groups, given the answers.

    Parameters
    ----------
    weights : array of shape (n_blocks,)
        Posterior mean weight of each block; they sum to 1.
    n_clusters : int
        As given, or the posterior median of K.
    trust : float
        How well the partitions predicted the labels, each from those before it, between 0 (as well
        as the groups' frequencies) and 1 (always right). Without labels 1.
    """

    weights: Doubles
    n_clusters: int
    trust: float


@dataclass(frozen=True)
class _Space:
    """A projection of weighted blocks on their principal axes."""

    scales: Mapping[str, float]
    mean: Floats
    axes: Floats

    def __call__(self, blocks: Mapping[str, Floats]) -> Floats:
        return np.asarray((_join(blocks, self.scales) - self.mean) @ self.axes, dtype=np.float32)


@dataclass(frozen=True)
class _Partition:
    space: int  # position of its space
    centers: Floats
    log_prior: float


class FeatureSpaces:
    """Spaces of weighted feature blocks with k-means partitions of a sample in each.

    Parameters
    ----------
    blocks : mapping of str to array of shape (n, d_f)
        Unit rows, as `FeatureBlocks.transform` returns them.
    names : sequence of str
        The blocks that are not smoothed.
    n_clusters : int
        0: not given.
    seed : int

    Attributes
    ----------
    sample : array of int
        Evenly spaced images.
    """

    def __init__(
        self, blocks: Mapping[str, Floats], names: Sequence[str], n_clusters: int, seed: int
    ) -> None:
        self.names: list[str] = list(names)
        self._blocks = blocks
        self._n_clusters = n_clusters
        n = len(next(iter(blocks.values())))
        self.sample: Indexes = np.arange(0, n, -(-n // _SAMPLE))
        self._reductions = {name: self._fit_block(name) for name in self.names}
        self._sampled = self._block_rows(self.sample)
        self._space_weights, prior = _candidate_weights(self.names)
        self._spaces = [self._fit_space(weights) for weights in self._space_weights]
        self._partitions = self._fit_partitions(prior, seed)

    # -- rows -----------------------------------------------------------------

    def rows(self, weights: npt.NDArray[np.floating], images: Indexes) -> tuple[Floats, Floats]:
        """Return the rows of the sample, and of `images`, in the space of weighted blocks."""
        space = self._fit_space(weights)
        return space(self._sampled), space(self._block_rows(images))

    def _pair(self, name: str, images: Indexes) -> Floats:
        """Return a block and its smoothed form, each divided by its root mean squared distance."""
        parts = []
        for one in (name, f"{name} smoothed"):
            rows = self._blocks[one]
            spread = 2 * (1 - float((rows[self.sample].mean(axis=0) ** 2).sum()))  # unit rows
            parts.append(rows[images] / np.float32(max(spread, 1e-6) ** 0.5))
        return np.asarray(np.hstack(parts) / 2**0.5, dtype=np.float32)

    def _fit_block(self, name: str) -> tuple[Floats, Floats]:
        return _fit_pca(self._pair(name, self.sample), _BLOCK_COLUMNS)

    def _block_rows(self, images: Indexes) -> dict[str, Floats]:
        return {
            name: np.asarray((self._pair(name, images) - mean) @ axes, dtype=np.float32)
            for name, (mean, axes) in self._reductions.items()
        }

    def _fit_space(self, weights: npt.NDArray[np.floating]) -> _Space:
        used = {n: w**0.5 for n, w in zip(self.names, weights, strict=True) if w > _NEGLIGIBLE}
        return _Space(used, *_fit_pca(_join(self._sampled, used), _SPACE_COLUMNS))

    # -- partitions -----------------------------------------------------------

    @single_threaded
    def _fit_partitions(self, prior: Doubles, seed: int) -> list[_Partition]:
        found = []
        for number, space in enumerate(self._spaces):
            rows, log_prior = space(self._sampled), float(np.log(prior[number]))
            state = derive(seed, "partitions", number) % 2**31
            k = self._n_clusters
            if self._is_of_words(number):
                k = k or self._blocks[WORDS].shape[1]
            fitted = partitions_into(rows, k, state) if k else partitions_of_every_size(rows, state)
            if self._is_of_words(number):
                half = -float(np.log(2))  # for what the words say, and for k-means
                fitted = [(c, p + half) for c, p in [(self._word_centers(rows), 0.0), *fitted]]
            found += [_Partition(number, c, log_prior + p) for c, p in fitted]
        return found

    def _is_of_words(self, space: int) -> bool:
        return len(self.names) > 1 and bool(
            WORDS in self.names and self._space_weights[space][self.names.index(WORDS)] == 1
        )

    def _word_centers(self, rows: Floats) -> Floats:
        """Return the mean row of the images nearest to each word."""
        nearest = self._blocks[WORDS][self.sample].argmax(axis=1)
        return np.array([rows[nearest == word].mean(axis=0) for word in np.unique(nearest)])

    # -- posterior ------------------------------------------------------------

    def guess_n_clusters(self) -> int:
        """Return the number of groups before any answer."""
        nothing = np.empty(0, dtype=np.intp)
        return self.posterior(nothing, nothing).n_clusters

    def posterior(self, images: Indexes, classes: Indexes) -> SpacePosterior:
        r"""Return the posterior after images were assigned to groups, in this order.

        Notes
        -----
        The prequential likelihood of a partition: the next image, in a cluster with :math:`n`
        labels, :math:`n_c` of them of group c, belongs to a known group c with probability
        :math:`(n_c + a (1 - s) / G) / (n + a)` and to a further group with :math:`s a / (n + a)`;
        in a cluster without labels, to a further group with :math:`1 - m` and to each of the G
        known ones with :math:`m / G`. So a partition is likely if its clusters and the groups
        correspond nearly one to one.

        Parameters
        ----------
        images, classes : arrays of shape (m,)
        """
        classes = _by_first_occurrence(classes)
        clusters = self._clusters(images)
        log_p = np.array([partition.log_prior for partition in self._partitions])
        n_groups = int(classes.max(initial=-1)) + 1
        counts = np.zeros((len(log_p), int(clusters.max(initial=0)) + 1, max(n_groups, 1)))
        every, n_known, skills = np.arange(len(log_p)), 0, list[float]()
        for position, group in enumerate(classes.tolist()):
            z = clusters[:, position]
            if n_known:
                p = _predictive(counts[every, z, :n_known], n_known)  # (partitions, G + 1)
                likelihood = p[:, min(group, n_known)]
                predicted = float(np.exp(log_p - np.logaddexp.reduce(log_p)) @ likelihood)
                chance = self._frequency(classes[:position], group, n_known)
                skills.append((predicted - chance) / (1 - chance))
                log_p = log_p + np.log(likelihood)
            counts[every, z, group] += 1
            n_known = max(n_known, group + 1)
        sizes = np.array([len(partition.centers) for partition in self._partitions])
        if not self._n_clusters:
            log_p = log_p - _MISSING_GROUP * np.maximum(n_groups - sizes, 0)
        p_partition = np.exp(log_p - np.logaddexp.reduce(log_p))
        spaces = [partition.space for partition in self._partitions]
        n_clusters = self._n_clusters or _median_k(sizes, p_partition, classes)
        p_space = np.array(
            [p_partition[np.array(spaces) == s].sum() for s in range(len(self._spaces))]
        )
        weights = self._mean_weights(p_space)
        trust = (_TRUST_PRIOR + sum(skills)) / (_TRUST_PRIOR + len(skills))
        return SpacePosterior(weights, n_clusters, float(np.clip(trust, 0, 1)))

    def _mean_weights(self, p_space: Doubles) -> Doubles:
        """Return the posterior mean weights of the blocks; words alone while they are likely."""
        of_words = [self._is_of_words(space) for space in range(len(p_space))]
        likely = p_space[of_words].sum() > 0.5  # never without words
        mean: Doubles = (
            self._space_weights[of_words][0] if likely else p_space @ self._space_weights
        )
        return mean

    def _frequency(self, before: Indexes, group: int, n_known: int) -> float:
        """Return the probability of a group without regard to the image."""
        n_groups = max(self._n_clusters, n_known + 1)
        is_known = group < n_known
        count = int((before == group).sum()) + 1 if is_known else n_groups - n_known
        return count / (len(before) + n_groups)

    def _clusters(self, images: Indexes) -> Indexes:
        """Return the cluster of each image in each partition, ``(n_partitions, m)``."""
        blocks = self._block_rows(images)
        rows = [space(blocks) for space in self._spaces]
        found = [squared_distances(rows[p.space], p.centers).argmin(1) for p in self._partitions]
        return np.array(found, dtype=np.intp).reshape(len(self._partitions), len(images))


def _by_first_occurrence(classes: Indexes) -> Indexes:
    """Return the classes numbered in the order in which they occur first."""
    _, first, compact = np.unique(classes, return_index=True, return_inverse=True)
    rank: Indexes = np.argsort(np.argsort(first))[compact]
    return rank


def _predictive(counts: Doubles, n_known: int) -> Doubles:
    """Return the probability of each known group, and of a further one, per partition."""
    n = counts.sum(axis=1, keepdims=True)
    known = (counts + _CONCENTRATION * (1 - _NEW_IN_CLUSTER) / n_known) / (n + _CONCENTRATION)
    further = _NEW_IN_CLUSTER * _CONCENTRATION / (n + _CONCENTRATION)
    unlabelled = np.full(counts.shape[1] + 1, _KNOWN_IN_NEW / n_known)
    unlabelled[-1] = 1 - _KNOWN_IN_NEW
    return np.where(n > 0, np.hstack([known, further]), unlabelled)


def _median_k(sizes: Indexes, p: Doubles, classes: Indexes) -> int:
    """Return the posterior median of K, at least the groups seen, capped by Chao's estimate.

    Notes
    -----
    Chao's estimate of the number of species: :math:`G + f_1 (f_1 - 1) / (2 (f_2 + 1))`, with
    :math:`f_1, f_2` the groups that have one and two labels.
    """
    ks = np.unique(sizes)
    cumulated = np.cumsum([p[sizes == k].sum() for k in ks])
    median = int(ks[min(int(np.searchsorted(cumulated, 0.5)), len(ks) - 1)])
    counts = np.bincount(classes) if len(classes) else np.zeros(0, dtype=np.intp)
    if len(classes) >= _CHAO_FROM:
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        unseen = once * (once - 1) / (2 * (twice + 1))
        median = min(median, len(counts) + round(_CHAO_FACTOR * unseen))
    return max(median, len(counts), 2)


def _candidate_weights(names: Sequence[str]) -> tuple[Doubles, Doubles]:
    """Return the block weights of each space, and the prior over spaces."""
    members = [tuple(names)]
    for family in FAMILIES.values():
        members.append(tuple(name for name in names if name in family))
    members += [(name,) for name in names]
    distinct = list(dict.fromkeys(m for m in members if m))
    weights = np.array([[(name in m) / len(m) for name in names] for m in distinct])
    if len(distinct) == 1:
        return weights, np.ones(1)
    others = (1 - _PRIOR_ALL) / (len(distinct) - 1)
    prior = np.array([_PRIOR_ALL] + [others] * (len(distinct) - 1))
    if (WORDS,) in distinct:
        prior *= 1 - _PRIOR_WORDS
        prior[distinct.index((WORDS,))] = _PRIOR_WORDS
        prior /= prior.sum()
    return weights, prior


def _join(blocks: Mapping[str, Floats], scales: Mapping[str, float]) -> Floats:
    rows: Floats = np.hstack([blocks[name] * np.float32(s) for name, s in scales.items()])
    return rows


def _fit_pca(rows: Floats, n_columns: int) -> tuple[Floats, Floats]:
    """Return the mean and the leading principal axes of rows."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    axes: Floats = np.ascontiguousarray(vectors[:, ::-1][:, :n_columns], dtype=np.float32)
    return mean, axes
