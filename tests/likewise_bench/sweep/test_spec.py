from pathlib import Path

import pytest

from likewise.errors import SweepFileError
from likewise.estimators.registry import all_methods
from likewise_bench.datasets import DATASETS
from likewise_bench.method_info import method_info
from likewise_bench.sweep.spec import key_of, read_sweep, spec_of

FILES = sorted(Path(__file__).resolve().parents[3].glob("benchmarks/*.toml"))


def _read(tmp_path: Path, text: str, data: str | None = None) -> list[dict[str, object]]:
    file = tmp_path / "a.toml"
    file.write_text(text)
    return [spec_of(run) for run in read_sweep(file, data).runs]


def test_lists_give_all_combinations_without_duplicates(tmp_path: Path) -> None:
    specs = _read(
        tmp_path,
        """
        [defaults]
        seed = [0, 1]
        [[runs]]
        on = { digits = ["digit", "parity"], scenes = "shape" }
        method = ["likewise", "pcl"]
        questions = [10, 30]
        [[runs]]
        on = { digits = "digit" }
        method = "likewise"
        questions = 10
        """,
    )
    assert len(specs) == 3 * 2 * 2 * 2
    assert specs[1] == {
        "method": "likewise",
        "dataset": "digits",
        "criterion": "digit",
        "n_questions": 30,
    }


def test_a_method_that_asks_nothing_is_run_once_for_all_budgets(tmp_path: Path) -> None:
    text = '[[runs]]\non = { digits = "digit" }\nmethod = "kmeans"\nquestions = [10, 30]'
    assert _read(tmp_path, text) == [
        {"method": "kmeans", "dataset": "digits", "criterion": "digit"}
    ]


def test_every_option_of_a_run_can_be_set(tmp_path: Path) -> None:
    (spec,) = _read(
        tmp_path,
        """
        [defaults.set]
        strength = 3
        [[runs]]
        on = { digits = "digit" }
        method = "pcl"
        questions = 7
        k = 4
        strategy = "random"
        preset = "small"
        protocol = "inductive"
        test_fraction = 0.5
        kinds = "pair,choice"
        noise = 0.1
        unsure = 0.2
        limit = 100
        n_test = 20
        set = { extension = 0.5, parity = true }
        """,
    )
    assert spec == {
        "method": "pcl",
        "dataset": "digits",
        "criterion": "digit",
        "n_questions": 7,
        "n_clusters": 4,
        "strategy": "random",
        "preset": "small",
        "settings": {"extension": "0.5", "parity": "true", "strength": "3"},
        "protocol": "inductive",
        "test_fraction": 0.5,
        "n_images": 100,
        "n_test": 20,
        "kinds": ["pair", "choice"],
        "noise": 0.1,
        "unsure": 0.2,
    }


def test_data_paths_are_relative_to_the_file_and_not_in_the_key(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[[runs]]\non = { digits = "digit" }\ndata = "sets"\nmethod = "kmeans"')
    (here,), (there,) = read_sweep(file).runs, read_sweep(file, "/elsewhere").runs
    assert here.data == str(tmp_path / "sets")
    assert there.data == "/elsewhere"
    assert key_of(here) == key_of(there) == key_of(spec_of(here))


def test_a_sweep_can_use_an_image_folder_with_labels(tmp_path: Path) -> None:
    (spec,) = _read(
        tmp_path,
        '[[runs]]\nimages = "p"\nlabels = "p.csv"\non = ["colour"]\nmethod = "kmeans"',
    )
    assert spec["images"] == str(tmp_path / "p")
    assert spec["criterion"] == "colour"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs = 3", "has no [[runs]]"),
        ("[[run]]\nseed = 0", "'run' is not a known part; did you mean 'runs'"),
        ("[[runs]\n", "is not TOML"),
        ("[[runs]]\nsedd = 0", "number 1: 'sedd' is not a known key of a sweep; did you mean"),
        ("[[runs]]\nseed = 0", "Missing on or images"),
        ('[[runs]]\norientation = "colour"', "orientation='colour': data sets and criteria"),
        ('[[runs]]\ndataset = "digits"', 'as on = { digits = ["digit"] }'),
        ('[[runs]]\non = {digits="digit"}\nmethod = "kmeens"', "did you mean 'kmeans'"),
        (
            '[[runs]]\non = {digits="digit"}\nquestions = "ten"',
            "n_questions must be of type int, got 'ten'",
        ),
        ('[[runs]]\non = {digits="digit"}\nseed = true', "seed must be of type int, got True"),
        ('[[runs]]\non = {digits="digit"}\nnoise = 2', "noise must be between 0 and 1, got 2"),
        ('[[runs]]\non = {digits="digit"}\nquestions = -1', "must be >= 0"),
        ('[[runs]]\non = {digits="digit"}\nmethod = []', "method must not be an empty list"),
        ('[[runs]]\non = "digits"', "for a data set write on = { digits"),
    ],
)
def test_invalid_sweep_files_raise_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SweepFileError) as error:
        _read(tmp_path, text)
    assert message in str(error.value)


def test_a_missing_file_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(SweepFileError, match=r"'.*none.toml' cannot be opened: No such file"):
        read_sweep(tmp_path / "none.toml")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_sweep_files_of_the_project_can_be_read(file: Path) -> None:
    found = read_sweep(file)
    assert found.runs
    assert found.about
    assert not [run for run in found.runs if run.dataset not in DATASETS]


def test_method_info_agrees_with_the_classes() -> None:
    from likewise_bench.method_info import _read, info_of_class

    assert _read() == {name: info_of_class(name) for name in all_methods()}, _STALE
    assert method_info("likewise")["asks"] == ["pair", "choice", "grid", "label"]


_STALE = "run python -m likewise_bench.method_info"


def test_the_sweep_few_answers_has_the_documented_runs() -> None:
    (file,) = [file for file in FILES if file.stem == "few_answers"]
    runs = read_sweep(file).runs
    assert len(runs) == 6 * 6 * 3
    assert {run.method for run in runs} == {
        *("likewise", "kmeans", "cobra", "pckmeans", "dcc", "idc")
    }
    assert {(run.dataset, run.criterion) for run in runs} == {
        *(("fashion", "type"), ("fashion", "colour"), ("fruits", "species")),
        *(("fruits", "colour"), ("cards", "suit"), ("cards", "colour")),
    }
    assert {run.seed for run in runs} == {0, 1, 2}
