"""The question queue of a criterion: what is asked next, of whom, and with which groups shown."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph, asked_about, open_part
from likewise.constraints.question import (
    BAD_IMAGE,
    CANNOT_TELL,
    DIFFERENT,
    NEW,
    NONE,
    SAME,
    Answer,
    Question,
    Relation,
)
from likewise.random_streams import stream
from likewise.session.session import Session
from likewise.types import Indexes
from likewise.workspace.status import Status

UNNAMED = "like "  # a group without a key is called by its image: "like 7"
_HOLD_SECONDS = 120.0  # after which an unanswered question can go to another person
_MAX_ANSWERED = 64  # answered questions that can be asked again in their original form
_LOOK_AHEAD = 8  # how far down the queue a question of the other kind is looked for
_MAX_EQUAL = 3  # equal answers in a row, after which the other answer is looked for
_N_RANDOM = 8  # random pairs drawn when the model has no questions
MAX_SHOWN = 8  # groups of a choice on the page; one more can be named by the person
_MAX_OUTSIDE = 3  # answers in a row outside the shown groups, after which pairs are asked
_MAX_NEW_GROUPS = 3  # images that are offered as groups since the last training
_TRIES = 40  # random draws per pair wanted
_MAX_ROUNDS = 20  # of these draws

Subject = tuple[int, ...]
Revise = Callable[[Question], Question | None]
Prefer = Callable[[Question], bool]


class QuestionQueue:
    """The questions of one criterion, revised by the answers that arrived since they were chosen.

    Parameters
    ----------
    session : Session
    name : str
        Of the criterion.
    status : Status

    Notes
    -----
    Before it is asked, a question loses the groups that answers have excluded, and gains those
    that answers have started; its groups get their current keys, in the order of the gallery.
    """

    def __init__(self, session: Session, name: str, status: Status) -> None:
        self._session, self._name, self._status = session, name, status
        self._line = WaitingQuestions()
        last = session.last_entry(name)  # so that other pairs are drawn after a restart
        self._rng = stream(0, "random questions", name, last)
        self._latest_pair_answers: deque[str] = deque(maxlen=_MAX_EQUAL)
        self._new_groups: deque[int] = deque(maxlen=_MAX_NEW_GROUPS)  # an image of each
        self._new_keys: dict[int, str] = {}  # of the groups that a person has made of one image
        self._presented: dict[Subject, tuple[str, ...]] = {}  # the groups last shown with a choice
        self._n_outside = 0  # latest answers to choices that are not among the groups shown
        self._asked: set[Subject] | None = None

    def __len__(self) -> int:
        return len(self._line)

    def fill(self, questions: Sequence[Question]) -> None:
        """Replace the waiting questions, the most useful first."""
        with self._session.lock:
            self._line.fill(questions)

    def questions(self, n: int, who: str = "") -> list[Question]:
        """Return at most `n` questions for one person; none if nothing is left to ask."""
        with self._session.lock:
            revise = self._reviser()
            found = self._line.take(n, who, revise, self._preference())
            if len(found) < n:
                askable = self._session.images.askable
                self._line.fill(random_pairs(askable, max(n, _N_RANDOM), revise, self._rng))
                found = self._line.take(n, who, revise)
            self._presented.update({subject(one): one.groups for one in found})
            return found

    def ask_again(self, question: Question, who: str = "") -> None:
        """Ask a question whose answer was retracted next, if it is still open."""
        with self._session.lock:
            self._line.put_back(question, who)

    def release(self) -> None:
        """Release all questions; none is assigned to a person any longer."""
        with self._session.lock:
            self._line.release()

    def record(self, answer: Answer, result: AnswerResult) -> None:
        """Update the queue after an answer was saved."""
        question = answer.question
        self._line.remove(question)
        self._count_outside(answer)
        if question.kind == "choice" and answer.answer in (NONE, NEW) and result.accepted:
            self._new_groups.append(question.images[0])
        if question.kind == "pair" and answer.answer in (SAME, DIFFERENT):
            self._latest_pair_answers.append(answer.answer)
        if self._asked is not None:
            self._asked.add(subject(question))

    def record_placement(self, image: int, key: str, *, is_new: bool) -> None:
        """Update the queue after a person placed an image in a group that was not offered.

        A new group is offered with the next questions.
        """
        self._asked = None
        shown = self._presented.pop((image,), None)
        if shown is not None and key not in shown:
            self._n_outside += 1
        if is_new:
            self._new_keys[image] = key
            self._new_groups.append(image)

    def _count_outside(self, answer: Answer) -> None:
        """Count the answers in a row that name none of the groups shown with their question."""
        question = answer.question
        shown = self._presented.pop(subject(question), question.groups)
        if question.kind == "choice" and answer.answer not in (*shown, CANNOT_TELL, BAD_IMAGE):
            self._n_outside += 1
        else:
            self._n_outside = 0

    def invalidate(self) -> None:
        """Update the queue after answers were retracted or groups changed."""
        self._asked = None
        self._latest_pair_answers.clear()
        if self._new_groups:
            graph = self._session.graph(self._name)
            active = graph.active_answers.values()
            started = {a.question.images[0] for a in active if a.answer in (NONE, NEW)}
            used = {a.answer for a in active}
            kept = [i for i in self._new_groups if self._new_keys.get(i) in used or i in started]
            self._new_groups = deque(kept, maxlen=_MAX_NEW_GROUPS)

    def others(self, question: Question) -> list[tuple[str, int]]:
        """Return the groups that a choice does not show, likeliest first, each with an image."""
        results, image = self._status.results, question.images[0]
        if question.kind != "choice" or results is None or image >= len(results.labels):
            return []
        with self._session.lock:
            graph, resolve = self._session.graph(self._name), self._status.groups.resolve
            shown = {resolve(key) for key in question.groups if not key.startswith(UNNAMED)}
            new = {self._new_keys[i]: i for i in self._new_groups if i in self._new_keys}
            known = self._status.examples().items()
            left = {key: i for key, i in known if key not in new and i not in new.values()}
            column = {resolve(key): n for n, key in reversed([*enumerate(results.keys)])}
            found = [
                (-1.0 if key in new else -float(results.probabilities[image, column[key]]), key, i)
                for key, i in {**new, **left}.items()
                if key not in shown and i != image and graph.relation(image, i) is Relation.UNKNOWN
            ]
        return [(key, i) for _, key, i in sorted(found)]

    # -- how a question is asked now --------------------------------------------

    def _reviser(self) -> Revise:
        """Return a function from a question to its current form; None if it is answered."""
        graph = self._session.graph(self._name)
        asked = self._asked = asked_about(graph) if self._asked is None else self._asked
        bad = graph.bad_images

        def revise(question: Question) -> Question | None:
            current = open_part(question, graph, asked, bad)
            if current is not None and current.kind == "grid":
                return self._with_grid_key(current)
            if current is None or current.kind != "choice":
                return current
            if self._n_outside >= _MAX_OUTSIDE:  # the model knows too little for a choice
                pair = Question.pair(*current.images[:2])
                return None if pair.images in asked else pair
            return self._with_new_groups(self._with_keys(current), graph)

        return revise

    def _with_keys(self, question: Question) -> Question:
        """Return a choice with the current keys of its groups, at most `MAX_SHOWN`.

        Up to this number of groups, they are in the order of the gallery, so that a group is
        always at the same place; of more groups, the likeliest are first.

        Of groups that were merged, the first is shown.

        Where the results do not tell the groups apart, each is called by its image: the name
        that a model gave it could be that of another group.
        """
        image, *shown = question.images[: MAX_SHOWN + 1]
        known = [other for other in shown if other not in self._new_groups]
        keys = self._keys(shown) or self._keys(known) or dict.fromkeys(shown, "")
        is_stable = len(self._status.shown_groups()) <= MAX_SHOWN
        order = dict.fromkeys([*keys, *shown] if is_stable else shown)
        named = {keys.get(other) or f"{UNNAMED}{other}": other for other in reversed(order)}
        shown_groups = {key: self._example(key, named[key], image) for key in reversed(named)}
        return Question.choice(image, tuple(shown_groups.values()), tuple(shown_groups))

    def _example(self, key: str, image: int, asked: int) -> int:
        """Return an example of a group: `image`, or another one if its answer may be wrong."""
        results, suspected = self._status.results, self._status.suspected
        if image not in suspected or results is None or key not in results.keys:
            return image
        probabilities = results.probabilities[:, results.keys.index(key)].copy()
        probabilities[[asked, *suspected]] = -1
        probabilities[~self._session.images.present[: len(probabilities)]] = -1
        best = int(probabilities.argmax())
        relation = self._session.graph(self._name).relation(best, asked)
        return best if relation is Relation.UNKNOWN else image

    def _with_grid_key(self, question: Question) -> Question:
        """Return a grid with the current key of its group."""
        *asked, shown = question.images
        key = self._keys([shown]).get(shown, f"{UNNAMED}{shown}")
        return Question.grid(tuple(asked), shown, key)

    def _keys(self, images: Sequence[int]) -> dict[int, str]:
        """Return the keys of the groups of images, in their order; empty if two are in one."""
        results = self._status.results
        if results is None or not images:
            return {}
        labels = results.labels[list(images)].tolist()
        if min(labels) < 0 or len(set(labels)) < len(labels):
            return {}
        order = sorted(range(len(images)), key=labels.__getitem__)
        resolve = self._status.groups.resolve
        return {images[place]: resolve(results.keys[labels[place]]) for place in order}

    def _with_new_groups(self, question: Question, graph: ConstraintGraph) -> Question:
        """Return a choice that also offers the groups started since it was chosen.

        "None of these" starts a group. Otherwise all further images of that group would be
        "none of these" too, until the model has been trained with the answer.
        """
        image, *others = question.images
        shown = dict(zip(others, question.groups, strict=True))
        for new in self._new_groups:
            is_open = image != new and graph.relation(image, new) is Relation.UNKNOWN
            relations = {graph.relation(other, new) for other in shown}
            is_other = relations <= {Relation.DIFFERENT} or (
                new in self._new_keys and Relation.SAME not in relations
            )
            key = self._new_keys.get(new, f"{UNNAMED}{new}")
            is_shown = key in shown.values()  # by another image, since a training
            if is_open and is_other and not is_shown and len(shown) < MAX_SHOWN:
                shown[new] = key
        return Question.choice(image, tuple(shown), tuple(shown.values()))

    def _preference(self) -> Prefer | None:
        """Return which questions to prefer after several equal answers, None without a need."""
        latest, results = self._latest_pair_answers, self._status.results
        if len(latest) < _MAX_EQUAL or len(set(latest)) > 1 or results is None:
            return None
        wanted, probabilities = DIFFERENT if latest[0] == SAME else SAME, results.probabilities

        def is_preferred(question: Question) -> bool:
            if question.kind != "pair":
                return True
            first, second = probabilities[list(question.images)].argmax(axis=1)
            return (SAME if first == second else DIFFERENT) == wanted

        return is_preferred


class WaitingQuestions:
    """Questions in order of usefulness, and which person holds which. Not thread-safe.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: list[Question] = []
        # Questions in their original form, since each answer may change the current one.
        self._held: dict[Subject, tuple[Question, str, float]] = {}
        self._answered: dict[Subject, Question] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def fill(self, questions: Sequence[Question]) -> None:
        """Replace the waiting questions."""
        self._waiting = list(questions)

    def take(
        self, n: int, who: str, revise: Revise, prefer: Prefer | None = None
    ) -> list[Question]:
        """Return at most `n` questions for one person: those it holds, then waiting ones.

        Parameters
        ----------
        n : int
        who : str
        revise : callable
            Returns the current form of a question, None if it is answered.
        prefer : callable, optional
            Returns whether a question should come before the ones ahead of it.
        """
        mine = self._revise_held(who, revise)[:n]
        while len(mine) < n and self._waiting:
            original = self._waiting.pop(self._next(prefer if not mine else None))
            question = revise(original)
            if question is None or self._is_held(subject(question)):
                continue
            self._held[subject(question)] = (original, who, self._clock())
            mine.append(question)
        return mine

    def remove(self, question: Question) -> None:
        """Remove a question that was answered."""
        about = subject(question)
        original, *_ = self._held.pop(about, (question,))
        self._answered.pop(about, None)
        self._answered[about] = original
        if len(self._answered) > _MAX_ANSWERED:
            del self._answered[next(iter(self._answered))]

    def put_back(self, question: Question, who: str) -> None:
        """Make a question, in its original form, the first one that a person holds."""
        about = subject(question)
        self._held.pop(about, None)
        original = self._answered.pop(about, question)
        self._held = {about: (original, who, self._clock()), **self._held}

    def release(self) -> None:
        """Release all questions; none is assigned to a person any longer."""
        self._held.clear()

    def _next(self, prefer: Prefer | None) -> int:
        if prefer is None:
            return 0
        ahead = self._waiting[:_LOOK_AHEAD]
        return next((place for place, one in enumerate(ahead) if prefer(one)), 0)

    def _revise_held(self, who: str, revise: Revise) -> list[Question]:
        """Return the current form of the questions that a person holds; remove answered ones."""
        kept = []
        for about, (original, holder, since) in list(self._held.items()):
            if holder != who:
                continue
            question = revise(original)
            del self._held[about]
            if question is not None and subject(question) not in self._held:
                self._held[subject(question)] = (original, who, since)
                kept.append(question)
        return kept

    def _is_held(self, about: Subject) -> bool:
        if about not in self._held:
            return False
        return self._clock() - self._held[about][2] < _HOLD_SECONDS


def subject(question: Question) -> Subject:
    """Return the images a question is about: both of a pair, all of a grid, else one."""
    return question.asked


def random_pairs(
    images: Indexes, n: int, revise: Revise, rng: np.random.Generator
) -> list[Question]:
    """Return at most `n` random pairs whose relation is unknown.

    Up to 64 images all pairs are tried, so that the last open pair is found.
    """
    if len(images) < 2:
        return []
    found: dict[Subject, Question] = {}
    for i, j in _drawn_pairs(images, _TRIES * n, rng):
        question = revise(Question.pair(i, j)) if i != j else None
        if question is not None:
            found.setdefault(question.images, question)
        if len(found) >= n:
            break
    return list(found.values())


def _drawn_pairs(images: Indexes, n: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield all pairs of few images in random order, else at most `_MAX_ROUNDS` times `n`."""
    if len(images) <= 64:
        first, second = np.triu_indices(len(images), k=1)
        order = rng.permutation(len(first))
        yield from np.stack([images[first], images[second]], axis=1)[order].tolist()
        return
    for _ in range(_MAX_ROUNDS):
        yield from rng.choice(images, size=(n, 2)).tolist()
