"""One process and two train the same network."""

import pytest

from benchmarks.speed_processes import difference


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vectors", "pictures", "answers"])
def test_two_processes_give_the_same_training_as_one(kind: str) -> None:
    loss, parameters = difference(kind)
    assert loss <= 1e-5
    assert parameters <= 1e-5
