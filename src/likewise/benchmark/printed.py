"""The figures that stand in the papers' result tables, quoted."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from likewise.errors import UnknownNameError


@dataclass(frozen=True)
class Printed:
    """One cell of a paper's table.

    Attributes
    ----------
    row : str
        The name of its line.
    dataset, orientation, metric : str
        In our words.
    value : float, optional
        None where the paper prints a dash.
    n_answers : int, optional
        How many answers that line had, where the paper says so.
    ours : mapping of str to str
        Method and settings of the counterpart in our results; empty: quoted only.
    """

    row: str
    dataset: str
    orientation: str
    metric: str
    value: float | None
    n_answers: int | None
    ours: Mapping[str, str]


@cache
def paper_tables() -> dict[str, Mapping[str, Any]]:
    """Return the tables as they stand in ``printed.toml``, by name."""
    text = resources.files("likewise.benchmark").joinpath("printed.toml").read_text("utf-8")
    return tomllib.loads(text)


def printed(table: str) -> list[Printed]:
    """Return every cell of one table, line by line.

    Examples
    --------
    >>> [cell.value for cell in printed("pcl-3") if cell.row == "PCL"][3]
    0.873
    """
    tables = paper_tables()
    if table not in tables:
        raise UnknownNameError("table of a paper", table, tables)
    return list(_cells(tables[table]))


def _cells(table: Mapping[str, Any]) -> Iterator[Printed]:
    columns = table["columns"]
    for row in table["rows"]:
        for number, value in enumerate(row["cells"]):
            name = columns if isinstance(columns, str) else columns[number]
            dataset, _, metric = name.rpartition(" ")
            dataset = dataset or row["set"]
            usual = table.get("orientation") or table.get("orientations", {}).get(dataset)
            yield Printed(
                row["name"],
                dataset,
                row.get("orientation") or usual,
                metric,
                None if isinstance(value, str) else float(value),
                _answers(table, row, number, dataset),
                row.get("ours", {}),
            )


def _answers(
    table: Mapping[str, Any], row: Mapping[str, Any], number: int, dataset: str
) -> int | None:
    """Return how many answers a cell had: one number a row, one a column, or one a set."""
    given: Any = row.get("answers", table.get("answers", {}).get(row["name"]))
    if isinstance(given, Mapping):
        given = given.get(dataset)
    found: int | None = given[number] if isinstance(given, list) else given
    return found
