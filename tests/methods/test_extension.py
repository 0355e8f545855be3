"""Label extension: late, confident, apart from all answers, and never in the way of a question."""

from typing import Any

import numpy as np
import pytest
import torch

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.methods.known import extend, known_of
from likewise.methods.network import View
from likewise.methods.occ import OCC
from likewise.methods.pcl import PCL
from likewise.methods.plan import Plan
from tests.methods.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(60)
INDEXES = np.array([7, 3, 5, 1])


def view(*, p: list[float], z: list[list[float]]) -> View:
    """Return a view with these chances of cluster 0 and these projections."""
    chance = torch.tensor(p)
    rows = torch.nn.functional.normalize(torch.tensor(z), dim=1)
    return View(rows, rows, torch.stack([chance, 1 - chance], dim=1))


ALIKE = [[1.0, 0.0], [1.0, 0.01], [1.0, 0.1], [1.0, 0.0]]


def test_the_most_similar_of_the_confident_pairs_is_guessed_to_be_the_same() -> None:
    graph = ConstraintGraph(10)
    sure = view(p=[0.99, 0.98, 0.99, 0.5], z=ALIKE)  # the last one is alike but not sure
    assert extend(graph, INDEXES, sure, sure, threshold=0.9) == (7, 3)
    assert not graph.relations(INDEXES).any()
    assert graph.pair_relations([(3, 7)], pseudo=True).tolist() == [Relation.SAME]


@pytest.mark.parametrize(
    ("p", "z"),
    [
        ([0.99, 0.01, 0.5, 0.5], ALIKE),  # not in the same cluster
        ([0.99, 0.8, 0.5, 0.5], ALIKE),  # not sure
        ([0.99, 0.99, 0.5, 0.5], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]),  # not alike
    ],
)
def test_nothing_is_guessed_without_all_three(p: list[float], z: list[list[float]]) -> None:
    seen = view(p=p, z=z)
    graph = ConstraintGraph(10)
    assert extend(graph, INDEXES, seen, seen, threshold=0.9) is None
    assert graph.pseudo() == {}


def test_what_is_known_is_not_guessed_and_a_guess_is_not_repeated() -> None:
    graph = ConstraintGraph(10)
    graph.add(7, 3, Relation.DIFFERENT)
    sure = view(p=[0.99, 0.98, 0.99, 0.5], z=ALIKE)
    guesses = [extend(graph, INDEXES, sure, sure, threshold=0.9) for _ in range(3)]
    assert guesses[0] == (3, 5)
    assert guesses[1:] == [None, None]  # 7 and 5 would contradict the answer
    known = known_of(graph, INDEXES, torch.device("cpu"))
    assert known.relations[0, 1] == Relation.DIFFERENT
    assert known.relations[1, 2] == Relation.UNKNOWN
    assert known.guesses[1, 2] == Relation.SAME
    assert known.guesses[0, 1] == Relation.UNKNOWN
    assert (known.all == known.relations + known.guesses).all()


@pytest.mark.parametrize("make", [OCC, PCL])
def test_it_begins_late_and_only_where_it_is_on(make: Any) -> None:
    plan = Plan(epochs_per_round=10, batch_size=60, learning_rate=0.01)
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "random_state": 0}
    seen: list[int] = []
    model = make(plan=plan, extension=0.3, extension_threshold=0.2, **given)
    model.fit(X, progress=lambda done, total: seen.append(len(model.constraints_.pseudo())))
    assert seen == [0] * 8 + [1, 2]  # in the last three tenths, without the first of them
    assert make(plan=plan, **given).fit(X).constraints_.pseudo() == {}


def test_a_guess_never_keeps_a_pair_from_being_asked() -> None:
    model = PCL(n_clusters=2, architecture=TINY, plan=Plan(epochs_per_round=1), random_state=0)
    model.start(X[:4])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for i, j in pairs:
        model.constraints_.add_pseudo(i, j, Relation.SAME)
    assert sorted(question.images for question in model.ask(6)) == pairs
