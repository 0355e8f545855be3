"""Small sums are done on one thread, and nothing else is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from likewise.methods.one_thread import on_one_thread
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.methods import (
    aim,
    choosing,
    facets,
    kernel_tuning,
    one_thread,
    readout,
    unguided,
    vocabulary,
)


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    one_thread._pools.cache_clear()
    with threadpool_limits(2):
        yield
    one_thread._pools.cache_clear()


def test_there_is_one_thread_inside_and_as_many_as_before_outside() -> None:
    assert n_threads() == {2}
    assert on_one_thread(n_threads)() == {1}
    assert n_threads() == {2}


def test_threads_come_back_after_an_error_too() -> None:
    @on_one_thread
    def fails(word: str) -> None:
        raise ValueError(word)

    with pytest.raises(ValueError, match="no"):
        fails("no")
    assert n_threads() == {2}


@pytest.mark.parametrize(
    "small",
    [
        choosing.coverage,
        choosing.uncovered,
        choosing.unsure_regions,
        facets.leading,
        readout.fit_centres,
        unguided.guess_n_clusters,
        vocabulary.Vocabulary._find,
        kernel_tuning.LeftOut.tune,
        aim.take_aim,
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

    monkeypatch.setattr(one_thread, "_pools", Pools)
    with pytest.raises(TypeError):
        small()
    assert asked == [1]
