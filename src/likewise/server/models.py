"""Bodies of responses of the HTTP API; `/openapi.json` is generated from them."""

from typing import Literal

from pydantic import BaseModel

# -- questions and answers ----------------------------------------------------


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
    """A question; send it back unchanged with the answer.

    `more` are the groups that a choice does not show, the likeliest first: an answer may be one of
    them, if the question is sent back with these groups and their representatives.

    The images of a grid are those asked about; `representative` is an image of its group, which
    is the only one in `offered`. A choice has the representatives of its groups in `images`,
    after the image asked about.
    """

    kind: str
    images: list[int]
    groups: list[str]
    representative: int | None
    names: list[str]
    offered: list[OfferedGroup]
    more: list[OfferedGroup]


class QuestionsResponse(BaseModel):
    """The next questions; an empty list means that no question is left."""

    criterion: str
    questions: list[QuestionResponse]


class EntryResponse(BaseModel):
    """One entry of the answer log; retracting `retracted_by` restores it.

    `text` is the entry in plain English: `template` with `values`. A conflict is kept, but not
    used. The representative of the group of a grid is the last of its images; `ticked` are the
    images that are not in it.
    """

    id: int
    kind: str
    images: list[int]
    names: list[str]
    answer: str
    group: str | None
    text: str
    template: str
    values: dict[str, str | int]
    who: str
    at: str
    seconds: float | None
    ticked: list[int]
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
    `accepted` is false if the answer is a conflict.
    """

    id: int
    accepted: bool
    n_relations: int
    n_implied: int
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

    `image` is the one whose group is unlikely, `probability` the estimated probability that the
    answer is wrong.
    """

    answer: EntryResponse
    image: int
    probability: float
    proof: list[EntryResponse]


class MoveResponse(BaseModel):
    """The result of moving images: each is an answer, and all are one action.

    `entry` is the id of one of its entries. Older answers that contradict the move were retracted;
    `conflicts` are new answers that are not used, because even so they contradict others.
    """

    entry: int
    n_accepted: int
    n_relations: int
    conflicts: list[ConflictResponse]


class NewGroupResponse(MoveResponse):
    """The result of making a group; `id` is the id of the new group."""

    id: str


# -- groups, map, comparison --------------------------------------------------


class ImageResponse(BaseModel):
    """One image in a group.

    `confidence` is the probability of its group, `answered` whether a person placed the image,
    `placed` whether an answer puts it into this group, `moved` whether the last training changed
    its group.
    """

    id: int
    name: str
    confidence: float
    answered: bool
    placed: bool
    moved: bool


class GroupName(BaseModel):
    """A group without its images."""

    id: str
    name: str
    colour: str


class ChangedGroupResponse(GroupName):
    """A group after a change; `entry` is the newest entry of the log."""

    entry: int


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


class GallerySection(BaseModel):
    """The images of one section of the gallery, as ids in the order they are shown.

    `kind` is "group", or "bad" or "new" for images in no group. `n_images` counts all images,
    including those hidden by a filter or a search.
    """

    kind: Literal["group", "bad", "new"]
    id: str
    name: str
    colour: str
    n_images: int
    n_moved: int
    images: list[int]


class GalleryResponse(BaseModel):
    """Every image of the gallery, by section; `version` as in `GroupsResponse`."""

    criterion: str
    version: int
    sections: list[GallerySection]


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


# -- session ------------------------------------------------------------------


class CriterionResponse(BaseModel):
    """One criterion of the session.

    `pair_text` and `choice_text` are the questions in the person's words; null: made from the name.
    """

    name: str
    n_clusters: int | None
    n_answers: int
    pair_text: str | None
    choice_text: str | None


class AccuracyResponse(BaseModel):
    """The estimated share of images in the right group, with a 90 % interval.

    `n_wrong` is the expected number of images in a wrong group, `n_checked` the number of answered
    images that were predicted without their answers, from which the estimate is made.
    """

    estimate: float
    low: float
    high: float
    n_wrong: float
    n_checked: int


class AdviceResponse(BaseModel):
    """Whether more answers are worth their time.

    `code` is ``too_early`` (the accuracy is not known well enough to say), ``continue`` or ``stop``
    (the next answers are expected to change almost nothing); `expected_gain` is the expected gain
    of accuracy by the next `n_answers` answers.
    """

    code: str
    expected_gain: float
    n_answers: int


class UnnamedGroup(GroupName):
    """A group without a name of its own in which a person has placed several images."""

    images: list[int]


class SkippedResponse(BaseModel):
    """A file of the image folder that is not shown, and the reason."""

    name: str
    reason: str


class StatusResponse(BaseModel):
    """Counts, estimated accuracy, conflicts and the state of the worker for one criterion.

    `version` is the version of the program, `results_version` that of the groups; `counts` has
    the number of active answers of each kind; `n_violations` counts answers that the model alone
    would violate; `n_skipped` files are not shown, see `/api/skipped`; `problem` is a message to
    show until it is solved.
    """

    version: str
    criterion: str
    n_images: int
    n_missing: int
    n_skipped: int
    n_answers: int
    n_answers_trained: int
    counts: dict[str, int]
    accuracy: AccuracyResponse | None
    advice: AdviceResponse | None
    n_violations: int
    n_conflicts: int
    conflicts: list[ConflictResponse]
    n_label_issues: int
    results_version: int
    n_groups: int
    unnamed: UnnamedGroup | None
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


class AgreementResponse(BaseModel):
    """How far two people agree; `kappa` is Cohen's, null where it is not defined.

    `n_pairs` is the number of image pairs whose relation follows from the answers of both.
    """

    first: str
    second: str
    n_pairs: int
    n_equal: int
    kappa: float | None
