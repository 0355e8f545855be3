"""Computations on few rows use one thread; everything else keeps its threads."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from likewise import operating_system
from likewise.estimators import kmeans
from likewise.estimators.kernel import (
    feature_spaces,
    features,
    loo_tuning,
    query_selection,
    seeded_partition,
    two_stage,
)
from likewise.operating_system import single_threaded


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    operating_system._thread_pools.cache_clear()
    with threadpool_limits(2):
        yield
    operating_system._thread_pools.cache_clear()


def test_one_thread_inside_and_as_many_as_before_outside() -> None:
    assert n_threads() == {2}
    assert single_threaded(n_threads)() == {1}
    assert n_threads() == {2}


def test_threads_are_restored_after_an_error() -> None:
    @single_threaded
    def fails(message: str) -> None:
        raise ValueError(message)

    with pytest.raises(ValueError, match="no"):
        fails("no")
    assert n_threads() == {2}


@pytest.mark.parametrize(
    "function",
    [
        query_selection.representative_images,
        query_selection.representative_in_learned_space,
        query_selection.uncertain_regions,
        features.pca_axes,
        kmeans.fit_centroids,
        feature_spaces.FeatureSpaces._fit_partitions,
        seeded_partition.SeededPartition.fit,
        features.VisualWords._fit_codebook,
        loo_tuning.LeaveOneOut.tune,
        two_stage.fit_whitening,
    ],
)
def test_repeated_computations_on_few_rows_are_single_threaded(
    function: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Called without arguments, each limits the threads before it fails."""
    limited = []

    class Pools:
        def limit(self, *, limits: int) -> AbstractContextManager[None]:
            limited.append(limits)
            return nullcontext()

    monkeypatch.setattr(operating_system, "_thread_pools", Pools)
    with pytest.raises(TypeError):
        function()
    assert limited == [1]
