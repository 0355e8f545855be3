"""CriterionSession: answers, undoes and corrects one criterion, with its queue and status."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError
from likewise.session.criteria import Criterion
from likewise.session.groups import Group
from likewise.session.log import Entry
from likewise.session.session import Session
from likewise.workspace.corrections import correction
from likewise.workspace.gallery import Gallery
from likewise.workspace.group_edits import (
    GivenAnswer,
    GroupEdits,
    check_split,
    move_answers,
    review_grid,
    split_answers,
    without_copies,
)
from likewise.workspace.question_queue import QuestionQueue
from likewise.workspace.review import Conflict, Review
from likewise.workspace.status import Status

Item = TypeVar("Item")
Result = TypeVar("Result")
TRAIN_AFTER_ANSWERS = 5  # answers after which training starts at once
OnChange = Callable[[str, str, int], None]


@dataclass(frozen=True)
class AnswerOutcome:
    """The outcome of one answer, and the next questions if they were asked for.

    Parameters
    ----------
    result : AnswerResult
        Whether the answer was accepted or is a conflict, and its id in the log.
    conflict : Conflict, optional
    questions : list of Question
    """

    result: AnswerResult
    conflict: Conflict | None
    questions: list[Question] = field(default_factory=list)


@dataclass(frozen=True)
class _AnswerRequest:
    """An answer to write, the number of next questions, and the client they are for."""

    answer: Answer
    n_next: int = 0
    client: str = ""


class CriterionSession:
    """One criterion of an open session; thread-safe.

    Parameters
    ----------
    session : Session
        Open for writing.
    name : str
        Of the criterion.
    on_change : callable
        `Workspace._criterion_changed`, which requests training. Called after every change with the
        name, the event (``"answers"`` or ``"groups"``) and how many answers changed:
        `TRAIN_AFTER_ANSWERS` or more if training should start at once.

    Attributes
    ----------
    queue : QuestionQueue
    status : Status
    review : Review
    """

    def __init__(self, session: Session, name: str, on_change: OnChange) -> None:
        self.name = name
        self._session, self._on_change = session, on_change
        self.status: Status = Status(session, name)
        self.queue: QuestionQueue = QuestionQueue(session, name, self.status)
        self.review: Review = Review(session, name, self.status)
        self._edits = GroupEdits(session, name, self.status)
        self._commit = GroupCommit(self._save_answers)
        self._latest: dict[str, tuple[int, Answer]] | None = None  # active answer of each person

    @property
    def criterion(self) -> Criterion:
        """Return the stored criterion."""
        return self._session.criterion(self.name)

    def questions(self, n: int, who: str = "") -> list[Question]:
        """Return at most `n` questions for one person; none if nothing is left to ask."""
        return self.queue.questions(n, who)

    def ask_again(self, question: Question, who: str = "") -> None:
        """Ask a question whose answer was retracted next, if it is still open."""
        self.queue.ask_again(question, who)

    # -- answers ----------------------------------------------------------------

    def answer(
        self,
        question: Question,
        answer: str,
        who: str = "",
        seconds: float | None = None,
        *,
        ticked: Sequence[int] = (),
        n_next: int = 0,
        client: str = "",
    ) -> AnswerOutcome:
        """Save one answer with `Session.tell_all`; it is on disk when this returns.

        An answer that repeats the previous one of the same person is not saved again: a client
        sends it twice if it did not receive the reply. Answers that several persons give at
        the same time are written together. Then the question queue is updated and `on_change`
        is called.

        Parameters
        ----------
        question : Question
        answer, who : str
        seconds : float, optional
        ticked : sequence of int
            Of a grid, the images that do not belong to its group.
        n_next : int
            Number of next questions to return.
        client : str
            The client or person they are for.
        """
        if question.kind == "grid":
            question, ticked = without_copies(question, ticked, self._session.images.first)
        given = Answer(question, answer, who, self.name, "", seconds, tuple(ticked))
        outcome = self._commit(_AnswerRequest(given, n_next, client))
        self._on_change(self.name, "answers", 1)
        return outcome

    def _save_answers(self, batch: list[_AnswerRequest]) -> list[AnswerOutcome]:
        with self._session.lock:
            new = self._without_repeated([given.answer for given in batch])
            results = dict(zip(new, self._session.tell_all(new.values()), strict=True))
            return [self._outcome(given, results.get(i)) for i, given in enumerate(batch)]

    def _without_repeated(self, answers: Sequence[Answer]) -> dict[int, Answer]:
        """Return the answers, by index, that do not repeat the previous one of their person."""
        latest, new = {who: last for who, (_, last) in self._latest_answers().items()}, {}
        for index, answer in enumerate(answers):
            if not _is_repeated(answer, latest.get(answer.who)):
                latest[answer.who] = new[index] = answer
        return new

    def _outcome(self, given: _AnswerRequest, result: AnswerResult | None) -> AnswerOutcome:
        """Return the outcome of one answer, which was saved if there is a `result`."""
        answer = given.answer
        conflict: Conflict | None = None
        if result is None:
            number, _ = self._latest_answers()[answer.who]
            result = AnswerResult(number, accepted=True)
        else:
            self._record(answer, result)
            self._latest_answers()[answer.who] = result.id, answer
            conflict = None if result.accepted else self.review.conflict_of(result.id)
        questions = self.questions(given.n_next, given.client) if given.n_next else []
        return AnswerOutcome(result, conflict, questions)

    def _latest_answers(self) -> dict[str, tuple[int, Answer]]:
        """Return the latest active answer of each person, with its id."""
        if self._latest is None:
            active = self._session.graph(self.name).answers
            self._latest = {answer.who: (number, answer) for number, answer in active.items()}
        return self._latest

    def _record(self, answer: Answer, result: AnswerResult) -> None:
        """Update what was cached, after an answer was saved."""
        self.queue.record(answer, result)
        self.status.count(answer)
        if not result.accepted:
            self.review.invalidate()

    def undo(self, who: str | None = None, number: int | None = None) -> Entry | None:
        """Undo the newest action of a person, or of all; None if there is none.

        Parameters
        ----------
        who : str, optional
        number : int, optional
            An entry of the action to undo, instead of the newest action.
        """
        with self._session.lock:
            if number is None:
                entry = self._session.undo(self.name, who)
            else:
                entry = self._session.undo_action(self.name, number, who or "")[0]
            self._after_retraction()
        self._on_change(self.name, "answers", 1)
        return entry

    def retract(self, number: int, who: str = "") -> tuple[Entry, int]:
        """Retract any entry of the log; return it and the id of the retraction."""
        with self._session.lock:
            entry = self._session.retract(number, who)
            retraction = self._session.last_entry(self.name)
            self._after_retraction()
        self._on_change(self.name, "answers", 1)
        return entry, retraction

    def _after_retraction(self) -> None:
        self._invalidate()
        self.status.n_violations = 0  # unknown until the next training
        self._edits.undo_splits()

    def confirm(self, number: int, who: str = "") -> None:
        """Confirm that an answer with a label issue is right; this can be undone like an answer."""
        with self._session.lock:
            answer = self._session.graph(self.name).answers.get(number)
            if answer is None:
                raise InvalidParameterError(
                    f"Only an active answer can be confirmed, and answer {number} of criterion "
                    f"{self.name!r} is not active; it may have been retracted in the meantime. "
                    "Reload the list of answers."
                )
            if number not in self._session.confirmed(self.name):
                images = self.review.images_to_confirm(number, answer.question)
                self._session.confirm(self.name, number, images, who)
        self._on_change(self.name, "answers", 1)

    # -- groups -----------------------------------------------------------------

    def grid_question(self, images: Sequence[int], group: str, ticked: Sequence[int]) -> Question:
        """Return a grid of images of a group, as a person reviewed them; see `review_grid`."""
        return review_grid(images, group, ticked, self.status.gallery())

    def move_images(self, images: Sequence[int], group: str, who: str = "") -> list[AnswerResult]:
        """Move images to a group; each move is an answer. Returns their results.

        Older answers that contradict the move are retracted with it, in the same action.
        """
        gallery = self.status.gallery()
        with self._session.lock:
            answers = move_answers(images, group, gallery, self._session.graph(self.name))
            results = self._correct(answers, group, images, gallery, who)
            self._edits.add_columns()  # the last training may have left the group out
            if len(images) == 1:
                self.queue.record_placement(images[0], group, is_new=False)
        self._on_change(self.name, "answers", TRAIN_AFTER_ANSWERS)
        return results

    def split_group(
        self, images: Sequence[int], name: str = "", who: str = ""
    ) -> tuple[str, list[AnswerResult]]:
        """Move images to a new group, as `move_images` does. Returns its key and the results.

        If the number of groups was fixed, it increases by one.
        """
        gallery = self.status.gallery()
        check_split(images, gallery)
        with self._session.lock:
            key = self._edits.add_group(name, len(gallery.groups))
            answers = split_answers(images, key, gallery, self._session.graph(self.name))
            results = self._correct(answers, key, images, gallery, who)
            self._edits.add_columns()
            self.queue.record_placement(images[0], key, is_new=True)
        self._on_change(self.name, "answers", TRAIN_AFTER_ANSWERS)
        return key, results

    def _correct(
        self,
        given: Sequence[GivenAnswer],
        key: str,
        images: Sequence[int],
        gallery: Gallery,
        who: str,
    ) -> list[AnswerResult]:
        """Save answers that assign `images` to group `key`; they replace contradictory answers."""
        answers = [Answer(q, answer, who=who, criterion=self.name) for q, answer in given]
        first, graph = self._session.images.first, self._session.graph(self.name)
        moved = {int(first[image]) for image in images}
        members = {group: one.tolist() for group, one in gallery.members.items()}
        made = correction(answers, key, moved, graph, members, gallery.group_key)
        results = self._session.act(self.name, made.answers, made.retracts, who)
        self._invalidate()
        return results

    def change_group(
        self,
        key: str,
        *,
        name: str | None = None,
        colour: str | None = None,
        merge_into: str | None = None,
        who: str = "",
    ) -> Group:
        """Rename, colour or merge a group; see `Session.change_group`."""
        changes: dict[str, Any] = {"name": name, "colour": colour, "merge_into": merge_into}
        with self._session.lock:
            changed = self._session.change_group(self.name, key, **changes, who=who)
            self._invalidate()
        self._on_change(self.name, "groups", 0)
        if merge_into is not None:  # earlier answers have another meaning for the model now
            self._on_change(self.name, "answers", TRAIN_AFTER_ANSWERS)
        return changed

    # -- changes from outside -------------------------------------------------------

    def training_finished(self, message: dict[str, Any]) -> None:
        """Load the results of a training; `message` is the worker's ``trained`` message."""
        self.status.load()
        with self._session.lock:
            self._edits.add_columns()  # of groups that were made during the training
        issues = message.get("label_issues", [])
        self.review.set_label_issues(issues)
        self.status.suspected = frozenset(one["image"] for one in issues)
        self.status.n_violations = int(message.get("n_violations", 0))

    def images_changed(self) -> None:
        """Update everything after images were added, renamed or found missing."""
        with self._session.lock:
            self._invalidate()
            self.status.load()

    def _invalidate(self) -> None:
        """Discard all cached values: answers were retracted, or groups or images changed."""
        self._latest = None
        self.status.invalidate()
        self.queue.invalidate()
        self.review.invalidate()


def _is_repeated(answer: Answer, previous: Answer | None) -> bool:
    if previous is None:
        return False
    key = answer.question, answer.answer, answer.ticked
    return key == (previous.question, previous.answer, previous.ticked)


@dataclass
class _Request(Generic[Item, Result]):
    item: Item
    result: Result | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.result is not None or self.error is not None


class GroupCommit(Generic[Item, Result]):
    """Writes all waiting items in one transaction, with one fsync; each caller gets its own result.

    The first caller writes for all that wait at that time. If a batch fails, its items are
    written one by one, so that an invalid item fails alone.

    Parameters
    ----------
    write : callable
        Takes a list of items and returns one result per item, none of them None; or raises
        without having written anything.

    Examples
    --------
    >>> GroupCommit(lambda numbers: [2 * number for number in numbers])(4)
    8
    """

    def __init__(self, write: Callable[[list[Item]], Sequence[Result]]) -> None:
        self._write = write
        self._waiting: list[_Request[Item, Result]] = []
        self._list_lock, self._write_lock = threading.Lock(), threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result of one item, or raise its error."""
        request: _Request[Item, Result] = _Request(item)
        with self._list_lock:
            self._waiting.append(request)
        with self._write_lock:
            if not request.is_done:
                with self._list_lock:
                    batch, self._waiting = self._waiting, []
                self._process(batch)
        if request.error is not None:
            raise request.error
        assert request.result is not None  # `write` returns a result for each item
        return request.result

    def _process(self, batch: list[_Request[Item, Result]]) -> None:
        try:
            results = self._write([request.item for request in batch])
        except BaseException as error:  # raised in the thread of its caller, which may be another
            if len(batch) == 1:
                batch[0].error = error
                return
            for request in batch:
                self._process([request])
            return
        for request, result in zip(batch, results, strict=True):
            request.result = result
