"""A picture dragged to a group, as the answer it is: like this one, unlike those of the others.

Pictures split off are like each other, and unlike all groups there are.
"""

from collections.abc import Iterable, Sequence

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, NEW, Question, Relation
from likewise.desk.gallery import Gallery
from likewise.errors import InvalidParameterError


def moves(
    images: Sequence[int], key: str, gallery: Gallery, graph: ConstraintGraph
) -> list[tuple[Question, str]]:
    """Return one question and its answer for each picture that goes into group `key`.

    Each is a choice among the groups by a picture that stands for each of them: one that
    people spoke of, else the surest. Into a group that is empty the answer is "a new one".
    """
    gallery.of(key)  # which refuses an unknown group
    said = []
    for image in dict.fromkeys(images):
        faces = _faces(image, key, set(images), gallery, graph)
        if not faces:
            raise InvalidParameterError(
                f"Picture {image} cannot be moved: there is no other picture to compare it with."
            )
        question = Question.choice(image, tuple(faces.values()), tuple(faces))
        said.append((question, key if key in faces else NEW))
    return said


def splits(
    images: Sequence[int], key: str, gallery: Gallery, graph: ConstraintGraph
) -> list[tuple[Question, str]]:
    """Return questions and answers that put pictures into the group `key`, which is empty yet.

    Each is a choice among a companion and the groups there are. One picture alone has no
    companion: it is unlike all groups, and gets the name of its own.
    """
    alone, moving = list(dict.fromkeys(images)), set(images)
    said = []
    for place, image in enumerate(alone):
        companion = alone[0] if place else (alone[1] if len(alone) > 1 else None)
        start = {} if companion is None else {key: companion}
        faces = _faces_beside(start, list(gallery.members), moving, gallery, graph)
        if faces:
            question = Question.choice(image, tuple(faces.values()), tuple(faces))
            said.append((question, key if companion is not None else NEW))
    if len(alone) == 1:
        said.append((Question.label(alone[0]), key))
    return said


def _faces(
    image: int, key: str, moving: set[int], gallery: Gallery, graph: ConstraintGraph
) -> dict[str, int]:
    """Return who stands for each group; the one moved to comes first.

    Pictures that move too stand for nothing, nor do those known to be different from the group
    they would stand beside.
    """
    order = [key, *(other for other in gallery.members if other != key)]
    return _faces_beside({}, order, moving, gallery, graph)


def _faces_beside(
    faces: dict[str, int],
    order: Sequence[str],
    moving: set[int],
    gallery: Gallery,
    graph: ConstraintGraph,
) -> dict[str, int]:
    """Add to `faces` who stands for each group of `order`, as far as a choice can show them."""
    for group in order[: MAX_GROUPS - len(faces)]:
        stays = (i for i in gallery.members[group].tolist() if i not in moving)
        face = next((i for i in stays if _may_stand(i, faces.values(), graph)), None)
        if face is not None:
            faces[group] = face
    return faces


def _may_stand(image: int, others: Iterable[int], graph: ConstraintGraph) -> bool:
    return all(graph.relation(image, other) is not Relation.SAME for other in others)
