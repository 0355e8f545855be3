"""Label issues: found, ranked, explained by constraints, asked again, never dropped silently."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.estimators.kernel.label_issues import (
    LabelIssue,
    LabelIssues,
    find_label_issues,
    implicated_answers,
    most_contradicted,
    requery_question,
    review_candidates,
)
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.training_set import labeled_groups
from likewise.oracles.base import LabelOracle


def _graph() -> ConstraintGraph:
    graph = ConstraintGraph(12)
    graph.add(0, 1, Relation.DIFFERENT)  # answer 1: two groups
    graph.add(0, 2, Relation.SAME)
    graph.add(1, 3, Relation.SAME)
    graph.add(2, 4, Relation.SAME)
    return graph


# -- detection ------------------------------------------------------------------


def test_the_answer_that_mentions_the_doubtful_image_is_the_issue_with_its_proof() -> None:
    graph = _graph()
    ids = list(graph.answers)
    groups = labeled_groups(graph, 2)
    found = find_label_issues(groups, {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.8, 4: 0.9}, graph, 2)
    assert [(issue.image, issue.answer_id) for issue in found] == [(4, ids[3]), (3, ids[2])]
    assert [str(fact) for fact in found[0].proof] == ["2 = 4"]


def test_a_moderate_error_probability_is_not_an_issue() -> None:
    graph = _graph()
    assert find_label_issues(labeled_groups(graph, 2), {0: 0.7, 3: 0.6}, graph, 2) == ()


def test_an_image_outside_all_groups_is_the_first_issue() -> None:
    graph = _graph()
    result = graph.tell(Answer(Question.choice(9, (0, 1), ("a", "b")), "none"))
    groups = labeled_groups(graph, 2)
    first = find_label_issues(groups, {4: 0.9}, graph, 2)[0]
    assert (first.image, first.answer_id) == (9, result.id)
    unknown_k = find_label_issues(groups, {4: 1.0}, graph, None)
    assert all(issue.image != 9 for issue in unknown_k)


def test_two_confirmed_images_outside_all_groups_make_the_groups_an_issue() -> None:
    graph = _graph()
    for image in (8, 9):
        graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
    groups = labeled_groups(graph, 2)
    assert find_label_issues(groups, {}, graph, 2, confirmed={9})[0].image == 8
    found = find_label_issues(groups, {}, graph, 2, confirmed={8, 9})
    assert [issue.image for issue in found] == [0]  # one answer separates both groups
    question = requery_question(found[0], groups, ("pair", "choice"))
    assert question == Question.pair(0, 3)  # not with its own group, and not with 1 again
    result = graph.tell(Answer(question, "same"))
    assert implicated_answers(found[0], result.proof, groups) == {next(iter(graph.answers))}


def test_an_answer_that_very_many_conflicts_depend_on_is_found() -> None:
    graph = ConstraintGraph(20, two_groups=True)
    first = graph.add(0, 1, Relation.DIFFERENT).id  # wrong
    for image in (2, 3, 4):
        assert most_contradicted(graph) is None
        graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
    assert len(graph.conflicts) == 3
    assert most_contradicted(graph) == first
    for image in range(5, 19):
        graph.add(0, image, Relation.SAME)
    assert most_contradicted(graph) is None  # three conflicts among many right answers


# -- review by a person ---------------------------------------------------------


def test_review_assumes_at_least_the_usual_rate_of_label_noise() -> None:
    graph = _graph()
    groups = labeled_groups(graph, 2)
    errors = {0: 0.001, 3: 0.005, 4: 0.1}
    assert find_label_issues(groups, errors, graph, 2) == ()
    (found,) = review_candidates(groups, errors, graph, 2, label_noise=0.01)
    # An error probability of .1 at a rate of .01 means that the label is 11 times more likely if
    # it is wrong; Bayes' rule again with a rate of .1.
    wrong, right = 0.1 * (0.1 / 0.01), 0.9 * (0.9 / 0.99)
    assert found.image == 4
    assert found.probability == pytest.approx(wrong / (wrong + right))
    assert [str(fact) for fact in found.proof] == ["2 = 4"]
    assert review_candidates(groups, errors, graph, 2, label_noise=0.1) == ()
    (half,) = review_candidates(groups, {4: 0.5}, graph, 2, label_noise=0.5)
    assert half.probability == pytest.approx(0.5)  # never less than was found
    (certain,) = review_candidates(groups, {4: 1.0}, graph, 2, label_noise=0.2)
    assert certain.probability == pytest.approx(1)
    assert review_candidates(groups, errors, graph, 2, confirmed={4}, label_noise=0.01) == ()


def test_five_issues_at_a_time_are_offered_most_doubtful_first() -> None:
    graph = ConstraintGraph(12)
    graph.add(0, 1, Relation.DIFFERENT)
    for image in range(2, 12):
        graph.add(image % 2, image, Relation.SAME)
    errors = {image: 0.5 + image / 100 for image in range(2, 12)}
    found = review_candidates(labeled_groups(graph, 2), errors, graph, 2, label_noise=0.1)
    assert [issue.image for issue in found] == [11, 10, 9, 8, 7]


def test_two_images_outside_all_groups_are_offered_and_then_the_groups() -> None:
    graph = _graph()
    for image in (6, 7, 8, 9):
        graph.tell(Answer(Question.choice(image, (0, 1), ("a", "b")), "none"))
    groups = labeled_groups(graph, 2)

    def offered(*confirmed: int) -> list[int]:
        found = review_candidates(groups, {4: 0.8}, graph, 2, confirmed, label_noise=0.1)
        return [issue.image for issue in found]

    assert offered() == [6, 7, 4]
    assert offered(7) == [6, 4]
    assert offered(6, 7) == [0, 4]


# -- asking again ---------------------------------------------------------------


def test_a_requery_shows_other_images_and_the_own_group_first() -> None:
    groups = labeled_groups(_graph(), 2)
    issue = LabelIssue(3, 4, 0.9, ())
    question = requery_question(issue, groups, ("pair", "choice"))
    assert question is not None
    assert question.images == (4, 2, 3)
    other = requery_question(issue, groups, ("choice",), variant=1)
    assert other is not None
    assert other.images == (4, 0, 1)
    pair = requery_question(issue, groups, ("pair",))
    assert pair is not None
    assert set(pair.images) == {2, 4}
    assert requery_question(issue, groups, ("label",)) is None


def test_a_contradicted_answer_is_retracted_and_a_repeated_one_confirmed() -> None:
    graph = _graph()
    issues, last = LabelIssues(graph, 2, ("pair",)), list(graph.answers)[-1]
    issue = LabelIssue(last, 4, 0.9, ())
    issues.record(issue, Answer(Question.pair(4, 0), "different"))
    assert [answer.question.images for answer in issues.retracted] == [(2, 4)]
    assert last not in graph.answers
    assert issues.confirmed == {4}
    issues.record(LabelIssue(2, 3, 0.9, ()), Answer(Question.pair(1, 3), "same"))
    assert len(issues.retracted) == 1
    assert issues.confirmed == {3, 4}


def test_what_separates_two_groups_is_retracted_after_two_contradictions() -> None:
    graph = _graph()
    issues, first = LabelIssues(graph, 2, ("pair",)), next(iter(graph.answers))
    issue = LabelIssue(first, 0, 0.9, ())
    issues.record(issue, Answer(Question.pair(0, 3), "same"))
    assert issues.retracted == []
    assert issues.confirmed == set()
    issues.record(issue, Answer(Question.pair(0, 1), "same"))
    assert [answer.question.images for answer in issues.retracted] == [(0, 1)]


def test_nothing_is_an_issue_before_thirty_answers() -> None:
    graph = _graph()
    issues = LabelIssues(graph, 2, ("pair",))
    assert issues.update([3, 4], [0.8, 0.9]) == [0.8, 0.9]
    assert issues.for_requery() == issues.for_review(0.1) == ()


def test_confirmed_images_have_no_error_probability() -> None:
    issues = LabelIssues(_graph(), 2, ("pair",))
    issues.confirmed = {4}
    assert issues.update([3, 4], [0.8, 0.9]) == [0.8, 0.0]
    assert issues.raw_errors == {3: 0.8, 4: 0.9}
    restored = LabelIssues(_graph(), 2, ("pair",))
    restored.set_state(issues.get_state())
    assert restored.confirmed == {4}
    assert (restored.label_errors, restored.raw_errors) == (issues.label_errors, issues.raw_errors)


class _Mistakes(LabelOracle):
    """Wrong about a few images the first time each is asked about, right after that."""

    def __init__(self, labels: np.ndarray, wrong: set[int]) -> None:
        super().__init__(labels)
        self.wrong, self.made = wrong, set[int]()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [self._one(question) for question in questions]

    def _one(self, question: Question) -> Answer:
        truth = super().answer([question])[0]
        image = question.images[0]
        if question.kind != "choice" or image not in self.wrong - self.made:
            return truth
        self.made.add(image)
        others = [key for key in question.groups if key != truth.answer]
        return Answer(question, others[0]) if others else truth


def test_some_mistakes_are_asked_again_and_corrected_within_the_budget() -> None:
    """Few of them, in some runs none: only where all other answers contradict them."""
    corrected: list[int] = []
    for k, seed in product((3, 4), (1, 2, 3)):
        X, y = make_blobs(300, n_features=10, centers=k, cluster_std=3, random_state=0)
        oracle = _Mistakes(y, set(range(0, 300, 9)))
        model = Likewise(k, kinds="pair,choice", random_state=seed).fit(
            X, oracle=oracle, n_questions=90
        )
        assert len(oracle.made) >= 3  # the test would show nothing otherwise
        assert model.constraints_.n_answers <= 90
        for image in oracle.made:
            together = model.labels_ == model.labels_[image]
            corrected += [image] if (y[together] == y[image]).sum() > 20 else []
    assert corrected


def test_few_correct_answers_become_label_issues() -> None:
    X, y = make_blobs(300, n_features=10, centers=3, cluster_std=2, random_state=1)
    model = Likewise(3, kinds="pair,choice", random_state=0).fit(
        X, oracle=LabelOracle(y), n_questions=60
    )
    assert len(model.label_issues_) <= 1
    assert len(model.constraints_.answers) == 60
