"""Small sums are done on one thread, and nothing else is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.estimators import centroids, thread_limits
from likewise.estimators.kernel import (
    features,
    initial_clusters,
    loo_tuning,
    query_selection,
    visual_words,
    whitening,
)
from likewise.estimators.thread_limits import single_threaded


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    thread_limits._pools.cache_clear()
    with threadpool_limits(2):
        yield
    thread_limits._pools.cache_clear()


def test_there_is_one_thread_inside_and_as_many_as_before_outside() -> None:
    assert n_threads() == {2}
    assert single_threaded(n_threads)() == {1}
    assert n_threads() == {2}


def test_threads_come_back_after_an_error_too() -> None:
    @single_threaded
    def fails(word: str) -> None:
        raise ValueError(word)

    with pytest.raises(ValueError, match="no"):
        fails("no")
    assert n_threads() == {2}


@pytest.mark.parametrize(
    "small",
    [
        query_selection.representative_images,
        query_selection.representative_in_learned_space,
        query_selection.uncertain_regions,
        features.pca_axes,
        centroids.fit_centroids,
        initial_clusters.choose_n_clusters,
        visual_words.VisualWords._find,
        loo_tuning.LeaveOneOut.tune,
        whitening.fit_whitening,
    ],
)
def test_what_likewise_does_over_and_over_on_few_rows_is_such_a_sum(
    small: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Called with nonsense, each asks for one thread before it fails."""
    asked = []

    class Pools:
        def limit(self, *, limits: int) -> AbstractContextManager[None]:
            asked.append(limits)
            return nullcontext()

    monkeypatch.setattr(thread_limits, "_pools", Pools)
    with pytest.raises(TypeError):
        small()
    assert asked == [1]
