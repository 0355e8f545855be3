import time

import pytest

from likewise_bench.runner import Timer


class Sleeper:
    """Something with a method that takes its time."""

    def ask(self, n: int, *, word: str = "") -> str:
        time.sleep(0.02)
        return word * n


def test_training_time_is_the_time_of_fit_without_asking() -> None:
    clock, sleeper = Timer(), Sleeper()
    clock.time_calls(sleeper, "ask")
    with clock("total"), clock("fit"):
        assert sleeper.ask(2, word="a") == "aa"
        assert sleeper.ask(1) == ""
        time.sleep(0.05)
    seconds = clock.seconds()
    assert 0.04 <= seconds["ask"] < seconds["total"]
    assert seconds["train"] == pytest.approx(seconds["total"] - seconds["ask"], abs=0.01)
    assert seconds["embed"] == 0


def test_time_counts_also_if_an_error_is_raised() -> None:
    clock, sleeper = Timer(), Sleeper()
    clock.time_calls(sleeper, "ask")
    with pytest.raises(TypeError):
        sleeper.ask(2, word=None)  # type: ignore[arg-type]  # it fails after its sleep
    assert clock.seconds()["ask"] >= 0.02
