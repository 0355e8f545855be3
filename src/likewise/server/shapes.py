"""The JSON that comes in; `/openapi.json` is made from it and from `replies`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError

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
        n_meant = {"pair": 2, "label": 1}.get(self.kind, len(self.images))
        if len(self.images) != n_meant:
            raise InvalidParameterError(
                f"A {self.kind} is about {n_meant} image{'s' * (n_meant > 1)}, and "
                f"{len(self.images)} came; send the question as it was given out."
            )
        if self.kind == "pair":
            return Question.pair(*self.images)
        if self.kind == "label":
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


class SplitIn(In):
    """Pictures that become a group of their own."""

    images: list[Number] = Field(min_length=1, max_length=1000)
    name: Words = ""
    orientation: Words = ""
    who: Words = ""


class FoldersIn(In):
    """How pictures come into folders; the originals never move."""

    how: Literal["copy", "symlink", "hardlink"] = "copy"
    orientation: Words = ""
