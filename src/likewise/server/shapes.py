"""The JSON that comes in and goes out; `/openapi.json` is made from it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from likewise.constraints.question import Question

Words = Annotated[str, StringConstraints(max_length=200)]
Number = Annotated[int, Field(ge=0, le=2**31)]


class In(BaseModel):
    """What comes in: of the right types, and nothing but numbers that are numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class QuestionIn(BaseModel):
    """A question as it was given out; what else was in it is passed over."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["pair", "choice", "label"]
    images: list[Number] = Field(min_length=1, max_length=10)
    groups: list[Words] = Field(default=[], max_length=9)

    def to_question(self) -> Question:
        """Return the question, checked."""
        if self.kind == "pair" and len(self.images) == 2:
            return Question.pair(*self.images)
        if self.kind == "label" and len(self.images) == 1:
            return Question.label(*self.images)
        return Question.choice(self.images[0], tuple(self.images[1:]), tuple(self.groups))


class AnswerIn(In):
    """One answer."""

    question: QuestionIn
    answer: Words
    orientation: Words = ""
    who: Words = ""
    client: Words = ""
    seconds: float | None = Field(default=None, ge=0, le=1e6)


class MoveIn(In):
    """Pictures to be put into a group."""

    images: list[Number] = Field(min_length=1, max_length=1000)
    group: Words
    orientation: Words = ""
    who: Words = ""


class UndoIn(In):
    """Whose newest answer is taken back; anybody's if nobody is named."""

    orientation: Words = ""
    who: Words | None = None


class GroupIn(In):
    """What is to change about a group."""

    orientation: Words = ""
    name: Words | None = None
    colour: Words | None = None
    merge_into: Words | None = None
    who: Words = ""


class OrientationIn(In):
    """Another way to sort the same pictures."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    n_clusters: int | None = Field(default=None, ge=2, le=1000)


class ShownGroup(BaseModel):
    """A group beside a question: a picture that stands for it, and others known to be in it."""

    key: str
    name: str
    colour: str
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
    """One line of the log."""

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


class ConflictOut(BaseModel):
    """An answer that was set aside, those it contradicts, and the pictures of all of them."""

    answer: EntryOut
    against: list[EntryOut]
    images: list[int]


class AnswerOut(BaseModel):
    """What became of an answer. It is on disk."""

    id: int
    taken: bool
    n_settled: int
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
    """Lines of the log, the newest first."""

    n: int
    answers: list[EntryOut]


class PictureOut(BaseModel):
    """One picture in a gallery."""

    id: int
    name: str
    confidence: float
    answered: bool
    moved: bool


class GroupOut(BaseModel):
    """One group with its surest pictures."""

    key: str
    name: str
    colour: str
    n_images: int
    n_moved: int
    images: list[PictureOut]


class GroupsOut(BaseModel):
    """All groups; `version` grows when they were updated, 0 before there are any."""

    orientation: str
    version: int
    groups: list[GroupOut]
    n_unsure: int
    unsure: list[PictureOut]
    bad: list[PictureOut]


class MapOut(BaseModel):
    """Every image as a point, coordinates from 0 to `scale`; `group` is a place in `groups`."""

    scale: int
    ids: list[int]
    x: list[int]
    y: list[int]
    group: list[int]
    groups: list[str]


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
    version: int
    n_trained: int
    trainer: dict[str, object]
    trouble: str | None


class ErrorOut(BaseModel):
    """What went wrong, in words to show."""

    error: str
    message: str
