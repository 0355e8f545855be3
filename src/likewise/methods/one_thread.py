"""Small sums on one thread: several threads gain little there, and on a busy machine they wait."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def on_one_thread(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return `function` with the threads of BLAS and OpenMP held at one while it runs.

    k-means on some thousand rows is thousands of short steps, and after each of them all threads
    wait for the slowest. Where other programs want the cores too that is a long wait: ninety
    seconds instead of fourteen for fifteen answers about 1,740 pictures beside two busy processes.
    Sums also come out in the same order, and so with the same last digits, on any number of cores.
    """

    @wraps(function)
    def alone(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with _pools().limit(limits=1):
            return function(*args, **kwargs)

    return alone


@cache
def _pools() -> Any:
    """Return the thread pools of all libraries loaded by the time of the first call."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
