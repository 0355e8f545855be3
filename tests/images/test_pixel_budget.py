"""The pixels decoded at the same time are bounded, over all threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from likewise.images.decoding import PixelBudget


@pytest.mark.parametrize("keep", [False, True])
def test_at_any_time_the_pixels_fit_or_there_is_one_image(keep: bool) -> None:
    budget, lock = PixelBudget(100), threading.Lock()
    now: list[int] = []
    seen: list[tuple[int, ...]] = []

    def decode(n_pixels: int) -> None:
        with budget.reserve(n_pixels):
            with lock:
                now.append(n_pixels)
                seen.append(tuple(now))
            time.sleep(0.001)
            with lock:
                now.remove(n_pixels)

    def use(n_pixels: int) -> None:
        if not keep:
            decode(n_pixels)
            return
        with budget.keep():
            decode(n_pixels)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, [30, 70, 1000, 2, 50, 50, 101, 100] * 5))
    assert len(seen) == 40
    assert all(sum(images) <= 100 or len(images) == 1 for images in seen)
    assert max(len(images) for images in seen) > 1
    assert budget._used == 0


def test_reserved_pixels_are_released_at_the_end_even_after_an_error() -> None:
    budget = PixelBudget(10)

    def use() -> None:
        with budget.keep():
            with budget.reserve(8):
                pass
            assert budget._used == 8
            with budget.reserve(20):  # the same thread does not wait for itself
                pass
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        use()
    assert budget._used == 0


def test_a_small_image_does_not_wait_for_a_very_large_one() -> None:
    budget = PixelBudget(6400)
    with budget.reserve(100_000), ThreadPoolExecutor(1) as pool:

        def use() -> int:
            with budget.reserve(100):
                return 1

        assert pool.submit(use).result(timeout=20) == 1
