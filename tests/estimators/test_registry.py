from pathlib import Path

import pytest
from sklearn.datasets import make_blobs

from likewise.errors import ModelFileError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.kmeans import KMeans
from likewise.estimators.registry import (
    DEFAULT_METHOD,
    METHODS,
    all_methods,
    load_method,
    make_method,
    method_class,
)


@pytest.mark.parametrize("name", all_methods())
def test_every_method_is_made_by_its_name(name: str) -> None:
    method = make_method(name, 3, seed=7)
    assert (method.n_clusters, method.random_state) == (3, 7)


def test_an_unknown_method_raises_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="'kmean' is not a known method; did you mean 'kmea"):
        make_method("kmean", 2)


def test_the_default_method_is_registered() -> None:
    assert DEFAULT_METHOD in METHODS


def test_a_model_is_loaded_without_naming_its_method(tmp_path: Path) -> None:
    X, _ = make_blobs(60, n_features=6, centers=3, random_state=0)
    for name in ("kmeans", "cc"):
        saved = make_method(name, 3, settings={} if name == "kmeans" else {"epochs_per_round": 1})
        saved.fit(X).save(tmp_path / name)
        loaded = load_method(tmp_path / name)
        assert type(loaded) is type(saved)
        assert (loaded.predict(X) == saved.predict(X)).all()


def test_a_folder_that_is_not_a_model_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a likewise model"):
        load_method(tmp_path)


def test_a_name_gives_its_class() -> None:
    assert (method_class("cc"), method_class("kmeans")) == (CC, KMeans)
