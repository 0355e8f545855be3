"""`likewise ask`: answer the questions of the page in the terminal."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, print_line, print_note
from likewise.cli.options import By, EncoderName, Offline, SessionPath
from likewise.cli.sessions import open_to_write
from likewise.errors import AnswersEndedError, SessionError
from likewise.operating_system import pressed_key

if TYPE_CHECKING:
    from likewise.cli.terminal_images import ImageViewer
    from likewise.constraints.question import Question
    from likewise.oracles.terminal import TerminalOracle
    from likewise.workspace.criterion import AnswerOutcome, CriterionSession
    from likewise.workspace.workspace import Workspace


ShowImages = Annotated[
    str,
    typer.Option(
        "--images",
        "--pictures",
        metavar="auto|kitty|iterm|sixel|blocks|open|names",
        help="How images are shown.",
    ),
]


_ARROWS = {"\x1b[D": "s", "\x1b[C": "d"}  # left and right, as on the page


class _UndoRequest(Exception):  # noqa: N818  # not an error: the person typed u
    """The person wants to undo the last answer."""


def ask(
    session: SessionPath,
    by: By = "",
    encoder: EncoderName = None,
    offline: Offline = False,
    n: Annotated[
        int | None, typer.Option("-n", "--questions", min=1, help="Maximum number of questions.")
    ] = None,
    who: Annotated[
        str, typer.Option("--who", metavar="NAME", help="Your name, saved with the answers.")
    ] = "",
    images: ShowImages = "auto",
) -> None:
    """Answer the questions of a session in the terminal.

    The questions are those of the page. Images are shown in the terminal if it supports a
    protocol (kitty, iTerm2, sixel), else as coloured blocks, or opened in another program. Every
    answer is saved at once; most need one key, without Enter. u undoes the last answer, also one
    of an earlier day.

    \b
    Example:
        likewise ask photos.likewise --by season
    """
    from likewise.cli.console import ProgressBars
    from likewise.cli.start import wait_for_embeddings
    from likewise.cli.terminal_images import ImageViewer
    from likewise.embedding.registry import check_encoder
    from likewise.images.collection import displayed_name
    from likewise.oracles.terminal import TerminalOracle
    from likewise.workspace.workspace import Workspace

    check_encoder(encoder or "bundled")
    opened = open_to_write(session)
    with Workspace(opened, encoder=encoder or "bundled") as workspace:
        if not opened.criteria:
            raise SessionError(
                f"{session} has no criterion; create one with `likewise start FOLDER --by NAME`."
            )
        criterion = workspace.criterion(opened.criterion(by).name)
        viewer = ImageViewer(workspace.thumbnails.thumbnail, images)  # checks the option first
        with ProgressBars() as bars:
            wait_for_embeddings(workspace, bars, criterion.name)
        root = opened.root or Path()
        names = [*map(displayed_name, opened.images.names)]
        oracle = TerminalOracle(
            criterion.name,
            lambda i: str(root / names[i]) if viewer.shows_names_only else names[i],
            called=lambda key: _group_name(key, criterion),
            read=_read,
            read_key=_read_key if sys.stdin.isatty() else None,
            who=who,
        )
        try:
            _ask_questions(workspace, criterion, oracle, n, viewer)
        finally:
            viewer.close()


def _group_name(key: str, criterion: "CriterionSession") -> str:
    return criterion.status.groups.name(key) if key in criterion.status.groups else "a group"


def _read(prompt: str) -> str:
    """Read a line from stdin; raise if it is an undo."""
    _print_prompt(prompt)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if line.strip().lower() in ("u", ":u"):
        raise _UndoRequest
    return line


def _print_prompt(prompt: str) -> None:
    """Print a prompt without a line end."""
    sys.stdout.write(prompt)
    sys.stdout.flush()


def _read_key(prompt: str) -> str:
    """Read one key from the terminal, without Enter; raise if it is an undo."""
    pressed = pressed_key(lambda: _print_prompt(prompt))
    key = _ARROWS.get(pressed, pressed)
    if key in ("", "\x04"):  # the end of the input, or Ctrl+D
        raise EOFError
    sys.stdout.write(f"{key if key.isprintable() else '?'}\n")
    if key.lower() == "u":
        raise _UndoRequest
    return key


def _ask_questions(
    workspace: "Workspace",
    criterion: "CriterionSession",
    oracle: "TerminalOracle",
    n: int | None,
    viewer: "ImageViewer",
) -> None:
    """Ask until `n` questions are answered, none is left, or the person stops."""
    n_answered, who = 0, oracle.who
    while n is None or n_answered < n:
        questions = criterion.questions(1, oracle.who)
        if not questions:
            print_line("No questions left: the answers determine the group of every image.")
            break
        viewer(questions[0])
        try:
            (answer,) = oracle.answer(questions)
        except _UndoRequest:
            n_answered = max(0, n_answered - _undo(workspace, criterion, oracle.who))
            continue
        except AnswersEndedError:
            break
        question = questions[0]
        outcome = criterion.answer(
            question, answer.answer, who, answer.seconds, ticked=answer.ticked
        )
        _print_outcome(question, outcome, criterion)
        n_answered += 1
    print_line(f"{count_noun(criterion.status.n_answers, 'answer')} in total, all saved.")


def _undo(workspace: "Workspace", criterion: "CriterionSession", who: str) -> int:
    """Undo the last change of a person; return the number of answers undone."""
    from likewise.server.presenters import entry_text

    entry = criterion.undo(who)
    if entry is None:
        print_line("There is nothing to undo.")
        return 0
    print_line(f"Undone: {entry_text(entry, criterion.status.groups)}.")
    if entry.is_answer:
        criterion.ask_again(workspace.session.as_answer(entry).question, who)
    return 1


def _print_outcome(
    question: "Question", outcome: "AnswerOutcome", criterion: "CriterionSession"
) -> None:
    """Print what an answer implies, or which answers it contradicts."""
    from likewise.server.presenters import entry_text

    n_others = outcome.result.n_implied(question)
    if n_others:
        print_line(f"  this implies the relation of {count_noun(n_others, 'other pair')}")
    if outcome.conflict is not None:
        against = outcome.conflict.against
        earlier = ", ".join(
            f"{entry_text(one, criterion.status.groups)} (answer {one.id})" for one in against
        )
        print_note(
            f"  This answer contradicts earlier ones: {earlier}. It is saved as a conflict; type "
            "u to undo it, or retract one of the others on the page."
        )
