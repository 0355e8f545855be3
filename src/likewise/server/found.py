"""The JSON of what was found: pictures in their groups, the map, two ways to sort compared."""

from pydantic import BaseModel


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
    """All groups; `version` grows when they were updated, 0 before there are any.

    `fresh` pictures are new, and in no group yet.
    """

    orientation: str
    version: int
    groups: list[GroupOut]
    n_unsure: int
    unsure: list[PictureOut]
    bad: list[PictureOut]
    fresh: list[PictureOut]


class MapOut(BaseModel):
    """Every image as a point, coordinates from 0 to `scale`; `group` is a place in `groups`."""

    scale: int
    ids: list[int]
    x: list[int]
    y: list[int]
    group: list[int]
    groups: list[str]


class GroupName(BaseModel):
    """A group, without its pictures."""

    key: str
    name: str
    colour: str


class CellOut(BaseModel):
    """Pictures that are in one group of each of two ways to sort; some of them."""

    n: int
    images: list[int]


class CompareOut(BaseModel):
    """Two ways to sort the same pictures: `cells[row][column]` is in both.

    `nmi` and `ari` are 0 where one says nothing about the other, 1 where they are the same.
    """

    first: str
    second: str
    rows: list[GroupName]
    columns: list[GroupName]
    cells: list[list[CellOut]]
    n_images: int
    nmi: float
    ari: float
