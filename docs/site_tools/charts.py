"""Pages made at build time: the measured runs as charts, and the gallery of examples."""

import ast
import html
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "docs" / "research" / "runs" / "results.jsonl"
EXAMPLES = ROOT / "examples"
METHODS = ("likewise", "pckmeans", "cobra", "dcc", "idc", "pcl", "occ", "dsac")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b5cf6", "#777777")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _RIGHT = 640, 260, 46, 30, 96
Curve = Mapping[int, float]  # answers -> mean accuracy


def curves(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Curve]]:
    """Return for each task the mean accuracy over seeds by method and number of answers.

    Rows with settings other than the defaults, failed runs and other strategies are left out; of
    the strategies of a method the one of its first row counts.
    """
    found: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(dict)
    strategies: dict[str, Any] = {}
    for row in rows:
        spec = row["spec"]
        method, n_answers = spec["method"], spec.get("n_questions") or 0
        if method not in METHODS or row.get("acc") is None or spec.get("settings"):
            continue
        if strategies.setdefault(method, spec.get("strategy")) != spec.get("strategy"):
            continue
        task = f"{row['dataset']} by {row.get('criterion') or row.get('orientation')}"
        found[task].setdefault(method, defaultdict(list))[n_answers].append(row["acc"])
    return {
        task: {
            method: {n: fmean(values) for n, values in sorted(by_answers.items())}
            for method, by_answers in sorted(
                methods.items(), key=lambda item: METHODS.index(item[0])
            )
        }
        for task, methods in sorted(found.items())
    }


def chart_svg(methods: Mapping[str, Curve]) -> str:
    """Return accuracy by number of answers; the axis has equal steps from budget to budget."""
    budgets = sorted({n for curve in methods.values() for n in curve})
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(budgets) - 1, 1)

    def x(n: int) -> float:
        return _LEFT + budgets.index(n) * step

    def y(share: float) -> float:
        return 8 + (1 - share) * (_HEIGHT - _BOTTOM - 8)

    parts = [
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(s):.1f}" y2="{y(s):.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y(s) + 4:.1f}" text-anchor="end">{s:.2f}</text>'
        for s in (0, 0.25, 0.5, 0.75, 1)
    ]
    parts += [
        f'<text x="{x(n):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{n:,}</text>'
        for n in budgets
    ]
    ends: list[float] = []
    for method, curve in sorted(methods.items(), key=lambda item: -list(item[1].values())[-1]):
        colour = _COLOURS[METHODS.index(method)]
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in curve.items())
        marks = "".join(
            f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">'
            f"<title>{html.escape(method)}, {n:,} answers: {value:.3f}</title></circle>"
            for n, value in curve.items()
        )
        at = max(y(list(curve.values())[-1]), ends[-1] + 13 if ends else 0)  # no overlap
        ends.append(at)
        place = f'x="{_WIDTH - _RIGHT + 8}" y="{at + 4:.1f}"'
        label = f'<text {place} style="fill:{colour}">{method}</text>'
        line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        parts.append(line + marks + label)
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'


def charts_page() -> str:
    """Return the page with one chart for each task."""
    rows = [json.loads(line) for line in RUNS.read_text("utf-8").splitlines()]
    releases = {str(row.get("machine", {}).get("likewise", "?")) for row in rows}
    text = [
        "# Charts\n",
        "Accuracy (ACC, all images, answers enforced) by number of answers: mean over seeds of the "
        "rows in `docs/research/runs/results.jsonl`, drawn when this site is built. [Results]"
        "(results.md) has commands, dates, machines and all other methods. Each budget is a run of "
        "its own; the horizontal axis is not to scale. Point at a mark for its value. "
        f"The runs were made with release {', '.join(sorted(releases))} of this package.\n",
    ]
    for task, methods in curves(rows).items():
        text += [f"## {task}\n", chart_svg(methods) + "\n"]
    return "\n".join(text)


def examples_page() -> str:
    """Return the gallery: each example with its description and its code."""
    text = ["# Examples\n", "Programs in `examples/`; the tests run them.\n"]
    for path in sorted(EXAMPLES.glob("*.py")):
        source = path.read_text("utf-8")
        description = ast.get_docstring(ast.parse(source)) or ""
        indented = source.replace("\n", "\n    ").rstrip()
        text += [
            f"## {path.stem.replace('_', ' ').capitalize()}\n",
            f"{description}\n",
            f'??? example "examples/{path.name}"\n\n    ```python\n    {indented}\n    ```\n',
        ]
    return "\n".join(text)


def pages() -> Iterator[tuple[str, str]]:
    """Yield path below ``docs/`` and text of each page."""
    yield "research/charts.md", charts_page()
    yield "guide/examples.md", examples_page()
