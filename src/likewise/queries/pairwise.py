"""Similarities of given pairs, and sums over answered pairs, without an (n, n) matrix."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from likewise.queries.base import Constraints, FloatArray, Mask, Pool
from likewise.types import Indexes, Pairs

_BLOCK = 16_384  # pairs per block: fits the cache of one core
_SMALL = 2**24  # multiplications of a small matrix product, a few milliseconds


def similarities(pool: Pool, pairs: Pairs) -> FloatArray:
    """Return the cosine similarity of each pair, shape (m,)."""
    return pair_products(pool.embeddings, pairs[:, 0], pool.embeddings, pairs[:, 1])


def pair_products(
    left: FloatArray, rows: Indexes, right: FloatArray, columns: Indexes
) -> FloatArray:
    """Return ``left[rows[p]] @ right[columns[p]]`` for each pair p, shape (m,)."""
    if len(left) * len(right) <= 4 * len(rows):  # a batch: the full matrix is cheaper
        return matrix_product(left, right)[rows, columns].astype(float)
    out = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        out[part] = np.einsum("pd,pd->p", left[rows[part]], right[columns[part]])
    return out


def matrix_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``left @ right.T``.

    A small product is computed in this thread: if training keeps all cores busy, BLAS threads
    wait for one another a hundred times longer than they compute.
    """
    if left.size * len(right) <= _SMALL:
        small: FloatArray = np.einsum("ld,rd->lr", left, right)
        return small
    return left @ right.T


@dataclass(frozen=True)
class KnownGroups:
    """Groups with at least one known relation, numbered from 0.

    Parameters
    ----------
    of : array of shape (n,)
        The group of each image; -1 for an image without known relation.
    sizes : array of shape (g,)
    cannot_links : array of shape (m, 2)
        Pairs of different groups, each once.
    """

    of: Indexes
    sizes: Indexes
    cannot_links: Pairs

    @property
    def is_linked(self) -> Mask:
        """Which images have a known relation to another image, shape (n,)."""
        return self.of >= 0

    def sums(self, rows: FloatArray) -> FloatArray:
        """Return the sum of the rows of each group's members, shape (g, d)."""
        members = np.flatnonzero(self.is_linked)
        shape = (len(self.sizes), len(members))
        ones = np.ones(len(members), dtype=rows.dtype)
        membership = sparse.csr_array((ones, (self.of[members], np.arange(len(members)))), shape)
        summed: FloatArray = membership @ rows[members]
        return summed


def known_groups(constraints: Constraints) -> KnownGroups:
    """Return the groups that have two or more images or a cannot-link to another group."""
    names, of, sizes = np.unique(constraints.groups(), return_inverse=True, return_counts=True)
    cannot_links = np.searchsorted(names, constraints.cannot_links())
    is_known = sizes > 1
    is_known[cannot_links.ravel()] = True
    number = np.where(is_known, np.cumsum(is_known) - 1, -1)
    return KnownGroups(number[of], sizes[is_known], number[cannot_links])


def answer_components(constraints: Constraints) -> tuple[Indexes, Indexes]:
    """Return the component of each image in the graph of known relations, and all sizes.

    Two images are in one component if a chain of answers, of whatever kind, connects them. An
    image without known relation is a component of its own.
    """
    names, of = np.unique(constraints.groups(), return_inverse=True)
    links = np.searchsorted(names, constraints.cannot_links()).reshape(-1, 2)
    shape, ones = (len(names), len(names)), np.ones(len(links), dtype=np.int8)
    graph = sparse.csr_array((ones, (links[:, 0], links[:, 1])), shape)
    component = csgraph.connected_components(graph, directed=False)[1].astype(np.intp)[of]
    return component, np.bincount(component)


@dataclass(frozen=True)
class RelationSums:
    r"""Sums of similarities weighted by known relations A, for the score of hard pairs.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    groups : KnownGroups
    totals : array of shape (g, d)
        :math:`\sum_k A_{jk} z_k` of a member j, with :math:`A_{jj} = 1`.
    degrees : array of shape (n,)
        :math:`\sum_k |A_{jk}|`.

    Notes
    -----
    With unit rows :math:`z`, :math:`\sum_k A_{jk} s_{ik} = z_i^\top \sum_k A_{jk} z_k`. All
    members of a group have the same relations, so the inner sum is one vector per group: the
    sum of its members minus the sums of the groups with a cannot-link to it. Memory grows
    with the number of answers, not with :math:`n^2`.
    """

    embeddings: FloatArray
    groups: KnownGroups
    totals: FloatArray
    degrees: FloatArray

    def weighted_similarity(self, images: Indexes, others: Indexes) -> FloatArray:
        r"""Return :math:`\sum_k A_{jk} s_{ik}` for each image i and other image j, shape (m,)."""
        sums = np.zeros(len(images))
        has_links = self.groups.is_linked[others]
        i, j = images[has_links], others[has_links]
        with_itself = pair_products(self.embeddings, i, self.totals, self.groups.of[j])
        itself = pair_products(self.embeddings, i, self.embeddings, j)  # A has a zero diagonal
        sums[has_links] = with_itself - itself
        return sums


def relation_sums(constraints: Constraints, embeddings: FloatArray) -> RelationSums:
    """Return the sums over all given and implied relations of `constraints`."""
    groups = known_groups(constraints)
    n_groups = len(groups.sizes)
    ends = np.concatenate([groups.cannot_links, groups.cannot_links[:, ::-1]])
    ones = np.ones(len(ends), dtype=embeddings.dtype)
    differ = sparse.csr_array((ones, (ends[:, 0], ends[:, 1])), (n_groups, n_groups))
    sums = groups.sums(embeddings)
    group_degrees = groups.sizes - 1 + differ @ groups.sizes
    degrees = np.zeros(len(groups.of))
    degrees[groups.is_linked] = group_degrees[groups.of[groups.is_linked]]
    return RelationSums(embeddings, groups, sums - differ @ sums, degrees)
