"""Output containers, feature names, pipelines, searches and metadata routing of scikit-learn.

Its estimator checks run in the tests of each method.
"""

from typing import Any

import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from likewise import LabelOracle, Likewise

X, Y = make_blobs(60, n_features=5, centers=3, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcde"))


def small(**given: Any) -> Likewise:
    return Likewise(**{"n_clusters": 3, "random_state": 0, "n_components": 4, **given})


def test_the_output_can_be_a_data_frame_with_names() -> None:
    model = small().set_output(transform="pandas")
    found: Any = model.fit(FRAME).transform(FRAME)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == [f"likewise{i}" for i in range(found.shape[1])]
    assert list(model.get_feature_names_out()) == list(found.columns)
    assert isinstance(model.fit_transform(FRAME), pd.DataFrame)
    assert isinstance(model.set_output(transform="polars").transform(FRAME), pl.DataFrame)


def test_feature_names_are_kept_and_compared() -> None:
    model = small().fit(FRAME)
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[list("edcba")])


def test_a_clone_has_the_parameters_and_nothing_learned() -> None:
    model = small().fit(X)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "labels_")


def test_it_works_in_a_pipeline_and_a_grid_search() -> None:
    pipeline = make_pipeline(StandardScaler(), small()).set_output(transform="pandas")
    assert isinstance(pipeline.fit_transform(FRAME), pd.DataFrame)
    assert set(pipeline.predict(FRAME)) == {0, 1, 2}
    grid = {"likewise__n_components": [2, 4]}
    search = GridSearchCV(pipeline, grid, scoring="adjusted_rand_score", cv=2).fit(FRAME, Y)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 2


def test_a_pipeline_passes_the_oracle_on_if_that_is_requested() -> None:
    with config_context(enable_metadata_routing=True):
        model = small().set_fit_request(oracle=True, n_questions=True)
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(X, oracle=LabelOracle(Y), n_questions=5)
        assert pipeline[-1].n_asked_ == 5
        with pytest.raises(UnsetMetadataPassedError, match="watch"):
            pipeline.fit(X, watch=print)
