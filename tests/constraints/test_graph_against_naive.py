"""Any sequence of answers and retractions, contradictions included, against the slow reference."""

import itertools
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints import apart, log
from likewise.constraints.constraint import AnswerResult, Constraint
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from tests.constraints.naive import Naive, NaiveFact, naive_facts

N = 6
Check = Callable[[ConstraintGraph, Naive], None]
Step = Answer | int  # an answer, or the place among those kept of one to take back

images = st.permutations(range(N))


def pair_answers() -> st.SearchStrategy[Answer]:
    words = st.sampled_from(["same", "different"] * 4 + ["cannot_tell", "bad_image"])
    return st.builds(lambda order, word: Answer(Question.pair(*order[:2]), word), images, words)


def label_answers() -> st.SearchStrategy[Answer]:
    words = st.sampled_from(["a", "b", "c"] * 3 + ["cannot_tell", "bad_image"])
    return st.builds(lambda order, word: Answer(Question.label(order[0]), word), images, words)


def choice_answers() -> st.SearchStrategy[Answer]:
    def build(order: list[int], n_shown: int, pick: int) -> Answer:
        groups = tuple("xyz"[:n_shown])
        words = (*groups, *groups, "none", "new", "cannot_tell", "bad_image")
        question = Question.choice(order[0], tuple(order[1 : 1 + n_shown]), groups)
        return Answer(question, words[pick % len(words)])

    return st.builds(build, images, st.integers(1, 3), st.integers(0, 9))


answers = st.one_of(pair_answers(), pair_answers(), choice_answers(), label_answers())
steps = st.lists(st.one_of(answers, answers, answers, st.integers(0, 20)), max_size=25)


def nothing(graph: ConstraintGraph, naive: Naive) -> None:
    """Check nothing."""


def walk(
    script: list[Step], two_groups: bool, after: Check = nothing
) -> tuple[ConstraintGraph, Naive]:
    """Do every step with both, and call `after` each time."""
    graph, naive = ConstraintGraph(N, two_groups=two_groups), Naive(N, two_groups=two_groups)
    for step in script:
        if isinstance(step, Answer):
            check_told(graph.tell(step), step, naive)
        elif naive.answers:
            number = list(naive.answers)[step % len(naive.answers)]
            graph.retract(number)
            del naive.answers[number]
            naive.replay()
        after(graph, naive)
    return graph, naive


def check_told(told: AnswerResult, answer: Answer, naive: Naive) -> None:
    """The reply to one answer: taken or not, why not, and what it settles."""
    before, stood, names = np.count_nonzero(naive.relations), naive.standing, naive.names()
    naive.answers[told.id] = answer
    naive.replay()
    assert told.taken == (told.id in naive.standing)
    assert told.n_settled == (np.count_nonzero(naive.relations) - before) // 2
    assert bool(told.proof) != told.taken
    facts = naive_facts(answer)
    if told.proof and len(facts) == 1:
        image, other, relation = facts[0]
        shortest = naive.distance(image, other, -relation, stood)
        is_third = isinstance(other, str) and other not in names.values() and naive.two_groups
        assert len(told.proof) == (min(2, shortest) if is_third and len(names) == 2 else shortest)


def plain(facts: tuple[Constraint, ...]) -> list[NaiveFact]:
    return [(fact.first, fact.second, int(fact.relation)) for fact in facts]


def check_proofs(graph: ConstraintGraph, naive: Naive) -> None:
    """Whatever is set aside is contradicted by facts that stand and came before it."""
    stand = naive.standing
    assert list(graph.set_aside) == [number for number in naive.answers if number not in stand]
    for number, proof in graph.set_aside.items():
        assert all(fact.answer_id in stand and fact.answer_id < number for fact in proof)
        for fact in proof:
            assert plain((fact,))[0] in naive_facts(naive.answers[fact.answer_id])
        assert naive.contradict(plain(proof) + naive_facts(naive.answers[number]))


def check_known(graph: ConstraintGraph, naive: Naive) -> None:
    """Relations one by one, as pairs and as a matrix; groups, names and what is apart."""
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
    assert list(map(tuple, graph.apart().tolist())) == sorted(differ)
    assert graph.group_names() == naive.names()


def check_kept(graph: ConstraintGraph, naive: Naive) -> None:
    assert dict(graph.answers) == naive.answers
    assert graph.n_answers == len(naive.standing)
    spoken_of = {
        node for first, second, _ in naive.facts(naive.standing) for node in (first, second)
    }
    bad = set()
    for answer in naive.answers.values():
        if answer.answer == "bad_image" and answer.question.kind == "pair":
            bad |= set(answer.question.images) - spoken_of
        elif answer.answer == "bad_image":
            bad.add(answer.question.images[0])
    assert graph.bad_images == bad


@pytest.mark.slow
@pytest.mark.parametrize("two_groups", [False, True])
@pytest.mark.parametrize(
    ("crowded", "many"),
    [(apart.CROWDED, log.MANY), (0, 1000), (1, 0)],
    ids=["as it is", "always crowded, never replayed", "soon crowded, always replayed"],
)
@settings(max_examples=100, deadline=None)
@given(script=steps)
def test_equals_a_replay_of_the_remaining_answers(
    crowded: int, many: int, two_groups: bool, script: list[Step]
) -> None:
    def after(graph: ConstraintGraph, naive: Naive) -> None:
        check_known(graph, naive)
        check_proofs(graph, naive)
        check_kept(graph, naive)

    with mock.patch.object(apart, "CROWDED", crowded), mock.patch.object(log, "MANY", many):
        walk(script, two_groups, after)


@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=50, deadline=None)
@given(script=steps)
def test_a_proof_is_a_shortest_chain_of_facts_that_stand(
    two_groups: bool, script: list[Step]
) -> None:
    graph, naive = walk(script, two_groups)
    stand = naive.standing
    for i, j in itertools.combinations(range(N), 2):
        proof, known = graph.proof(i, j), graph.relation(i, j)
        assert bool(proof) == bool(known)
        if known:
            assert {fact.answer_id for fact in proof} <= set(stand)
            assert naive.contradict([*plain(proof), (i, j, -known)])
            assert len(proof) == naive.distance(i, j, known, stand)
