"""Convert objects of the workspace to response models of the API, with texts for people."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from likewise import __version__
from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import MAX_GROUPS, RESERVED, TICKED, Question
from likewise.images.collection import displayed_name
from likewise.server.models import (
    AccuracyResponse,
    AdviceResponse,
    ConflictResponse,
    EntryResponse,
    GroupName,
    LabelIssueResponse,
    OfferedGroup,
    QuestionResponse,
    StatusResponse,
    UnnamedGroup,
)
from likewise.session.groups import Group, Groups
from likewise.session.log import CONFIRM, Entry
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.question_queue import MAX_SHOWN, UNNAMED
from likewise.workspace.review import Conflict, LabelIssue, compared_images
from likewise.workspace.workspace import Workspace

Body = TypeVar("Body", bound=BaseModel)
_GREY = "#777777"
_N_UNNAMED = 4  # images shown of a group that a name is asked for
_N_MEMBERS = 3  # further images shown for an offered group
_MAX_MORE = 56  # groups beyond those shown with a choice; the others are found by name
_N_CONFLICTS = 5  # shown at a time
_UNNAMED_TEXT = "like this"
_ANSWER_TEXTS = {
    "same": "same",
    "different": "different",
    "cannot_tell": "can't tell",
    "bad_image": "bad picture",
    "none": "none of these",
    "new": "new group",
}


class Presenter:
    """Makes the response models for one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._images = workspace, workspace.session.images
        self._displayed: tuple[list[str], list[str]] = [], []

    @property
    def _names(self) -> list[str]:
        """Return the displayed names of all images; computed again when the images have changed."""
        names, displayed = self._images.names, self._displayed
        if displayed[0] is not names:
            displayed = self._displayed = names, [displayed_name(name) for name in names]
        return displayed[1]

    def question(self, question: Question, criterion: CriterionSession) -> QuestionResponse:
        """Return a question with everything that the page shows with it."""
        is_grid = question.kind == "grid"
        images = question.asked if is_grid else question.images
        return QuestionResponse(
            kind=question.kind,
            images=list(images),
            groups=list(question.groups),
            representative=question.representatives[0] if is_grid else None,
            names=[self._names[i] for i in images],
            offered=self._offered(question, criterion) if question.groups else [],
            more=self._more(question, criterion),
        )

    def _unnamed(self, criterion: CriterionSession) -> UnnamedGroup | None:
        """Return the group for which the page asks a name."""
        found = criterion.status.unnamed_group()
        if found is None:
            return None
        key, images = found
        return UnnamedGroup(
            **group_name(criterion.status.groups[key]).model_dump(), images=images[:_N_UNNAMED]
        )

    def _offered(self, question: Question, criterion: CriterionSession) -> list[OfferedGroup]:
        """Return the groups of a choice or of a grid as the page shows them."""
        groups = criterion.status.groups
        shown = [group.key for group in criterion.status.shown_groups()]
        digits = group_digits(question.groups, shown if len(shown) <= MAX_SHOWN else [])
        return [
            OfferedGroup(
                id=key,
                name=groups.name(key) if key in groups else _UNNAMED_TEXT,
                colour=groups[key].colour if key in groups else _GREY,
                digit=digits[key],
                representative=image,
                members=self._members(image, criterion, question.images),
            )
            for key, image in zip(question.groups, question.representatives, strict=True)
        ]

    def _more(self, question: Question, criterion: CriterionSession) -> list[OfferedGroup]:
        """Return the groups that a choice does not show; each page of them has its digits."""
        others = criterion.queue.others(question)[:_MAX_MORE]
        groups = criterion.status.groups
        return [
            OfferedGroup(
                **group_name(groups[key]).model_dump(),
                digit=number % MAX_SHOWN + 1,
                representative=image,
                members=self._members(image, criterion, question.images),
            )
            for number, (key, image) in enumerate(others)
        ]

    def _members(
        self, image: int, criterion: CriterionSession, shown: tuple[int, ...]
    ) -> list[int]:
        """Return further images that answers link to a representative."""
        left_out = {*shown, *criterion.status.suspected}
        linked = criterion.status.must_linked(image, _N_MEMBERS + len(left_out))
        return [i for i in linked if i not in left_out][:_N_MEMBERS]

    def entry(
        self,
        entry: Entry,
        *,
        retracted: bool = False,
        is_conflict: bool = False,
        retracted_by: int | None = None,
    ) -> EntryResponse:
        """Return an entry of the answer log."""
        positions, names = self._images.positions, self._names
        images = [positions[content] for content in compared_images(entry) if content in positions]
        criteria = self._workspace.session.criteria
        name = next(one.name for one in criteria if one.id == entry.criterion)
        groups = self._workspace.criterion(name).status.groups
        template, values = entry_template(entry, groups)
        return EntryResponse(
            id=entry.id,
            kind=entry.kind,
            images=images,
            names=[names[i] for i in images],
            answer=entry.answer,
            group=entry.group,
            text=template.format(**values),
            template=template,
            values=values,
            who=entry.who,
            at=entry.at,
            seconds=entry.seconds,
            ticked=[positions[content] for content in entry.ticked if content in positions],
            retracted=retracted,
            retracted_by=retracted_by,
            is_conflict=is_conflict,
        )

    def conflict(self, conflict: Conflict, criterion: CriterionSession) -> ConflictResponse:
        """Return a conflict, and which of its answers the model finds least likely."""
        return ConflictResponse(
            answer=self.entry(conflict.entry, is_conflict=True),
            against=[self.entry(entry) for entry in conflict.against],
            images=list(conflict.images),
            suspected=criterion.review.suspected_answer(conflict),
        )

    def moved(self, answers: list[AnswerResult], criterion: CriterionSession) -> dict[str, Any]:
        """Return the fields of a `MoveResponse`."""
        rejected = {answer.id for answer in answers if not answer.accepted}
        conflicts = [one for one in criterion.review.conflicts() if one.entry.id in rejected]
        return {
            "entry": answers[-1].id,
            "n_accepted": sum(answer.accepted for answer in answers),
            "n_relations": sum(answer.n_settled for answer in answers),
            "conflicts": [self.conflict(one, criterion) for one in conflicts],
        }

    def label_issue(self, issue: LabelIssue) -> LabelIssueResponse:
        """Return an answer to review."""
        return LabelIssueResponse(
            answer=self.entry(issue.entry),
            image=issue.image,
            probability=issue.probability,
            proof=[self.entry(entry) for entry in issue.evidence],
        )

    def status(self, criterion: CriterionSession) -> StatusResponse:
        """Return the status of one criterion."""
        workspace, status, review = self._workspace, criterion.status, criterion.review
        results, quality, conflicts = status.results, status.quality, review.conflicts()
        return StatusResponse(
            version=__version__,
            criterion=criterion.name,
            n_images=len(self._images) - self._images.n_missing,
            n_missing=self._images.n_missing,
            n_skipped=len(workspace.skipped_files),
            n_answers=status.n_answers,
            n_answers_trained=0 if results is None else results.n_answers,
            counts=status.counts(),
            accuracy=_valid(AccuracyResponse, quality.get("accuracy")),
            advice=_valid(AdviceResponse, quality.get("advice")),
            n_violations=status.n_violations,
            n_conflicts=len(conflicts),
            conflicts=[self.conflict(one, criterion) for one in conflicts[:_N_CONFLICTS]],
            n_label_issues=len(review.label_issues()),
            results_version=status.version,
            n_groups=len(status.shown_groups()),
            unnamed=self._unnamed(criterion),
            worker=dict(workspace.worker_state),
            problem=workspace.folder_problem or workspace.problem,
        )


def _valid(model: type[Body], given: Mapping[str, Any] | None) -> Body | None:
    """Return the quality stored in a file of results; None if it has another form."""
    try:
        return None if given is None else model.model_validate(given)
    except ValidationError:
        return None


def json_response(body: BaseModel, status: int = 200) -> Response:
    """Return a response without FastAPI's second validation; for the most frequent requests."""
    return Response(body.model_dump_json(), status, media_type="application/json")


def group_name(group: Group) -> GroupName:
    """Return the name and colour of a group."""
    return GroupName(id=group.key, name=group.name, colour=group.colour)


def entry_template(entry: Entry, groups: Groups) -> tuple[str, dict[str, str | int]]:
    """Return an entry of the log in plain English: a text with placeholders, and their values.

    The page has translations of the text, and of the value `answer`.
    """
    key = entry.group or ""
    if entry.kind == "rename":
        return "group renamed to {group}", {"group": entry.answer}
    if entry.kind == "colour":
        return "colour of {group} changed", {"group": groups.name(key)}
    if entry.kind == "merge":
        name = groups[key].name if key in groups else key  # its own name, not the merged group's
        return "{group} merged into {other}", {"group": name, "other": groups.name(entry.groups[0])}
    if entry.kind == CONFIRM:
        answers = [_answer_text(one, groups) for one in entry.groups]
        return "“{answer}” confirmed", {"answer": "” “".join(answers)}
    if entry.kind == "grid" and entry.answer == TICKED:
        n, n_ticked = len(entry.images) - 1, len(entry.ticked)
        name = _UNNAMED_TEXT if key.startswith(UNNAMED) else groups.name(key)
        text = "{ticked} of {n} not {group}" if n_ticked else "all {n} {group}"
        return text, {"ticked": n_ticked, "n": n, "group": name}
    is_group = entry.answer not in RESERVED and not entry.answer.startswith(UNNAMED)
    name = "group" if is_group else "answer"
    return f"{{{name}}}", {name: _answer_text(entry.answer, groups)}


def entry_text(entry: Entry, groups: Groups) -> str:
    """Return an entry of the log in plain English."""
    template, values = entry_template(entry, groups)
    return template.format(**values)


def _answer_text(answer: str, groups: Groups) -> str:
    if answer in RESERVED:
        return _ANSWER_TEXTS[answer]
    return _UNNAMED_TEXT if answer.startswith(UNNAMED) else groups.name(answer)


def group_digits(offered: Sequence[str], all_keys: Sequence[str]) -> dict[str, int]:
    """Return the digit key for each offered group: its number, independent of the other groups.

    A group has the same digit in every question, so that a person can learn it. Groups without a
    number, or with a number above nine, take unused digits, first those after the last used one.

    Examples
    --------
    >>> group_digits(["g1", "g3", "like 7"], ["g1", "g2", "g3"])
    {'g1': 1, 'g3': 3, 'like 7': 4}
    """
    numbers = {key: number for number, key in enumerate(all_keys[:MAX_GROUPS], start=1)}
    digits = {key: numbers[key] for key in offered if key in numbers}
    last, used = max(digits.values(), default=0), set(digits.values())
    unused = (n for n in [*range(last + 1, MAX_GROUPS + 1), *range(1, last)] if n not in used)
    return {key: digits[key] if key in digits else next(unused) for key in offered}
