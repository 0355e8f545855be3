"""`likewise start`: scan a folder, embed it, and open the page."""

import secrets
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, note, say
from likewise.cli.options import EncoderName, Folder, SessionPlace
from likewise.cli.sessions import beside, check_pictures, open_to_write
from likewise.errors import InvalidParameterError, LikewiseError

if TYPE_CHECKING:
    import socket

    from likewise.cli.console import Bars
    from likewise.desk.desk import Desk
    from likewise.server.door import Door
    from likewise.session.session import Session

_FIRST_QUESTIONS = 5.0  # seconds in which the model may choose them; else they are random pairs


def start(
    folder: Folder,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help='The criterion, in your words: "season".')
    ] = "",
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", help="How many groups, if known.")
    ] = None,
    encoder: EncoderName = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address of the page.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 0,
    session: SessionPlace = None,
    host: Annotated[
        str, typer.Option("--host", help="Beyond 127.0.0.1 others can reach the page.")
    ] = "127.0.0.1",
) -> None:
    """Sort a folder of pictures by your own criterion, in the browser.

    Scans the folder, turns pictures into vectors, prints the address of the page on stdout once
    it is ready, and opens it. Answers are kept in FOLDER.likewise as they are given; the same
    command goes on from there. Nothing leaves this machine. Ctrl+C ends it.

    \b
    Example:
        likewise start photos/ --by season -k 4
        likewise start photos/ --by "in or out of doors" -k 2 --no-browser --port 8000
    """
    from likewise.cli.console import Bars
    from likewise.desk.desk import Desk
    from likewise.embedding.registry import DEFAULT as BUNDLED
    from likewise.embedding.registry import check_encoder
    from likewise.server.door import LOOPBACK, Door, bind_again, last_door

    check_pictures(folder, "start")
    place = session or beside(folder)
    _check_wishes(place, by, k)
    check_encoder(encoder or BUNDLED)
    is_ours = host in LOOPBACK
    if not is_ours:
        note(
            f"Note: --host {host} lets everyone who can reach this machine and has the address "
            "with its token see all pictures of the folder, answer and export; the connection is "
            "not encrypted, so do not share it further."
        )
    last = last_door(place) if is_ours else None
    with bind_again(host, port, last) as bound:
        with Bars() as bars:
            opened = _open(folder, place, bars)
        _set_orientation(opened, by, k)
        token = last.token if last is not None else secrets.token_urlsafe(24)
        door = Door(host, bound.getsockname()[1], token)
        desk = Desk(opened, encoder=encoder or BUNDLED, first=by)
        _serve(desk, bound, door, browser=not no_browser)


def _check_wishes(place: Path, by: str, k: int | None) -> None:
    """Refuse what cannot be meant before anything is read or made."""
    from likewise.session.database import DATABASE

    if not by.strip() and (by or not (place / DATABASE).exists()):
        raise InvalidParameterError(
            'It is not said by what to sort; add --by "season", or whatever you have in mind.'
        )
    if k is not None and k < 2:
        raise InvalidParameterError(
            f"-k {k} leaves nothing to sort; give 2 groups or more, or leave -k out if their "
            "number is not known."
        )


def _open(folder: Path, path: Path, bars: "Bars") -> "Session":
    from likewise.cli.sessions import read_several
    from likewise.session.create import check_can_create
    from likewise.session.database import DATABASE
    from likewise.session.session import Session

    if not (path / DATABASE).exists():
        check_can_create(path)
        return Session.create(path, read_several(folder, bars))
    session = open_to_write(path, folder)  # before the scan: one that is busy is refused at once
    try:
        changes = session.sync(read_several(folder, bars, session.images.known_files))
    except BaseException:
        session.close()
        raise
    for what in ("added", "missing", "broken"):
        if getattr(changes, what):
            note(f"Note: {count_noun(len(getattr(changes, what)), 'picture')} {what}.")
    return session


def _set_orientation(session: "Session", by: str, k: int | None) -> None:
    """Have the orientation in the session, and first in line to be shown."""
    n_pictures = len(session.images.askable)
    wrong = ""
    if not by and not session.criteria:
        wrong = 'It is not said by what to sort; add --by "season", or whatever you have in mind.'
    if k is not None and k > n_pictures:
        wrong = (
            f"-k {k} asks for more groups than the {n_pictures} different pictures there are; "
            "give fewer, or leave -k out."
        )
    if wrong:
        session.close()
        raise InvalidParameterError(wrong)
    if by:
        session.ensure_criterion(by, k)


def _serve(desk: "Desk", bound: "socket.socket", door: "Door", *, browser: bool) -> None:
    from likewise.cli.console import Bars
    from likewise.server.app import create_app
    from likewise.server.door import EVERYWHERE, LOOPBACK, keep_door
    from likewise.server.serve import serve

    def ready() -> None:
        if door.host in LOOPBACK:  # elsewhere a token is good for once
            keep_door(desk.session.path, door)
        say(door.address)
        if door.host in EVERYWHERE:
            note("Note: elsewhere, put the number of this machine in place of 127.0.0.1.")
        typer.get_text_stream("stdout").flush()
        if browser:
            webbrowser.open(door.address)

    with desk:
        for orientation in desk.session.criteria:
            desk.sorting(orientation.name)
        with Bars() as bars:
            embedded(desk, bars)
        serve(create_app(desk, door.token, [door.host]), bound, ready)


def embedded(desk: "Desk", bars: "Bars", by: str = "") -> None:
    """Wait until the trainer has all vectors, and a little for its questions; show how far it is.

    Raises
    ------
    LikewiseError
        If it says that it cannot go on.
    """
    tell = bars.step("embedding")

    def hear(message: dict[str, object]) -> None:
        if message["event"] == "embedding":
            tell(int(str(message["done"])), int(str(message["total"])))

    stop = desk.listen(hear)
    while not desk.is_ready.wait(0.2):
        if desk.n_deaths > 3:
            why = desk.state.get("reason")
            raise LikewiseError(
                f"The process that learns does not start ({why}); check the memory of "
                "this machine and try again. Answers are kept."
            )
    stop()
    for one in desk.skipped:
        note(f"  {one['name']!r} {one['reason']}")
    if desk.state["event"] == "trouble":
        raise LikewiseError(str(desk.trouble))
    _await_questions(desk, by)


def _await_questions(desk: "Desk", by: str) -> None:
    """Wait a little until the model has chosen what to ask first."""
    line, end = desk.sorting(by).line, time.monotonic() + _FIRST_QUESTIONS
    while not len(line) and desk.state["event"] != "trained" and time.monotonic() < end:
        time.sleep(0.05)
