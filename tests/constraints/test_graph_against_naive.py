"""Any sequence of answers and retractions, compared with the reference implementation."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.constraint import AnswerResult, Constraint
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from tests.constraints.naive import Naive, NaiveConstraint, naive_constraints

N = 6
Check = Callable[[ConstraintGraph, Naive], None]
Step = Answer | int  # an answer, or the position in the log of one to retract

images = st.permutations(range(N))


def pair_answers() -> st.SearchStrategy[Answer]:
    values = st.sampled_from(["same", "different"] * 4 + ["cannot_tell", "bad_image"])
    return st.builds(lambda order, value: Answer(Question.pair(*order[:2]), value), images, values)


def label_answers() -> st.SearchStrategy[Answer]:
    values = st.sampled_from(["a", "b", "c"] * 3 + ["cannot_tell", "bad_image"])
    return st.builds(lambda order, value: Answer(Question.label(order[0]), value), images, values)


def choice_answers() -> st.SearchStrategy[Answer]:
    def build(order: list[int], n_shown: int, pick: int) -> Answer:
        groups = tuple("xyz"[:n_shown])
        values = (*groups, *groups, "none", "new", "cannot_tell", "bad_image")
        question = Question.choice(order[0], tuple(order[1 : 1 + n_shown]), groups)
        return Answer(question, values[pick % len(values)])

    return st.builds(build, images, st.integers(1, 3), st.integers(0, 9))


answers = st.one_of(pair_answers(), pair_answers(), choice_answers(), label_answers())
steps = st.lists(st.one_of(answers, answers, answers, st.integers(0, 20)), max_size=25)


def nothing(graph: ConstraintGraph, naive: Naive) -> None:
    """Check nothing."""


def run(
    script: list[Step], two_groups: bool, after: Check = nothing
) -> tuple[ConstraintGraph, Naive]:
    """Apply every step to both, and call `after` each time."""
    graph, naive = ConstraintGraph(N, two_groups=two_groups), Naive(N, two_groups=two_groups)
    for step in script:
        if isinstance(step, Answer):
            check_result(graph.tell(step), step, naive)
        elif naive.answers:
            number = list(naive.answers)[step % len(naive.answers)]
            graph.retract(number)
            del naive.answers[number]
            naive.replay()
        after(graph, naive)
    return graph, naive


def check_result(result: AnswerResult, answer: Answer, naive: Naive) -> None:
    """The result of one answer: accepted or not, the proof, and the pairs it settles."""
    before, active, names = np.count_nonzero(naive.relations), naive.active, naive.names()
    naive.answers[result.id] = answer
    naive.replay()
    assert result.accepted == (result.id in naive.active)
    assert result.n_settled == (np.count_nonzero(naive.relations) - before) // 2
    assert bool(result.proof) != result.accepted
    constraints = naive_constraints(answer)
    if result.proof and len(constraints) == 1:
        image, other, relation = constraints[0]
        shortest = naive.distance(image, other, -relation, active)
        is_third = isinstance(other, str) and other not in names.values() and naive.two_groups
        assert len(result.proof) == (min(2, shortest) if is_third and len(names) == 2 else shortest)


def plain(proof: tuple[Constraint, ...]) -> list[NaiveConstraint]:
    return [(one.first, one.second, int(one.relation)) for one in proof]


def check_proofs(graph: ConstraintGraph, naive: Naive) -> None:
    """Every conflict is contradicted by active constraints of earlier answers."""
    active = naive.active
    assert list(graph.conflicts) == [number for number in naive.answers if number not in active]
    for number, proof in graph.conflicts.items():
        assert all(one.answer_id in active and one.answer_id < number for one in proof)
        for one in proof:
            assert plain((one,))[0] in naive_constraints(naive.answers[one.answer_id])
        assert naive.contradict(plain(proof) + naive_constraints(naive.answers[number]))


def check_known(graph: ConstraintGraph, naive: Naive) -> None:
    """Relations one by one, as pairs and as a matrix; groups, names and cannot-links."""
    expected = naive.relations
    pairs = np.array(list(itertools.product(range(N), repeat=2)))
    one_by_one = [graph.relation(i, j) for i, j in pairs]
    np.testing.assert_array_equal(np.reshape(one_by_one, (N, N)), expected)
    np.testing.assert_array_equal(graph.pair_relations(pairs), expected.ravel())
    np.testing.assert_array_equal(graph.pair_relations(pairs[:2]), expected.ravel()[:2])
    np.testing.assert_array_equal(graph.relations(range(N)), expected - np.eye(N))
    groups = (expected == Relation.SAME).argmax(axis=1)
    np.testing.assert_array_equal(graph.groups(), groups)
    differ = {
        (groups[i], groups[j]) for i, j in pairs if expected[i, j] < 0 and groups[i] < groups[j]
    }
    assert list(map(tuple, graph.cannot_links().tolist())) == sorted(differ)
    assert graph.group_names() == naive.names()


def check_log(graph: ConstraintGraph, naive: Naive) -> None:
    assert dict(graph.answers) == naive.answers
    assert graph.n_answers == len(naive.active)
    constrained = {
        node for first, second, _ in naive.constraints(naive.active) for node in (first, second)
    }
    bad = set()
    for answer in naive.answers.values():
        if answer.answer == "bad_image" and answer.question.kind == "pair":
            bad |= set(answer.question.images) - constrained
        elif answer.answer == "bad_image":
            bad.add(answer.question.images[0])
    assert graph.bad_images == bad


@pytest.mark.slow
@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=200, deadline=None)
@given(script=steps)
def test_the_state_is_that_of_a_replay_of_the_remaining_answers(
    two_groups: bool, script: list[Step]
) -> None:
    def after(graph: ConstraintGraph, naive: Naive) -> None:
        check_known(graph, naive)
        check_proofs(graph, naive)
        check_log(graph, naive)

    run(script, two_groups, after)


@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=50, deadline=None)
@given(script=steps)
def test_a_proof_is_a_shortest_chain_of_active_constraints(
    two_groups: bool, script: list[Step]
) -> None:
    graph, naive = run(script, two_groups)
    active = naive.active
    for i, j in itertools.combinations(range(N), 2):
        proof, known = graph.proof(i, j), graph.relation(i, j)
        assert bool(proof) == bool(known)
        if known:
            assert {one.answer_id for one in proof} <= set(active)
            assert naive.contradict([*plain(proof), (i, j, -known)])
            assert len(proof) == naive.distance(i, j, known, active)
