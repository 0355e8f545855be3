"""`likewise start`: scan a folder, embed its images, and serve the page."""

import time
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, print_line, print_note
from likewise.cli.options import EncoderName, Folder, SessionPlace
from likewise.cli.sessions import check_image_folder, default_session_path, open_to_write
from likewise.errors import InvalidParameterError, LikewiseError

if TYPE_CHECKING:
    import socket

    from likewise.cli.console import ProgressBars
    from likewise.server.page_address import PageAddress
    from likewise.session.session import Session
    from likewise.workspace.workspace import Workspace

_QUESTION_TIMEOUT = 5.0  # seconds the model has to select the first questions; then random pairs
_MAX_WORKER_EXITS = 3
_MISSING_BY = "Missing --by: name the criterion, for example --by season."

KeepToken = Annotated[
    bool,
    typer.Option(
        "--keep-token", help="Keep the token of the last start: open browser tabs stay valid."
    ),
]


def start(
    folder: Folder,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help='The criterion, for example "season".')
    ] = "",
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", help="Number of groups, if known.")
    ] = None,
    encoder: EncoderName = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address of the page.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the page; 0: any free port.")
    ] = 0,
    session: SessionPlace = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on; with others than 127.0.0.1, others can connect."
        ),
    ] = "127.0.0.1",
    keep_token: KeepToken = False,
) -> None:
    """Group a folder of images by your own criterion, in the browser.

    Scans the folder, embeds the images, prints the address of the page on stdout as soon as it
    is ready, and opens it. Every answer is saved at once in FOLDER.likewise; run the same command
    to continue. Nothing leaves this machine. Ctrl+C stops it.

    \b
    Example:
        likewise start photos/ --by season -k 4
        likewise start photos/ --by "indoors or outdoors" -k 2 --no-browser --port 8000
    """
    from likewise.cli.console import ProgressBars
    from likewise.embedding.registry import DEFAULT_ENCODER as BUNDLED
    from likewise.embedding.registry import check_encoder
    from likewise.server.page_address import PageAddress, bind_preferred, choose_token
    from likewise.workspace.workspace import Workspace

    check_image_folder(folder, "start")
    path = session or default_session_path(folder)
    _check_options(path, by, k)
    check_encoder(encoder or BUNDLED)
    last = _last_address(path, host)
    with bind_preferred(host, port, last) as bound:
        with ProgressBars() as bars:
            opened = _open_session(folder, path, bars)
        _ensure_criterion(opened, by, k)
        page = PageAddress(host, bound.getsockname()[1], choose_token(last, keep=keep_token))
        workspace = Workspace(opened, encoder=encoder or BUNDLED, default_criterion=by)
        _serve(workspace, bound, page, browser=not no_browser)


def _last_address(path: Path, host: str) -> "PageAddress | None":
    """Return the last address of the page; for other hosts, None, and print what is exposed."""
    from likewise.server.page_address import LOOPBACK, load_address

    if host in LOOPBACK:
        return load_address(path)
    print_note(
        f"Note: --host {host} lets everyone who can reach this machine and has the address "
        "with its token see all images of the folder, answer and export; the connection is "
        "not encrypted. Do not share the address further."
    )
    return None


def _check_options(path: Path, by: str, k: int | None) -> None:
    """Check the options before anything is read or created."""
    from likewise.session.database import DATABASE

    if not by.strip() and (by or not (path / DATABASE).exists()):
        raise InvalidParameterError(_MISSING_BY)
    if k is not None and k < 2:
        raise InvalidParameterError(
            f"-k must be an integer >= 2, got {k}; leave -k out if the number of groups is not "
            "known."
        )


def _open_session(folder: Path, path: Path, bars: "ProgressBars") -> "Session":
    """Create the session, or open it and update its images."""
    from likewise.cli.sessions import read_images
    from likewise.session.create import check_can_create
    from likewise.session.database import DATABASE
    from likewise.session.session import Session

    if not (path / DATABASE).exists():
        check_can_create(path)
        return Session.create(path, read_images(folder, bars, minimum=2))
    session = open_to_write(path, folder)  # before the scan: raises at once if it is in use
    try:
        changes = session.sync(read_images(folder, bars, session.images.known_files, minimum=2))
    except BaseException:
        session.close()
        raise
    for change in ("added", "missing", "broken"):
        if getattr(changes, change):
            print_note(f"Note: {count_noun(len(getattr(changes, change)), 'image')} {change}.")
    return session


def _ensure_criterion(session: "Session", by: str, k: int | None) -> None:
    """Create the criterion if the session does not have it."""
    n_images = len(session.images.askable)
    problem = ""
    if not by and not session.criteria:
        problem = _MISSING_BY
    if k is not None and k > n_images:
        problem = (
            f"-k must be at most the number of different images, {n_images}, got {k}; give fewer "
            "groups, or leave -k out."
        )
    if problem:
        session.close()
        raise InvalidParameterError(problem)
    if by:
        session.ensure_criterion(by, k)


def _serve(
    workspace: "Workspace", bound: "socket.socket", page: "PageAddress", *, browser: bool
) -> None:
    """Serve the page until Ctrl+C."""
    from likewise.cli.console import ProgressBars
    from likewise.server.app import create_app
    from likewise.server.page_address import ANY_HOST, LOOPBACK, save_address
    from likewise.server.serve import serve

    def on_ready() -> None:
        if page.host in LOOPBACK:  # for other hosts, the token cannot be kept
            save_address(workspace.session.path, page)
        print_line(page.url)
        if page.host in ANY_HOST:
            print_note("Note: on other machines, replace 127.0.0.1 by the address of this one.")
        typer.get_text_stream("stdout").flush()
        if browser:  # other users of the machine can read the command line of the browser
            webbrowser.open(replace(page, token=app.state.tokens.issue_one_time()).url)

    with workspace:
        app = create_app(workspace, page.token, [page.host])
        for criterion in workspace.session.criteria:
            workspace.criterion(criterion.name)
        with ProgressBars() as bars:
            wait_for_embeddings(workspace, bars)
        serve(app, bound, on_ready)


def wait_for_embeddings(workspace: "Workspace", bars: "ProgressBars", by: str = "") -> None:
    """Wait until the worker has all embeddings, and a short time for its first questions.

    Raises
    ------
    LikewiseError
        If the worker reports that it cannot continue.
    """
    update = bars.step("embedding")

    def on_event(message: dict[str, object]) -> None:
        if message["event"] == "embedding":
            update(int(str(message["done"])), int(str(message["total"])))

    unsubscribe = workspace.events.subscribe(on_event)
    while not workspace.is_ready.wait(0.2):
        if workspace.n_worker_exits > _MAX_WORKER_EXITS:
            reason = workspace.worker_state.get("reason")
            raise LikewiseError(
                f"The worker process does not start ({reason}); check the memory of this machine "
                "and try again. All answers are saved."
            )
    unsubscribe()
    for image in workspace.skipped_images:
        print_note(f"  {image['name']!r} {image['reason']}")
    if workspace.worker_state["event"] == "problem":
        raise LikewiseError(str(workspace.problem))
    _wait_for_questions(workspace, by)


def _wait_for_questions(workspace: "Workspace", by: str) -> None:
    """Wait a short time until the model has selected the first questions."""
    queue, end = workspace.criterion(by).queue, time.monotonic() + _QUESTION_TIMEOUT
    while (
        not len(queue) and workspace.worker_state["event"] != "trained" and time.monotonic() < end
    ):
        time.sleep(0.05)
