"""The JSON that goes out; `/openapi.json` is made from it. What was found: `found.py`."""

from pydantic import BaseModel
from starlette.responses import Response


def at_once(reply: BaseModel, status: int = 200) -> Response:
    """Return a reply that was checked when it was made; the busiest routes check it only once."""
    return Response(reply.model_dump_json(), status, media_type="application/json")


class ShownGroup(BaseModel):
    """A group beside a question: a picture that stands for it, and others known to be in it."""

    key: str
    name: str
    colour: str
    digit: int  # of the key that chooses it
    image: int
    also: list[int]


class QuestionOut(BaseModel):
    """A question; send it back as it is with the answer."""

    kind: str
    images: list[int]
    groups: list[str]
    names: list[str]
    shown: list[ShownGroup]


class QuestionsOut(BaseModel):
    """The next questions; none means that nothing is left to ask."""

    orientation: str
    questions: list[QuestionOut]


class EntryOut(BaseModel):
    """One line of the log; take back `taken_back_by`, and it stands again."""

    id: int
    kind: str
    images: list[int]
    names: list[str]
    answer: str
    says: str
    who: str
    at: str
    seconds: float | None
    stands: bool
    aside: bool
    taken_back_by: int | None


class ConflictOut(BaseModel):
    """An answer that was set aside, those it contradicts, and the pictures of all of them.

    `likely` is the number of the one that is most likely the slip, if anybody can say.
    """

    answer: EntryOut
    against: list[EntryOut]
    images: list[int]
    likely: int | None


class AnswerOut(BaseModel):
    """What became of an answer. It is on disk.

    It settled `n_settled` pairs; `n_also` of them were not in the question itself.
    """

    id: int
    taken: bool
    n_settled: int
    n_also: int
    guessed: bool | None
    conflict: ConflictOut | None
    n_answers: int
    questions: list[QuestionOut]


class MoveOut(BaseModel):
    """What became of pictures that were moved."""

    n_taken: int
    n_settled: int
    conflicts: list[ConflictOut]


class UndoOut(BaseModel):
    """What was taken back, None if there was nothing; its question, to ask it again."""

    entry: EntryOut | None
    question: QuestionOut | None


class AnswersOut(BaseModel):
    """Lines of the log, the newest first.

    Of `n` lines `n_standing` are answers that stand, and `n_taken_back` answers that do not; the
    others change groups, or stand by an answer.
    """

    n: int
    n_standing: int
    n_taken_back: int
    answers: list[EntryOut]


class SplitOut(MoveOut):
    """What became of pictures that were split off; `key` is that of the new group."""

    key: str


class DoubtOut(BaseModel):
    """An answer worth a second look, the chance that it is a slip, and what stands behind it."""

    answer: EntryOut
    surprise: float
    chain: list[EntryOut]


class ChangesOut(BaseModel):
    """What was found when the folder was looked at again."""

    added: int
    renamed: int
    returned: int
    missing: int
    broken: int


class FoldersOut(BaseModel):
    """Where the pictures were put, how many, and which ones could not be."""

    folder: str
    n_written: int
    left_out: list[str]


class OrientationOut(BaseModel):
    """One way to sort the pictures."""

    name: str
    n_clusters: int | None
    n_answers: int


class AgreementOut(BaseModel):
    """How many of the last answers the model had guessed, with a 95 % interval."""

    n_checked: int
    agreement: float | None
    low: float
    high: float
    expected_accuracy: float
    expected_changes: float


class StatusOut(BaseModel):
    """All that is always visible."""

    release: str
    orientation: str
    n_images: int
    n_answers: int
    tally: dict[str, int]
    agreement: AgreementOut | None
    n_violations: int
    conflicts: list[ConflictOut]
    n_conflicts: int
    n_doubts: int
    missing: int
    version: int
    n_trained: int
    trainer: dict[str, object]
    trouble: str | None


class ErrorOut(BaseModel):
    """What went wrong, in words to show."""

    error: str
    message: str
