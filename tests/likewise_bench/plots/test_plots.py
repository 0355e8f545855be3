import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from threadpoolctl import threadpool_limits

from likewise.constraints.question import Answer, Question
from likewise.errors import (
    InvalidParameterError,
    LikewiseError,
    OutputError,
    ResultsFileError,
    UnknownNameError,
)
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.learner import NetworkLearner
from likewise.random_streams import stream
from likewise_bench.plots.contrastive import pair_similarities
from likewise_bench.plots.curves import _points, answer_curves
from likewise_bench.plots.groups import in_colours_of, project
from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.questions import _framed_images
from likewise_bench.plots.style import PLOTS, draw, styled
from likewise_bench.spec import RunSpec
from likewise_bench.tables.aggregate import groups
from tests.likewise_bench.tables.rows import row

ROWS = tuple(
    row("likewise", 0.6 + n / 300 + seed / 50, seed=seed, n=n) for seed in (0, 1) for n in (10, 100)
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield


def _digits(**changes: Any) -> RunSpec:
    return RunSpec(**{"method": "kmeans", "dataset": "digits", "criterion": "parity", **changes})


def _size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        spread = np.asarray(picture.convert("L")).std()
        assert spread > 5  # something was drawn
        return picture.size


@pytest.mark.parametrize("suffix", ["png", "svg"])
@pytest.mark.parametrize("kind", ["toy", "answers"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, kind: str, suffix: str) -> None:
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    for path in (one, two):
        draw(Request(kind, ROWS), path)
    assert one.read_bytes() == two.read_bytes()
    assert len(one.read_bytes()) > 5_000


def test_a_curve_has_mean_and_deviation_per_budget_and_begins_with_k_means() -> None:
    points = _points(groups(ROWS), "acc", "all", 0.3)
    spread = 0.02 / 2**0.5
    expected = [(0, 0.3, 0), (10, 0.61 + 1 / 30, spread), (100, 0.61 + 1 / 3, spread)]
    np.testing.assert_allclose(points, expected)
    assert [point[0] for point in _points(groups(ROWS), "nmi", "all", None)] == [10.0, 100.0]


def test_the_nmi_curve_begins_with_a_run_of_k_means() -> None:
    rows = (*ROWS, row("kmeans", 0.4, n=0))
    with styled():
        figure = answer_curves(Request("answers", rows))
    starts = [float(np.asarray(axes.lines[0].get_ydata())[0]) for axes in figure.axes]
    assert starts == [0.3, 0.2]


def test_a_ring_marks_runs_whose_budget_covers_every_image() -> None:
    """Of n images in groups, n - 1 answers settle all; without such a run nothing is promised."""
    full = {**row("likewise", 1.0, n=1040), "n_answers": 1039}
    for rows, n_rings in ((ROWS, 0), ((*ROWS, full), 1)):
        with styled():
            figure = answer_curves(Request("answers", rows))
        assert sum(line.get_markersize() == 10 for line in figure.axes[0].lines) == n_rings
        told = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("all images labelled" in told) == bool(n_rings)


def test_markers_differ_when_colours_repeat() -> None:
    rows = tuple(row(f"method {i}", 0.5, n=10) for i in range(30))
    with styled():
        figure = answer_curves(Request("answers", rows))
    lines = figure.legends[0].get_lines()[:30]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 30


def test_held_out_images_have_a_dashed_line() -> None:
    rows = [row("pcl", 0.5, n=n, protocol="inductive") for n in (10, 1040)]
    with styled():
        axes = answer_curves(Request("answers", tuple(rows))).axes[0]
    styles = [line.get_linestyle() for line in axes.lines]
    assert {"-", "--"} <= set(styles)
    rings = [line for line in axes.lines if line.get_markersize() == 10]
    assert [tuple(map(float, line.get_xdata())) for line in rings] == [(1040.0,), (1040.0,)]  # type: ignore[arg-type]  # numbers


def network_learner(model: CC) -> NetworkLearner:
    assert isinstance(model.learner_, NetworkLearner)
    return model.learner_


def test_equal_views_have_similarity_one_for_rows_and_columns() -> None:
    X = stream(0, "rows").normal(size=(40, 6)).astype(np.float32)
    model = CC(3, views="none", random_state=0).start(X)
    instances, clusters = pair_similarities(network_learner(model))
    assert instances.positive == pytest.approx((1, 0), abs=1e-5)
    assert clusters.positive == pytest.approx((1, 0), abs=1e-5)
    assert instances.negative[0] < 1
    seen = CC(3, random_state=0).start(X)
    assert pair_similarities(network_learner(seen))[0].positive[0] < 1
    assert pair_similarities(network_learner(seen)) == pair_similarities(network_learner(seen))


@pytest.mark.parametrize(
    ("kind", "run", "options"),
    [
        ("similarities", _digits(method="cc", n_images=64), {"epochs": 2}),
        ("map", _digits(method="cc", n_images=48), {"at": [0, 1]}),
        ("map", _digits(method="likewise", n_images=48, n_questions=6), {"at": [0, 6]}),
        ("grids", _digits(n_images=60), {"n": 3}),
        ("questions", _digits(method="likewise", n_images=60, n_questions=5), {"n": 4}),
    ],
    ids=["similarities", "map-epochs", "map-answers", "grids", "questions"],
)
def test_a_figure_of_a_run_is_drawn(
    tmp_path: Path, kind: str, run: RunSpec, options: dict[str, Any]
) -> None:
    out = tmp_path / "figure.png"
    draw(Request(kind, run=run, options=options), out)
    width, height = _size(out)
    assert width > 100
    assert height > 100


@pytest.mark.parametrize(
    ("kind", "run", "options", "message"),
    [
        ("questions", _digits(method="kmeans", n_images=40), {}, "'kmeans' asked no questions"),
        (
            "grids",
            _digits(n_images=40, criterion="digit"),
            {"other": "digit"},
            "show 'digit'; give another criterion",
        ),
    ],
    ids=["questions", "grids"],
)
def test_figures_without_content_raise_an_error(
    tmp_path: Path, kind: str, run: RunSpec, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(LikewiseError, match=message):
        draw(Request(kind, run=run, options=options), tmp_path / "figure.png")
    assert not (tmp_path / "figure.png").exists()


def test_frame_colours_show_the_answer() -> None:
    pair = Answer(Question.pair(4, 2), "same")
    assert [image for image, _ in _framed_images(pair)] == [2, 4]
    choice = Answer(Question.choice(7, (1, 2), ("a", "b")), "b")
    assert [ink == "#009E73" for _, ink in _framed_images(choice)] == [False, False, True]
    assert [image for image, _ in _framed_images(Answer(Question.label(3), "x"))] == [3]


def test_clusters_are_coloured_as_the_classes_they_match() -> None:
    classes = np.array([0, 0, 1, 1, 2, 2])
    assert in_colours_of(np.array([2, 2, 0, 0, 1, 1]), classes).tolist() == classes.tolist()
    assert in_colours_of(np.array([9, 9, 9, 9, 1, 1]), classes).tolist() == [0, 0, 0, 0, 2, 2]


class _Flat:
    def __init__(self, random_state: int) -> None:
        self.state = random_state

    def fit_transform(self, rows: Any) -> Any:
        warnings.warn("n_jobs overridden by setting random_state", UserWarning, stacklevel=1)
        return rows[:, :2] + self.state * 0


def test_umap_is_used_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=_Flat))
    rows = stream(0, "rows").normal(size=(40, 6)).astype(np.float32)
    np.testing.assert_array_equal(project(rows, "umap", 0), rows[:, :2])


def test_without_umap_the_error_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InvalidParameterError, match="pip install umap-learn"):
        project(np.zeros((5, 2), np.float32), "umap", 0)


@pytest.mark.parametrize(
    ("request_", "name", "error", "message"),
    [
        (Request("answer"), "a.png", UnknownNameError, "'answer' is not a known figure; did you"),
        (Request("answers"), "a.png", ResultsFileError, "'answers' needs results"),
        (Request("map"), "a.png", InvalidParameterError, "'map' needs a run; give --dataset"),
        (Request("toy"), "a.jpeg", OutputError, "must be one of .png, .svg, .pdf"),
        (Request("toy"), "no/a.png", OutputError, "cannot be written"),
        (Request("map", run=_digits()), "a.png", InvalidParameterError, "does not train in epochs"),
        (Request("similarities", run=_digits()), "a.png", InvalidParameterError, "two views"),
        (
            Request("map", run=_digits(), options={"by": "pca"}),
            "a.png",
            UnknownNameError,
            "'pca' is not a known projection",
        ),
    ],
)
def test_invalid_requests_raise_an_error(
    tmp_path: Path, request_: Request, name: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        draw(request_, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_every_figure_has_a_function() -> None:
    from importlib import import_module

    for place in PLOTS.values():
        module, name = place.split(":")
        assert callable(getattr(import_module(module), name))
