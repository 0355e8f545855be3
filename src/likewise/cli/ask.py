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
    from likewise.desk.desk import Desk
    from likewise.desk.sorting import Reply, Sorting
    from likewise.oracles.terminal import TerminalOracle


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
    from likewise.desk.desk import Desk
    from likewise.embedding.registry import check_encoder
    from likewise.oracles.terminal import TerminalOracle

    check_encoder(encoder or "bundled")
    opened = open_to_write(session)
    with Desk(opened, encoder=encoder or "bundled") as desk:
        if not opened.criteria:
            raise SessionError(
                f"{session} has no criterion yet; begin one with `likewise start FOLDER --by NAME`."
            )
        sorting = desk.sorting(opened.criterion(by).name)
        show = ImageViewer(desk.album.thumbnail, pictures)  # refuses before the long work
        with Bars() as bars:
            embedded(desk, bars, sorting.name)
        root = opened.root or Path()
        names = opened.images.names
        oracle = TerminalOracle(
            sorting.name,
            lambda i: str(root / names[i]) if show.is_blind else names[i],
            called=lambda key: _called(key, sorting),
            read=_read,
            who=who,
        )
        try:
            _converse(desk, sorting, oracle, n, show)
        finally:
            show.close()


def _called(key: str, sorting: "Sorting") -> str:
    return sorting.groups.name(key) if key in sorting.groups else "a group"


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
    desk: "Desk", sorting: "Sorting", oracle: "TerminalOracle", n: int | None, show: "ImageViewer"
) -> None:
    given, who = 0, oracle.who
    while n is None or given < n:
        questions = sorting.questions(1, oracle.who)
        if not questions:
            say("Nothing is left to ask: the answers settle every picture.")
            break
        show(questions[0])
        try:
            (answer,) = oracle.answer(questions)
        except _Undo:
            given = max(0, given - _undo(desk, sorting, oracle.who))
            continue
        except AnswersEndedError:
            break
        question = questions[0]
        reply = desk.answer(sorting.name, question, answer.answer, who, answer.seconds)
        _tell(question, reply, sorting)
        given += 1
    say(f"{count_noun(sum(sorting.tally().values()), 'answer')} in all; they are kept.")


def _undo(desk: "Desk", sorting: "Sorting", who: str) -> int:
    from likewise.desk.wording import says

    entry = desk.undo(sorting.name, who)
    if entry is None:
        say("There is nothing to take back.")
        return 0
    say(f"Taken back: {says(entry, sorting.groups)}.")
    if entry.is_answer:
        sorting.ask_again(desk.session.as_answer(entry).question, who)
    return 1


def _tell(question: "Question", reply: "Reply", sorting: "Sorting") -> None:
    from likewise.desk.openness import also_settled
    from likewise.desk.wording import says

    n_also = also_settled(question, reply.told)
    if n_also:
        say(f"  this also settled {count_noun(n_also, 'pair')}")
    if reply.conflict is not None:
        against = reply.conflict.against
        said = ", ".join(f"{says(one, sorting.groups)} (answer {one.id})" for one in against)
        note(
            f"  That contradicts earlier answers: {said}. It is set aside; say u to take it back, "
            "or take back one of the others on the page."
        )
