"""Many answers at once give the state of telling them one by one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints import bulk_replay
from likewise.constraints.answers import AnswerColumns, Answers
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.random_streams import stream

N = 7


def questions() -> st.SearchStrategy[Answer]:
    """Answers of every kind; most agree with one of two partitions of the images."""
    images = st.permutations(range(N))
    return st.one_of(*(st.builds(build, images, st.integers(0, 99)) for build in BUILDERS))


def group(image: int, number: int) -> int:
    """The group of an image; a tenth of the answers follow another partition."""
    return image // 3 if number % 10 else image % 3


def pair(order: list[int], number: int) -> Answer:
    a, b = order[:2]
    value = "same" if group(a, number) == group(b, number) else "different"
    return Answer(Question.pair(a, b), "bad_image" if number % 17 == 1 else value)


def choice(order: list[int], number: int) -> Answer:
    image, *shown = order[: 3 + number % 2]
    keys = tuple("xyz"[: len(shown)])
    same = [k for k, i in zip(keys, shown, strict=True) if group(i, number) == group(image, number)]
    value = same[0] if len(same) == 1 else ("none", "new", "cannot_tell")[number % 3]
    return Answer(Question.choice(image, tuple(shown), keys), value, at="2026-11-19", seconds=1.5)


def grid(order: list[int], number: int) -> Answer:
    *asked, shown = order[: 3 + number % 4]
    ticked = tuple(i for i in asked if group(i, number) != group(shown, number))
    value = "bad_image" if number % 17 == 1 else "ticked"
    return Answer(Question.grid(tuple(asked), shown, "x"), value, who="ada", ticked=ticked)


def label(order: list[int], number: int) -> Answer:
    names = "abc" if number % 2 else "ab"  # with two groups, most have at most two names
    return Answer(Question.label(order[0]), names[group(order[0], number) % len(names)])


BUILDERS = (pair, pair, choice, grid, label)


def told(answers: dict[int, Answer], two_groups: bool) -> ConstraintGraph:
    graph = ConstraintGraph(N, two_groups=two_groups)
    for number, answer in answers.items():
        graph.tell(answer, answer_id=number)
    return graph


def check_proofs(one: ConstraintGraph, other: ConstraintGraph) -> None:
    """Of several shortest chains of earlier answers, any may be the proof."""
    for number, proof in one.conflicts.items():
        assert len(proof) == len(other.conflicts[number])
        assert all(used.answer_id < number for used in proof)
        unused = set(one.conflicts) - set(one.excluded)  # of a grid, some images may be left out
        assert not unused & {used.answer_id for used in proof}


def check_equal(one: ConstraintGraph, other: ConstraintGraph, *, proofs: bool = True) -> None:
    assert dict(one.answers) == dict(other.answers)
    assert list(one.conflicts) == list(other.conflicts)
    if proofs:  # after a retraction, proofs from before are used again
        check_proofs(one, other)
    assert dict(one.excluded) == dict(other.excluded)
    assert dict(one.active_answers) == dict(other.active_answers)
    assert (one.n_answers, one.bad_images) == (other.n_answers, other.bad_images)
    np.testing.assert_array_equal(one.relations(range(N)), other.relations(range(N)))
    np.testing.assert_array_equal(one.groups(), other.groups())
    np.testing.assert_array_equal(one.cannot_links(), other.cannot_links())
    assert one.group_names() == other.group_names()
    chains = [[g.proof(i, j) for i in range(N) for j in range(N)] for g in (one, other)]
    assert chains[0] == chains[1]


@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=100, deadline=None)
@given(
    given_answers=st.lists(questions(), max_size=25),
    n_later=st.integers(0, 5),
    block=st.sampled_from([1, 2, 2048]),
    data=st.data(),
)
def test_the_state_is_that_of_telling_one_by_one(
    two_groups: bool, given_answers: list[Answer], n_later: int, block: int, data: st.DataObject
) -> None:
    answers = {2 * place + 1: answer for place, answer in enumerate(given_answers)}
    first = dict(list(answers.items())[: max(0, len(answers) - n_later)])
    with patch.object(bulk_replay, "_IN_ORDER", block):
        one_by_one = told(answers, two_groups)
        columns = AnswerColumns.of(first.items())
        at_once = ConstraintGraph(N, two_groups=two_groups, answers=Answers(columns))
        for number in list(answers)[len(first) :]:
            result = at_once.tell(answers[number], answer_id=number)
            assert result.accepted == (number not in one_by_one.conflicts)
        check_equal(at_once, one_by_one)
        if answers:
            gone = data.draw(st.sets(st.sampled_from(list(answers)), max_size=3))
            for number in gone:
                at_once.retract(number)
            rest = {number: one for number, one in answers.items() if number not in gone}
            check_equal(at_once, told(rest, two_groups), proofs=False)


def test_what_an_answer_settles_is_the_same_after_a_replay() -> None:
    rng = stream(0, "settled")
    answers = {}
    for number in range(200):
        a, b = rng.choice(40, 2, replace=False).tolist()
        answers[number] = Answer(Question.pair(a, b), "same" if a % 4 == b % 4 else "different")
    one_by_one = ConstraintGraph(40)
    results = [one_by_one.tell(answer) for answer in answers.values()]
    first = AnswerColumns.of(list(answers.items())[:100])
    at_once = ConstraintGraph(40, answers=Answers(first))
    assert [at_once.tell(answers[number]) for number in range(100, 200)] == results[100:]


def test_contradictions_are_found_among_many_consistent_answers() -> None:
    rng = stream(0, "long")
    pairs = [sorted(rng.choice(300, 2, replace=False).tolist()) for _ in range(3_000)]
    wrong = {1_500, 2_100, 2_999}
    answers = {
        n: Answer(Question.pair(a, b), "same" if (a % 5 == b % 5) ^ (n in wrong) else "different")
        for n, (a, b) in enumerate(pairs)
    }
    graph = ConstraintGraph(300, answers=Answers(AnswerColumns.of(answers.items())))
    one_by_one = ConstraintGraph(300)
    for answer in answers.values():
        one_by_one.tell(answer)
    assert set(graph.conflicts) == wrong
    check_proofs(graph, one_by_one)
    np.testing.assert_array_equal(graph.groups(), one_by_one.groups())


def test_answers_are_equal_after_a_way_through_columns() -> None:
    answers = {
        4: Answer(Question.pair(0, 1), "same", "ada", "season", "2026-11-19T12:00:00.000Z", 0.0),
        7: Answer(Question.grid((2, 3, 4), 1, "x"), "ticked", ticked=(3,)),
        9: Answer(Question.label(5), "ähre", at="yesterday"),
    }
    kept = Answers(AnswerColumns.of(answers.items()))
    kept[11] = answers[4]
    columns = kept.columns()
    assert dict(Answers(columns)) == answers | {11: answers[4]}
    assert dict(Answers(columns.take(np.array([1, 2])))) == {7: answers[7], 9: answers[9]}
    joined = AnswerColumns.join([columns.take(np.array([1, 3])), columns.take(np.array([0, 2]))])
    assert list(Answers(joined).items()) == list(Answers(columns).items())


def test_two_names_in_one_component_contradict_each_other() -> None:
    answers = [
        Answer(Question.label(0), "a"),
        Answer(Question.label(1), "b"),
        Answer(Question.pair(0, 2), "same"),
        Answer(Question.pair(1, 2), "same"),
    ]
    columns = AnswerColumns.of(enumerate(answers))
    graph = ConstraintGraph(3, answers=Answers(columns))
    assert list(graph.conflicts) == [3]
    assert graph.relation(1, 2) is Relation.DIFFERENT
