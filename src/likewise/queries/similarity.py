"""Similarities of many pairs at once, without a table of all pairs."""

import numpy as np

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.pool import Floats, Pool

_ROWS = 16_384  # pairs at a time: what a core keeps close at hand
_SMALL = 2**24  # multiplications of a small table, some milliseconds


def similarities(pool: Pool, pairs: Pairs) -> Floats:
    """Return the cosine of each pair, (m,)."""
    return products(pool.embeddings, pairs[:, 0], pool.embeddings, pairs[:, 1])


def products(left: Floats, rows: Indexes, right: Floats, columns: Indexes) -> Floats:
    """Return ``left[rows[p]] @ right[columns[p]]`` for each pair p, (m,)."""
    if len(left) * len(right) <= 4 * len(rows):  # a batch: the whole table is cheaper
        return all_products(left, right)[rows, columns].astype(float)
    out = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        out[part] = np.einsum("pd,pd->p", left[rows[part]], right[columns[part]])
    return out


def all_products(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right.T``.

    A small table is made in this thread: where all cores are busy training, the threads of
    a matrix product wait for one another a hundred times longer than they compute.
    """
    if left.size * len(right) <= _SMALL:
        small: Floats = np.einsum("ld,rd->lr", left, right)
        return small
    return left @ right.T
