"""Request and response bodies of the HTTP API; `/openapi.json` is generated from them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ShortText = Annotated[str, StringConstraints(max_length=200)]
ImageIndex = Annotated[int, Field(ge=0, le=2**31)]
ImageList = Annotated[list[ImageIndex], Field(min_length=1, max_length=1000)]


# -- requests ---------------------------------------------------------------


class RequestModel(BaseModel):
    """Base of the requests: unknown fields and numbers that are not finite are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class QuestionRequest(BaseModel):
    """A question as `GET /api/questions` returned it; its display fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["pair", "choice", "label"]
    images: list[ImageIndex] = Field(min_length=1, max_length=10)
    groups: list[ShortText] = Field(default=[], max_length=9)


class AnswerRequest(RequestModel):
    """One answer: `same`, `different`, a group id, `none`, `new`, `cannot_tell` or `bad_image`."""

    question: QuestionRequest
    answer: ShortText
    criterion: ShortText = ""
    who: ShortText = ""
    client: ShortText = ""
    seconds: float | None = Field(default=None, ge=0, le=1e6)


class UndoRequest(RequestModel):
    """Whose newest entry to undo; without `who`, the newest of all."""

    criterion: ShortText = ""
    who: ShortText | None = None


class MoveRequest(RequestModel):
    """Images to move into a group."""

    images: ImageList
    group: ShortText
    criterion: ShortText = ""
    who: ShortText = ""


class NewGroupRequest(RequestModel):
    """Images that become a new group."""

    images: ImageList
    name: ShortText = ""
    criterion: ShortText = ""
    who: ShortText = ""


class GroupChangeRequest(RequestModel):
    """The changes of a group; fields that are null stay as they are."""

    criterion: ShortText = ""
    name: ShortText | None = None
    colour: ShortText | None = None
    merge_into: ShortText | None = None
    who: ShortText = ""


class NewCriterionRequest(RequestModel):
    """A new criterion for the same collection; `n_clusters` null: it grows with the answers."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    n_clusters: int | None = Field(default=None, ge=2, le=1000)


class FoldersRequest(RequestModel):
    """How images are put into folders; the originals never move."""

    how: Literal["copy", "symlink", "hardlink"] = "copy"
    criterion: ShortText = ""


# -- responses: questions and answers ---------------------------------------


class OfferedGroup(BaseModel):
    """A group offered by a question, with one representative image and further members.

    `digit` is the key that chooses it; a group has the same digit in every question.
    """

    id: str
    name: str
    colour: str
    digit: int
    representative: int
    members: list[int]


class QuestionResponse(BaseModel):
    """A question; send it back unchanged with the answer."""

    kind: str
    images: list[int]
    groups: list[str]
    names: list[str]
    offered: list[OfferedGroup]


class QuestionsResponse(BaseModel):
    """The next questions; an empty list means that no question is left."""

    criterion: str
    questions: list[QuestionResponse]


class EntryResponse(BaseModel):
    """One entry of the answer log; retracting `retracted_by` restores it.

    `text` is the entry in plain English. A conflict is kept, but not used.
    """

    id: int
    kind: str
    images: list[int]
    names: list[str]
    answer: str
    text: str
    who: str
    at: str
    seconds: float | None
    retracted: bool
    retracted_by: int | None
    is_conflict: bool


class ConflictResponse(BaseModel):
    """An answer that contradicts earlier ones, those answers, and the images of all of them.

    `suspected` is the id of the one that the model finds least likely, null without a model.
    """

    answer: EntryResponse
    against: list[EntryResponse]
    images: list[int]
    suspected: int | None


class AnswerResponse(BaseModel):
    """The result of an answer, which is on disk now, and the next questions.

    The relation of `n_relations` pairs became known; `n_implied` of them were not in the question.
    `accepted` is false if the answer is a conflict; `predicted` is whether the model had predicted
    it, null if it made no prediction.
    """

    id: int
    accepted: bool
    n_relations: int
    n_implied: int
    predicted: bool | None
    conflict: ConflictResponse | None
    n_answers: int
    questions: list[QuestionResponse]


class UndoResponse(BaseModel):
    """The entry that was undone and its question; both null if there was nothing to undo."""

    entry: EntryResponse | None
    question: QuestionResponse | None


class AnswersResponse(BaseModel):
    """Entries of the answer log, newest first.

    Of `n` entries, `n_active` are active answers and `n_retracted` retracted ones; the others
    change groups or confirm answers.
    """

    n: int
    n_active: int
    n_retracted: int
    answers: list[EntryResponse]


class LabelIssueResponse(BaseModel):
    """An answer that the model finds unlikely, and its proof: the answers it follows from.

    `probability` is the estimated probability that the answer is wrong.
    """

    answer: EntryResponse
    probability: float
    proof: list[EntryResponse]


class MoveResponse(BaseModel):
    """The result of moving images: each is an answer, which may be a conflict."""

    n_accepted: int
    n_relations: int
    conflicts: list[ConflictResponse]


class NewGroupResponse(MoveResponse):
    """The result of making a group; `id` is the id of the new group."""

    id: str


# -- responses: groups, map, comparison -------------------------------------


class ImageResponse(BaseModel):
    """One image in a group.

    `confidence` is the probability of its group, `answered` whether an active
    answer contains the image, `moved` whether the last training changed its group.
    """

    id: int
    name: str
    confidence: float
    answered: bool
    moved: bool


class GroupName(BaseModel):
    """A group without its images."""

    id: str
    name: str
    colour: str


class GroupResponse(GroupName):
    """A group with some of its images, the most confident first."""

    n_images: int
    n_moved: int
    images: list[ImageResponse]


class GroupsResponse(BaseModel):
    """All groups; `version` is 0 before the first training and grows with each one.

    `unsure` are images the model is unsure about, `bad` those answered as bad images, `new` those
    that no training has seen yet.
    """

    criterion: str
    version: int
    groups: list[GroupResponse]
    n_unsure: int
    unsure: list[ImageResponse]
    bad: list[ImageResponse]
    new: list[ImageResponse]


class MapResponse(BaseModel):
    """Every image as a point with coordinates from 0 to `scale`.

    `group` is an index into the group ids `groups`, -1 for an image in no group.
    """

    scale: int
    ids: list[int]
    x: list[int]
    y: list[int]
    group: list[int]
    groups: list[str]


class CellResponse(BaseModel):
    """The number of images in one group of each of two criteria, and some of them."""

    n: int
    images: list[int]


class ComparisonResponse(BaseModel):
    """Contingency table of two criteria: `cells[row][column]` counts the images in both groups.

    `nmi` and `ari` are 0 for independent groupings and 1 for identical ones.
    """

    first: str
    second: str
    rows: list[GroupName]
    columns: list[GroupName]
    cells: list[list[CellResponse]]
    n_images: int
    nmi: float
    ari: float


# -- responses: session -----------------------------------------------------


class CriterionResponse(BaseModel):
    """One criterion of the session."""

    name: str
    n_clusters: int | None
    n_answers: int


class AgreementResponse(BaseModel):
    """Share of the last `n_checked` answers that the model had predicted, with a 95 % interval.

    `expected_accuracy` is the estimated share of images in the right group, `expected_changes` the
    number of images that further answers are expected to move.
    """

    n_checked: int
    agreement: float | None
    low: float
    high: float
    expected_accuracy: float
    expected_changes: float


class StatusResponse(BaseModel):
    """Counts, agreement, conflicts and the state of the worker for one criterion.

    `version` is the version of the program, `results_version` that of the groups; `counts` has
    the number of active answers of each kind; `n_violations` counts answers that the model alone
    would violate; `problem` is a message to show until it is solved.
    """

    version: str
    criterion: str
    n_images: int
    n_missing: int
    n_answers: int
    n_answers_trained: int
    counts: dict[str, int]
    agreement: AgreementResponse | None
    n_violations: int
    n_conflicts: int
    conflicts: list[ConflictResponse]
    n_label_issues: int
    results_version: int
    worker: dict[str, object]
    problem: str | None


class ChangesResponse(BaseModel):
    """The number of images that changed in the folder since the last scan."""

    added: int
    renamed: int
    returned: int
    missing: int
    broken: int


class FoldersResponse(BaseModel):
    """The folder with the exported images, their number, and those that could not be exported."""

    folder: str
    n_written: int
    left_out: list[str]


class ErrorResponse(BaseModel):
    """The class of an error, and a message to show."""

    error: str
    message: str
