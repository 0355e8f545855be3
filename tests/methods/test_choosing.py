"""Which images are asked about, and in which form."""

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import PoolExhaustedError
from likewise.methods.choosing import Phrasing, coverage, uncovered, unsure_regions
from likewise.methods.foretelling import was_foretold
from likewise.methods.interview import Interview
from likewise.methods.likewise import Likewise
from likewise.methods.seeds_of_groups import seeds_of
from likewise.methods.self_training import first_lesson, second_lesson
from likewise.methods.unguided import guess_n_clusters
from likewise.seeds import stream


def test_coverage_stands_for_every_clump_largest_first() -> None:
    rng = stream(0, "clumps")
    clump = np.repeat([0, 1, 2], [60, 30, 10])
    rows = (rng.normal(size=(3, 5))[clump] * 8 + rng.normal(size=(100, 5))).astype(np.float32)
    assert clump[coverage(rows, 3, seed=0)].tolist() == [0, 1, 2]


def test_any_beginning_of_the_coverage_is_near_to_all() -> None:
    """Two far clumps, each of several small ones: the first two images are one of each."""
    rng = stream(2, "nested")
    place = np.repeat([0, 1, 2, 3, 40, 41], [90, 80, 70, 60, 30, 30])
    rows = np.stack([place + rng.normal(size=360) * 0.05, np.zeros(360)], axis=1)
    chosen = coverage(rows.astype(np.float32), 6, seed=0)
    assert sorted(place[chosen].tolist()) == [0, 1, 2, 3, 40, 41]
    assert {int(p) >= 40 for p in place[chosen[:2]]} == {True, False}


def clumps(*sizes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return far clumps of images on a line, and the clump of each."""
    clump = np.repeat(np.arange(len(sizes)), sizes)
    rng = stream(4, "line of clumps")
    rows = np.stack([10 * clump + rng.normal(size=len(clump)), np.zeros(len(clump))], axis=1)
    return rows.astype(np.float32), clump


def test_what_is_uncovered_comes_first_and_any_beginning_is_near_to_all() -> None:
    rows, clump = clumps(20, 40, 30, 10)
    is_covered = np.zeros(100, dtype=bool)
    is_covered[np.flatnonzero(clump == 1)[7]] = True
    chosen = uncovered(rows, is_covered, 4, ~is_covered)
    assert clump[chosen].tolist() == [2, 0, 3, 1]  # the known one, though the largest, last
    assert all(abs(rows[i, 0] - rows[clump == clump[i], 0].mean()) < 0.5 for i in chosen)
    is_open = ~is_covered
    is_open[chosen[0]] = False
    again = uncovered(rows, is_covered, 4, is_open)
    assert clump[again].tolist() == [2, 0, 3, 1]
    assert again[0] != chosen[0]
    nothing = np.zeros(100, dtype=bool)
    assert clump[uncovered(rows, nothing, 4, ~nothing)].tolist() == [1, 2, 0, 3]


def test_of_few_open_images_all_are_uncovered() -> None:
    rows, _ = clumps(20, 20)
    is_open = np.zeros(40, dtype=bool)
    is_open[[5, 30]] = True
    assert uncovered(rows, ~is_open, 4, is_open).tolist() == [5, 30]


def test_coverage_goes_on_in_the_learned_space_and_then_come_doubts() -> None:
    rows, clump = clumps(30, 40, 28, 26, 20, 18, 16, 14, 12, 10, 8, 6)
    graph = ConstraintGraph(len(rows))
    graph.add(0, 30, Relation.DIFFERENT)  # of the first two clumps
    p = np.full((len(rows), 3), [0.9, 0.1, 0], np.float32)
    p[clump == 0] = [0.5, 0.5, 0]
    cover = np.arange(1, 13)  # twelve images, all of the first clump

    def asked(n_asked: int, *, n: int = 4, anew: bool = True, columns: int = 2) -> list[int]:
        ask = Phrasing(("pair", "choice"), seeds_of(graph, None), p[:, :columns], graph)
        questions = Interview(cover, 3, anew=anew).ask(n, ask, rows, n_asked)
        return [int(clump[question.images[0]]) for question in questions]

    assert asked(9) == [0, 0, 0, 0]
    assert asked(10, anew=False) == [0, 0, 0, 0]
    far_first = asked(10)
    assert not {0, 1} & set(far_first)  # of these something is known
    assert len(set(far_first)) == 4
    assert 2 in asked(10, n=10)
    assert asked(10, columns=3) == [0, 0, 0, 0]  # a third group is still to be found
    assert asked(12)[0] == 0  # where it is unsure
    graph.add(0, 75, Relation.DIFFERENT)  # of the third: somebody spoke of it
    assert not {0, 1, 2} & set(asked(10, n=9))


def test_the_middles_of_unsure_regions_are_asked_about_and_oddities_are_not() -> None:
    rng = stream(1, "regions")
    centres = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    region = np.repeat([0, 1, 2, 3], [60, 60, 60, 20])
    rows = (centres[region] + rng.normal(size=(200, 2)) * 0.5).astype(np.float32)
    p = np.full((200, 2), [0.99, 0.01], np.float32)
    p[region == 1] = [0.55, 0.45]
    p[region == 3] = [0.5, 0.5]
    rows[120], p[120] = (30, 30), (0.5, 0.5)  # as unsure as can be, and like nothing else
    is_open = np.ones(200, dtype=bool)
    chosen = unsure_regions(p, rows, is_open, 3)
    assert region[chosen].tolist()[:2] == [1, 3]  # the heaviest first
    assert np.linalg.norm(rows[chosen[0]] - centres[1]) < 0.3
    assert len(set(chosen.tolist())) == len(chosen)
    assert region[chosen].tolist()[-2:] == [1, 3]  # then once more, for the impatient
    is_open[chosen[0]] = False
    assert chosen[0] not in unsure_regions(p, rows, is_open, 3)


def test_when_few_are_open_all_of_them_are_asked_about() -> None:
    is_open = np.zeros(50, dtype=bool)
    is_open[[3, 9]] = True
    half = np.full((50, 2), 0.5, np.float32)
    assert unsure_regions(half, np.zeros((50, 2), np.float32), is_open, 5).tolist() == [3, 9]


def test_a_choice_shows_likely_groups_and_none_that_is_excluded() -> None:
    graph = ConstraintGraph(9)
    for i, j in ((0, 1), (0, 2), (1, 2), (5, 1)):
        graph.add(i, j, Relation.DIFFERENT)
    seeds = seeds_of(graph, None)
    p = np.tile(np.array([0.2, 0.3, 0.5], np.float32), (9, 1))
    ask = Phrasing(("pair", "choice"), seeds, p, graph)
    assert ask.question(7) == Question.choice(7, (2, 1, 0), ("group 3", "group 2", "group 1"))
    assert ask.question(5) == Question.choice(5, (2, 0), ("group 3", "group 1"))
    assert Phrasing(("pair",), seeds, p, graph).question(7) == Question.pair(2, 7)
    assert Phrasing(("label",), seeds, p, graph).question(7) == Question.label(7)


def test_what_is_in_none_of_the_classes_is_offered_as_one_more() -> None:
    graph = ConstraintGraph(9)
    for i, j in ((0, 1), (3, 0), (3, 1), (4, 0), (4, 1)):
        graph.add(i, j, Relation.DIFFERENT)
    for i, j in ((0, 6), (1, 7), (4, 5)):
        graph.add(i, j, Relation.SAME)
    p = np.tile(np.array([0.6, 0.4], np.float32), (9, 1))
    ask = Phrasing(("pair", "choice"), seeds_of(graph, 2), p, graph)
    assert ask.question(8) == Question.choice(8, (0, 1, 4), ("group 1", "group 2", "group 3"))


def test_an_answer_was_foretold_when_the_likeliest_clusters_give_it() -> None:
    p = np.eye(3, dtype=np.float32)[[0, 0, 1, 2]]
    assert was_foretold(Answer(Question.pair(0, 1), "same"), p) is True
    assert was_foretold(Answer(Question.pair(0, 2), "same"), p) is False
    assert was_foretold(Answer(Question.pair(0, 2), "different"), p) is True
    choice = Question.choice(1, (2, 0), ("a", "b"))
    assert was_foretold(Answer(choice, "b"), p) is True
    assert was_foretold(Answer(choice, "a"), p) is False
    assert was_foretold(Answer(choice, "new"), p) is False
    assert was_foretold(Answer(Question.pair(0, 1), "cannot_tell"), p) is None


def test_a_lesson_has_stand_ins_for_classes_nobody_has_seen() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, Relation.DIFFERENT)
    rows = np.eye(6, dtype=np.float32)
    rows[2:5] = rows[0]  # so image 5 is the farthest
    lesson = first_lesson(seeds_of(graph, 3), {"all": rows}, 3)
    assert lesson.images.tolist() == [0, 1, 5]
    assert lesson.classes.tolist() == [0, 1, 2]
    assert lesson.trust[2] < lesson.trust[0] == 1


def test_open_groups_and_sure_guesses_join_the_second_lesson_with_less_trust() -> None:
    graph = ConstraintGraph(20)
    graph.add(0, 1, Relation.DIFFERENT)
    graph.add(3, 0, Relation.DIFFERENT)
    seeds = seeds_of(graph, 3)
    p = np.tile(np.array([0.9, 0.06, 0.04], np.float32), (20, 1))
    lesson = first_lesson(seeds, {"all": np.eye(20, dtype=np.float32)}, 3)
    more = second_lesson(lesson, seeds, lambda images: p[images], share=0.5, seed=0)
    assert more.classes[more.images == 3].tolist() == [1]  # not 0: an answer excludes it
    assert len(more.images) > len(lesson.images) + 1
    assert set(more.trust[len(lesson.images) :]) <= {0.5, 0.2}


def test_the_number_of_clumps_is_guessed() -> None:
    rng = stream(3, "clumps")
    rows = rng.normal(size=(4, 6))[np.arange(120) % 4] * 9 + rng.normal(size=(120, 6))
    assert guess_n_clusters(rows.astype(np.float32), seed=0) == 4


@pytest.mark.timeout(20)
def test_one_open_image_with_nothing_to_compare_ends_the_questions() -> None:
    rows = stream(5, "few").normal(size=(4, 5)).astype(np.float32)
    model = Likewise(2, random_state=0).start(rows)
    bad = [Question.label(image) for image in range(3)]
    model.tell(bad, ["bad_image"] * 3)
    with pytest.raises(PoolExhaustedError, match="settle every image"):
        model.ask(3)


def test_groups_that_came_after_the_last_training_are_offered_too() -> None:
    """As after a restart: answers show four groups, and beliefs are still those of two centres."""
    graph = ConstraintGraph(6)
    for one in range(4):
        for other in range(one):
            graph.tell(Answer(Question.pair(one, other), "different"))
    beliefs = np.tile(np.array([0.3, 0.7], np.float32), (6, 1))
    question = Phrasing(("pair", "choice"), seeds_of(graph, None), beliefs, graph).question(5)
    assert question is not None
    assert question.images[0] == 5
    assert question.images[1:] == (1, 0, 2, 3)
