"""`likewise ask`: the page's questions in the terminal."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, note, say
from likewise.cli.options import By, EncoderName, SessionPath
from likewise.cli.sessions import open_to_write
from likewise.errors import AnswersEndedError, SessionError

if TYPE_CHECKING:
    from likewise.cli.terminal_images import ImageViewer
    from likewise.constraints.question import Question
    from likewise.oracles.terminal import TerminalOracle
    from likewise.workspace.criterion import AnswerOutcome, CriterionSession
    from likewise.workspace.workspace import Workspace


class _Undo(Exception):  # noqa: N818  # no error: a person said so
    """The person wants the last answer back."""


def ask(
    session: SessionPath,
    by: By = "",
    encoder: EncoderName = None,
    n: Annotated[
        int | None, typer.Option("-n", "--questions", min=1, help="Stop after so many.")
    ] = None,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="Noted with answers.")] = "",
    pictures: Annotated[
        str,
        typer.Option(
            "--pictures",
            metavar="auto|kitty|iterm|sixel|blocks|open|names",
            help="How pictures are shown.",
        ),
    ] = "auto",
) -> None:
    """Answer the questions of a session in the terminal.

    The same questions as on the page. Pictures are drawn where the terminal can (kitty, iTerm2,
    sixel, else coloured blocks), or opened beside it. Every answer is kept at once, and u takes
    back the last one, also those of another day.

    \b
    Example:
        likewise ask photos.likewise --by season
    """
    from likewise.cli.console import Bars
    from likewise.cli.start import embedded
    from likewise.cli.terminal_images import ImageViewer
    from likewise.encoders.registry import check_encoder
    from likewise.oracles.terminal import TerminalOracle
    from likewise.workspace.workspace import Workspace

    check_encoder(encoder or "bundled")
    opened = open_to_write(session)
    with Workspace(opened, encoder=encoder or "bundled") as workspace:
        if not opened.criteria:
            raise SessionError(
                f"{session} has no criterion yet; begin one with `likewise start FOLDER --by NAME`."
            )
        criterion = workspace.criterion(opened.criterion(by).name)
        show = ImageViewer(workspace.thumbnails.thumbnail, pictures)  # refuses before the long work
        with Bars() as bars:
            embedded(workspace, bars, criterion.name)
        root = opened.root or Path()
        names = opened.images.names
        oracle = TerminalOracle(
            criterion.name,
            lambda i: str(root / names[i]) if show.is_blind else names[i],
            called=lambda key: _called(key, criterion),
            read=_read,
            who=who,
        )
        try:
            _converse(workspace, criterion, oracle, n, show)
        finally:
            show.close()


def _called(key: str, criterion: "CriterionSession") -> str:
    return criterion.status.groups.name(key) if key in criterion.status.groups else "a group"


def _read(prompt: str) -> str:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if line.strip().lower() in ("u", ":u"):
        raise _Undo
    return line


def _converse(
    workspace: "Workspace",
    criterion: "CriterionSession",
    oracle: "TerminalOracle",
    n: int | None,
    show: "ImageViewer",
) -> None:
    given, who = 0, oracle.who
    while n is None or given < n:
        questions = criterion.questions(1, oracle.who)
        if not questions:
            say("Nothing is left to ask: the answers settle every picture.")
            break
        show(questions[0])
        try:
            (answer,) = oracle.answer(questions)
        except _Undo:
            given = max(0, given - _undo(workspace, criterion, oracle.who))
            continue
        except AnswersEndedError:
            break
        question = questions[0]
        reply = criterion.answer(question, answer.answer, who, answer.seconds)
        _tell(question, reply, criterion)
        given += 1
    say(f"{count_noun(criterion.status.n_answers, 'answer')} in all; they are kept.")


def _undo(workspace: "Workspace", criterion: "CriterionSession", who: str) -> int:
    from likewise.server.presenters import entry_text

    entry = criterion.undo(who)
    if entry is None:
        say("There is nothing to take back.")
        return 0
    say(f"Taken back: {entry_text(entry, criterion.status.groups)}.")
    if entry.is_answer:
        criterion.ask_again(workspace.session.as_answer(entry).question, who)
    return 1


def _tell(question: "Question", reply: "AnswerOutcome", criterion: "CriterionSession") -> None:
    from likewise.server.presenters import entry_text
    from likewise.workspace.question_queue import n_implied

    n_also = n_implied(question, reply.result)
    if n_also:
        say(f"  this also settled {count_noun(n_also, 'pair')}")
    if reply.conflict is not None:
        against = reply.conflict.against
        said = ", ".join(
            f"{entry_text(one, criterion.status.groups)} (answer {one.id})" for one in against
        )
        note(
            f"  That contradicts earlier answers: {said}. It is set aside; say u to take it back, "
            "or take back one of the others on the page."
        )
