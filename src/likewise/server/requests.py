"""Bodies of requests to the HTTP API: their fields, types and limits."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from likewise.constraints.question import MAX_GRID_SIZE, MAX_GROUPS

ShortText = Annotated[str, StringConstraints(max_length=200)]
ImageIndex = Annotated[int, Field(ge=0, le=2**31)]
ImageList = Annotated[list[ImageIndex], Field(min_length=1, max_length=5000)]


class RequestModel(BaseModel):
    """Base of the requests: unknown fields and numbers that are not finite are errors."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)


class QuestionRequest(BaseModel):
    """A question as `GET /api/questions` returned it; its display fields are ignored.

    A client may also make a grid of its own, from images of one group; its `representative`
    may be null, and is then chosen.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    kind: Literal["pair", "choice", "grid", "label"]
    images: list[ImageIndex] = Field(min_length=1, max_length=MAX_GRID_SIZE)
    groups: list[ShortText] = Field(default=[], max_length=MAX_GROUPS)
    representative: ImageIndex | None = None


class AnswerRequest(RequestModel):
    """One answer: `same`, `different`, a group id, `none`, `new`, `cannot_tell` or `bad_image`.

    For a grid `ticked`, with the images in `ticked` that do not belong to the group (none: all
    belong); with `bad_image`, those that are bad.
    """

    question: QuestionRequest
    answer: ShortText
    ticked: list[ImageIndex] = Field(default=[], max_length=MAX_GRID_SIZE)
    criterion: ShortText = ""
    who: ShortText = ""
    client: ShortText = ""
    seconds: float | None = Field(default=None, ge=0, le=1e6)


class UndoRequest(RequestModel):
    """Whose newest action to undo; without `who`, the newest of all.

    `entry` is the id of an entry: the action that wrote it is undone instead of the newest one.
    """

    criterion: ShortText = ""
    who: ShortText | None = None
    entry: int | None = Field(default=None, ge=0, le=2**53)


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
    """The changes of a group; fields that are null are not changed."""

    criterion: ShortText = ""
    name: ShortText | None = None
    colour: ShortText | None = None
    merge_into: ShortText | None = None
    who: ShortText = ""


class NewCriterionRequest(RequestModel):
    """A new criterion for the same collection; `n_clusters` null: it grows with the answers."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    n_clusters: int | None = Field(default=None, ge=2, le=1000)
    pair_text: ShortText = ""
    choice_text: ShortText = ""


class CriterionChangeRequest(RequestModel):
    """The changes of a criterion; omitted fields are not changed.

    `n_clusters` null: it grows with the answers. An empty text: made from the name.
    """

    criterion: ShortText = ""
    n_clusters: int | None = Field(default=None, ge=2, le=1000)
    pair_text: ShortText | None = None
    choice_text: ShortText | None = None


class FoldersRequest(RequestModel):
    """How images are put into folders; the originals never move. No `groups`: all groups."""

    how: Literal["copy", "symlink", "hardlink"] = "copy"
    groups: list[ShortText] = Field(default=[], max_length=1000)
    criterion: ShortText = ""


class OpenRequest(RequestModel):
    """What to open: a folder of images, or the number of a recent session."""

    folder: Annotated[str, StringConstraints(max_length=4096)] = ""
    session: int | None = Field(default=None, ge=0, le=100)
