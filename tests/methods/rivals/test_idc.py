"""IDC: what it asks about, in which words, and what the answers do."""

from typing import Any

import numpy as np
import pytest
import torch

from likewise.constraints.question import Answer, Relation
from likewise.errors import PoolExhaustedError
from likewise.methods.plan import Plan
from likewise.methods.rivals.feedback import feedback_of
from likewise.methods.rivals.idc import IDC, columns_of
from likewise.methods.rivals.value_mining import hardness, mine, worth_of
from likewise.methods.seeds_of_groups import Seeds, seeds_of
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle
from likewise.oracles.simulated import LabelOracle
from tests.methods.rivals.crossed import SMALL, crossed

X, BOLD, MEANT = crossed()
FOUR = 2 * BOLD + MEANT
PLAN = Plan(warmup_epochs=8, n_rounds=2, epochs_per_round=8, batch_size=80, learning_rate=0.01)


def make(**given: Any) -> IDC:
    return IDC(**{"n_clusters": 4, "plan": PLAN, "architecture": SMALL, "random_state": 0, **given})


def test_choices_help_and_are_all_it_asks() -> None:
    oracle = CountingOracle(LabelOracle(FOUR))
    free = make(plan=PLAN.but(warmup_epochs=1)).fit(X)
    told = make(plan=PLAN.but(warmup_epochs=1)).fit(X, oracle=oracle, n_questions=20)
    assert dict(oracle.by_kind) == {"choice": 20}
    assert oracle.n_unsure == 0
    asked = {i for a in told.constraints_.answers.values() for i in a.question.images}
    rest = np.setdiff1d(np.arange(len(X)), list(asked))
    assert accuracy(FOUR[rest], told.labels_[rest]) > accuracy(FOUR[rest], free.labels_[rest]) + 0.1


def test_it_shows_groups_that_are_known_to_differ_and_no_more_than_it_may() -> None:
    model = make(n_shown=2).fit(X, oracle=LabelOracle(FOUR), n_questions=15)
    shown = [a.question for a in model.constraints_.answers.values()]
    assert max(len(question.groups) for question in shown) == 2
    for question in shown:
        faces = FOUR[list(question.images[1:])]
        assert len(set(faces.tolist())) == len(faces)
    seeds = seeds_of(model.constraints_, 4)
    refused = int(np.flatnonzero((seeds.classes < 0) & (FOUR[seeds.representatives[1]] != FOUR))[0])
    model.constraints_.add(refused, seeds.representatives[1], Relation.DIFFERENT)
    phrased = model._phrase(refused, seeds, [0.1, 0.7, 0.1, 0.1][: len(seeds.keys)])
    assert phrased is not None
    assert seeds.representatives[1] not in phrased.images


def test_an_image_nobody_could_place_is_left_alone_for_a_while() -> None:
    model = make().start(X)
    (question,) = model.ask(1)
    model.tell([question], [Answer(question, "cannot_tell")])
    assert question.images[0] not in {q.images[0] for q in model.ask(20)}


def test_when_every_image_has_its_place_there_is_nothing_to_ask() -> None:
    model = make(n_clusters=2).fit(X[:12], oracle=LabelOracle(BOLD[:12]), n_questions=40)
    assert model.constraints_.n_answers < 40
    with pytest.raises(PoolExhaustedError, match="answers leave only 0 images to ask about"):
        model.ask(1)


def test_value_is_hard_and_typical_and_unlike_what_was_asked() -> None:
    p = np.array([[0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(hardness(p), [1, 0.2, 1, 1])
    rows = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=np.float32)
    worth = worth_of(p, rows)
    assert worth[0] == worth[2] > worth[1]  # as typical, but harder
    assert worth[0] > worth[3]  # as hard, but far from all others
    everyone = np.ones(4, dtype=bool)
    even = np.ones(4)
    assert mine(even, rows, everyone, np.array([0]), 2).tolist()[0] == 3
    assert 3 in mine(even, rows, everyone, np.zeros(0, dtype=np.intp), 2)
    assert mine(even, rows, np.array([False, True, False, False]), np.array([0]), 3).tolist() == [1]


def test_classes_take_the_columns_that_suit_them_together() -> None:
    classes = np.array([0, 0, 1, -1])
    seeds = Seeds(classes, ("a", "b"), (0, 2), [(np.array([3]), frozenset({1}))])
    p = np.array([[0.1, 0.9, 0.0], [0.1, 0.9, 0.0], [0.3, 0.7, 0.0], [1.0, 0.0, 0.0]])
    columns = columns_of(seeds, p)
    assert columns.tolist() == [1, 0]
    feedback = feedback_of(seeds, columns, 3)
    assert feedback.chosen.tolist() == [1, 1, 0, -1]
    assert feedback.refused.tolist()[3] == [True, False, False]
    assert feedback.images.tolist() == [0, 1, 2, 3]
    terms = feedback.terms(np.arange(4), torch.from_numpy(p))
    assert terms["positive"].item() == pytest.approx(-(2 * np.log(0.9) + np.log(0.3)) / 3)
    assert terms["negative"].item() == pytest.approx(-np.log(1e-8))
