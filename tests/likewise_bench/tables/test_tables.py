import csv
import io
import random
from typing import Any

import pytest

from likewise.errors import UnknownNameError
from likewise_bench.tables.aggregate import MeanStd, area, groups, tasks
from likewise_bench.tables.format import Table, write
from likewise_bench.tables.layouts import layouts, make_tables, noise_table
from tests.likewise_bench.tables.rows import row

ROWS = [
    *(row("likewise", 0.8 + 0.1 * seed, seed=seed, n=n) for seed in (0, 1) for n in (10, 100)),
    *(row("kmeans", 0.3, seed=seed, n=0) for seed in (0, 1)),
]


def _cells(table: Table) -> dict[str, dict[str, str]]:
    """Return what stands in each line, by the names of the columns."""
    return {
        str(line[0]): dict(zip(table.header[1:], map(str, line[1:]), strict=True))
        for line in table.rows
    }


def test_a_figure_is_the_mean_and_the_standard_deviation_over_seeds() -> None:
    assert str(MeanStd.of([0.8, 0.9, 1.0])) == ".900 ± .100"
    assert str(MeanStd.of([0.8])) == ".800"
    assert str(MeanStd.of([None, 1.25], digits=1)) == "1.2"
    assert str(MeanStd.of([-0.05, -0.05])) == "-.050 ± .000"
    assert str(MeanStd.known([0.25, 0.25])) == ".250"


def test_a_table_has_one_row_per_method_and_one_column_per_budget() -> None:
    (table,) = make_tables(ROWS)
    cells = _cells(table)
    assert table.title == "cards by suit, pretrained (lite)"
    assert cells["likewise"]["ACC at 10"] == cells["likewise"]["ACC at 100"] == ".850 ± .071"
    assert cells["likewise"]["NMI"] == ".425 ± .035"
    assert cells["likewise"]["s"] == "2.5 ± .7"
    assert cells["likewise"]["MB"] == "500 ± 0"


def test_a_method_that_asks_nothing_is_listed_under_every_budget() -> None:
    asked_nothing = [{**one, "n_answers": 0} if one["method"] == "kmeans" else one for one in ROWS]
    (table,) = make_tables(asked_nothing)
    line = _cells(table)["kmeans"]
    assert line["ACC at 10"] == line["ACC at 100"] == line["ACC at 10"] == ".300 ± .000"
    assert "ACC at 0" not in line


def test_a_note_lists_methods_with_fewer_seeds() -> None:
    twice = [row("cc", 0.5, seed=0), row("cc", 0.5, seed=1)]
    [table] = make_tables([*twice, row("occ", 0.6)], "answers")
    assert "With 1 of 2 seeds, at some budget: occ." in table.notes
    [table] = make_tables([*twice, row("occ", 0.6), row("occ", 0.6, seed=1)], "answers")
    assert len(table.notes) == 1


def test_reference_lines_are_in_every_table() -> None:
    for table in make_tables(ROWS) + make_tables(ROWS, "answers", times=False):
        cells = _cells(table)
        assert cells["— everything in one group"]["ACC at 100"] == ".250"
        assert cells["— k-means, no questions"]["ACC at 10"] == ".300"
        assert cells["— perfect other criterion"]["ACC at 10"] == ".500"
        assert cells["— random questions"]["ACC at 10"] == "not run"
    (table,) = make_tables([*ROWS, row("pcl", 0.6, strategy="random")])
    assert _cells(table)["pcl, random questions"]["ACC at 100"] == ".600"
    assert _cells(table)["— random questions (best: pcl)"]["ACC at 100"] == ".600"
    assert _cells(table)["— random questions (best: pcl)"]["ACC at 10"] == ""


def test_from_scratch_and_pretrained_never_share_a_table() -> None:
    found = make_tables([row("cc", 0.4), row("cc", 0.5, from_scratch=True)])
    assert [table.title for table in found] == [
        "cards by suit, pretrained (lite)",
        "cards by suit, from scratch",
    ]


def test_scores_are_those_of_held_out_images_if_there_are_any() -> None:
    (table,) = make_tables([row("cc", 0.8, protocol="inductive")])
    assert _cells(table)["cc"]["ACC at 100"] == ".080"
    assert any("held-out images" in note for note in table.notes)


def test_names_have_changed_settings_but_not_shared_ones() -> None:
    changed = [
        row("dsac", 0.5, settings={"gamma": "1", "size": "32"}, noise=0.1),
        row("dsac", 0.6, settings={"gamma": "2", "size": "32"}, kinds=["pair", "label"]),
    ]
    (table,) = make_tables(changed)
    assert list(_cells(table))[:2] == [
        "dsac, noise=0.1, gamma=1",
        "dsac, kinds=pair+label, gamma=2",
    ]


def test_without_times_the_table_does_not_depend_on_them() -> None:
    other = [{**one, "seconds": {"total": 99.0}, "peak_memory_mb": 1.0} for one in ROWS]
    assert write(make_tables(ROWS, times=False), "markdown") == write(
        make_tables(other, times=False), "markdown"
    )


def test_failed_runs_are_listed_and_do_not_count() -> None:
    failed = {"spec": {**ROWS[0]["spec"], "seed": 7}, "method": "likewise", "error": "no memory"}
    (table,) = make_tables([*ROWS, failed])
    assert _cells(table)["likewise"]["ACC at 10"] == ".850 ± .071"
    assert table.notes[-1] == "Failed: likewise (no memory)"


def test_of_two_rows_of_the_same_run_the_last_counts() -> None:
    (group,) = groups([row("cc", 0.1), row("cc", 0.9)])
    assert group.scores("acc") == [0.9]
    assert len(tasks(ROWS)) == 1


def test_rows_of_bench_run_need_no_spec() -> None:
    plain = [{k: v for k, v in one.items() if k != "spec"} for one in ROWS]
    assert write(make_tables(plain), "csv") == write(make_tables(ROWS), "csv")


def test_the_area_is_the_mean_score_from_no_answer_to_the_last() -> None:
    one = row("likewise", 0.9)
    one["curve"] = [
        {"n_answers": 10, "acc": 0.5, "test": None},
        {"n_answers": 30, "acc": 0.9, "test": None},
    ]
    assert area(one) == pytest.approx((10 * (0.3 + 0.5) / 2 + 20 * (0.5 + 0.9) / 2) / 30, abs=1e-6)
    assert area(row("kmeans", 0.4, n=0)) == 0.4
    tested = row("cc", 0.8, protocol="inductive")
    assert area(tested) == pytest.approx(0.08)


def test_csv_has_means_and_deviations_in_separate_columns() -> None:
    lines = list(csv.DictReader(io.StringIO(write(make_tables(ROWS), "csv"))))
    assert float(lines[0]["ACC at 10"]) == 0.85
    assert float(lines[0]["ACC at 10 spread"]) == pytest.approx(0.0707107)
    assert lines[0]["table"] == "cards by suit, pretrained (lite)"


def test_latex_and_markdown_escape_special_characters() -> None:
    table = Table("50% & more_", ["a|b"], [[MeanStd.of([0.1, 0.3])]], ["note"])
    assert r"50\% \& more\_" in write([table], "latex")
    assert r".200 $\pm$ .141" in write([table], "latex")
    assert r"a\|b" in write([table], "markdown")
    with pytest.raises(UnknownNameError, match="'word' is not a known format of a table"):
        write([table], "word")


def test_a_papers_table_has_published_values_beside_ours() -> None:
    here: dict[str, Any] = {"dataset": "cifar10", "criterion": "personalised"}
    ours = [
        row("pcl", 0.9, n=1000, strategy="joint", **here),
        row("pcl", 0.5, n=1000, strategy="random", **here),
        row("pcl", 0.99, n=20_000, strategy="joint", **here),  # more than the paper's line had
        row("pcl", 0.7, n=100, strategy="joint", from_scratch=True, **here),
        row("dcc", 0.6, n=20_000, **here),
    ]
    table = make_tables(ours, "pcl-3")[0]
    line = _cells(table)["PCL"]
    assert table.title == "PCL, Table 3: cifar10 by personalised"
    assert (line["ACC, published"], line["answers, published"]) == (".873", "10,000")
    assert (line["ACC, pretrained"], line["answers, pretrained"]) == (".900", "1,000")
    assert (line["ACC, from scratch"], line["F, from scratch"]) == (".700", ".700")
    assert line["area, pretrained"] == str(MeanStd.of([area(ours[0])]))
    assert (
        line["area, from scratch"] == str(MeanStd.of([area(ours[3])])) != line["area, pretrained"]
    )
    assert _cells(table)["— everything in one group (ours)"]["area, pretrained"] == ""
    assert _cells(table)["DCC"]["ACC, pretrained"] == ".600"
    assert _cells(table)["MiCE"]["ACC, pretrained"] == ""
    other = _cells(table)["— perfect other criterion (ours)"]
    assert other["ACC, pretrained"] == other["ACC, from scratch"] == ".500"
    assert make_tables(ours, "pcl-3")[1].notes[-1] == "No results of ours on this data set."


def test_ablations_of_a_paper_find_their_counterparts() -> None:
    here: dict[str, Any] = {"dataset": "cifar10", "criterion": "default"}
    ours = [
        row("occ", 0.9, settings={"spaces": "both", "extension": 0.5}, **here),
        row("occ", 0.2, settings={"spaces": "both", "extension": 0.0}, **here),
        row("occ", 0.3, settings={"spaces": "assignment", "extension": 0.0}, **here),
    ]
    by_space, by_extension = (make_tables(ours, name)[0] for name in ("occ-3", "occ-4"))
    assert _cells(by_space)["A only"]["ACC, pretrained"] == ".300"
    assert _cells(by_space)["R only"]["ACC, pretrained"] == ""
    assert _cells(by_extension)["with extension"]["ACC, pretrained"] == ".900"
    assert _cells(by_extension)["without extension"]["ACC, pretrained"] == ".200"
    assert _cells(by_space)["R+A"]["ACC, pretrained"] == ".900"


def test_a_run_without_a_part_of_the_method_is_used_only_with_a_note() -> None:
    here: dict[str, Any] = {"dataset": "cifar10", "criterion": "default"}
    plain = [row("occ", 0.2, settings={"spaces": "both", "extension": 0.0}, **here)]
    whole, by_extension = (make_tables(plain, name)[0] for name in ("occ-2", "occ-4"))
    assert _cells(whole)["OCC"]["ACC, pretrained"] == ".200"
    assert whole.notes[-1] == "Ours in row OCC: without extension."
    assert _cells(by_extension)["with extension"]["ACC, pretrained"] == ""
    stl: dict[str, Any] = {"dataset": "stl10", "criterion": "class", "n": 20}
    given = {"selection": "full", "pseudo_labels": True, "spread_first": 0, "spread_more": 0}
    spread = {**given, "spread_first": 50}
    quiet, loud = (row("dsac", acc, settings=s, **stl) for acc, s in ((0.2, given), (0.8, spread)))
    alone, both = (make_tables(rows, "dsac-iii")[0] for rows in ([quiet], [quiet, loud]))
    assert _cells(alone)["DSAC"]["NMI, pretrained"] == ""
    assert _cells(both)["DSAC"]["NMI, pretrained"] == ".400"
    assert _cells(both)["without pseudo-labels"]["NMI, pretrained"] == ".100"


def test_reference_lines_use_runs_with_the_true_number_of_clusters() -> None:
    usual, wrong = row("kmeans", 0.5), row("kmeans", 0.3, n_clusters=6)
    wrong["baselines"] = {**wrong["baselines"], "kmeans_acc": 0.1}
    (table,) = make_tables([usual, wrong], "answers")
    expected = str(MeanStd.of([usual["baselines"]["kmeans_acc"]]))
    assert expected in [str(cell) for cell in table.rows[-3]]


@pytest.mark.parametrize("name", layouts())
def test_every_layout_can_be_written_in_every_format(name: str) -> None:
    for to in ("markdown", "latex", "csv"):
        assert write(make_tables(ROWS, name), to)


def test_an_unknown_layout_raises_an_error_with_a_suggestion() -> None:
    with pytest.raises(
        UnknownNameError, match="'pcl3' is not a known layout; did you mean 'pcl-3'"
    ):
        make_tables(ROWS, "pcl3")


def test_the_order_of_result_rows_does_not_matter() -> None:
    shuffled = [row("likewise", 0.1 * seed, seed=seed) for seed in range(9)]
    expected = write(make_tables(shuffled, times=False), "markdown")
    random.Random(0).shuffle(shuffled)
    assert write(make_tables(shuffled, times=False), "markdown") == expected


def test_the_loss_by_wrong_answers_is_separate_per_query_strategy() -> None:
    runs = [
        row("likewise", 0.9),
        row("likewise", 0.8, noise=0.1),
        row("likewise", 0.7, strategy="random"),
        row("likewise", 0.4, strategy="random", noise=0.1),
    ]
    costs = _cells(noise_table(runs)[0])
    assert costs["cards by suit: likewise, 100 answers, noise 0.1"]["loss"] == ".100"
    assert costs["mean of all"]["loss"] == ".100"
    assert costs["mean of all, random questions"]["loss"] == ".300"
    (table,) = make_tables(runs, "answers")
    assert _cells(table)["— random questions (best: likewise)"]["ACC at 100"] == ".700"
