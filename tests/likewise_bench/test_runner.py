from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from threadpoolctl import threadpool_limits

import likewise_bench.runner as running
from likewise.embedding.registry import make_encoder
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.kmeans import KMeans, KMeansLearner
from likewise.estimators.params import TrainingPlan
from likewise.estimators.questioners import PairQuestioner
from likewise.images.in_memory import ArrayCollection
from likewise.metrics import score
from likewise.random_streams import stream
from likewise_bench.datasets import Dataset
from likewise_bench.runner import make_run_method, run_benchmark
from likewise_bench.spec import RunSpec


class Asking(KMeans):
    """K-means that asks: in three rounds, at random, and says what it saw."""

    asks = ("pair",)
    seen: dict[str, Any]
    found: npt.NDArray[np.intp]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        strategy: str = "random",
        kinds: Any = None,
        encoder: Any = "bundled",
        n_init: int = 10,
        random_state: int | None = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, encoder=encoder, random_state=random_state)
        self.strategy, self.kinds = strategy, kinds

    def _make_parts(self, data: Any) -> Any:
        learner = KMeansLearner(self.settings_.n_init)
        learner.plan = TrainingPlan(n_rounds=3)
        return learner, PairQuestioner(self.settings_.strategy)

    def fit(self, X: Any, y: object = None, **options: Any) -> Any:
        type(self).seen = {"X": X, "y": y, **options}
        super().fit(X, y, **options)
        type(self).found = self.labels_
        return self


@pytest.fixture(autouse=True)
def _corner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch.set_num_threads(1)
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    asking = {"asking": f"{__name__}:Asking"}
    methods = {**_methods(), **asking}
    monkeypatch.setattr("likewise.estimators.registry.all_methods", lambda: methods)
    monkeypatch.setattr("likewise.estimators.registry.import_module", _import)
    with threadpool_limits(1):
        yield


def _methods() -> dict[str, str]:
    from likewise.estimators.registry import all_methods

    return dict(all_methods())


def _import(name: str) -> Any:
    import importlib
    import sys

    return sys.modules[__name__] if name == __name__ else importlib.import_module(name)


def _blobs(n: int = 120) -> Dataset:
    """Vectors with a strong criterion (side) and a weak one (letter)."""
    rng = stream(0, "blobs")
    side, letter = np.arange(n) % 2, np.arange(n) // 2 % 3
    X = np.column_stack([side * 20, letter]) + rng.normal(0, 0.1, (n, 2))
    return Dataset(
        "blobs",
        {"side": np.array(["left", "right"])[side], "letter": np.array(["a", "b", "c"])[letter]},
        vectors=X.astype(np.float32),
        train=np.arange(n * 3 // 4),
        test=np.arange(n * 3 // 4, n),
    )


@pytest.fixture
def blobs(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    made = _blobs()
    monkeypatch.setattr(running, "load_dataset", lambda name, data=None: made)
    return made


def _run(**changes: Any) -> RunSpec:
    return RunSpec(**{"method": "asking", "dataset": "blobs", "criterion": "side", **changes})


def test_scores_are_computed_on_the_labels_of_the_method(blobs: Dataset) -> None:
    row = run_benchmark(_run(method="kmeans", criterion="letter"))
    model = KMeans(3, random_state=0).fit(blobs.vectors)
    scores = score(blobs.labels("letter"), model.labels_).as_dict()
    assert {name: row[name] for name in ("nmi", "ari", "acc", "fmi", "pair_f1")} == {
        name: scores[name] for name in ("nmi", "ari", "acc", "fmi", "pair_f1")
    }
    assert row["unasked"] == {name: row[name] for name in row["unasked"]}
    assert row["test"] is None


def test_answers_are_counted_and_the_curve_has_one_point_per_round(blobs: Dataset) -> None:
    row = run_benchmark(_run(n_questions=10, criterion="letter"))
    assert (row["n_questions"], row["n_answers"]) == (10, 10)
    assert [point["n_answers"] for point in row["curve"]] == [4, 7, 10]
    assert row["curve"][-1] == {
        "n_answers": 10,
        "person_seconds": 20.0,
        **{name: row[name] for name in ("acc", "nmi", "ari")},
        **dict.fromkeys(("estimate", "estimate_low", "estimate_high")),  # of Likewise only
        "test": None,
    }
    assert row["acc"] != row["unasked"]["acc"]  # labels satisfy the answers


def test_a_row_describes_how_the_answers_are_connected(blobs: Dataset) -> None:
    row = run_benchmark(_run(method="pckmeans", n_questions=10, criterion="letter"))
    assert 0 < row["same_share"] < 1
    assert 3 <= row["largest_component"] <= 20
    nothing = run_benchmark(_run(method="kmeans", criterion="letter"))
    assert (nothing["same_share"], nothing["largest_component"]) == (None, 0)


def test_raw_scores_do_not_enforce_the_answers(blobs: Dataset) -> None:
    row = run_benchmark(_run(n_questions=30, criterion="letter", n_clusters=3))
    assert set(row["raw"]) == {"nmi", "ari", "acc", "fmi", "pair_f1"}
    assert row["raw"] != {name: row[name] for name in row["raw"]}
    free = run_benchmark(_run(criterion="letter"))
    assert free["raw"] == {name: free[name] for name in free["raw"]}


def test_a_budget_of_seconds_limits_the_answers(blobs: Dataset) -> None:
    row = run_benchmark(_run(seconds=21.0, criterion="letter"))
    assert (row["n_questions"], row["n_answers"]) == (10, 10)
    assert row["seconds"]["person"] == 20
    assert [point["person_seconds"] for point in row["curve"]] == [8, 14, 20]
    both = run_benchmark(_run(seconds=21.0, n_questions=4, criterion="letter"))
    assert both["n_answers"] == 4
    assert run_benchmark(_run(seconds=1.9))["n_answers"] == 0
    assert run_benchmark(_run(method="kmeans", seconds=60.0))["seconds"]["person"] == 0


def test_a_budget_of_seconds_also_limits_questions_of_different_length(blobs: Dataset) -> None:
    row = run_benchmark(
        _run(method="likewise", seconds=30.0, kinds=("pair", "choice"), criterion="letter")
    )
    person = row["seconds"]["person"]
    assert 30 - 2.1 < person <= 30
    assert row["curve"][-1]["person_seconds"] == person
    assert row["curve"][-1]["n_answers"] == row["n_answers"] <= row["n_questions"]


def test_a_method_that_asks_nothing_accepts_a_budget_and_reports_no_answers(blobs: Dataset) -> None:
    row = run_benchmark(_run(method="kmeans", n_questions=50))
    assert (row["n_questions"], row["n_answers"], len(row["curve"])) == (50, 0, 1)


def test_only_the_oracle_gets_labels(blobs: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    run_benchmark(_run(n_questions=5))
    seen = Asking.seen
    assert seen["y"] is None
    assert not {"pairs", "relations", "ml", "cl", "answers"} & set(seen)
    np.testing.assert_array_equal(seen["X"], blobs.vectors)
    # Other labels, nothing asked: the same clusters. Something asked: other clusters.
    other = Dataset("blobs", {"side": np.roll(blobs.labels("side"), 1)}, vectors=blobs.vectors)
    for n_questions in (0, 20):
        run_benchmark(_run(n_questions=n_questions))
        found = Asking.found
        with monkeypatch.context() as patch:
            patch.setattr(running, "load_dataset", lambda name, data=None: other)
            run_benchmark(_run(n_questions=n_questions))
        np.testing.assert_array_equal(found, Asking.found)
    run_benchmark(_run(n_questions=20, criterion="letter", n_clusters=2))
    assert (found != Asking.found).any()


def test_inductive_trains_and_tests_on_the_official_split(blobs: Dataset) -> None:
    row = run_benchmark(_run(protocol="inductive", n_questions=6))
    assert (row["n_images"], row["protocol"]) == (90, "inductive")
    assert len(Asking.seen["X"]) == 90
    assert row["test"]["acc"] == 1
    assert set(row["test"]) == {"nmi", "ari", "acc", "fmi", "pair_f1"}
    assert [point["test"]["acc"] for point in row["curve"]] == [1, 1, 1]


def test_one_part_can_be_the_collection(blobs: Dataset) -> None:
    assert run_benchmark(_run(split="test"))["n_images"] == 30


def test_settings_have_every_effective_parameter(blobs: Dataset) -> None:
    row = run_benchmark(
        _run(method="cc", preset="small", settings={"epochs_per_round": "1"}, noise=0.1)
    )
    settings = row["settings"]
    assert (row["preset"], row["strategy"]) == ("small", None)
    assert settings["epochs_per_round"] == 1
    assert settings["learning_rate"] == 1e-3  # the preset's
    assert settings["instance_temperature"] == 0.5
    assert settings["n_hidden"] == 256
    assert settings["noise"] == 0.1
    assert not {"plan", "architecture", "random_state", "n_clusters"} & set(settings)


def test_strategy_and_kinds_reach_the_method(blobs: Dataset) -> None:
    row = run_benchmark(_run(strategy="uncertainty", kinds=("pair",), n_questions=3))
    assert (row["strategy"], row["settings"]["kinds"]) == ("uncertainty", ("pair",))


def test_an_unsupported_strategy_or_kind_raises_an_error(
    blobs: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidParameterError, match="'kmeans' has no query strategy"):
        run_benchmark(_run(method="kmeans", strategy="random"))
    monkeypatch.setattr(KMeans, "asks", ("pair",))
    with pytest.raises(InvalidParameterError, match=r"kinds must contain pair, .*got label"):
        run_benchmark(_run(method="kmeans", kinds=("label",)))
    with pytest.raises(UnknownNameError, match="'uncertain' is not a known"):
        run_benchmark(_run(strategy="uncertain", n_questions=1))


def test_the_number_of_clusters_can_be_set(blobs: Dataset) -> None:
    assert run_benchmark(_run())["n_clusters"] == 2
    assert run_benchmark(_run(n_clusters=4))["n_clusters"] == 4


def test_the_same_run_gives_the_same_row_and_another_seed_other_questions(blobs: Dataset) -> None:
    def row(seed: int) -> dict[str, Any]:
        found = run_benchmark(_run(seed=seed, n_questions=12, criterion="letter"))
        return {n: v for n, v in found.items() if n not in ("seconds", "peak_memory_mb", "seed")}

    assert row(0) == row(0)
    assert row(0)["unasked"] != row(1)["unasked"]


def test_time_and_memory_are_reported(blobs: Dataset) -> None:
    row = run_benchmark(_run(n_questions=5))
    seconds = row["seconds"]
    assert set(seconds) == {"embed", "ask", "train", "total", "person"}
    assert 0 < seconds["ask"] < seconds["total"]
    assert seconds["ask"] + seconds["train"] + seconds["embed"] <= seconds["total"] + 0.01
    assert 50 < row["peak_memory_mb"] < 100_000


def _pictures() -> Dataset:
    rng = stream(0, "pictures")
    bright = np.arange(24) % 2
    pixels = (bright[:, None, None, None] * 120 + rng.integers(0, 60, (24, 16, 16, 3))).astype("u1")
    labels = np.array(["dark", "bright"])[bright]
    return Dataset("pictures", {"light": labels}, ArrayCollection(pixels))


def test_images_are_embedded_once_and_then_read_from_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "load_dataset", lambda name, data=None: _pictures())
    run = _run(method="kmeans", criterion=None, protocol="inductive")
    row = run_benchmark(run)
    assert (row["encoder"], row["n_images"]) == (make_encoder().name, 19)
    assert row["acc"] == row["test"]["acc"] == 1

    def no_more(*args: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("likewise.embedding.bundled.encoder.BundledEncoder.encode", no_more)
    again = run_benchmark(run)
    assert {**again, "seconds": 0, "peak_memory_mb": 0} == {
        **row,
        "seconds": 0,
        "peak_memory_mb": 0,
    }


def test_only_the_selected_images_are_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "load_dataset", lambda name, data=None: _pictures())
    told: list[tuple[int, int]] = []
    row = run_benchmark(
        _run(method="kmeans", criterion=None, n_images=10),
        lambda title: lambda done, total: told.append((done, total)) if "emb" in title else None,
    )
    assert row["n_images"] == 10
    assert told[-1] == (10, 10)


@pytest.mark.slow
def test_a_network_is_trained_from_scratch_on_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "load_dataset", lambda name, data=None: _pictures())
    settings = {
        "backbone": "resnet18:width=4,stem=3x3/2",
        "size": "32",
        "epochs_per_round": "1",
        "batch_size": "8",
        "precision": "float32",
    }
    run = _run(method="cc", criterion=None, from_scratch=True, settings=settings)
    row = run_benchmark(run)
    assert (row["encoder"], row["settings"]["from_scratch"]) == (None, True)
    assert row["settings"]["backbone"] == "resnet18:width=4,stem=3x3/2"
    assert 0.5 <= row["baselines"]["kmeans_acc"] <= 1


def test_unlabelled_images_are_used_only_from_scratch_by_methods_that_support_them() -> None:
    from dataclasses import replace

    dataset = _pictures()
    dataset = replace(dataset, unlabelled=dataset.collection)
    for name, from_scratch, is_given in (
        ("cc", True, True),
        ("cc", False, False),
        ("pcl", True, False),
    ):
        run = _run(method=name, from_scratch=from_scratch)
        found = running._extra(run, dataset, make_run_method(run, 2))
        assert found == ({"extra": dataset.collection} if is_given else {})


def test_digits_are_vectors_without_an_encoder() -> None:
    by_vectors = run_benchmark(RunSpec("kmeans", dataset="digits", criterion="parity"))
    assert by_vectors["encoder"] is None


def test_scenes_has_the_requested_number_of_images() -> None:
    run = RunSpec("kmeans", dataset="scenes", criterion="background", n_images=64)
    assert run_benchmark(run)["n_images"] == 64
