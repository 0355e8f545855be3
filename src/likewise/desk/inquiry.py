"""What one orientation asks: questions in line, worded as things are now, yes and no mixed."""

from collections import deque
from collections.abc import Sequence

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import (
    DIFFERENT,
    MAX_GROUPS,
    NEW,
    NONE,
    SAME,
    Answer,
    Question,
    Relation,
)
from likewise.desk.beginning import random_questions
from likewise.desk.findings import Findings
from likewise.desk.line import Check, Prefer, QuestionLine
from likewise.desk.openness import Subject, still_open, subjects
from likewise.seeds import stream
from likewise.session.session import Session

_RUN = 3  # equal answers in a row after which another kind is looked for
LIKE = "like "  # begins the key of a group that has no name yet, before its picture's number
_SPARE = 8  # questions drawn at random when the model has none
_FOUNDERS = 3  # pictures in none of the groups that were shown, offered as groups of their own


class Inquiry(Findings):
    """The questions of one orientation.

    Parameters
    ----------
    session : Session
    name : str
        Of the orientation.
    """

    def __init__(self, session: Session, name: str) -> None:
        self.line = QuestionLine()
        self._rng = stream(0, "random questions", name)
        self._recent: deque[str] = deque(maxlen=_RUN)
        self._founders: deque[int] = deque(maxlen=_FOUNDERS)
        super().__init__(session, name)

    def _forget(self) -> None:
        super()._forget()
        self._asked: set[Subject] | None = None
        self._latest: dict[str, tuple[int, Answer]] | None = None  # of each person
        self._recent.clear()
        self._keep_founders()

    def questions(self, n: int, who: str = "") -> list[Question]:
        """Return at most `n` questions for one person; empty when nothing is left to ask."""
        with self._session.lock:
            check = self._checker()
            found = self.line.hand_out(n, who, check, self._prefer())
            if len(found) < n:
                askable = self._session.images.askable
                self.line.fill(random_questions(askable, max(n, _SPARE), check, self._rng))
                found = self.line.hand_out(n, who, check)
            return found

    def ask_again(self, question: Question, who: str = "") -> None:
        """Have a question whose answer was taken back asked next, if it is still open."""
        with self._session.lock:
            self.line.ask_again(question, who)

    def _keep_founders(self) -> None:
        """Forget the founders of groups whose answer does not stand any more."""
        if self._founders:
            graph = self._session.graph(self.name)
            said = [a for number, a in graph.answers.items() if number not in graph.conflicts]
            founded = {a.question.images[0] for a in said if a.answer in (NONE, NEW)}
            left = [one for one in self._founders if one in founded]
            self._founders = deque(left, maxlen=_FOUNDERS)

    def _checker(self) -> Check:
        """Return what says how a question should be put now, None if it is settled."""
        graph = self._session.graph(self.name)
        asked = self._asked = subjects(graph) if self._asked is None else self._asked
        bad = graph.bad_images

        def check(question: Question) -> Question | None:
            now = still_open(question, graph, asked, bad)
            return now and self._with_founders(self._worded(now), graph)

        return check

    def _worded(self, question: Question) -> Question:
        """Return a choice with its groups called as they are now, wherever that is clear.

        They stand in the order of the gallery, always: the key of a group is found blindly.
        Elsewhere they are called by the picture that stands for each: a name that a model made
        up for itself would be taken for that of a group.
        """
        if question.kind != "choice":
            return question
        image, *faces = question.images
        old = [face for face in faces if face not in self._founders]
        keys = self._keys(faces) or self._keys(old) or dict.fromkeys(faces, "")
        shown = {face: keys.get(face) or f"{LIKE}{face}" for face in dict.fromkeys([*keys, *faces])}
        return Question.choice(image, tuple(shown), tuple(shown.values()))

    def _keys(self, faces: Sequence[int]) -> dict[int, str]:
        """Return what the groups of faces are called, in their order; nothing if it is unclear."""
        if self._results is None or not faces:
            return {}
        labels = self._results.labels[list(faces)].tolist()
        if min(labels) < 0 or len(set(labels)) < len(labels):
            return {}
        order = sorted(range(len(faces)), key=labels.__getitem__)
        return {faces[place]: self._results.keys[labels[place]] for place in order}

    def _with_founders(self, question: Question, graph: ConstraintGraph) -> Question:
        """Return a choice that offers groups too which were found since it was thought of.

        Whoever said "none of these" begins a group: without it, all that belong there would be
        "none of these" again, until the model has learned of it.
        """
        if question.kind != "choice":
            return question
        image, *shown = question.images
        faces = dict(zip(shown, question.groups, strict=True))
        for founder in self._founders:
            is_open = image != founder and graph.relation(image, founder) is Relation.UNKNOWN
            is_other = all(graph.relation(f, founder) is Relation.DIFFERENT for f in faces)
            if is_open and is_other and len(faces) < MAX_GROUPS:
                faces[founder] = f"{LIKE}{founder}"
        return Question.choice(image, tuple(faces), tuple(faces.values()))

    def _prefer(self) -> Prefer | None:
        """Return what would be a change after several equal answers, None if there is no need."""
        if len(self._recent) < _RUN or len(set(self._recent)) > 1 or self._results is None:
            return None
        wanted, chances = (
            DIFFERENT if self._recent[0] == SAME else SAME,
            self._results.probabilities,
        )

        def is_a_change(question: Question) -> bool:
            if question.kind != "pair":
                return True
            first, second = chances[list(question.images)].argmax(axis=1)
            return (SAME if first == second else DIFFERENT) == wanted

        return is_a_change
