"""Table layouts: budgets, noise, and the papers' tables by name."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from likewise.errors import UnknownNameError
from likewise_bench.tables.aggregate import (
    Group,
    MeanStd,
    Row,
    Task,
    area,
    baselines,
    tasks,
    variants,
)
from likewise_bench.tables.format import Cell, Table
from likewise_bench.tables.published import paper_layout, paper_tables

_TIMES = ("s", "MB")


def by_answers(rows: Sequence[Row], *, times: bool = True) -> list[Table]:
    """Return one table per task.

    Parameters
    ----------
    rows : sequence of mapping
    times : bool
        Whether to include seconds and memory; without them equal runs give an identical
        table.
    """
    return [_table(task, times) for task in tasks(rows)]


def _table(task: Task, times: bool) -> Table:
    budgets = sorted({group.n_questions for group in task.groups if group.asks})
    budgets = budgets or [0]
    header = ["method", *(f"ACC at {n:,}" for n in budgets), "area", "NMI", "ARI", "ACC unasked"]
    lines = variants(task.groups)
    body = [_line(name, of, budgets, times) for name, of in lines.items()]
    width = len(header) + 2 * times
    reference = [_padded(line, width) for line in _reference_lines(task, budgets)]
    return Table(
        f"{task.name}, {task.regime}",
        [*header, *(_TIMES if times else ())],
        [*body, *reference],
        _notes(task, lines, budgets),
    )


def _line(name: str, of: Sequence[Group], budgets: Sequence[int], times: bool) -> list[Cell]:
    by_budget = {group.n_questions: group for group in of}
    at = [by_budget[0] if not _any_asks(of) else by_budget.get(n) for n in budgets]
    last = max(of, key=lambda group: group.n_questions)
    cells: list[Cell] = [name]
    cells += [MeanStd(None) if group is None else MeanStd.of(group.scores("acc")) for group in at]
    cells.append(MeanStd.of([area(row) for row in last.rows]))
    cells += [MeanStd.of(last.scores(name)) for name in ("nmi", "ari")]
    cells.append(MeanStd.of(last.scores("acc", "unasked")))
    if times:
        cells.append(MeanStd.of(last.values("seconds", "total"), digits=1))
        cells.append(MeanStd.of(last.values("peak_memory_mb"), digits=0))
    return cells


def _any_asks(of: Sequence[Group]) -> bool:
    return any(group.asks for group in of) or 0 not in {group.n_questions for group in of}


def _reference_lines(task: Task, budgets: Sequence[int]) -> list[list[Cell]]:
    """Return the trivial baselines, and the results with random questions."""
    texts = {
        "majority_acc": "— everything in one group",
        "kmeans_acc": "— k-means, no questions",
        "other_criterion_acc": "— perfect other criterion",
    }
    lines: list[list[Cell]] = []
    for name, text in texts.items():
        known = MeanStd.known(baselines(task.rows, name))
        lines.append([text, *([known] * len(budgets))])
    lines.append(_at_random(task, budgets))
    return lines


def _at_random(task: Task, budgets: Sequence[int]) -> list[Cell]:
    """Return the best method with random questions, if there is one."""
    drawn = [group for group in task.groups if group.rows and _is_random(group.rows[0])]
    if not drawn:
        return ["— random questions", "not run"]
    best = max(drawn, key=lambda group: (group.n_questions, MeanStd.of(group.scores("acc")).mean))
    of = {g.n_questions: g for g in drawn if _changed(g) == _changed(best)}
    name = f"— random questions (best: {best.method})"
    return [name, *(MeanStd.of(of[n].scores("acc")) if n in of else "" for n in budgets)]


def _changed(group: Group) -> dict[str, object]:
    return {name: value for name, value in group.spec.items() if name != "n_questions"}


def _is_random(row: Row) -> bool:
    return row.get("strategy") == "random" and bool(row["n_answers"])


def _padded(line: list[Cell], width: int) -> list[Cell]:
    return [*line, *([""] * (width - len(line)))]


def _notes(task: Task, lines: dict[str, list[Group]], budgets: Sequence[int]) -> list[str]:
    rows = task.rows
    notes = []
    if rows:
        seeds = sorted({row["seed"] for row in rows})
        many = f"seeds {', '.join(map(str, seeds))}"
        notes.append(
            f"{rows[0]['n_images']:,} images, {rows[0]['n_clusters']} clusters, {many}; mean ± "
            f"standard deviation; area, NMI, ARI, unasked and costs at the largest budget."
        )
        notes += _with_fewer_seeds(lines, len(seeds))
        if any(row["test"] for row in rows):
            notes.append("ACC, NMI, ARI and area are computed on held-out images.")
    unlike = sorted({str(n) for of in lines.values() for n in _fewer(of, budgets)})
    if unlike:
        notes.append(f"Fewer answers than allowed: {', '.join(unlike)}.")
    failed = [
        f"{name} ({group.errors[0]})"
        for name, of in lines.items()
        for group in of[:1]
        if group.errors
    ]
    return [*notes, *(f"Failed: {one}" for one in failed)]


def _with_fewer_seeds(lines: dict[str, list[Group]], n_seeds: int) -> list[str]:
    """Return a note on rows with fewer seeds than others."""
    at_least = {
        name: min(len({row["seed"] for row in group.rows}) for group in of if group.rows)
        for name, of in lines.items()
        if any(group.rows for group in of)
    }
    notes = []
    for n in range(1, n_seeds):
        names = [name for name, found in at_least.items() if found == n]
        if names:
            notes.append(f"With {n} of {n_seeds} seeds, at some budget: {'; '.join(names)}.")
    return notes


def _fewer(of: Sequence[Group], budgets: Sequence[int]) -> list[str]:
    found = []
    for group in of:
        answers = [row["n_answers"] for row in group.rows if row["n_answers"]]
        if answers and min(answers) < group.n_questions:
            found.append(f"{group.method} {min(answers):,} of {group.n_questions:,}")
    return found


def noise_table(rows: Sequence[Row]) -> list[Table]:
    """Return a table of runs with noisy answers that also have a run without noise.

    The loss is the mean over seeds of the clean score minus the noisy one, per query strategy.
    """
    lines: list[list[Cell]] = []
    losses = defaultdict[str, list[float]](list)
    for task in tasks(rows):
        for noisy in task.groups:
            clean = _clean_twin(task, noisy)
            lost = [] if clean is None else _lost(clean, noisy)
            if clean is None or not lost:
                continue
            asked = f", {noisy.spec['strategy']} questions" if "strategy" in noisy.spec else ""
            losses[asked] += lost
            how = f"{noisy.n_questions:,} answers, noise {noisy.spec['noise']}"
            figures = [MeanStd.of(clean.scores("acc")), MeanStd.of(noisy.scores("acc"))]
            name = f"{task.name}: {noisy.method}{asked}, {how}"
            lines.append([name, *figures, MeanStd.of(lost)])
    if not lines:
        return []
    lines += [[f"mean of all{asked}", "", "", MeanStd.of(lost)] for asked, lost in losses.items()]
    header = ["task", "ACC, no noise", "ACC, noisy", "loss"]
    return [Table("Loss of ACC by wrong answers", header, lines)]


def _clean_twin(task: Task, noisy: Group) -> Group | None:
    if not noisy.spec.get("noise"):
        return None
    wanted = {name: value for name, value in noisy.spec.items() if name != "noise"}
    return next((group for group in task.groups if dict(group.spec) == wanted), None)


def _lost(clean: Group, noisy: Group) -> list[float]:
    before = {row["seed"]: row["acc"] for row in clean.rows}
    return [before[row["seed"]] - row["acc"] for row in noisy.rows if row["seed"] in before]


DEFAULT_LAYOUT = "answers"


class Layout(Protocol):
    """Builds tables from rows."""

    def __call__(self, rows: Sequence[Row], *, times: bool = True) -> list[Table]:
        """Return the tables."""


def layouts() -> dict[str, Layout]:
    """Return the layouts: ``answers``, and one for each result table of the papers."""
    return {
        DEFAULT_LAYOUT: by_answers,
        **{name: partial(paper_layout, name) for name in paper_tables()},
    }


def make_tables(
    rows: Sequence[Row], layout: str = DEFAULT_LAYOUT, *, times: bool = True
) -> list[Table]:
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
