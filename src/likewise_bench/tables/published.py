"""The papers' result tables: published values beside ours."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from likewise.errors import UnknownNameError
from likewise_bench.tables.aggregate import Group, MeanStd, Row, area, baselines, groups
from likewise_bench.tables.format import Cell, Table


@dataclass(frozen=True)
class PublishedValue:
    """One cell of a paper's table.

    Attributes
    ----------
    row : str
        Name of its row in the paper.
    dataset, criterion, metric : str
        Names in this project.
    value : float, optional
        None where the paper prints a dash.
    n_answers : int, optional
        Number of answers of the row, if the paper gives it.
    ours : mapping of str to str
        Method and settings of our counterpart; empty: published value only.
    """

    row: str
    dataset: str
    criterion: str
    metric: str
    value: float | None
    n_answers: int | None
    ours: Mapping[str, str]


@cache
def paper_tables() -> dict[str, Mapping[str, Any]]:
    """Return the tables of ``published.toml``, by name."""
    text = resources.files("likewise_bench.tables").joinpath("published.toml").read_text("utf-8")
    return tomllib.loads(text)


def published_values(table: str) -> list[PublishedValue]:
    """Return every cell of one table, row by row.

    Examples
    --------
    >>> [cell.value for cell in published_values("pcl-3") if cell.row == "PCL"][3]
    0.873
    """
    tables = paper_tables()
    if table not in tables:
        raise UnknownNameError("table of a paper", table, tables)
    return list(_cells(tables[table]))


def _cells(table: Mapping[str, Any]) -> Iterator[PublishedValue]:
    columns = table["columns"]
    for row in table["rows"]:
        for number, value in enumerate(row["cells"]):
            name = columns if isinstance(columns, str) else columns[number]
            dataset, _, metric = name.rpartition(" ")
            dataset = dataset or row["set"]
            usual = table.get("criterion") or table.get("criteria", {}).get(dataset)
            yield PublishedValue(
                row["name"],
                dataset,
                row.get("criterion") or usual,
                metric,
                None if isinstance(value, str) else float(value),
                _answers(table, row, number, dataset),
                row.get("ours", {}),
            )


def _answers(
    table: Mapping[str, Any], row: Mapping[str, Any], number: int, dataset: str
) -> int | None:
    """Return the number of answers of a cell: given per row, per column or per data set."""
    given: Any = row.get("answers", table.get("answers", {}).get(row["name"]))
    if isinstance(given, Mapping):
        given = given.get(dataset)
    found: int | None = given[number] if isinstance(given, list) else given
    return found


_REGIMES = ("from scratch", "pretrained")
#: Settings of a row that names none: the method as published.
_AS_PUBLISHED: Mapping[str, Mapping[str, str]] = {
    "cc": {"views": "two", "heads": "both"},
    "occ": {"spaces": "both", "strategy": "csd", "extension": "on"},
    "pcl": {"attention": "on", "strategy": "joint"},
    "dsac": {"selection": "full", "pseudo_labels": "true"},
}
#: Parts of a method that our defaults omit: a run without them is used, with a note.
_OMITTED = {"occ": "extension", "dsac": "pseudo_labels"}
_METRICS = {"fmi": "F"}
_TRIVIAL = {
    "majority_acc": "— everything in one group (ours)",
    "kmeans_acc": "— k-means, no questions (ours)",
    "other_criterion_acc": "— perfect other criterion (ours)",
}


def paper_layout(name: str, rows: Sequence[Row], *, times: bool = True) -> list[Table]:
    """Return one table per data set and criterion of a paper's table.

    Parameters
    ----------
    name : str
        Key of `published.toml`, for example ``pcl-3``.
    rows : sequence of mapping
        Our results; rows without counterpart in the paper are ignored.
    times : bool
        Whether to include seconds and memory.
    """
    cells = published_values(name)
    found = groups(rows)
    parts = list(dict.fromkeys((cell.dataset, cell.criterion) for cell in cells))
    return [_table(name, part, cells, found, times) for part in parts]


def _table(
    name: str,
    part: tuple[str, str],
    cells: Sequence[PublishedValue],
    found: list[Group],
    times: bool,
) -> Table:
    here = [cell for cell in cells if (cell.dataset, cell.criterion) == part]
    ours = [group for group in found if _part(group) == part and group.rows]
    regimes = [regime for regime in _REGIMES if any(_regime(group) == regime for group in ours)]
    metrics = list(dict.fromkeys(cell.metric for cell in here))
    lines: dict[tuple[str, int | None], list[PublishedValue]] = {}
    for cell in here:
        lines.setdefault((cell.row, cell.n_answers), []).append(cell)
    columns = ["answers", *(_METRICS.get(metric, metric.upper()) for metric in metrics)]
    header = [f"{column}, published" for column in columns]
    header += [f"{column}, {regime}" for regime in regimes for column in (*columns, "area")]
    costs = ["s", "MB"] if times and ours else []
    digits = 4 if any(cell.value and round(cell.value, 3) != cell.value for cell in cells) else 3
    body: list[list[Cell]] = []
    named = {key for cell in here for key in cell.ours}
    omitted: dict[str, str] = {}
    for of in lines.values():
        chosen = [_counterpart(of[0], ours, regime, named) for regime in regimes]
        omitted |= _lacking(of[0], chosen)
        body.append(
            [*_quoted(of, metrics, digits), *_ours(chosen, metrics), *_costs(chosen, costs)]
        )
    table = paper_tables()[name]
    return Table(
        f"{table['paper']}: {part[0]} by {part[1]}",
        ["method", *header, *costs],
        [*body, *_reference_lines(ours, regimes, metrics, len(header) + len(costs) + 1)],
        _notes(str(table["about"]), ours, omitted),
    )


def _quoted(of: Sequence[PublishedValue], metrics: Sequence[str], digits: int) -> list[Cell]:
    by_metric = {cell.metric: cell.value for cell in of}
    values = [by_metric[metric] for metric in metrics]
    answers = "" if of[0].n_answers is None else f"{of[0].n_answers:,}"
    cells = ["—" if value is None else MeanStd(value, digits=digits) for value in values]
    return [of[0].row, answers, *cells]


def _ours(chosen: Sequence[Group | None], metrics: Sequence[str]) -> list[Cell]:
    cells: list[Cell] = []
    for group in chosen:
        if group is None:
            cells += [""] * (2 + len(metrics))
        else:
            cells.append(MeanStd.known(group.values("n_answers")).with_digits(digits=0))
            cells += [MeanStd.of(group.scores(metric)) for metric in metrics]
            cells.append(MeanStd.of([area(row) for row in group.rows]))
    return cells


def _costs(chosen: Sequence[Group | None], costs: Sequence[str]) -> list[Cell]:
    """Return seconds and memory of the first regime with rows."""
    if not costs:
        return []
    group = next((group for group in chosen if group is not None), None)
    seconds = [] if group is None else group.values("seconds", "total")
    memory = [] if group is None else group.values("peak_memory_mb")
    return [MeanStd.of(seconds, digits=1), MeanStd.of(memory, digits=0)]


def _part(group: Group) -> tuple[Any, Any]:
    return group.spec.get("dataset"), group.spec.get("criterion")


def _counterpart(
    cell: PublishedValue, ours: list[Group], regime: str, named: Collection[str]
) -> Group | None:
    """Return our rows for a line: same settings, nearest lower budget.

    Parts that our defaults omit may be missing, unless a row of the table is `named` for them.
    """
    if not cell.ours:
        return None
    wanted = _wanted(cell)
    here = [group for group in ours if _regime(group) == regime]
    fitting = [group for group in here if _fits(group, wanted)]
    omitted = _OMITTED.get(cell.ours["method"])
    if not fitting and omitted not in named:
        less = {name: value for name, value in wanted.items() if name != omitted}
        fitting = [group for group in here if _fits(group, less)]
    allowed = [g for g in fitting if cell.n_answers is None or g.n_questions <= cell.n_answers]
    return max(allowed or fitting, key=_size, default=None)


def _wanted(cell: PublishedValue) -> dict[str, str]:
    return {**_AS_PUBLISHED.get(cell.ours["method"], {}), **cell.ours}


def _lacking(cell: PublishedValue, chosen: Sequence[Group | None]) -> dict[str, str]:
    """Return the row label, with the ablated part of the method if there is one."""
    if all(group is None or _fits(group, _wanted(cell)) for group in chosen):
        return {}
    return {cell.row: _OMITTED[cell.ours["method"]].replace("_", "-")}


def _size(group: Group) -> tuple[int, int]:
    return group.n_questions, int(group.rows[0]["n_images"])


def _regime(group: Group) -> str:
    return _REGIMES[0] if group.spec.get("from_scratch") else _REGIMES[1]


def _fits(group: Group, wanted: Mapping[str, str]) -> bool:
    if any(name in group.spec for name in ("noise", "unsure", "n_clusters")):
        return False
    row = group.rows[0]
    known = {**row["settings"], "method": group.method, "strategy": row["strategy"]}
    if "spread_first" in known:  # without pseudo-labels to assign
        known["pseudo_labels"] &= bool(known["spread_first"] or known["spread_more"])
    recorded = {name: value for name, value in known.items() if value is not None}
    return all(
        name not in recorded or _same(recorded[name], value) for name, value in wanted.items()
    )


def _same(value: Any, word: str) -> bool:
    if word in ("on", "off"):
        return (value not in (None, 0, 0.0, False, "none")) == (word == "on")
    return str(value).lower() == word


def _reference_lines(
    ours: list[Group], regimes: Sequence[str], metrics: Sequence[str], width: int
) -> list[list[Cell]]:
    """Return the trivial baselines on our images; ACC only."""
    lines: list[list[Cell]] = []
    for name, text in _TRIVIAL.items():
        line: list[Cell] = [text, *([""] * (width - 1))]
        for number, regime in enumerate(regimes):
            rows = [row for group in ours if _regime(group) == regime for row in group.rows]
            if "acc" in metrics:
                first = 2 + len(metrics) + number * (2 + len(metrics))
                column = first + 1 + metrics.index("acc")
                line[column] = MeanStd.known(baselines(rows, name))
        lines.append(line)
    if not any(group.spec.get("strategy") == "random" for group in ours):
        lines.append(["— random questions (ours)", "not run", *([""] * (width - 2))])
    return lines if ours else []


def _notes(about: str, ours: list[Group], omitted: Mapping[str, str]) -> list[str]:
    notes = [f"Published: {about}."]
    if not ours:
        return [*notes, "No results of ours on this data set."]
    sizes = sorted({f"{int(group.rows[0]['n_images']):,}" for group in ours})
    held = " scored on held-out images" if any(g.rows[0]["test"] for g in ours) else ""
    notes.append(f"Ours: {' or '.join(sizes)} images{held}; seconds of the first regime shown.")
    notes += [f"Ours in row {row}: without {word}." for row, word in omitted.items()]
    return notes
