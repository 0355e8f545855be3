"""Charts and gallery of the site are made from the runs and the examples."""

import re

from docs.site_tools.charts import EXAMPLES, chart_svg, charts_page, curves, examples_page


def row(acc: float | None, **spec: object) -> dict[str, object]:
    given = {"method": "pcl", "n_questions": 30, **spec}
    return {"spec": given, "dataset": "cards", "criterion": "suit", "acc": acc}


def test_a_curve_is_the_mean_over_seeds() -> None:
    rows = [row(0.5, seed=0), row(0.75, seed=1), row(0.9, n_questions=100), row(None, seed=2)]
    other = [row(0.1, settings={"a": 1}), row(0.1, strategy="random"), row(0.1, method="unknown")]
    assert curves([*rows, *other]) == {"cards by suit": {"pcl": {30: 0.625, 100: 0.9}}}


def test_a_chart_has_a_mark_for_each_mean() -> None:
    svg = chart_svg({"likewise": {30: 0.5, 100: 1.0}, "pcl": {100: 0.25}})
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert len(marks) == 3
    (x30, y50), (x100, y100), (x, y25) = [(float(a), float(b)) for a, b in marks]
    assert x30 < x100 == x
    assert y100 < y50 < y25
    assert "likewise, 100 answers: 1.000" in svg


def test_the_pages_have_every_task_and_every_example() -> None:
    page = charts_page()
    assert page.count("<svg") == page.count("\n## ") >= 6
    gallery = examples_page()
    for path in EXAMPLES.glob("*.py"):
        assert f"examples/{path.name}" in gallery
