"""Label issues of one model: error probabilities, asking again, and retracting wrong answers."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, Answer, Question
from likewise.estimators.kernel.label_issues import (
    LabelIssue,
    find_label_issues,
    implicated_answers,
    most_contradicted,
    review_candidates,
)
from likewise.estimators.kernel.training_set import LabeledGroups, labeled_groups
from likewise.oracles.base import Oracle

_MIN_ANSWERS = 30  # before any answer is reported as a label issue


class LabelIssues:
    """The label issues of one model: error probabilities, confirmed images, retracted answers.

    Parameters
    ----------
    graph : ConstraintGraph
    n_clusters : int, optional
    kinds : sequence of str
        Kinds of questions that may be asked.

    Attributes
    ----------
    label_errors : dict of int to float
        For labelled images the probability that the label is wrong; 0 for confirmed ones.
    raw_errors : dict of int to float
        The same without regard to confirmation.
    confirmed : set of int
        Images whose group was reviewed and confirmed.
    contradictions : Counter of int
        How many replies contradict each answer.
    retracted : list of Answer
    """

    def __init__(
        self, graph: ConstraintGraph, n_clusters: int | None, kinds: Sequence[str]
    ) -> None:
        self.graph, self.n_clusters, self.kinds = graph, n_clusters, kinds
        self.label_errors: dict[int, float] = {}
        self.raw_errors: dict[int, float] = {}
        self.confirmed: set[int] = set()
        self.contradictions: Counter[int] = Counter()
        self.retracted: list[Answer] = []

    def update(self, images: Sequence[int], errors: Sequence[float]) -> list[float]:
        """Store new error probabilities; return them, 0 for images that were confirmed."""
        self.raw_errors = dict(zip(images, errors, strict=True))
        remaining = [
            0.0 if image in self.confirmed else error
            for image, error in zip(images, errors, strict=True)
        ]
        self.label_errors = dict(zip(images, remaining, strict=True))
        return remaining

    def groups(self) -> LabeledGroups:
        """Return the groups that the answers establish, each shown by its most reliable image."""
        groups = labeled_groups(self.graph, self.n_clusters)
        return groups.with_prototypes(self.raw_errors)

    def for_requery(self) -> tuple[LabelIssue, ...]:
        """Return the label issues worth a question of `fit`, most doubtful first."""
        if self.graph.n_answers < _MIN_ANSWERS:
            return ()
        known = self.graph, self.n_clusters, self.confirmed
        return find_label_issues(self.groups(), self.label_errors, *known)

    def for_review(self, label_noise: float) -> tuple[LabelIssue, ...]:
        """Return the label issues to offer a person, given the estimated rate of label noise."""
        if self.graph.n_answers < _MIN_ANSWERS:
            return ()
        known = self.graph, self.n_clusters, self.confirmed
        return review_candidates(self.groups(), self.label_errors, *known, label_noise=label_noise)

    def requery(self, oracle: Oracle, n: int) -> int:
        """Ask `oracle` at most `n` label issues again; return how many questions that took."""
        wrong, n_asked = most_contradicted(self.graph), 0
        if wrong is not None:
            self._retract({wrong})
        for issue in self.for_requery():
            if n_asked == n:
                break
            variant = len(self.graph.set_aside)
            question = requery_question(issue, self.groups(), self.kinds, variant)
            if question is not None:
                self.record(issue, oracle.answer([question])[0])
                n_asked += 1
        return n_asked

    def record(self, issue: LabelIssue, reply: Answer) -> None:
        """Apply a repeated answer; retract a group-defining one only after two contradictions."""
        groups = self.groups()
        result = self.graph.tell(reply)
        against = implicated_answers(issue, result.proof, groups)
        self.contradictions.update(against)
        n_needed = 2 if issue.image in groups.prototypes else 1
        wrong = {number for number in against if self.contradictions[number] >= n_needed}
        if wrong or not against:
            self.confirmed.add(issue.image)
        self._retract(wrong)

    def _retract(self, numbers: Collection[int]) -> None:
        for number in numbers:
            self.retracted.append(self.graph.answers[number])
            self.graph.retract(number)

    def get_state(self) -> dict[str, Any]:
        """Return what resuming needs, as named arrays."""
        pairs = sorted(self.contradictions.items())
        return {
            "label_issues.images": np.array(list(self.label_errors), dtype=np.intp),
            "label_issues.errors": np.array(list(self.label_errors.values()), dtype=np.float64),
            "label_issues.raw_errors": np.array(list(self.raw_errors.values()), dtype=np.float64),
            "label_issues.confirmed": np.array(sorted(self.confirmed), dtype=np.intp),
            "label_issues.contradictions": np.array(pairs, np.intp).reshape(-1, 2),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""
        images = state["label_issues.images"].tolist()
        errors = state["label_issues.errors"].tolist()
        raw_errors = state["label_issues.raw_errors"].tolist()
        self.label_errors = dict(zip(images, errors, strict=True))
        self.raw_errors = dict(zip(images, raw_errors, strict=True))
        self.confirmed = set(state["label_issues.confirmed"].tolist())
        self.contradictions = Counter(dict(state["label_issues.contradictions"].tolist()))


def requery_question(
    issue: LabelIssue, groups: LabeledGroups, kinds: Sequence[str], variant: int = 0
) -> Question | None:
    """Return a question whose answer confirms or contradicts a label issue; None if there is none.

    It shows another image of each group than the question before, where there is one, so that the
    same mistake is less likely to be repeated. A prototype is compared with the other groups only.

    Parameters
    ----------
    issue : LabelIssue
    groups : LabeledGroups
    kinds : sequence of str
        Allowed kinds of questions.
    variant : int
        Another number shows other images.
    """
    own_class = int(groups.classes[issue.image])
    order = sorted(range(len(groups.keys)), key=lambda c: c != own_class)
    if issue.image in groups.prototypes:
        order.remove(own_class)
    members = [(_member(issue.image, c, groups, variant), groups.keys[c]) for c in order]
    shown = [(image, key) for image, key in members if image is not None][:MAX_GROUPS]
    if len(shown) > 1 and "choice" in kinds:
        images, keys = zip(*shown, strict=True)
        return Question.choice(issue.image, images, keys)
    if shown and "pair" in kinds:
        return Question.pair(issue.image, shown[0][0])
    return None


def _member(image: int, number: int, groups: LabeledGroups, variant: int) -> int | None:
    """Return another image of a class, a late one rather than its prototype; None if there is none."""
    members = np.flatnonzero(groups.classes == number)
    members = members[members != image]
    return int(members[-1 - variant % len(members)]) if len(members) else None
