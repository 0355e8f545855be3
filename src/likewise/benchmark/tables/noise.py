"""What wrong answers cost: the same runs with clean and with noisy answers, side by side."""

from collections import defaultdict
from collections.abc import Sequence

from likewise.benchmark.tables.figure import Figure
from likewise.benchmark.tables.groups import Group, Row, Task, tasks
from likewise.benchmark.tables.table import Cell, Table


def noise_table(rows: Sequence[Row]) -> list[Table]:
    """Return one table if any run had noisy answers and a clean twin, else none.

    The loss is paired: seed by seed, clean less noisy. Other questions have a mean of their own.
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
            figures = [Figure.of(clean.marks("acc")), Figure.of(noisy.marks("acc"))]
            name = f"{task.name}: {noisy.method}{asked}, {how}"
            lines.append([name, *figures, Figure.of(lost)])
    if not lines:
        return []
    lines += [[f"mean of all{asked}", "", "", Figure.of(lost)] for asked, lost in losses.items()]
    header = ["task", "ACC, all right", "ACC, some wrong", "loss"]
    return [Table("What wrong answers cost", header, lines)]


def _clean_twin(task: Task, noisy: Group) -> Group | None:
    if not noisy.spec.get("noise"):
        return None
    wanted = {name: value for name, value in noisy.spec.items() if name != "noise"}
    return next((group for group in task.groups if dict(group.spec) == wanted), None)


def _lost(clean: Group, noisy: Group) -> list[float]:
    before = {row["seed"]: row["acc"] for row in clean.rows}
    return [before[row["seed"]] - row["acc"] for row in noisy.rows if row["seed"] in before]
