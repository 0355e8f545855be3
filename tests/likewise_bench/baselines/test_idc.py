"""IDC: which images it asks about, which groups it shows, and what the answers change."""

from typing import Any

import numpy as np
import pytest
import torch

from likewise.constraints.question import Answer, Relation
from likewise.errors import PoolExhaustedError
from likewise.estimators.kernel.training_set import LabeledGroups, labeled_groups
from likewise.estimators.params import TrainingPlan
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, LabelOracle
from likewise_bench.baselines.choice_feedback import (
    feedback_from_groups,
    hardness,
    match_columns,
    most_valuable,
    value_of,
)
from likewise_bench.baselines.idc import IDC, IDCQuestioner
from tests.likewise_bench.baselines.crossed_groupings import SMALL, crossed_groupings

X, DOMINANT, TARGET = crossed_groupings()
FOUR = 2 * DOMINANT + TARGET
PLAN = TrainingPlan(
    warmup_epochs=8, n_rounds=2, epochs_per_round=8, batch_size=80, learning_rate=0.01
)


def make(**given: Any) -> IDC:
    return IDC(**{"n_clusters": 4, "plan": PLAN, "architecture": SMALL, "random_state": 0, **given})


def test_choice_questions_help_and_no_others_are_asked() -> None:
    oracle = CountingOracle(LabelOracle(FOUR))
    free = make(plan=PLAN.replace(warmup_epochs=1)).fit(X)
    guided = make(plan=PLAN.replace(warmup_epochs=1)).fit(X, oracle=oracle, n_questions=20)
    assert dict(oracle.by_kind) == {"choice": 20}
    assert oracle.n_unsure == 0
    asked = {i for a in guided.constraints_.answers.values() for i in a.question.images}
    rest = np.setdiff1d(np.arange(len(X)), list(asked))
    assert (
        accuracy(FOUR[rest], guided.labels_[rest]) > accuracy(FOUR[rest], free.labels_[rest]) + 0.1
    )


def test_the_groups_shown_are_known_to_differ_and_at_most_n_shown() -> None:
    model = make(n_shown=2).fit(X, oracle=LabelOracle(FOUR), n_questions=15)
    shown = [a.question for a in model.constraints_.answers.values()]
    assert max(len(question.groups) for question in shown) == 2
    for question in shown:
        prototypes = FOUR[list(question.images[1:])]
        assert len(set(prototypes.tolist())) == len(prototypes)
    groups = labeled_groups(model.constraints_, 4)
    second = groups.prototypes[1]
    excluded = int(np.flatnonzero((groups.classes < 0) & (FOUR[second] != FOUR))[0])
    model.constraints_.add(excluded, second, Relation.DIFFERENT)
    p = [0.1, 0.7, 0.1, 0.1][: len(groups.keys)]
    assert isinstance(model.questioner_, IDCQuestioner)
    made = model.questioner_.make_question(excluded, groups, p, model.constraints_)
    assert made is not None
    assert second not in made.images


def test_an_image_that_could_not_be_assigned_is_not_asked_again_soon() -> None:
    model = make().start(X)
    (question,) = model.ask(1)
    model.tell([question], [Answer(question, "cannot_tell")])
    assert question.images[0] not in {q.images[0] for q in model.ask(20)}


def test_nothing_is_open_when_every_image_has_a_group() -> None:
    model = make(n_clusters=2).fit(X[:12], oracle=LabelOracle(DOMINANT[:12]), n_questions=40)
    assert model.constraints_.n_answers < 40
    with pytest.raises(PoolExhaustedError, match="answers leave only 0 images to ask about"):
        model.ask(1)


def test_valuable_images_are_hard_typical_and_unlike_those_asked() -> None:
    p = np.array([[0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(hardness(p), [1, 0.2, 1, 1])
    rows = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=np.float32)
    value = value_of(p, rows)
    assert value[0] == value[2] > value[1]  # as typical, but harder
    assert value[0] > value[3]  # as hard, but far from all others
    all_open = np.ones(4, dtype=bool)
    even = np.ones(4)
    assert most_valuable(even, rows, all_open, np.array([0]), 2).tolist()[0] == 3
    assert 3 in most_valuable(even, rows, all_open, np.zeros(0, dtype=np.intp), 2)
    assert most_valuable(
        even, rows, np.array([False, True, False, False]), np.array([0]), 3
    ).tolist() == [1]


def test_groups_are_matched_to_columns_by_an_assignment() -> None:
    classes = np.array([0, 0, 1, -1])
    groups = LabeledGroups(classes, ("a", "b"), (0, 2), [(np.array([3]), frozenset({1}))])
    p = np.array([[0.1, 0.9, 0.0], [0.1, 0.9, 0.0], [0.3, 0.7, 0.0], [1.0, 0.0, 0.0]])
    columns = match_columns(groups, p)
    assert columns.tolist() == [1, 0]
    feedback = feedback_from_groups(groups, columns, 3)
    assert feedback.chosen.tolist() == [1, 1, 0, -1]
    assert feedback.excluded.tolist()[3] == [True, False, False]
    assert feedback.images.tolist() == [0, 1, 2, 3]
    terms = feedback.terms(np.arange(4), torch.from_numpy(p))
    assert terms["positive"].item() == pytest.approx(-(2 * np.log(0.9) + np.log(0.3)) / 3)
    assert terms["negative"].item() == pytest.approx(-np.log(1e-8))
