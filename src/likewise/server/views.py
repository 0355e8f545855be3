"""From the desk's words to the JSON of the page."""

from dataclasses import asdict
from typing import Any

from likewise import __version__
from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Question
from likewise.desk.conflicts import Conflict, compared
from likewise.desk.desk import Desk
from likewise.desk.slips import likely_slip
from likewise.desk.sorting import Sorting
from likewise.desk.suspicion import Doubt
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
from likewise.session.results import Results
from likewise.session.session import Session

_GREY = "#777777"
_N_ALSO = 3
_N_CONFLICTS = 5  # shown at a time


class Views:
    """Makes the JSON for one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session: Session = desk.session

    def question(self, question: Question, sorting: Sorting) -> QuestionOut:
        """Return a question with all that is shown beside it."""
        groups = sorting.groups
        digits = digits_of(question.groups, [group.key for group in groups.shown()])
        shown = [
            ShownGroup(
                key=key,
                name=groups.name(key) if key in groups else "like this",
                colour=groups[key].colour if key in groups else _GREY,
                digit=digits[key],
                image=face,
                also=self._also(face, sorting, question.images),
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

    def questions(self, sorting: Sorting, n: int, holder: str) -> list[QuestionOut]:
        """Return the next questions of one person."""
        return [self.question(one, sorting) for one in sorting.questions(n, holder)]

    def _also(self, face: int, sorting: Sorting, besides: tuple[int, ...]) -> list[int]:
        """Return other pictures that answers tie to the one that stands for a group."""
        tied = sorting.tied_to(face, _N_ALSO + len(besides))
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
        images = [positions[content] for content in compared(entry) if content in positions]
        name = next(o.name for o in self._session.criteria if o.id == entry.criterion)
        return EntryOut(
            id=entry.id,
            kind=entry.kind,
            images=images,
            names=[names[i] for i in images],
            answer=entry.answer,
            says=says(entry, self._desk.sorting(name).groups),
            who=entry.who,
            at=entry.at,
            seconds=entry.seconds,
            stands=stands,
            aside=aside,
            taken_back_by=taken_back_by,
        )

    def conflict(self, conflict: Conflict, results: Results | None) -> ConflictOut:
        """Return a contradiction, and what a model says of it."""
        return ConflictOut(
            answer=self.entry(conflict.entry, aside=True),
            against=[self.entry(entry) for entry in conflict.against],
            images=list(conflict.images),
            likely=likely_slip(
                (conflict.entry, *conflict.against), results, self._session.images.positions
            ),
        )

    def moved(self, told: list[AnswerResult], sorting: Sorting) -> dict[str, Any]:
        """Return what became of pictures that were moved."""
        aside = {one.id for one in told if not one.accepted}
        found = [one for one in sorting.conflicts() if one.entry.id in aside]
        return {
            "n_taken": sum(one.accepted for one in told),
            "n_settled": sum(one.n_settled for one in told),
            "conflicts": [self.conflict(one, sorting.results) for one in found],
        }

    def doubt(self, doubt: Doubt) -> DoubtOut:
        """Return an answer worth a second look."""
        return DoubtOut(
            answer=self.entry(doubt.entry),
            surprise=doubt.surprise,
            chain=[self.entry(entry) for entry in doubt.chain],
        )

    def status(self, sorting: Sorting) -> StatusOut:
        """Return all that is always visible."""
        advice, tally = sorting.advice(), sorting.tally()
        results, conflicts = sorting.results, sorting.conflicts()
        return StatusOut(
            release=__version__,
            orientation=sorting.name,
            n_images=len(self._session.images) - self._session.images.n_missing,
            n_answers=sum(tally.values()),
            tally=tally,
            agreement=None if advice is None else AgreementOut(**asdict(advice)),
            n_violations=sorting.n_violations,
            conflicts=[self.conflict(one, results) for one in conflicts[:_N_CONFLICTS]],
            n_conflicts=len(conflicts),
            n_doubts=len(sorting.doubts()),
            missing=self._session.images.n_missing,
            version=sorting.version,
            n_trained=0 if results is None else results.n_answers,
            trainer=dict(self._desk.state),
            trouble=self._desk.folder_trouble or self._desk.trouble,
        )
