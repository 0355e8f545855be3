"""Decorator that limits BLAS and OpenMP to one thread, for problems too small for more."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def single_threaded(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return `function` with the thread pools of BLAS and OpenMP limited to one while it runs.

    k-means on a few thousand rows takes thousands of short steps, and all threads synchronise after
    each of them. Beside two other busy processes this made fifteen answers on 1,740 images take
    ninety seconds instead of fourteen. A single thread also fixes the order of summation, so the
    result has the same last digits on any number of cores.
    """

    @wraps(function)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with _thread_pools().limit(limits=1):
            return function(*args, **kwargs)

    return limited


@cache
def _thread_pools() -> Any:
    """Return the controller of all thread pools loaded by the time of the first call."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
