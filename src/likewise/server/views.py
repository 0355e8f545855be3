"""From the desk's words to the JSON of the page."""

from dataclasses import asdict
from typing import Any

from likewise import __version__
from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Question
from likewise.desk.wording import digits_of, says
from likewise.server.replies import (
    AgreementOut,
    ConflictOut,
    DoubtOut,
    EntryOut,
    QuestionOut,
    ShownGroup,
    StatusOut,
)
from likewise.session.log import Entry
from likewise.session.session import Session
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.review import Conflict, LabelIssue, compared_images
from likewise.workspace.workspace import Workspace

_GREY = "#777777"
_N_ALSO = 3
_N_CONFLICTS = 5  # shown at a time


class Views:
    """Makes the JSON for one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._session: Session = workspace.session

    def question(self, question: Question, criterion: CriterionSession) -> QuestionOut:
        """Return a question with all that is shown beside it."""
        groups = criterion.status.groups
        digits = digits_of(question.groups, [group.key for group in groups.shown()])
        shown = [
            ShownGroup(
                key=key,
                name=groups.name(key) if key in groups else "like this",
                colour=groups[key].colour if key in groups else _GREY,
                digit=digits[key],
                image=face,
                also=self._also(face, criterion, question.images),
            )
            for key, face in zip(question.groups, question.images[1:], strict=False)
        ]
        return QuestionOut(
            kind=question.kind,
            images=list(question.images),
            groups=list(question.groups),
            names=[self._session.images.names[i] for i in question.images],
            shown=shown,
        )

    def questions(self, criterion: CriterionSession, n: int, holder: str) -> list[QuestionOut]:
        """Return the next questions of one person."""
        return [self.question(one, criterion) for one in criterion.questions(n, holder)]

    def _also(self, face: int, criterion: CriterionSession, besides: tuple[int, ...]) -> list[int]:
        """Return other pictures that answers tie to the one that stands for a group."""
        tied = criterion.status.must_linked(face, _N_ALSO + len(besides))
        return [i for i in tied if i not in besides][:_N_ALSO]

    def entry(
        self,
        entry: Entry,
        *,
        stands: bool = True,
        aside: bool = False,
        taken_back_by: int | None = None,
    ) -> EntryOut:
        """Return a line of the log."""
        positions, names = self._session.images.positions, self._session.images.names
        images = [positions[content] for content in compared_images(entry) if content in positions]
        name = next(o.name for o in self._session.criteria if o.id == entry.criterion)
        return EntryOut(
            id=entry.id,
            kind=entry.kind,
            images=images,
            names=[names[i] for i in images],
            answer=entry.answer,
            says=says(entry, self._workspace.criterion(name).status.groups),
            who=entry.who,
            at=entry.at,
            seconds=entry.seconds,
            stands=stands,
            aside=aside,
            taken_back_by=taken_back_by,
        )

    def conflict(self, conflict: Conflict, criterion: CriterionSession) -> ConflictOut:
        """Return a contradiction, and what a model says of it."""
        return ConflictOut(
            answer=self.entry(conflict.entry, aside=True),
            against=[self.entry(entry) for entry in conflict.against],
            images=list(conflict.images),
            likely=criterion.review.suspected_answer(conflict),
        )

    def moved(self, told: list[AnswerResult], criterion: CriterionSession) -> dict[str, Any]:
        """Return what became of pictures that were moved."""
        aside = {one.id for one in told if not one.accepted}
        found = [one for one in criterion.review.conflicts() if one.entry.id in aside]
        return {
            "n_taken": sum(one.accepted for one in told),
            "n_settled": sum(one.n_settled for one in told),
            "conflicts": [self.conflict(one, criterion) for one in found],
        }

    def doubt(self, doubt: LabelIssue) -> DoubtOut:
        """Return an answer worth a second look."""
        return DoubtOut(
            answer=self.entry(doubt.entry),
            surprise=doubt.probability,
            chain=[self.entry(entry) for entry in doubt.evidence],
        )

    def status(self, criterion: CriterionSession) -> StatusOut:
        """Return all that is always visible."""
        advice, tally = criterion.status.progress(), criterion.status.counts()
        results, conflicts = criterion.status.results, criterion.review.conflicts()
        return StatusOut(
            release=__version__,
            orientation=criterion.name,
            n_images=len(self._session.images) - self._session.images.n_missing,
            n_answers=criterion.status.n_answers,
            tally=tally,
            agreement=None if advice is None else AgreementOut(**asdict(advice)),
            n_violations=criterion.status.n_violations,
            conflicts=[self.conflict(one, criterion) for one in conflicts[:_N_CONFLICTS]],
            n_conflicts=len(conflicts),
            n_doubts=len(criterion.review.label_issues()),
            missing=self._session.images.n_missing,
            version=criterion.status.version,
            n_trained=0 if results is None else results.n_answers,
            trainer=dict(self._workspace.worker_state),
            trouble=self._workspace.folder_problem or self._workspace.problem,
        )
