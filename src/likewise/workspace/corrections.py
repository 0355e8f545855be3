"""Corrections by hand: retract the older answers that contradict a new one.

The moved images get new answers. An older answer about them is retracted if it places them in
another group, if it links one of them to an image that stays in another group, or if it contradicts
the new answers in any other way. Therefore exactly the moved images change their group. An answer
that places another image and only shows a moved one as the representative of a group is repeated
with another representative, so that the other image keeps its answer.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, RESERVED, SAME, Answer, Question


@dataclass(frozen=True)
class Correction:
    """New answers, and the ids of the older answers that they replace."""

    answers: list[Answer]
    retracts: list[int]


def correction(
    new: Iterable[Answer],
    key: str,
    moved: Collection[int],
    graph: ConstraintGraph,
    members: Mapping[str, Iterable[int]],
    group_of: Callable[[int], str | None],
) -> Correction:
    """Return a correction: the new answers, and the older ones that contradict them.

    Parameters
    ----------
    new : iterable of Answer
        They assign the images `moved` to group `key`.
    key : str
    moved : collection of int
    graph : ConstraintGraph
        Of all active answers, by their ids in the log.
    members : mapping of str to iterable of int
        The images of each group, best examples first.
    group_of : callable
        Returns the group in which an image is shown, None if in none.
    """

    def is_elsewhere(image: int) -> bool:
        return image not in moved and group_of(image) not in (key, None)

    about = {n: a for n, a in graph.answers.items() if not set(a.question.images).isdisjoint(moved)}
    others = {n: a for n, a in graph.answers.items() if n not in about}
    scratch = _with_groups(others.values(), graph)
    answers = list(new)
    for answer in answers:
        _apply(answer, scratch)
    for image in moved:
        scratch.label(image, key)
    retracts, restated = [], []
    for number, answer in sorted(about.items(), key=_names_no_group):
        is_superseded = _is_superseded(answer, key, moved, is_elsewhere)
        if not is_superseded and _apply(answer, scratch, moved):
            continue
        retracts.append(number)
        again = _without_moved(answer, moved, members)
        if again is not None and _apply(again, scratch, moved):
            restated.append(replace(again, who=answers[0].who, at="", seconds=None))
    return Correction([*answers, *restated], retracts)


def _names_no_group(item: tuple[int, Answer]) -> bool:
    """Return whether an answer is only a relation of images; those that name a group come first."""
    return not item[1].placed


def _with_groups(answers: Iterable[Answer], graph: ConstraintGraph) -> ConstraintGraph:
    """Return a graph of the answers in which the group of a choice is the name of a class."""
    scratch = ConstraintGraph(graph.n_images, two_groups=graph.two_groups)
    for answer in answers:
        _apply(answer, scratch)
    return scratch


def _apply(answer: Answer, scratch: ConstraintGraph, moved: Collection[int] = ()) -> bool:
    """Add an answer and the classes it names; return whether all fit, otherwise add nothing.

    A grid also fits if only images that are not moved contradict it, as they did before.
    """
    told = scratch.tell(answer)
    fits = told.accepted or bool(told.excluded and set(told.excluded).isdisjoint(moved))
    ids = [told.id]
    if answer.question.kind != "label":
        for image, key in answer.placed.items():
            if fits and image not in told.excluded:
                named = scratch.label(image, key)
                ids.append(named.id)
                fits = named.accepted
    if not fits:
        for number in ids:
            scratch.retract(number)
    return fits


def _is_superseded(
    answer: Answer, key: str, moved: Collection[int], is_elsewhere: Callable[[int], bool]
) -> bool:
    """Return whether an answer contradicts the groups as they are shown after the move."""
    question, value = answer.question, answer.answer
    if value == CANNOT_TELL:
        return False
    if question.kind == "pair":
        return value == SAME and any(is_elsewhere(image) for image in question.images)
    asked = [image for image in question.asked if image in moved]
    if value == BAD_IMAGE:
        return bool(asked)
    placed = answer.placed
    example = dict(zip(question.groups, question.representatives, strict=True)).get(
        next(iter(placed.values()), "")
    )
    links_other_group = example is not None and is_elsewhere(example)
    if any(placed.get(i, key) != key or (i in placed and links_other_group) for i in asked):
        return True
    others = [image for image in placed if image not in moved]
    return (
        bool(others)
        and example in moved
        and any(placed[i] != key or is_elsewhere(i) for i in others)
    )


def _without_moved(
    answer: Answer, moved: Collection[int], members: Mapping[str, Iterable[int]]
) -> Answer | None:
    """Return a choice about another image without moved images as examples; None if impossible.

    Another member is the example of the chosen group; without one, the answer names the group.
    """
    question, value = answer.question, answer.answer
    asked = [image for image in question.asked if image not in moved]
    if question.kind not in ("choice", "grid") or not asked:
        return None
    shown = dict(zip(question.groups, question.representatives, strict=True))
    kept = {group: example for group, example in shown.items() if example not in moved}
    chosen = question.groups[0] if question.kind == "grid" else value
    if chosen not in RESERVED and chosen not in kept:
        used = {*moved, *kept.values(), *(asked if question.kind == "choice" else answer.ticked)}
        other = next((i for i in members.get(chosen, ()) if i not in used), None)
        if other is None:
            return _as_label(answer, asked)
        kept[chosen] = other
    images = [image for image in asked if image not in kept.values()]
    if not kept or not images:
        return _as_label(answer, asked)
    again = replace(question, images=(*images, *kept.values()), groups=tuple(kept))
    ticked = tuple(image for image in answer.ticked if image in images)
    return replace(answer, question=again, ticked=ticked)


def _as_label(answer: Answer, asked: list[int]) -> Answer | None:
    """Return an answer that places an image in its group without naming a representative."""
    placed = answer.placed
    image = next((image for image in asked if image in placed), None)
    if image is None:
        return None
    return replace(answer, question=Question.label(image), answer=placed[image], ticked=())
