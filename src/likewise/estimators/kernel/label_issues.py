"""Label issues: answers that the model finds unlikely; which are asked again or retracted."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.constraints.constraint import Constraint
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, Answer, Question
from likewise.estimators.kernel.training_set import LabeledGroups, labeled_groups

if TYPE_CHECKING:
    from likewise.oracles.base import Oracle

REQUERY_THRESHOLD = 0.7  # probability of an error from which `fit` spends a question on it
_USUAL_LABEL_NOISE, _REVIEW_THRESHOLD = 0.1, 0.4  # assumed for a person; offered for review
_MAX_REVIEWED = 5  # label issues offered at a time
_MIN_CONFIRMED = 2  # confirmed images outside all groups, after which the groups are doubtful
_OUTSIDE, _PROTOTYPE = 0.99, 0.9  # error probability assigned to such images, and to prototypes
_MIN_VOTES, _MIN_SHARE = 3, 0.2  # conflicts that implicate one answer, as a share of all answers
_MAX_TARGETS = 20  # images of the same group to which a proof is searched
_MIN_ANSWERS = 30  # before any answer is reported as a label issue


@dataclass(frozen=True)
class LabelIssue:
    """An answer that should be reviewed.

    Parameters
    ----------
    answer_id : int
        Its id in `constraints_.answers`.
    image : int
        The image whose group is doubtful.
    probability : float
        That the answer is wrong.
    proof : tuple of Fact
        The constraints, from `image` to its group, that place it there.
    """

    answer_id: int
    image: int
    probability: float
    proof: tuple[Constraint, ...]


def find_label_issues(
    groups: LabeledGroups,
    label_errors: dict[int, float],
    graph: ConstraintGraph,
    n_clusters: int | None,
    confirmed: Collection[int] = (),
    *,
    threshold: float = REQUERY_THRESHOLD,
) -> tuple[LabelIssue, ...]:
    """Return the doubtful answers, most doubtful first, each once.

    Parameters
    ----------
    groups : LabeledGroups
    label_errors : dict of int to float
        For labelled images the probability that the label is wrong.
    graph : ConstraintGraph
    n_clusters : int, optional
        Once all groups are known, an image that is in none of them is doubtful too.
    confirmed : collection of int
        Reviewed images. Two of these outside all groups mean that two groups are probably one: then
        the answers that separate the groups are doubtful.
    threshold : float
        Probability of an error above which an answer is doubtful.
    """
    outside = _outside_all_groups(groups, n_clusters)
    doubtful = {image: error for image, error in label_errors.items() if error > threshold}
    doubtful |= dict.fromkeys(outside, _OUTSIDE)
    if len(outside & set(confirmed)) >= _MIN_CONFIRMED:
        doubtful |= dict.fromkeys(groups.prototypes, _PROTOTYPE)
    issues: dict[int, LabelIssue] = {}
    for image, error in sorted(doubtful.items(), key=lambda item: (-item[1], item[0])):
        proof = _placing_proof(image, groups, graph)
        mentioning = (f.answer_id for f in proof if image in (f.first, f.second))
        answer_id = next(mentioning, None)
        if answer_id is not None and answer_id not in issues and image not in confirmed:
            issues[answer_id] = LabelIssue(answer_id, image, error, proof)
    return tuple(issues.values())


def review_candidates(
    groups: LabeledGroups,
    label_errors: dict[int, float],
    graph: ConstraintGraph,
    n_clusters: int | None,
    confirmed: Collection[int] = (),
    *,
    label_noise: float,
) -> tuple[LabelIssue, ...]:
    r"""Return the few answers to offer a person for review; see `find_label_issues`.

    A review takes a person little time, while `fit` pays with a question: the threshold is lower.

    Parameters
    ----------
    label_noise : float
        The rate of label noise with which the error probabilities were computed.

    Notes
    -----
    Where groups are hard to separate, few answers do not reveal that some are wrong, and their rate
    :math:`\epsilon` is estimated as tiny. People do make mistakes, so at least the usual rate
    :math:`\epsilon_0 = .1` is assumed here. By Bayes' rule only the odds change:

    .. math:: \frac{c'}{1 - c'} = \frac{c}{1 - c} \cdot
              \frac{\epsilon_0 / (1 - \epsilon_0)}{\epsilon / (1 - \epsilon)} .
    """
    factor = max(1.0, _odds(_USUAL_LABEL_NOISE) / _odds(label_noise))
    usual = {image: _from_odds(factor * _odds(error)) for image, error in label_errors.items()}
    issues = find_label_issues(
        groups, usual, graph, n_clusters, confirmed, threshold=_REVIEW_THRESHOLD
    )
    # Further images outside all groups would add nothing to what the first ones show.
    outside = _outside_all_groups(groups, n_clusters)
    n_wanted = max(0, _MIN_CONFIRMED - len(outside & set(confirmed)))
    surplus = [issue for issue in issues if issue.image in outside][n_wanted:]
    return tuple(issue for issue in issues if issue not in surplus)[:_MAX_REVIEWED]


def _outside_all_groups(groups: LabeledGroups, n_clusters: int | None) -> set[int]:
    """Return an image of each undecided set that cannot-links exclude from all `n_clusters`."""
    return {int(images[0]) for images, excluded in groups.undecided if len(excluded) == n_clusters}


def _odds(probability: float) -> float:
    return probability / max(1 - probability, 1e-12)


def _from_odds(odds: float) -> float:
    return odds / (1 + odds)


def _placing_proof(
    image: int, groups: LabeledGroups, graph: ConstraintGraph
) -> tuple[Constraint, ...]:
    """Return the shortest chain of constraints to another image of its group, else to a prototype.

    For a prototype, that is a constraint that separates its group from another.
    """
    others = list(groups.prototypes)
    if image not in others and groups.classes[image] >= 0:
        same_group = np.flatnonzero(groups.classes == groups.classes[image])
        others += same_group[:_MAX_TARGETS].tolist()
    proofs = (graph.proof(image, other) for other in others if other != image)
    return min((proof for proof in proofs if proof), key=len, default=())


def most_contradicted(graph: ConstraintGraph) -> int | None:
    """Return the answer that very many conflicts have in common; None if there is none.

    If the first two images are wrongly called different, every image of the true second group is a
    conflict from then on. At least a fifth of all answers must depend on the answer returned.
    """
    proofs = graph.conflicts.values()
    votes = Counter(number for proof in proofs for number in {f.answer_id for f in proof})
    number, n_votes = max(votes.items(), key=lambda vote: vote[1], default=(0, 0))
    return number if n_votes >= max(_MIN_VOTES, _MIN_SHARE * len(graph.answers)) else None


def implicated_answers(
    issue: LabelIssue, proof: tuple[Constraint, ...], groups: LabeledGroups
) -> set[int]:
    """Return the answers that a contradicting reply to a label issue counts against.

    Those that mention the image; for a prototype, those that separate its group from the group to
    which the reply assigns it.
    """
    if issue.image in groups.prototypes:
        return {fact.answer_id for fact in proof if fact.relation < 0}
    return {fact.answer_id for fact in proof if issue.image in (fact.first, fact.second)}


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
        self.graph = graph
        self.n_clusters = n_clusters
        self.kinds = kinds
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

    def requery(self, oracle: "Oracle", n: int) -> int:
        """Ask `oracle` at most `n` label issues again; return how many questions that took."""
        wrong, n_asked = most_contradicted(self.graph), 0
        if wrong is not None:
            self._retract({wrong})
        for issue in self.for_requery():
            if n_asked == n:
                break
            variant = len(self.graph.conflicts)
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
    """Return another image of a class, the latest first; None if there is none."""
    members = np.flatnonzero(groups.classes == number)
    members = members[members != image]
    return int(members[-1 - variant % len(members)]) if len(members) else None
