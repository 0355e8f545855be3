"""Pseudo-links: confident pairs, in the last epochs, kept apart from answers."""

from typing import Any

import numpy as np
import pytest
import torch

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import LikewiseWarning
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import LabelExtension, relations_of
from likewise.estimators.deep.occ import OCC
from likewise.estimators.deep.pcl import PCL
from likewise.estimators.params import TrainingPlan
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(60)
INDEXES = np.array([7, 3, 5, 1])
EXTENSION = LabelExtension(fraction=1.0, threshold=0.9)


def view(*, p: list[float], z: list[list[float]]) -> NetworkOutput:
    """Return a view with these chances of cluster 0 and these projections."""
    chance = torch.tensor(p)
    rows = torch.nn.functional.normalize(torch.tensor(z), dim=1)
    return NetworkOutput(rows, rows, torch.stack([chance, 1 - chance], dim=1))


ALIKE = [[1.0, 0.0], [1.0, 0.01], [1.0, 0.1], [1.0, 0.0]]


def test_the_most_similar_confident_pair_is_linked() -> None:
    graph = ConstraintGraph(10)
    sure = view(p=[0.99, 0.98, 0.99, 0.5], z=ALIKE)  # the last one is alike but not sure
    assert EXTENSION.add_one(graph, INDEXES, sure, sure) == (7, 3)
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
def test_no_pair_is_linked_unless_it_meets_all_conditions(
    p: list[float], z: list[list[float]]
) -> None:
    seen = view(p=p, z=z)
    graph = ConstraintGraph(10)
    assert EXTENSION.add_one(graph, INDEXES, seen, seen) is None
    assert graph.pseudo() == {}


def test_related_pairs_are_not_linked_and_links_are_not_repeated() -> None:
    graph = ConstraintGraph(10)
    graph.add(7, 3, Relation.DIFFERENT)
    sure = view(p=[0.99, 0.98, 0.99, 0.5], z=ALIKE)
    guesses = [EXTENSION.add_one(graph, INDEXES, sure, sure) for _ in range(3)]
    assert guesses[0] == (3, 5)
    assert guesses[1:] == [None, None]  # 7 and 5 would contradict the answer
    known = relations_of(graph, INDEXES, torch.device("cpu"))
    assert known.relations[0, 1] == Relation.DIFFERENT
    assert known.relations[1, 2] == Relation.UNKNOWN
    assert known.guesses[1, 2] == Relation.SAME
    assert known.guesses[0, 1] == Relation.UNKNOWN
    assert (known.all == known.relations + known.guesses).all()


def test_without_a_threshold_the_most_confident_of_the_batch_are_linked() -> None:
    rng = torch.Generator().manual_seed(0)
    z = torch.nn.functional.normalize(torch.randn(40, 8, generator=rng), dim=1)
    seen = NetworkOutput(z, z, torch.randn(40, 2, generator=rng).mul(0.1).softmax(1))
    graph, images = ConstraintGraph(40), np.arange(40)
    assert LabelExtension(1.0, threshold=0.9999).add_one(graph, images, seen, seen) is None
    pair = LabelExtension(1.0).add_one(graph, images, seen, seen)
    assert pair is not None
    sure = seen.p.amax(1).argsort(descending=True)[:10].tolist()
    assert set(pair) <= set(sure)


def test_pairs_from_answers_contain_an_annotated_image() -> None:
    graph = ConstraintGraph(10)
    graph.add(1, 9, Relation.DIFFERENT)  # 9 is outside the batch
    graph.add(5, 1, Relation.DIFFERENT)
    sure = view(p=[0.99, 0.98, 0.99, 0.97], z=ALIKE)
    anything = LabelExtension(1.0, threshold=0.9)
    assert anything.add_one(graph, INDEXES, sure, sure) == (7, 1)
    graph.clear_pseudo()
    sure = view(p=[0.99, 0.98, 0.99, 0.01], z=ALIKE)  # 7 and 3 are the most similar of a cluster
    annotated = LabelExtension(1.0, threshold=0.9, from_answers=True)
    assert annotated.add_one(graph, INDEXES, sure, sure) == (3, 5)


def test_an_extension_that_adds_nothing_gives_a_warning() -> None:
    plan = TrainingPlan(epochs_per_round=4, batch_size=60)
    model = PCL(2, architecture=TINY, plan=plan, extension=0.5, extension_threshold=1.1)
    with pytest.warns(LikewiseWarning, match="Label extension added no pair.*threshold=1.1"):
        model.fit(X)
    assert [entry.get("n_extended") for entry in model.history_] == [None, None, None, 0]


@pytest.mark.parametrize("make", [OCC, PCL])
def test_links_are_added_in_the_last_epochs_if_switched_on(make: Any) -> None:
    plan = TrainingPlan(epochs_per_round=10, batch_size=60, learning_rate=0.01)
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "random_state": 0}
    seen: list[int] = []
    model = make(plan=plan, extension=0.3, extension_threshold=0.2, **given)
    model.fit(
        X,
        ml=[(0, 1)],
        progress=lambda done, total: seen.append(len(model.constraints_.pseudo())),
    )
    assert seen == [0] * 8 + [1, 2]  # in the last three tenths, without the first of them
    assert make(plan=plan, **given).fit(X).constraints_.pseudo() == {}


def test_linked_pairs_can_still_be_asked_about() -> None:
    model = PCL(
        n_clusters=2, architecture=TINY, plan=TrainingPlan(epochs_per_round=1), random_state=0
    )
    model.start(X[:4])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for i, j in pairs:
        model.constraints_.add_pseudo(i, j, Relation.SAME)
    assert sorted(question.images for question in model.ask(6)) == pairs
