"""From the log to the graph: everything that stands, told again in the order it was said."""

from collections.abc import Callable
from dataclasses import replace

from likewise.constraints.facts import Told
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import RESERVED, Answer, Question
from likewise.constraints.wire import from_line
from likewise.session.answers import Entry, read
from likewise.session.groups import Groups
from likewise.session.images import Images
from likewise.session.ledger import Ledger
from likewise.session.orientations import Orientation
from likewise.session.store import Store


class Replay:
    """The state of one orientation, kept up to date with the log on disk.

    The graph equals that of a fresh replay at all times: an answer at the end
    of the log is told to it, a take-back retracts, and whatever brings an old
    answer back or changes the meaning of others (a redo, a merge) replays all.
    An answer has the same number in the graph as in the log.
    """

    def __init__(self, store: Store, images: Images, orientation: Orientation) -> None:
        self._store, self._images, self.orientation = store, images, orientation
        self.ledger = Ledger()
        self.n_written = -1  # transactions of the store when it last caught up
        self._rebuild()

    def catch_up(self) -> list[Told]:
        """Take in what was added to the log; return what the graph said of new answers."""
        told: list[Told] = []
        self.n_written = self._store.n_written
        is_stale = self.ledger.last == 0  # one replay is cheaper than many retractions
        entries = read(self._store, self.orientation.id, self.ledger.last)
        for entry in entries:
            concerned = self.ledger.add(entry)
            if is_stale:
                continue
            if entry.is_answer:
                told.append(self._tell(entry))
            else:
                is_stale = not self._follow(concerned)
        if is_stale and entries:
            told = self._rebuild()
        return told

    def _follow(self, concerned: Entry) -> bool:
        """Follow a change of an old entry; return whether that can be done without a replay."""
        if not concerned.is_answer:
            return concerned.kind != "merge"
        is_told = concerned.id in self.graph.answers
        if is_told and not self.ledger.stands(concerned.id):
            self.graph.retract(concerned.id)
            return True
        return is_told == self.ledger.stands(concerned.id)

    def _rebuild(self) -> list[Told]:
        """Replay all that stands into a new graph; return what it said."""
        self.graph = ConstraintGraph(len(self._images), two_groups=self.orientation.two_groups)
        self._groups = self.read_groups()
        return [self._tell(entry) for entry in self.ledger.standing() if entry.is_answer]

    def _tell(self, entry: Entry) -> Told:
        answer = from_line(entry.line(self.orientation.name), self._images.positions)
        return self.rehearse(answer, entry.id)

    def rehearse(self, answer: Answer, number: int | None = None) -> Told:
        """Tell the graph an answer; one that is not in the log only if the replay is our own."""
        return self.graph.tell(_after_merges(answer, self._groups.resolve), answer_id=number)

    def read_groups(self) -> Groups:
        """Return the groups as they are now."""
        rows = self._store.rows(
            "SELECT number, key, name, colour FROM made_group WHERE orientation = ? "
            "ORDER BY number",
            self.orientation.id,
        )
        return Groups(rows, (entry for entry in self.ledger.standing() if not entry.is_answer))


def _after_merges(answer: Answer, resolve: Callable[[str], str]) -> Answer:
    """Return an answer as it reads now that some groups are one.

    A label of a merged group is a label of the group that stands for it; the
    groups that a choice did not take say nothing if they are now the one it took.
    """
    question, said = answer.question, answer.answer
    if question.kind == "label" and said not in RESERVED:
        return replace(answer, answer=resolve(said))
    if question.kind == "choice" and said in question.groups:
        taken = resolve(said)
        kept = [
            (image, key)
            for image, key in zip(question.images[1:], question.groups, strict=True)
            if key == said or resolve(key) != taken
        ]
        images, groups = zip(*kept, strict=True)
        return replace(answer, question=Question.choice(question.images[0], images, groups))
    return answer
