import subprocess
import sys

import pytest

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.queries.pcl import Joint, UncertainPairs
from likewise.queries.registry import STRATEGIES, make_strategy


def test_strategies_are_made_by_name_with_their_parameters() -> None:
    assert make_strategy("s-up", epsilon=0.1) == UncertainPairs(0.1)
    assert make_strategy("s_up") == UncertainPairs()
    assert make_strategy("joint", hard="eq7") == Joint(hard="eq7")


def test_numbers_may_stand_in_the_name() -> None:
    assert make_strategy("joint:epsilon=0.4") == Joint(epsilon=0.4)
    assert make_strategy("joint:epsilon=0.4", hard="eq7") == Joint(0.4, "eq7")
    with pytest.raises(InvalidParameterError, match="must be a number; write joint"):
        make_strategy("joint:epsilon=much")


def test_an_unknown_name_gets_a_hint() -> None:
    with pytest.raises(
        UnknownNameError, match="'entrpy' is not a known strategy; did you mean 'entropy'"
    ):
        make_strategy("entrpy")


def test_an_unknown_parameter_gets_a_hint() -> None:
    with pytest.raises(
        UnknownNameError,
        match="'epsilom' is not a known parameter of strategy 'joint'; did you mean 'epsilon'",
    ):
        make_strategy("joint", epsilom=1)


def test_names_are_sorted_so_that_the_next_one_has_its_place() -> None:
    assert list(STRATEGIES) == sorted(STRATEGIES)


def test_neither_torch_nor_scikit_learn_is_loaded() -> None:
    code = (
        "import sys, likewise.queries.registry, likewise.queries.density, "
        "likewise.queries.base, likewise.oracles.base, likewise.oracles.terminal;"
        "print(sorted({'torch', 'sklearn', 'faiss'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
