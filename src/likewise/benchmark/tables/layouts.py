"""Every layout by its name."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from likewise.benchmark.printed import paper_tables
from likewise.benchmark.tables.by_answers import by_answers
from likewise.benchmark.tables.groups import Row
from likewise.benchmark.tables.papers import paper_layout
from likewise.benchmark.tables.table import Table
from likewise.errors import UnknownNameError

DEFAULT = "answers"


class Layout(Protocol):
    """Makes tables of rows."""

    def __call__(self, rows: Sequence[Row], *, times: bool = True) -> list[Table]:
        """Return the tables."""


def layouts() -> dict[str, Layout]:
    """Return the layouts: ``answers``, and one for each result table of the papers."""
    return {DEFAULT: by_answers, **{name: partial(paper_layout, name) for name in paper_tables()}}


def make_tables(rows: Sequence[Row], layout: str = DEFAULT, *, times: bool = True) -> list[Table]:
    """Return the tables of some rows.

    Raises
    ------
    UnknownNameError
        If there is no such layout.
    """
    known = layouts()
    if layout not in known:
        raise UnknownNameError("layout", layout, [*known, "results"])
    return known[layout](rows, times=times)
