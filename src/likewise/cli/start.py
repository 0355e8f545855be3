"""`likewise start`: scan a folder, embed it, and open the page."""

import secrets
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.notes import note
from likewise.cli.options import EncoderName, Folder
from likewise.cli.output import say, some_words
from likewise.errors import InvalidParameterError, LikewiseError

if TYPE_CHECKING:
    from likewise.cli.bars import Bars
    from likewise.desk.desk import Desk
    from likewise.session.session import Session

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def start(
    folder: Folder,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help='The criterion, in your words: "season".')
    ] = "",
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", min=2, help="How many groups, if known.")
    ] = None,
    encoder: EncoderName = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address of the page.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 0,
    session: Annotated[
        Path | None, typer.Option("--session", metavar="PATH", help="Else FOLDER.likewise.")
    ] = None,
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
    from likewise.cli.bars import Bars
    from likewise.desk.desk import Desk
    from likewise.encoders.registry import DEFAULT as BUNDLED
    from likewise.encoders.registry import check_encoder
    from likewise.server.serve import bind

    check_encoder(encoder or BUNDLED)
    if host not in _LOOPBACK:
        note(
            f"Note: --host {host} lets everyone who can reach this machine and has the address "
            "with its token see all pictures of the folder and answer; do not share it further."
        )
    with bind(host, port) as bound:
        with Bars() as bars:
            opened = _open(folder, session, bars)
        _set_orientation(opened, by, k)
        desk = Desk(opened, encoder=encoder or BUNDLED, first=by)
        _serve(desk, bound, host, browser=not no_browser)


def _open(folder: Path, place: Path | None, bars: "Bars") -> "Session":
    from likewise.cli.pictures import read_several
    from likewise.session.session import Session
    from likewise.session.store import DATABASE

    whole = folder.expanduser().absolute()
    path = place or whole.with_name(f"{whole.name}.likewise")
    if not (path / DATABASE).exists():
        return Session.create(path, read_several(folder, bars))
    session = Session.open(path)  # before the scan: one that is busy is refused at once
    try:
        changes = session.sync(read_several(folder, bars, session.images.known_files))
    except BaseException:
        session.close()
        raise
    for what in ("added", "missing", "broken"):
        if getattr(changes, what):
            note(f"Note: {some_words(len(getattr(changes, what)), 'picture')} {what}.")
    return session


def _set_orientation(session: "Session", by: str, k: int | None) -> None:
    """Have the orientation in the session, and first in line to be shown."""
    known = {one.name: one for one in session.orientations}
    if not by and not known:
        session.close()
        raise InvalidParameterError(
            'It is not said by what to sort; add --by "season", or whatever you have in mind.'
        )
    if by and by not in known:
        session.add_orientation(by, k, two_groups=k == 2)
    elif by and k is not None and known[by].n_clusters != k:
        session.change_orientation(replace(known[by], n_clusters=k, two_groups=k == 2))


def _serve(desk: "Desk", bound: "socket.socket", host: str, *, browser: bool) -> None:
    from likewise.cli.bars import Bars
    from likewise.server.app import create_app
    from likewise.server.serve import serve

    token = secrets.token_urlsafe(24)
    shown = host if host not in ("0.0.0.0", "::") else "127.0.0.1"
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{bound.getsockname()[1]}/?token={token}"

    def ready() -> None:
        say(address)
        typer.get_text_stream("stdout").flush()
        if browser:
            webbrowser.open(address)

    with desk:
        for orientation in desk.session.orientations:
            desk.sorting(orientation.name)
        with Bars() as bars:
            embedded(desk, bars)
        serve(create_app(desk, token, [host]), bound, ready)


def embedded(desk: "Desk", bars: "Bars") -> None:
    """Wait until the trainer has all vectors; show how far it is.

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
            raise LikewiseError(
                f"The process that learns does not start ({desk.trouble}); check the memory of "
                "this machine and try again. Answers are kept."
            )
    stop()
    for one in desk.skipped:
        note(f"  {one['name']!r} {one['reason']}")
    if desk.state["event"] == "trouble":
        raise LikewiseError(str(desk.trouble))


if TYPE_CHECKING:
    import socket
