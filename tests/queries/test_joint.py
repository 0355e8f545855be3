from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.relation import Relation
from likewise.errors import UnknownNameError
from likewise.queries.joint import Joint
from likewise.queries.pool import Pool
from likewise.queries.s_hp import HardPairs
from likewise.queries.s_up import UncertainPairs

PAIRS = np.array([[0, 2], [0, 3], [1, 4], [2, 5], [3, 6], [5, 7]])
MakePool = Callable[..., Pool]


@pytest.mark.parametrize("hard", ["bernoulli", "eq7"])
@pytest.mark.parametrize("r", [0.0, 0.25, 1.0])
def test_it_is_equation_8(make_pool: MakePool, hard: str, r: float) -> None:
    told = [(0, 1, Relation.SAME), (2, 4, Relation.DIFFERENT)]
    pool = make_pool(told=told, remaining=r)
    s_up = UncertainPairs(0.1).score(pool, PAIRS)
    s_hp = HardPairs(hard).score(pool, PAIRS)
    expected = [r * up + (1 - r) * hp for up, hp in zip(s_up, s_hp, strict=True)]
    np.testing.assert_allclose(Joint(0.1, hard).score(pool, PAIRS), expected, atol=1e-12)


def test_the_budget_moves_it_from_uncertain_to_hard(make_pool: MakePool) -> None:
    pool = make_pool(told=[(0, 1, Relation.SAME), (2, 4, Relation.DIFFERENT)])
    first, last = (Joint().score(replace(pool, remaining=r), PAIRS).argmax() for r in (1.0, 0.0))
    assert first == UncertainPairs().score(pool, PAIRS).argmax()
    assert last == HardPairs().score(pool, PAIRS).argmax()
    assert first != last


def test_an_unknown_form_is_refused_before_the_first_question() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bernoulli'"):
        Joint(hard="bernouli")
