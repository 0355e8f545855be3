r"""Sums over known relations, without a row for each image and each relation.

With unit rows :math:`z`, :math:`\sum_k A_{jk} s_{ik} = z_i^\top \sum_k A_{jk} z_k`. All
members of a group know the same, so the inner sum is one vector a group: those of its
members less those of the groups apart from it. Memory follows the answers, not
:math:`n^2`, and a group of a thousand images costs no more than its thousand rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.pool import Constraints, Floats, Mask
from likewise.queries.similarity import products


@dataclass(frozen=True)
class Groups:
    """Groups that some relation is known of, numbered from 0.

    Parameters
    ----------
    of : array of shape (n,)
        The group of each image; -1 for an image nothing is known of.
    sizes : array of shape (g,)
    apart : array of shape (m, 2)
        Pairs of groups known to be different, each once.
    """

    of: Indexes
    sizes: Indexes
    apart: Pairs

    @property
    def is_linked(self) -> Mask:
        """Which images have a known relation to another, (n,)."""
        return self.of >= 0

    def sums(self, rows: Floats) -> Floats:
        """Return the sum of the rows of each group's members, (g, d)."""
        members = np.flatnonzero(self.is_linked)
        shape = (len(self.sizes), len(members))
        ones = np.ones(len(members), dtype=rows.dtype)
        membership = sparse.csr_array((ones, (self.of[members], np.arange(len(members)))), shape)
        summed: Floats = membership @ rows[members]
        return summed


def known_groups(constraints: Constraints) -> Groups:
    """Return the groups of at least two images, or known to differ from another."""
    names, of, sizes = np.unique(constraints.groups(), return_inverse=True, return_counts=True)
    apart = np.searchsorted(names, constraints.apart())
    is_known = sizes > 1
    is_known[apart.ravel()] = True
    number = np.where(is_known, np.cumsum(is_known) - 1, -1)
    return Groups(number[of], sizes[is_known], number[apart])


@dataclass(frozen=True)
class Links:
    r"""What the known relations of an image say of another, for the score of hard pairs.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    groups : Groups
    totals : array of shape (g, d)
        :math:`\sum_k A_{jk} z_k` of a member j, itself included.
    degrees : array of shape (n,)
        :math:`\sum_k |A_{jk}|`.
    """

    embeddings: Floats
    groups: Groups
    totals: Floats
    degrees: Floats

    def pull(self, images: Indexes, others: Indexes) -> Floats:
        r"""Return :math:`\sum_k A_{jk} s_{ik}` for each image i and other image j, (m,)."""
        pulls = np.zeros(len(images))
        has_links = self.groups.is_linked[others]
        i, j = images[has_links], others[has_links]
        towards = products(self.embeddings, i, self.totals, self.groups.of[j])
        itself = products(self.embeddings, i, self.embeddings, j)  # A has a zero diagonal
        pulls[has_links] = towards - itself
        return pulls


def known_links(constraints: Constraints, embeddings: Floats) -> Links:
    """Return the sums over all given and implied relations of `constraints`."""
    groups = known_groups(constraints)
    n_groups = len(groups.sizes)
    ends = np.concatenate([groups.apart, groups.apart[:, ::-1]])
    ones = np.ones(len(ends), dtype=embeddings.dtype)
    differ = sparse.csr_array((ones, (ends[:, 0], ends[:, 1])), (n_groups, n_groups))
    sums = groups.sums(embeddings)
    group_degrees = groups.sizes - 1 + differ @ groups.sizes
    degrees = np.zeros(len(groups.of))
    degrees[groups.is_linked] = group_degrees[groups.of[groups.is_linked]]
    return Links(embeddings, groups, sums - differ @ sums, degrees)
