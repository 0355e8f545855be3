"""What a person should review: conflicts, label issues, and violated answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.constraints.assignment import violated_answers
from likewise.constraints.question import DIFFERENT, NEW, NONE, SAME, TICKED, Question
from likewise.session.log import Entry
from likewise.session.results import Results
from likewise.session.session import Session
from likewise.workspace.status import Status


@dataclass(frozen=True)
class Conflict:
    """An answer that contradicts earlier answers, and those it contradicts.

    Parameters
    ----------
    entry : Entry
    against : tuple of Entry
        The shortest chain of active answers that implies the opposite.
    images : tuple of int
        The images of all these answers.
    """

    entry: Entry
    against: tuple[Entry, ...]
    images: tuple[int, ...]


@dataclass(frozen=True)
class LabelIssue:
    """An answer that no other contradicts but that the model finds unlikely.

    Parameters
    ----------
    entry : Entry
    image : int
        That it is about; an answer to a grid is about several.
    probability : float
        That the answer is wrong, 0 to 1.
    evidence : tuple of Entry
        The answers that assign the image to the group the model finds unlikely.
    """

    entry: Entry
    image: int
    probability: float
    evidence: tuple[Entry, ...]


class Review:
    """The answers of one criterion that a person should look at again.

    Parameters
    ----------
    session : Session
    name : str
        Of the criterion.
    status : Status
    """

    def __init__(self, session: Session, name: str, status: Status) -> None:
        self._session, self._name, self._status = session, name, status
        self._issues: list[dict[str, Any]] = []  # of the last training, as the worker sent them
        self._image_of: dict[int, int] = {}  # by answer, of all issues: a page may show old ones
        self._conflicts: list[Conflict] | None = None

    def invalidate(self) -> None:
        """Discard the cached conflicts, after the log changed."""
        self._conflicts = None

    def conflicts(self) -> list[Conflict]:
        """Return the unresolved conflicts, the newest first."""
        found = self._conflicts
        if found is None:
            with self._session.lock:
                found = self._conflicts = find_conflicts(self._session, self._name)
        return found

    def conflict_of(self, number: int) -> Conflict | None:
        """Return the conflict of an answer, None if it has none."""
        return next((one for one in self.conflicts() if one.entry.id == number), None)

    def suspected_answer(self, conflict: Conflict) -> int | None:
        """Return the id of the answer of a conflict that the model finds least likely."""
        entries = (conflict.entry, *conflict.against)
        positions = self._session.images.positions
        return least_likely_answer(entries, self._status.results, positions)

    def set_label_issues(self, issues: list[dict[str, Any]]) -> None:
        """Replace the label issues by those of the latest training, as the worker sent them."""
        self._issues = issues
        self._image_of |= {one["answer"]: one["image"] for one in issues}

    def label_issues(self) -> list[LabelIssue]:
        """Return the label issues that are neither retracted nor confirmed, most likely first."""
        if not self._issues:
            return []
        active = self._active_answers()
        confirmed = self._session.confirmed(self._name)
        return [
            LabelIssue(
                active[one["answer"]],
                one["image"],
                one["probability"],
                tuple(active[n] for n in dict.fromkeys(one["evidence"]) if n in active),
            )
            for one in self._issues
            if one["answer"] in active and one["answer"] not in confirmed
        ]

    def images_to_confirm(self, number: int, question: Question) -> tuple[int, ...]:
        """Return the images whose group is confirmed together with an answer.

        That is the image of the label issue. Where it is not known (after a restart): the images
        that the question is about.
        """
        return (self._image_of[number],) if number in self._image_of else question.asked

    def violated_answers(self) -> list[Entry]:
        """Return the active answers that the shown groups violate.

        There are none, unless more groups are known to differ than the criterion has.
        """
        labels = self._status.gallery().group_of
        with self._session.lock:
            graph = self._session.graph(self._name)
            if graph.n_images != len(labels):  # images were added in the meantime
                return []
            numbers, answers = violated_answers(labels, graph), graph.answers
        active = self._active_answers()
        return [
            active[number]
            for number in numbers
            if number in active and (labels[list(answers[number].question.images)] >= 0).all()
        ]

    def _active_answers(self) -> dict[int, Entry]:
        return {entry.id: entry for entry in self._session.answers(self._name)}


def find_conflicts(session: Session, criterion: str) -> list[Conflict]:
    """Return every conflict among the active answers, the newest first."""
    with session.lock:
        graph = session.graph(criterion)
        if not graph.conflicts:
            return []
        entries = {entry.id: entry for entry in session.answers(criterion)}
        positions = session.images.positions
        found = []
        for number, proof in reversed(list(graph.conflicts.items())):
            if number not in entries:
                continue
            ids = dict.fromkeys(constraint.answer_id for constraint in proof)
            against = tuple(entries[i] for i in ids if i in entries)
            left_out = {session.images.hashes[i] for i in graph.excluded.get(number, ())}
            compared = [
                _images_in_conflict(entries[number], left_out),
                *(_images_in_conflict(entry, left_out) for entry in against),
            ]
            hashes = dict.fromkeys(content for images in compared for content in images)
            images = tuple(positions[content] for content in hashes if content in positions)
            found.append(Conflict(entries[number], against, images))
        return found


def _images_in_conflict(entry: Entry, left_out: Collection[str]) -> tuple[str, ...]:
    """Return the images of an entry that a conflict is about; of a grid those that are left out."""
    if entry.kind != "grid":
        return compared_images(entry)[:2]
    *asked, shown = entry.images
    return (*(content for content in asked if content in left_out), shown)


def compared_images(entry: Entry) -> tuple[str, ...]:
    """Return the content hashes of an entry; of a choice, the chosen group's image is second."""
    if entry.kind != "choice" or entry.group not in entry.groups:
        return entry.images
    image, *shown = entry.images
    chosen = shown.pop(entry.groups.index(entry.group))
    return image, chosen, *shown


def least_likely_answer(
    entries: Sequence[Entry], results: Results | None, positions: Mapping[str, int]
) -> int | None:
    """Return the id of the answer with the lowest probability; None without a trained model.

    Parameters
    ----------
    entries : sequence of Entry
        Answers that cannot all be right.
    results : Results, optional
    positions : mapping of str to int
        From content hash to position.
    """
    if results is None or not results.n_answers or not entries:
        return None
    error = {entry.id: error_probability(entry, results, positions) for entry in entries}
    return max(error, key=error.__getitem__)


def error_probability(entry: Entry, results: Results, positions: Mapping[str, int]) -> float:
    r"""Return the probability, by the model, that an answer is wrong.

    Two images are in the same group with probability :math:`\sum_k p_{ik} p_{jk}`. For a grid it
    is the mean over its images.
    """
    if any(content not in positions for content in entry.images):
        return 0.0
    rows = results.probabilities[[positions[content] for content in entry.images]]
    if entry.kind == "grid":
        same = rows[:-1] @ rows[-1]  # the group's representative with each of the others
        ticked = np.isin(entry.images[:-1], entry.ticked)
        is_answered = entry.answer == TICKED
        return float(np.where(ticked, same, 1 - same).mean()) if is_answered else 0.0
    same = (rows[:1] * rows[1:]).sum(axis=1)  # the first image with each of the others
    if entry.answer == SAME:
        return float(1 - same[0])
    if entry.answer in (DIFFERENT, NONE, NEW):
        return float(same.max())
    if entry.group in entry.groups:
        return float(1 - same[entry.groups.index(entry.group)])
    return 0.0
