from pathlib import Path

import pytest
from sklearn.datasets import make_blobs

from likewise.errors import ModelFileError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.kmeans import KMeans
from likewise.estimators.registry import (
    DEFAULT,
    METHODS,
    PROMISED,
    load_method,
    make_method,
    method_class,
)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_made_by_its_name(name: str) -> None:
    method = make_method(name, 3, seed=7)
    assert (method.n_clusters, method.random_state) == (3, 7)
    assert name in PROMISED


def test_what_is_promised_is_built() -> None:
    assert set(PROMISED) == set(METHODS)


def test_a_mistyped_name_is_corrected() -> None:
    with pytest.raises(UnknownNameError, match="'kmean' is not a known method; did you mean 'kmea"):
        make_method("kmean", 2)


def test_the_default_is_built() -> None:
    assert DEFAULT in METHODS


def test_a_model_is_loaded_without_saying_what_it_is(tmp_path: Path) -> None:
    X, _ = make_blobs(60, n_features=6, centers=3, random_state=0)
    for name in ("kmeans", "cc"):
        saved = make_method(name, 3, settings={} if name == "kmeans" else {"epochs_per_round": 1})
        saved.fit(X).save(tmp_path / name)
        loaded = load_method(tmp_path / name)
        assert type(loaded) is type(saved)
        assert (loaded.predict(X) == saved.predict(X)).all()


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a saved likewise model"):
        load_method(tmp_path)


def test_classes_are_the_ones_meant() -> None:
    assert (method_class("cc"), method_class("kmeans")) == (CC, KMeans)
