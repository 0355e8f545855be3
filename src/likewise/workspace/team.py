"""Several people in one session: questions that two people answer, and their agreement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, Answer, Question, Relation
from likewise.random_streams import stream
from likewise.session.session import Session

OVERLAP = 8  # one question in OVERLAP repeats one that another person has answered
Pair = tuple[int, int]


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on a criterion.

    Parameters
    ----------
    first, second : str
    n_pairs : int
        Pairs of images whose relation follows from the answers of both.
    n_equal : int
        Those of them that have the same relation for both.
    kappa : float or None
        Cohen's kappa: agreement beyond what is expected by chance; None if one of them always
        gives the same answer, or there are no pairs.
    """

    first: str
    second: str
    n_pairs: int
    n_equal: int
    kappa: float | None


def agreement(session: Session, criterion: str) -> list[Agreement]:
    """Return the agreement of each two people with a name who have answered.

    The closure of each person's answers is computed separately, so that an answer that places an
    image in a group can be compared with another person's answer about a pair. Conflicts count too.
    """
    with session.lock:
        answers = list(session.graph(criterion).answers.values())
        n_images, two_groups = len(session.images), session.criterion(criterion).two_groups
    own: dict[str, ConstraintGraph] = {}
    said: dict[str, set[Pair]] = {}
    for answer in answers:
        if answer.who:
            if answer.who not in own:
                own[answer.who] = ConstraintGraph(n_images, two_groups=two_groups)
            own[answer.who].tell(answer)
            said.setdefault(answer.who, set()).update(_pairs(answer))
    return [
        _compare(first, second, own, said[first] | said[second])
        for first, second in combinations(sorted(own), 2)
    ]


def _pairs(answer: Answer) -> Iterator[Pair]:
    """Yield the pairs of images that an answer relates to each other."""
    for one in answer.as_pairs():
        first, *others = one.question.images
        yield from ((min(first, other), max(first, other)) for other in others)


def _compare(
    first: str, second: str, own: dict[str, ConstraintGraph], pairs: set[Pair]
) -> Agreement:
    same = Relation.SAME
    both = [(own[first].relation(i, j), own[second].relation(i, j)) for i, j in pairs]
    known = [(a is same, b is same) for a, b in both if Relation.UNKNOWN not in (a, b)]
    n, n_equal = len(known), sum(a == b for a, b in known)
    if not n:
        return Agreement(first, second, 0, 0, None)
    share_a, share_b = sum(a for a, _ in known) / n, sum(b for _, b in known) / n
    by_chance = share_a * share_b + (1 - share_a) * (1 - share_b)
    kappa = None if by_chance == 1 else round((n_equal / n - by_chance) / (1 - by_chance), 4)
    return Agreement(first, second, n, n_equal, kappa)


def with_repeated(
    session: Session, criterion: str, who: str, questions: Sequence[Question]
) -> list[Question]:
    """Return the questions of a person, first a repeated one if it is time for it.

    A repeated question is a pair for which another person has answered same or different. It
    is asked again until it is answered, since it follows from the log alone.
    """
    with session.lock:
        answers = list(session.graph(criterion).answers.values())
    own = {pair for one in answers if one.who == who for pair in _pairs(one)}
    n_own = sum(one.who == who for one in answers)
    others = [_repeatable(one) for one in answers if one.who not in ("", who)]
    pairs = dict.fromkeys(pair for pair in others if pair is not None)
    n_repeated = sum(pair in own for pair in pairs)
    open_pairs = [pair for pair in pairs if pair not in own]
    if not open_pairs or n_own < OVERLAP * (n_repeated + 1) - 1:
        return list(questions)
    rng = stream(n_repeated, "repeated question", criterion, who)
    chosen = Question.pair(*open_pairs[int(rng.random() * len(open_pairs))])
    return [chosen, *(one for one in questions if one != chosen)]


def _repeatable(answer: Answer) -> Pair | None:
    """Return a pair of images that another person can be asked about, None if there is none."""
    question = answer.question
    if answer.answer in (CANNOT_TELL, BAD_IMAGE) or len(question.images) < 2:
        return None
    first, other = question.images[:2]
    if question.kind == "choice" and answer.answer in question.groups:
        other = question.images[1 + question.groups.index(answer.answer)]
    if question.kind == "grid":
        other = question.images[-1]
    return min(first, other), max(first, other)
