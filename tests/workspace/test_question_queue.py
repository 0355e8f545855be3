import itertools
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph, asked_about, open_part
from likewise.constraints.question import Answer, Question, Relation
from likewise.random_streams import stream
from likewise.session import Session, save_results
from likewise.workspace.question_queue import (
    WaitingQuestions,
    random_pairs,
)
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, right_answer, save_half_results

PAIRS = [Question.pair(0, i) for i in range(1, 6)]
CHOICE = Question.choice(0, (1, 2, 3), ("a", "b", "c"))


def unchanged(question: Question) -> Question | None:
    return question


@pytest.fixture
def line() -> WaitingQuestions:
    line = WaitingQuestions()
    line.fill(PAIRS)
    return line


class TestWaitingQuestions:
    def test_the_first_question_is_taken_first(self, line: WaitingQuestions) -> None:
        assert line.take(2, "ada", unchanged) == PAIRS[:2]

    def test_a_person_holds_a_question_until_it_is_answered(self, line: WaitingQuestions) -> None:
        line.take(2, "ada", unchanged)
        assert line.take(2, "ada", unchanged) == PAIRS[:2]
        line.remove(PAIRS[0])
        assert line.take(2, "ada", unchanged) == [PAIRS[1], PAIRS[2]]

    def test_two_persons_get_different_questions(self, line: WaitingQuestions) -> None:
        ada, bob = line.take(2, "ada", unchanged), line.take(2, "bob", unchanged)
        assert not set(ada) & set(bob)

    def test_new_questions_do_not_include_those_that_another_person_holds(
        self, line: WaitingQuestions
    ) -> None:
        line.take(2, "ada", unchanged)
        line.fill(PAIRS)
        assert line.take(9, "bob", unchanged) == PAIRS[2:]

    def test_an_unanswered_question_goes_to_another_person_after_a_while(self) -> None:
        now = [0.0]
        line = WaitingQuestions(clock=lambda: now[0])
        line.fill(PAIRS[:1])
        line.take(1, "ada", unchanged)
        line.fill(PAIRS[:1])
        assert line.take(1, "bob", unchanged) == []
        now[0] = 121.0
        line.fill(PAIRS[:1])
        assert line.take(1, "bob", unchanged) == PAIRS[:1]

    def test_questions_answered_in_the_meantime_are_removed_also_if_they_are_held(
        self, line: WaitingQuestions
    ) -> None:
        line.take(3, "ada", unchanged)
        open_now = [PAIRS[2], PAIRS[4]]
        found = line.take(3, "ada", lambda one: one if one in open_now else None)
        assert found == open_now

    def test_a_held_question_is_revised_from_its_original_form(self) -> None:
        line, original = WaitingQuestions(), Question.choice(0, (1, 2), ("a", "b"))
        line.fill([original])
        (wider,) = line.take(1, "ada", lambda _: CHOICE)
        assert wider == CHOICE
        assert line.take(1, "ada", unchanged) == [original]
        line.take(1, "ada", lambda _: wider)
        line.remove(wider)
        line.put_back(wider, "ada")
        assert line.take(1, "ada", unchanged) == [original]

    def test_a_question_that_is_put_back_comes_first_and_is_held_by_one_person(
        self, line: WaitingQuestions
    ) -> None:
        line.take(2, "ada", unchanged)
        line.remove(PAIRS[0])
        line.take(1, "bob", unchanged)
        line.put_back(PAIRS[0], "ada")
        assert line.take(3, "ada", unchanged) == [PAIRS[0], PAIRS[1], PAIRS[3]]
        line.put_back(PAIRS[1], "bob")
        assert line.take(1, "bob", unchanged) == [PAIRS[1]]
        assert PAIRS[1] not in line.take(9, "ada", unchanged)

    def test_only_the_latest_answered_questions_are_kept(self) -> None:
        line = WaitingQuestions()
        for i in range(1, 70):
            line.remove(Question.pair(0, i))
        assert len(line._answered) == 64
        assert (0, 69) in line._answered

    def test_a_preferred_question_is_taken_before_others(self, line: WaitingQuestions) -> None:
        found = line.take(1, "ada", unchanged, prefer=lambda one: one == PAIRS[3])
        assert found == [PAIRS[3]]


def current(question: Question, graph: ConstraintGraph) -> Question | None:
    return open_part(question, graph, asked_about(graph), graph.bad_images)


class TestStillOpen:
    def test_an_open_question_is_unchanged(self) -> None:
        graph = ConstraintGraph(6)
        assert current(CHOICE, graph) == CHOICE
        assert current(Question.pair(0, 1), graph) == Question.pair(0, 1)

    def test_an_implied_answer_is_not_asked_for(self) -> None:
        graph = ConstraintGraph(6)
        graph.add(0, 4, Relation.SAME)
        graph.add(4, 1, Relation.SAME)
        assert current(Question.pair(0, 1), graph) is None
        assert current(CHOICE, graph) is None

    def test_a_question_answered_with_cannot_tell_is_not_asked_again(self) -> None:
        graph = ConstraintGraph(6)
        graph.add(0, 1, Relation.UNKNOWN)
        assert current(Question.pair(0, 1), graph) is None

    def test_a_choice_does_not_show_excluded_groups(self) -> None:
        graph = ConstraintGraph(6)
        graph.add(0, 2, Relation.DIFFERENT)
        assert current(CHOICE, graph) == Question.choice(0, (1, 3), ("a", "c"))

    def test_a_choice_of_one_group_becomes_a_pair(self) -> None:
        graph = ConstraintGraph(6)
        graph.add(0, 2, Relation.DIFFERENT)
        graph.add(0, 3, Relation.DIFFERENT)
        assert current(CHOICE, graph) == Question.pair(0, 1)

    def test_bad_images_are_not_asked_about(self) -> None:
        graph = ConstraintGraph(6)
        graph.tell(Answer(Question.label(0), "bad_image"))
        assert current(Question.pair(0, 5), graph) is None


@pytest.mark.parametrize(
    ("question", "n_settled", "n_others"),
    [
        (Question.pair(0, 1), 1, 0),
        (Question.pair(0, 1), 15, 14),
        (Question.choice(0, (1, 2), ("a", "b")), 5, 3),
        (Question.choice(0, (1, 2), ("a", "b")), 1, 0),
    ],
)
def test_the_pairs_of_the_question_do_not_count_as_implied(
    question: Question, n_settled: int, n_others: int
) -> None:
    assert AnswerResult(1, accepted=True, n_settled=n_settled).n_implied(question) == n_others


def test_random_pairs_of_a_large_collection_are_distinct_open_pairs() -> None:
    images = np.arange(100, dtype=np.intp)
    found = random_pairs(images, 20, unchanged, stream(0, "test"))
    assert len(set(found)) == 20
    assert random_pairs(images[:1], 20, unchanged, stream(0, "test")) == []


def test_random_pairs_are_found_although_most_pairs_are_answered() -> None:
    images = np.arange(1000)

    def revise(question: Question) -> Question | None:
        return question if question.images[0] % 100 == 0 else None

    assert len(random_pairs(images, 8, revise, stream(0, "test"))) == 8


def test_after_a_restart_other_random_pairs_are_asked(tmp_path: Path) -> None:
    session = make_session(paint_folder(tmp_path / "photos", 100), None)
    with Workspace(session, has_worker=False) as workspace:
        questions = workspace.criterion("colour").questions(400)
        session.tell_all([Answer(one, "cannot_tell", criterion="colour") for one in questions])
    with Workspace(Session.open(session.path), has_worker=False) as workspace:
        (question,) = workspace.criterion("colour").questions(1)
        assert question not in questions


def test_a_question_is_available_before_the_first_training(workspace: Workspace) -> None:
    (question,) = workspace.criterion("colour").questions(1)
    assert question.kind == "pair"


def test_no_question_is_asked_twice_and_none_is_left_in_the_end(workspace: Workspace) -> None:
    criterion, asked = workspace.criterion("colour"), []
    while questions := criterion.questions(1):
        asked.append(questions[0])
        criterion.answer(questions[0], right_answer(workspace.session, questions[0]))
    assert len(set(asked)) == len(asked)
    graph = workspace.session.graph("colour")
    pairs = list(itertools.combinations(range(12), 2))
    assert all(graph.relation(i, j) is not Relation.UNKNOWN for i, j in pairs)
    assert len(asked) < len(pairs)  # implied pairs were not asked


def test_a_question_whose_answer_was_retracted_is_asked_again(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    n_open = len(criterion.questions(99))
    criterion.answer(Question.pair(0, 1), "cannot_tell")
    assert len(criterion.questions(99)) == n_open - 1
    criterion.undo()
    assert len(criterion.questions(99)) == n_open


def test_after_several_equal_answers_the_other_answer_is_looked_for(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    for pair in [(0, 1), (2, 3), (4, 5)]:
        criterion.answer(Question.pair(*pair), "different")
    criterion.queue.fill([Question.pair(6, 7), Question.pair(6, 9), Question.pair(6, 8)])
    assert criterion.questions(1) == [Question.pair(6, 8)]  # two red images


class TestGroupsOfAChoice:
    def test_they_have_their_current_keys_in_the_order_of_the_gallery(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.queue.fill([Question.choice(0, (3, 2), ("group 1", "group 2"))])
        assert criterion.questions(1) == [Question.choice(0, (2, 3), ("g1", "g2"))]

    def test_merged_groups_are_shown_once(self, trained_workspace: Workspace) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.queue.fill([Question.choice(4, (0, 1), ("", "x"))])
        criterion.change_group("g2", merge_into="g1")
        (question,) = criterion.questions(1)
        assert question.groups == ("g1",)

    def test_an_image_whose_answer_may_be_wrong_is_not_an_example_of_its_group(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        number = criterion.answer(Question.choice(1, (10, 11), ("g1", "g2")), "g1").result.id
        criterion.queue.fill([Question.choice(4, (0, 3), ("", "x"))])
        issue = {"answer": number, "image": 0, "probability": 0.9, "evidence": [number]}
        criterion.training_finished({"label_issues": [issue]})
        (question,) = criterion.questions(1)
        assert question == Question.choice(4, (10, 3), ("g1", "g2"))

    @pytest.mark.parametrize("is_trained", [False, True])
    def test_groups_that_the_results_do_not_tell_apart_are_called_by_their_images(
        self, session: Session, is_trained: bool
    ) -> None:
        if is_trained:  # both images are in one group
            save_half_results(session, n_answers=3)
        with Workspace(session, has_worker=False) as workspace:
            criterion = workspace.criterion("colour")
            criterion.queue.fill([Question.choice(0, (2, 4), ("group 1", "group 2"))])
            (question,) = criterion.questions(1)
            assert question.groups == ("like 2", "like 4")
            assert criterion.answer(question, "like 2").result.accepted

    def test_an_answer_none_of_these_starts_a_group_that_the_next_questions_offer(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.queue.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)])
        asked = criterion.questions(4)  # all are held before the first answer
        criterion.answer(asked[0], "none")
        second, *_ = criterion.questions(3)
        assert second == Question.choice(4, (2, 3, 0), ("g1", "g2", "like 0"))
        assert criterion.answer(second, "like 0").result.accepted  # 0 and 4 are one group
        third, *_ = criterion.questions(2)
        assert third.images == (5, 2, 3, 0)
        criterion.answer(third, "none")
        (fourth,) = criterion.questions(1)
        assert fourth == Question.choice(6, (2, 3, 0, 5), ("g1", "g2", "like 0", "like 5"))

    def test_a_group_is_not_offered_twice_nor_after_its_answer_was_retracted(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.queue.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4)])
        criterion.answer(criterion.questions(1)[0], "none")
        criterion.answer(Question.pair(0, 6), "same")
        criterion.queue.fill(
            [Question.choice(4, (3, 6), ("a", "b")), Question.choice(8, (5, 7), ("a", "b"))]
        )
        assert [q.images for q in criterion.questions(2)] == [(4, 6, 3), (8, 5, 7)]
        criterion.undo()
        criterion.undo()
        criterion.queue.release()
        criterion.queue.fill([Question.choice(10, (3, 2), ("a", "b"))])
        assert [q.images for q in criterion.questions(1)] == [(10, 2, 3)]

    def test_a_group_made_by_a_person_is_not_offered_twice_after_the_training(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        key, _ = criterion.split_group([0])
        results = np.full((12, 3), 0.1, dtype=np.float32)
        results[range(12), [2 if i % 4 == 0 else i % 2 for i in range(12)]] = 0.8
        save_results(trained_workspace.session, "colour", results, keys=("g1", "g2", key))
        criterion.training_finished({})
        criterion.queue.fill([Question.choice(10, (3, 8), ("b", "c"))])
        (question,) = criterion.questions(1)
        assert question == Question.choice(10, (3, 8), ("g2", key))
        assert [k for k, _ in criterion.queue.others(question)] == ["g1"]

    def test_a_retracted_group_disappears_from_held_questions_and_others_stay(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.queue.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)])
        first, *_ = criterion.questions(4)
        criterion.answer(first, "new")
        second, *_ = criterion.questions(3)
        criterion.answer(second, "new")
        assert criterion.questions(1)[0].images == (5, 2, 3, 0, 4)
        criterion.undo()
        assert criterion.questions(1)[0].images == (5, 2, 3, 0)  # the first group is kept
        criterion.ask_again(second)
        assert [q.images for q in criterion.questions(2)] == [(4, 2, 3, 0), (5, 2, 3, 0)]
        criterion.undo()
        criterion.ask_again(first)
        assert [q.images for q in criterion.questions(3)] == [(0, 2, 3), (4, 2, 3), (5, 2, 3)]

    def test_a_group_is_not_offered_if_its_first_answer_was_retracted(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.answer(Question.choice(0, (3, 2), ("a", "b")), "new")
        criterion.undo()
        for blue in (3, 5):
            criterion.answer(Question.pair(0, blue), "different")
        criterion.queue.fill([Question.choice(4, (3, 5), ("a", "b"))])
        assert criterion.questions(1)[0].images == (4, 3, 5)


def test_the_queue_keeps_its_questions_when_an_image_is_missing(
    trained_workspace: Workspace, folder: Path
) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.queue.fill(PAIRS)
    (folder / "11blue.png").unlink()
    trained_workspace.rescan()
    assert len(criterion.queue) == len(PAIRS)


class TestGrids:
    GRID = Question.grid((1, 2, 3, 4), 0, "g1")

    def test_images_whose_relation_is_known_or_that_are_bad_are_left_out(self) -> None:
        graph = ConstraintGraph(6)
        graph.add(0, 2, Relation.DIFFERENT)
        assert open_part(self.GRID, graph, set(), {3}) == Question.grid((1, 4), 0, "g1")
        assert open_part(self.GRID, graph, set(), {0}) is None

    def test_a_grid_of_one_image_becomes_a_pair(self) -> None:
        graph = ConstraintGraph(6)
        for image in (2, 3, 4):
            graph.add(0, image, Relation.SAME)
        assert open_part(self.GRID, graph, set(), set()) == Question.pair(0, 1)
        assert open_part(self.GRID, graph, {(0, 1)}, set()) is None

    def test_a_grid_answered_cannot_tell_is_not_asked_again_but_its_images_are(self) -> None:
        graph = ConstraintGraph(6)
        graph.tell(Answer(self.GRID, "cannot_tell"))
        asked = asked_about(graph)
        assert open_part(self.GRID, graph, asked, set()) is None
        assert open_part(Question.choice(1, (0, 5), ("a", "b")), graph, asked, set()) is not None
