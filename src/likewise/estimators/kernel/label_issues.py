"""Label issues: answers that no other contradicts but that the model finds unlikely."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from likewise.constraints.facts import Fact
from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.kernel.training_set import LabeledGroups

REQUERY_THRESHOLD = 0.7  # probability of an error from which `fit` spends a question on it
_USUAL_LABEL_NOISE, _REVIEW_THRESHOLD = 0.1, 0.4  # assumed for a person; offered for review
_MAX_REVIEWED = 5  # label issues offered at a time
_MIN_CONFIRMED = 2  # confirmed images outside all groups, after which the groups are doubtful
_OUTSIDE, _PROTOTYPE = 0.99, 0.9  # error probability assigned to such images, and to prototypes
_MIN_VOTES, _MIN_SHARE = 3, 0.2  # conflicts that implicate one answer, as a share of all answers
_MAX_TARGETS = 20  # images of the same group to which a proof is searched


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
    proof: tuple[Fact, ...]


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

    A review takes a person little time, while `fit` pays with a question, so the threshold is lower.

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


def _placing_proof(image: int, groups: LabeledGroups, graph: ConstraintGraph) -> tuple[Fact, ...]:
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
    proofs = graph.set_aside.values()
    votes = Counter(number for proof in proofs for number in {f.answer_id for f in proof})
    number, n_votes = max(votes.items(), key=lambda vote: vote[1], default=(0, 0))
    return number if n_votes >= max(_MIN_VOTES, _MIN_SHARE * len(graph.answers)) else None


def implicated_answers(
    issue: LabelIssue, proof: tuple[Fact, ...], groups: LabeledGroups
) -> set[int]:
    """Return the answers that a contradicting reply to a label issue counts against.

    Those that mention the image; for a prototype, those that separate its group from the group to
    which the reply assigns it.
    """
    if issue.image in groups.prototypes:
        return {fact.answer_id for fact in proof if fact.relation < 0}
    return {fact.answer_id for fact in proof if issue.image in (fact.first, fact.second)}
