"""Tables and their output formats: Markdown, LaTeX, CSV.

Not pandas: its Markdown and LaTeX need two more packages (tabulate, Jinja2), and a cell here is a
mean with its deviation.
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from likewise.errors import UnknownNameError
from likewise_bench.tables.aggregate import MeanStd

Cell = str | MeanStd


@dataclass(frozen=True)
class Table:
    """A table: title, columns, rows and notes.

    Examples
    --------
    >>> table = Table("Two", ["method", "ACC"], [["cc", MeanStd.of([0.5, 0.7])]])
    >>> print(write([table], "markdown"), end="")
    ### Two
    <BLANKLINE>
    | method | ACC |
    |---|---|
    | cc | .600 ± .141 |
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default_factory=tuple)


def write(tables: Sequence[Table], to: str) -> str:
    """Return tables as text in one of `FORMATS`."""
    if to not in FORMATS:
        raise UnknownNameError("format of a table", to, FORMATS)
    return "\n".join(FORMATS[to](table) for table in tables)


def _markdown(table: Table) -> str:
    lines = [f"### {table.title}", "", _line(table.header), "|" + "---|" * len(table.header)]
    lines += [_line([str(cell) for cell in row]) for row in table.rows]
    if table.notes:
        lines += ["", *(f"*{note}*  " for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _latex(table: Table) -> str:
    columns = "l" + "r" * (len(table.header) - 1)
    body = [" & ".join(_tex(cell) for cell in row) + r" \\" for row in table.rows]
    head = " & ".join(_tex(name) for name in table.header)
    notes = "".join(f" {note}" for note in table.notes)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(table.title)}.{_tex(notes)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "±": r"$\pm$",
    "—": "---",
    "–": "--",
    "×": r"$\times$",
    "~": r"\textasciitilde{}",
    "\\": r"\textbackslash{}",
}


def _tex(cell: Cell) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in str(cell))


def _csv(table: Table) -> str:
    """Return means as plain numbers, with standard deviations in separate columns."""
    spread = [any(_has_spread(row[i]) for row in table.rows) for i in range(len(table.header))]
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    names = [("table",), *((n, f"{n} spread") if s else (n,) for n, s in _pairs(table, spread))]
    lines.writerow([name for several in names for name in several])
    for row in table.rows:
        cells = [part for cell, s in zip(row, spread, strict=True) for part in _plain(cell, s)]
        lines.writerow([table.title, *cells])
    return out.getvalue()


def _pairs(table: Table, spread: Sequence[bool]) -> list[tuple[str, bool]]:
    return list(zip(table.header, spread, strict=True))


def _has_spread(cell: Cell) -> bool:
    return isinstance(cell, MeanStd) and cell.spread is not None


def _plain(cell: Cell, with_spread: bool) -> list[str]:
    if not isinstance(cell, MeanStd):
        return [cell, ""] if with_spread else [cell]
    numbers = [cell.mean, cell.spread] if with_spread else [cell.mean]
    return ["" if number is None else f"{number:.6g}" for number in numbers]


FORMATS: dict[str, Callable[[Table], str]] = {"markdown": _markdown, "latex": _latex, "csv": _csv}
