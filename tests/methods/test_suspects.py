"""Doubtful answers: found, ranked, explained by their chain, looked at again, never dropped."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.methods.likewise import Likewise
from likewise.methods.second_opinion import second_opinion
from likewise.methods.seeds_of_groups import seeds_of
from likewise.methods.suspects import Suspect, at_fault, blamed, find_suspects, worth_a_look
from likewise.oracles.simulated import LabelOracle


def _graph() -> ConstraintGraph:
    graph = ConstraintGraph(12)
    graph.add(0, 1, Relation.DIFFERENT)  # answer 1: two groups
    graph.add(0, 2, Relation.SAME)
    graph.add(1, 3, Relation.SAME)
    graph.add(2, 4, Relation.SAME)
    return graph


def test_the_answer_that_names_the_doubtful_image_is_the_suspect_with_its_chain() -> None:
    graph = _graph()
    ids = list(graph.answers)
    seeds = seeds_of(graph, 2)
    found = find_suspects(seeds, {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.8, 4: 0.9}, graph, 2)
    assert [(s.image, s.answer) for s in found] == [(4, ids[3]), (3, ids[2])]
    assert [str(fact) for fact in found[0].chain] == ["2 = 4"]


def test_what_is_likelier_right_than_wrong_is_no_suspect() -> None:
    graph = _graph()
    seeds = seeds_of(graph, 2)
    assert find_suspects(seeds, {0: 0.7, 3: 0.6}, graph, 2) == ()


def test_a_person_is_offered_what_a_usual_share_of_slips_makes_likely() -> None:
    graph = _graph()
    seeds = seeds_of(graph, 2)
    doubts = {0: 0.001, 3: 0.005, 4: 0.1}
    assert find_suspects(seeds, doubts, graph, 2) == ()
    (found,) = worth_a_look(seeds, doubts, graph, 2, slips=0.01)
    # With the share .01 a chance of .1 means that the label is 11 times likelier as a slip: Bayes
    # anew, with the share .1.
    slip, meant = 0.1 * (0.1 / 0.01), 0.9 * (0.9 / 0.99)
    assert found.image == 4
    assert found.surprise == pytest.approx(slip / (slip + meant))
    assert [str(fact) for fact in found.chain] == ["2 = 4"]
    assert worth_a_look(seeds, doubts, graph, 2, slips=0.1) == ()
    (half,) = worth_a_look(seeds, {4: 0.5}, graph, 2, slips=0.5)
    assert half.surprise == pytest.approx(0.5)  # never less than was found
    (sure,) = worth_a_look(seeds, {4: 1.0}, graph, 2, slips=0.2)
    assert sure.surprise == pytest.approx(1)
    assert worth_a_look(seeds, doubts, graph, 2, confirmed={4}, slips=0.01) == ()


def test_a_person_is_offered_five_answers_at_once_the_most_doubtful() -> None:
    graph = ConstraintGraph(12)
    graph.add(0, 1, Relation.DIFFERENT)
    for image in range(2, 12):
        graph.add(image % 2, image, Relation.SAME)
    seeds = seeds_of(graph, 2)
    doubts = {image: 0.5 + image / 100 for image in range(2, 12)}
    found = worth_a_look(seeds, doubts, graph, 2, slips=0.1)
    assert [suspect.image for suspect in found] == [11, 10, 9, 8, 7]


def test_a_person_is_offered_two_images_without_a_group_and_then_the_groups() -> None:
    graph = _graph()
    for image in (6, 7, 8, 9):
        graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
    seeds = seeds_of(graph, 2)

    def offered(*confirmed: int) -> list[int]:
        found = worth_a_look(seeds, {4: 0.8}, graph, 2, confirmed, slips=0.1)
        return [suspect.image for suspect in found]

    assert offered() == [6, 7, 4]
    assert offered(7) == [6, 4]
    assert offered(6, 7) == [0, 4]


def test_an_image_that_is_in_none_of_all_groups_is_doubted_first() -> None:
    graph = _graph()
    told = graph.tell(Answer(Question.choice(9, (0, 1), ("a", "b")), "none"))
    seeds = seeds_of(graph, 2)
    first = find_suspects(seeds, {4: 0.9}, graph, 2)[0]
    assert (first.image, first.answer) == (9, told.id)
    assert all(s.image != 9 for s in find_suspects(seeds, {4: 1.0}, graph, None))


def test_when_images_are_surely_in_no_group_the_groups_are_doubted() -> None:
    graph = _graph()
    for image in (8, 9):
        graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
    seeds = seeds_of(graph, 2)
    assert find_suspects(seeds, {}, graph, 2, confirmed={9})[0].image == 8
    found = find_suspects(seeds, {}, graph, 2, confirmed={8, 9})
    assert [suspect.image for suspect in found] == [0]  # one answer holds both groups apart
    question = second_opinion(found[0], seeds, ("pair", "choice"))
    assert question == Question.pair(0, 3)  # not with its own group, and not with 1 again
    told = graph.tell(Answer(question, "same"))
    assert at_fault(found[0], told.proof, seeds) == {next(iter(graph.answers))}


def test_an_answer_that_very_many_contradictions_have_in_common_is_blamed() -> None:
    graph = ConstraintGraph(20, two_groups=True)
    first = graph.add(0, 1, Relation.DIFFERENT).id  # wrong
    for image in (2, 3, 4):
        assert blamed(graph) is None
        told = graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
        assert not told.accepted
    assert blamed(graph) == first
    for image in range(5, 19):
        graph.add(0, image, Relation.SAME)
    assert blamed(graph) is None  # three slips among many right answers


def test_a_second_opinion_shows_other_faces_and_its_own_group_first() -> None:
    seeds = seeds_of(_graph(), 2)
    suspect = Suspect(3, 4, 0.9, ())
    question = second_opinion(suspect, seeds, ("pair", "choice"))
    assert question is not None
    assert question.images == (4, 2, 3)
    other = second_opinion(suspect, seeds, ("choice",), turn=1)
    assert other is not None
    assert other.images == (4, 0, 1)
    pair = second_opinion(suspect, seeds, ("pair",))
    assert pair is not None
    assert set(pair.images) == {2, 4}
    assert second_opinion(suspect, seeds, ("label",)) is None


class _Slips(LabelOracle):
    """Wrong about a few images the first time each is asked about, right after that."""

    def __init__(self, labels: np.ndarray, wrong: set[int]) -> None:
        super().__init__(labels)
        self.wrong, self.slipped = wrong, set[int]()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [self._one(question) for question in questions]

    def _one(self, question: Question) -> Answer:
        truth = super().answer([question])[0]
        image = question.images[0]
        if question.kind != "choice" or image not in self.wrong - self.slipped:
            return truth
        self.slipped.add(image)
        others = [key for key in question.groups if key != truth.answer]
        return Answer(question, others[0]) if others else truth


def test_some_slips_are_looked_at_again_and_corrected_within_the_budget() -> None:
    """Few of them, in some runs none: only where all else speaks against the answer."""
    corrected: list[int] = []
    for k, seed in product((3, 4), (1, 2, 3)):
        X, y = make_blobs(300, n_features=10, centers=k, cluster_std=3, random_state=0)
        oracle = _Slips(y, set(range(0, 300, 9)))
        model = Likewise(k, random_state=seed).fit(X, oracle=oracle, n_questions=90)
        assert len(oracle.slipped) >= 3  # the test would show nothing otherwise
        assert model.constraints_.n_answers <= 90
        for image in oracle.slipped:
            together = model.labels_ == model.labels_[image]
            corrected += [image] if (y[together] == y[image]).sum() > 20 else []
    assert corrected


def test_clean_answers_are_hardly_doubted() -> None:
    X, y = make_blobs(300, n_features=10, centers=3, cluster_std=2, random_state=1)
    model = Likewise(3, random_state=0).fit(X, oracle=LabelOracle(y), n_questions=60)
    assert len(model.suspects_) <= 1
    assert len(model.constraints_.answers) == 60
