"""Data sets by name."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn import datasets

from likewise.errors import DatasetError, UnknownNameError
from likewise_bench.datasets import DATASETS, Dataset, load_dataset
from likewise_bench.datasets.registry import criteria_of


def test_every_data_set_has_a_description() -> None:
    assert all(source.about for source in DATASETS.values())
    assert set(DATASETS) == {
        *("scenes", "digits", "cross", "cifar10", "cifar100", "stl10", "tiny-imagenet"),
        *("imagenet10", "imagenet10-dac", "imagenet-dogs", "fashion-mnist"),
        *("fashion", "fruits", "cards", "tints", "icons", "people", "glyphs", "stamps"),
    }


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"scenes", "digits", "cross"}))
def test_every_data_set_with_files_needs_a_folder(name: str) -> None:
    with pytest.raises(DatasetError, match=rf"'{name}'.*--data"):
        load_dataset(name)


@pytest.mark.parametrize(
    ("name", "options"),
    [("scenes", {"n_images": 1}), ("digits", {}), ("cross:digits+digits", {"n_images": 4})],
)
def test_criteria_known_before_loading_are_those_that_are_loaded(
    name: str, options: dict[str, Any]
) -> None:
    loaded = load_dataset(name, **options)
    assert criteria_of(name.partition(":")[0]) == list(loaded.criteria)


@pytest.mark.parametrize(("name", "meant"), [("cifar11", "cifar10"), ("scene", "scenes")])
def test_a_misspelt_data_set_gets_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"'{name}' is not a known data set; did you mean '"):
        load_dataset(name)


def test_only_cross_has_sides() -> None:
    with pytest.raises(UnknownNameError, match="'scenes:digits' is not a known data set"):
        load_dataset("scenes:digits")


def test_digits_are_those_of_scikit_learn() -> None:
    dataset, bunch = load_dataset("digits"), datasets.load_digits()
    assert dataset.vectors is not None
    np.testing.assert_allclose(dataset.vectors, bunch.data / 16)
    assert dataset.labels("digit").tolist() == [str(digit) for digit in bunch.target]
    for digit, parity, half in zip(
        bunch.target, dataset.labels("parity"), dataset.labels("half"), strict=True
    ):
        assert parity == ("odd" if digit in (1, 3, 5, 7, 9) else "even")
        assert half == ("0 to 4" if digit in range(5) else "5 to 9")
    assert dataset.collection is not None
    grey = dataset.collection.pixels(11)[:, :, 0]
    np.testing.assert_allclose(grey / 255 * 16, bunch.images[11], atol=0.04)


def test_options_reach_the_loader() -> None:
    assert len(load_dataset("scenes", n_images=7)) == 7
    one, other = (load_dataset("scenes", n_images=1, seed=seed).collection for seed in (0, 1))
    assert one is not None
    assert other is not None
    assert one.identity(0) != other.identity(0)


def test_a_misspelt_criterion_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="'shap' is not a known criterion of scenes; did y"):
        load_dataset("scenes", n_images=1).labels("shap")


@pytest.mark.parametrize("n_labels", [2, 4])
def test_the_number_of_labels_must_equal_that_of_images(n_labels: int) -> None:
    with pytest.raises(DatasetError, match=f"the same length, got {n_labels} x, 3 vectors; give"):
        Dataset("toy", {"x": np.array(["a"] * n_labels)}, vectors=np.zeros((3, 1), np.float32))


def test_a_data_set_needs_images_or_vectors() -> None:
    with pytest.raises(DatasetError, match="must have the same length"):
        Dataset("toy", {"x": np.array(["a"])})


def test_listing_data_sets_loads_neither_torch_nor_scikit_learn() -> None:
    code = (
        "import sys, likewise_bench.datasets as d; d.load_dataset('scenes', n_images=1); "
        "print([m for m in ('torch', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
