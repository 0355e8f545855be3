"""Which images are asked about, and in which form."""

from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import LikewiseError, PoolExhaustedError
from likewise.estimators.kernel import questioner as questioner_module
from likewise.estimators.kernel.label_issues import LabelIssues
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.query_selection import (
    representative_images,
    representative_in_learned_space,
    uncertain_regions,
)
from likewise.estimators.kernel.questioner import KernelQuestioner, QuestionBuilder
from likewise.estimators.kernel.training_set import labeled_groups
from likewise.estimators.parts import QueryState
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream

# -- which image ----------------------------------------------------------------


def test_representative_images_cover_every_cluster_largest_first() -> None:
    rng = stream(0, "clumps")
    clump = np.repeat([0, 1, 2], [60, 30, 10])
    rows = (rng.normal(size=(3, 5))[clump] * 8 + rng.normal(size=(100, 5))).astype(np.float32)
    assert clump[representative_images(rows, 3, seed=0)].tolist() == [0, 1, 2]


def test_every_prefix_of_the_representative_images_covers_the_collection() -> None:
    """Two far clusters of several small ones each: the first two images are one of each."""
    rng = stream(2, "nested")
    place = np.repeat([0, 1, 2, 3, 40, 41], [90, 80, 70, 60, 30, 30])
    rows = np.stack([place + rng.normal(size=360) * 0.05, np.zeros(360)], axis=1)
    chosen = representative_images(rows.astype(np.float32), 6, seed=0)
    assert sorted(place[chosen].tolist()) == [0, 1, 2, 3, 40, 41]
    assert {int(p) >= 40 for p in place[chosen[:2]]} == {True, False}


def clumps(*sizes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return far clusters of images on a line, and the cluster of each."""
    clump = np.repeat(np.arange(len(sizes)), sizes)
    rng = stream(4, "line of clumps")
    rows = np.stack([10 * clump + rng.normal(size=len(clump)), np.zeros(len(clump))], axis=1)
    return rows.astype(np.float32), clump


def test_images_in_no_answer_come_first_in_the_learned_space() -> None:
    rows, clump = clumps(20, 40, 30, 10)
    is_covered = np.zeros(100, dtype=bool)
    is_covered[np.flatnonzero(clump == 1)[7]] = True
    chosen = representative_in_learned_space(rows, is_covered, 4, ~is_covered)
    assert clump[chosen].tolist() == [2, 0, 3, 1]  # the known one, though the largest, last
    assert all(abs(rows[i, 0] - rows[clump == clump[i], 0].mean()) < 0.5 for i in chosen)
    is_open = ~is_covered
    is_open[chosen[0]] = False
    again = representative_in_learned_space(rows, is_covered, 4, is_open)
    assert clump[again].tolist() == [2, 0, 3, 1]
    assert again[0] != chosen[0]
    nothing = np.zeros(100, dtype=bool)
    unknown = representative_in_learned_space(rows, nothing, 4, ~nothing)
    assert clump[unknown].tolist() == [1, 2, 0, 3]


def test_all_open_images_are_representative_if_there_are_few() -> None:
    rows, _ = clumps(20, 20)
    is_open = np.zeros(40, dtype=bool)
    is_open[[5, 30]] = True
    assert representative_in_learned_space(rows, ~is_open, 4, is_open).tolist() == [5, 30]


def test_the_centres_of_uncertain_regions_are_selected_and_outliers_are_not() -> None:
    rng = stream(1, "regions")
    centres = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    region = np.repeat([0, 1, 2, 3], [60, 60, 60, 20])
    rows = (centres[region] + rng.normal(size=(200, 2)) * 0.5).astype(np.float32)
    p = np.full((200, 2), [0.99, 0.01], np.float32)
    p[region == 1] = [0.55, 0.45]
    p[region == 3] = [0.5, 0.5]
    rows[120], p[120] = (30, 30), (0.5, 0.5)  # maximally uncertain, and unlike all others
    is_open = np.ones(200, dtype=bool)
    chosen = uncertain_regions(p, rows, is_open, 3)
    assert region[chosen].tolist()[:2] == [1, 3]  # the largest weight first
    assert np.linalg.norm(rows[chosen[0]] - centres[1]) < 0.3
    assert len(set(chosen.tolist())) == len(chosen)
    assert region[chosen].tolist()[-2:] == [1, 3]  # then a second image of each
    is_open[chosen[0]] = False
    assert chosen[0] not in uncertain_regions(p, rows, is_open, 3)


def test_all_open_images_are_selected_if_there_are_few() -> None:
    is_open = np.zeros(50, dtype=bool)
    is_open[[3, 9]] = True
    half = np.full((50, 2), 0.5, np.float32)
    rows = np.zeros((50, 2), np.float32)
    assert uncertain_regions(half, rows, is_open, 5).tolist() == [3, 9]


# -- schedule -------------------------------------------------------------------


class _Learner:
    """The parts of a `KernelLearner` that the questioner reads."""

    def __init__(self, graph: ConstraintGraph, probabilities: np.ndarray) -> None:
        self.label_issues = LabelIssues(graph, None, ("pair", "choice"))
        self.probabilities = probabilities


def test_representatives_of_the_learned_space_follow_and_then_uncertain_regions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(questioner_module, "is_audit_due", lambda *_: False)
    rows, clump = clumps(30, 40, 28, 26, 20, 18, 16, 14, 12, 10, 8, 6)
    graph = ConstraintGraph(len(rows))
    graph.add(0, 30, Relation.DIFFERENT)  # of the first two clusters
    p = np.full((len(rows), 3), [0.9, 0.1, 0], np.float32)
    p[clump == 0] = [0.5, 0.5, 0]

    def asked(n_asked: int, *, n: int = 4, learned: bool = True, columns: int = 2) -> list[int]:
        questioner = KernelQuestioner(
            _Learner(graph, p[:, :columns]),  # type: ignore[arg-type]  # all that is read
            ("pair", "choice"),
            n_clusters=0,
            n_coverage=12,
            batch_size=3,
            learned_coverage=learned,
            is_random=False,
        )
        questioner._representatives = np.arange(1, 13)  # twelve images, all of the first cluster
        state = QueryState(graph, rows, p, np.arange(3), 0, n_asked=n_asked, n_answered=n_asked)
        return [int(clump[question.images[0]]) for question in questioner.propose(n, state)]

    assert asked(9) == [0, 0, 0, 0]
    assert asked(10, learned=False) == [0, 0, 0, 0]
    far_first = asked(10)
    assert not {0, 1} & set(far_first)  # answers mention these
    assert len(set(far_first)) == 4
    assert 2 in asked(10, n=10)
    assert asked(10, columns=3) == [0, 0, 0, 0]  # a third group has not been seen yet
    assert asked(12)[0] == 0  # where it is uncertain
    graph.add(0, 75, Relation.DIFFERENT)  # mentions the third
    assert not {0, 1, 2} & set(asked(10, n=9))


@pytest.mark.timeout(20)
def test_one_open_image_with_nothing_to_compare_ends_the_questions() -> None:
    rows = stream(5, "few").normal(size=(4, 5)).astype(np.float32)
    model = Likewise(2, random_state=0).start(rows)
    bad = [Question.label(image) for image in range(3)]
    model.tell(bad, ["bad_image"] * 3)
    with pytest.raises(PoolExhaustedError, match="determine the group of every image"):
        model.ask(3)
    assert model.questioner_.propose(3, model.query_state(), allow_fewer=True) == []


def test_a_model_loaded_without_its_images_is_reported_when_asked(tmp_path: Path) -> None:
    rows = stream(5, "loaded").normal(size=(20, 5)).astype(np.float32)
    Likewise(2, random_state=0).start(rows).save(f"{tmp_path}/model")
    with pytest.raises(LikewiseError, match="loaded without its images"):
        Likewise.load(f"{tmp_path}/model").ask(1)


# -- which question -------------------------------------------------------------


def test_a_choice_shows_likely_groups_and_none_that_is_excluded() -> None:
    graph = ConstraintGraph(9)
    for i, j in ((0, 1), (0, 2), (1, 2), (5, 1)):
        graph.add(i, j, Relation.DIFFERENT)
    groups = labeled_groups(graph, None)
    p = np.tile(np.array([0.2, 0.3, 0.5], np.float32), (9, 1))
    builder = QuestionBuilder(("pair", "choice"), groups, p, graph)
    shown = Question.choice(7, (2, 1, 0), ("group 3", "group 2", "group 1"))
    assert builder.question(7) == shown
    assert builder.question(5) == Question.choice(5, (2, 0), ("group 3", "group 1"))
    assert QuestionBuilder(("pair",), groups, p, graph).question(7) == Question.pair(2, 7)
    assert QuestionBuilder(("label",), groups, p, graph).question(7) == Question.label(7)


def test_images_outside_all_classes_are_shown_as_one_more() -> None:
    graph = ConstraintGraph(9)
    for i, j in ((0, 1), (3, 0), (3, 1), (4, 0), (4, 1)):
        graph.add(i, j, Relation.DIFFERENT)
    for i, j in ((0, 6), (1, 7), (4, 5)):
        graph.add(i, j, Relation.SAME)
    p = np.tile(np.array([0.6, 0.4], np.float32), (9, 1))
    builder = QuestionBuilder(("pair", "choice"), labeled_groups(graph, 2), p, graph)
    shown = Question.choice(8, (0, 1, 4), ("group 1", "group 2", "group 3"))
    assert builder.question(8) == shown


def test_groups_established_after_the_last_training_are_shown_too() -> None:
    """As after a restart: the answers show four groups, the predictions still have two columns."""
    graph = ConstraintGraph(6)
    for one in range(4):
        for other in range(one):
            graph.tell(Answer(Question.pair(one, other), "different"))
    p = np.tile(np.array([0.3, 0.7], np.float32), (6, 1))
    builder = QuestionBuilder(("pair", "choice"), labeled_groups(graph, None), p, graph)
    question = builder.question(5)
    assert question is not None
    assert question.images[0] == 5
    assert question.images[1:] == (1, 0, 2, 3)


def test_an_image_of_none_of_the_groups_shown_is_compared_with_the_others() -> None:
    """With twelve groups, a choice shows eight of them: "none" alone would not open a new group."""
    rng = stream(5, "groups")
    y = np.repeat(np.arange(13), 12)
    X = 6 * rng.normal(size=(13, 20))[y] + rng.normal(size=(156, 20))
    model = Likewise(kinds="pair,choice", random_state=0).start(X)
    oracle, n_followed = LabelOracle(y), 0
    for number in range(70):
        (question,) = model.ask(1)
        (answer,) = oracle.answer([question])
        model.tell([question], [answer])
        groups = model.learner_.label_issues.groups()
        if question.kind == "choice" and len(question.groups) >= 8 and answer.answer == "none":
            image = question.images[0]
            if groups.classes[image] < 0:
                asked = {one.images[0]: one for one in model.ask(2)}  # one may be about any image
                following = asked[image]
                assert not set(following.representatives) & set(question.representatives)
                n_followed += 1
        if number % 5 == 4:
            model.train()
    assert n_followed
    assert len(groups.keys) == 13
