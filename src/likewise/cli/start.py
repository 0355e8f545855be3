"""`likewise start`: scan a folder, embed its images, and serve the page."""

import math
import time
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, print_line, print_note
from likewise.cli.options import EncoderName, Offline, SessionPlace, Words
from likewise.cli.sessions import (
    check_image_folder,
    check_words,
    local_images,
    name_groups,
    open_to_write,
    open_vectors,
    session_of_vectors,
)
from likewise.errors import InvalidParameterError, LikewiseError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from likewise.cli.console import ProgressBars
    from likewise.server.security import AccessTokens, Person
    from likewise.server.serve import PageAddress
    from likewise.session.session import Session
    from likewise.workspace.workspace import Workspace

_QUESTION_TIMEOUT = 5.0  # seconds the model has to select the first questions; then random pairs
_MAX_WORKER_EXITS = 3
_FIRST_WAIT = 5.0  # seconds for the first embeddings, before the page opens without them
_FIRST_SECONDS = 2.0  # for reading images before the page opens; the others are read meanwhile
_MAX_FIRST_SCAN = 5_000  # images of a session whose folder is scanned before the page opens

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="[FOLDER]",
        help="Folder of images, archive or address; without it, choose on a page.",
    ),
]
By = Annotated[
    str, typer.Option("--by", metavar="NAME", help='The criterion, for example "season".')
]
Clusters = Annotated[
    int | None, typer.Option("-k", "--clusters", help="Number of groups, if known.")
]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Only print the address of the page.")
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port of the page; 0: any free port.")
]
Host = Annotated[
    str,
    typer.Option(
        "--host", help="Address to listen on; other machines can reach all but 127.0.0.1."
    ),
]
Roots = Annotated[
    list[Path] | None,
    typer.Option("--root", help="Folder that the page may choose images from; default: your home."),
]
Lan = Annotated[
    bool, typer.Option("--lan", help="Let a phone in the local network answer; prints a QR code.")
]
KeepToken = Annotated[
    bool,
    typer.Option(
        "--keep-token", help="Keep the token of the last start: open browser tabs stay valid."
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        metavar="FILE|DIR",
        help="Vectors: .npy or Parquet file, folder or address of Parquet files.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", min=2, help="With --vectors: rows in the session; default 20,000."),
]
People = Annotated[
    list[str] | None,
    typer.Option(
        "--person",
        metavar="NAME=ROLE",
        help="Print a link for a person; roles: answer, review, admin. Repeatable.",
    ),
]


def start(
    source: Source = None,
    by: By = "",
    k: Clusters = None,
    encoder: EncoderName = None,
    words: Words = None,
    offline: Offline = False,
    no_browser: NoBrowser = False,
    port: Port = 0,
    session: SessionPlace = None,
    host: Host = "127.0.0.1",
    keep_token: KeepToken = False,
    root: Roots = None,
    lan: Lan = False,
    vectors: Vectors = None,
    sample: Sample = None,
    person: People = None,
) -> None:
    """Group a folder of images by your own criterion, in the browser.

    Scans the folder, embeds the images, prints the address of the page on stdout as soon as it
    is ready, and opens it. Every answer is saved at once in FOLDER.likewise; run the same command
    to continue. Nothing leaves this machine. Ctrl+C stops it. Without a folder, a page shows your
    recent sessions and lets you choose one; without --by, the page asks for it.

    With --vectors, any number of images is grouped by precomputed vectors: the session contains a
    random sample of them, and `likewise predict SESSION VECTORS` assigns all others to groups. The
    images are then read from FOLDER when they are shown; without it, their names are shown.

    With --person NAME=ROLE, each person gets a link. Their answers are recorded under this name,
    and the role determines what they may do. One question in eight is asked of two people, to
    measure their agreement.

    \b
    Example:
        likewise start
        likewise start photos/ --by season
        likewise start photos/ --by "indoors or outdoors" -k 2 --no-browser --port 8000
        likewise start photos/ --by colour --words red,green --encoder hf:ORG/CLIP
        likewise start s3://bucket/photos --vectors s3://bucket/vectors --by season
    """
    from likewise.embedding.registry import DEFAULT_ENCODER as BUNDLED
    from likewise.server.serve import ANY_HOST, PageAddress, bind_preferred, choose_token
    from likewise.workspace.workspace import Workspace

    host = ANY_HOST[0] if lan and host == "127.0.0.1" else host
    roots, people = list(root or []), _people(person)
    _check_sample(sample, vectors)
    if source is None and vectors is None:
        _check_no_folder(by, k, session, words)
        _serve_start_page(roots, host, port, browser=not no_browser)
        return
    _check_options(by, k, words, vectors)
    path, open_session = _session_to_open(source, session, encoder, words, vectors, sample)
    last = _last_address(path, host)
    with bind_preferred(host, port, last) as bound:
        opened, is_complete = open_session()
        _ensure_criterion(opened, by, k, words)
        page = PageAddress(host, bound.getsockname()[1], choose_token(last, keep=keep_token))
        workspace = Workspace(
            opened,
            encoder=encoder or BUNDLED,
            default_criterion=by,
            scan_at_once=not is_complete,
            pictures=source if vectors is not None else None,
        )
        _serve(workspace, bound, page, roots, people, browser=not no_browser)


def _checked_images(source: str, encoder: str | None, words: str | None) -> Path:
    """Return the folder or table of images, after checking it, the encoder and the words."""
    from likewise.embedding.registry import DEFAULT_ENCODER, check_encoder

    folder = local_images(source)
    check_image_folder(folder, "start")
    check_encoder(encoder or DEFAULT_ENCODER)
    check_words(words, encoder or DEFAULT_ENCODER)
    return folder


def _check_sample(sample: int | None, vectors: str | None) -> None:
    if sample is not None and vectors is None:
        raise InvalidParameterError("--sample needs --vectors; all images of a folder are used.")


def _people(given: list[str] | None) -> "list[Person]":
    """Return the people of --person."""
    from likewise.server.security import Person

    people = [Person.parse(one) for one in given or ()]
    if len({one.name for one in people}) < len(people):
        raise InvalidParameterError("--person must name each person once; use different names.")
    return people


def _check_no_folder(by: str, k: int | None, session: Path | None, words: str | None) -> None:
    """Raise if an option was given that needs a folder."""
    given = {"--by": by, "-k": k, "--session": session, "--words": words}
    option = next((name for name, value in given.items() if value), None)
    if option is not None:
        raise InvalidParameterError(
            f"{option} needs a folder: likewise start FOLDER {option} ...; without a folder, "
            "everything is chosen on the page."
        )


def _serve_start_page(roots: list[Path], host: str, port: int, *, browser: bool) -> None:
    """Serve the page that lists recent sessions and folders, until Ctrl+C."""
    from likewise.server.app import create_start_app
    from likewise.server.launcher import Launcher
    from likewise.server.serve import PageAddress, bind, choose_token, serve

    _last_address(Path(), host)  # prints what is exposed
    for one in roots:
        if not one.expanduser().is_dir():
            raise InvalidParameterError(f"--root must be a folder, got {one}; check the path.")
    with bind(host, port) as bound:
        page = PageAddress(host, bound.getsockname()[1], choose_token(None, keep=False))
        app = create_start_app(Launcher(roots), page.token, [host])
        serve(app, bound, lambda: _announce(page, app.state.tokens, browser=browser))


def _announce(page: "PageAddress", tokens: "AccessTokens", *, browser: bool) -> None:
    """Print the address of a page, and open it in the browser."""
    from likewise.server.serve import ANY_HOST, lan_address, qr_code

    print_line(page.url)
    typer.get_text_stream("stdout").flush()
    if page.host in ANY_HOST:
        elsewhere = replace(page, host=lan_address())
        print_note(f"On other machines of your network: {elsewhere.url}\n{qr_code(elsewhere.url)}")
    host = lan_address() if page.host in ANY_HOST else page.host
    for token, person in tokens.people.items():
        print_note(f"{person.name} ({person.role}): {replace(page, host=host, token=token).url}")
    if browser:  # other users of the machine can read the command line of the browser
        webbrowser.open(replace(page, token=tokens.issue_one_time()).url)


def _last_address(path: Path, host: str) -> "PageAddress | None":
    """Return the last address of the page; for other hosts, None, and print what is exposed."""
    from likewise.server.serve import LOOPBACK, load_address

    if host in LOOPBACK:
        return load_address(path)
    print_note(
        f"Note: --host {host} lets everyone who can reach this machine and has the address "
        "with its token see all images of the folder, answer and export; the connection is "
        "not encrypted. Do not share the address further."
    )
    return None


def _check_options(by: str, k: int | None, words: str | None, vectors: str | None) -> None:
    """Check the options before anything is read or created."""
    if words is not None and (vectors is not None or not by):
        problem = "cannot be used with --vectors" if by else "needs --by: name the criterion"
        raise InvalidParameterError(f"--words {problem}; or leave --words out.")
    if by and not by.strip():
        raise InvalidParameterError(f"--by must not be blank, got {by!r}; leave it out to choose.")
    if k is not None and not by:
        raise InvalidParameterError("-k needs --by: name the criterion that has this many groups.")
    if k is not None and k < 2:
        raise InvalidParameterError(
            f"-k must be an integer >= 2, got {k}; leave -k out if the number of groups is not "
            "known."
        )


def _session_to_open(
    source: str | None,
    session: Path | None,
    encoder: str | None,
    words: str | None,
    vectors: str | None,
    sample: int | None,
) -> "tuple[Path, Callable[[], tuple[Session, bool]]]":
    """Check the images or vectors; return the path of the session and a function that opens it.

    The function returns the session and whether it is complete, as `_open_session` does.
    """
    from likewise.session.create import default_session_path

    if vectors is not None:
        path = session or session_of_vectors(vectors)
        return path, lambda: (open_vectors(vectors, path, source, sample), True)
    assert source is not None  # checked by `start`
    folder = _checked_images(source, encoder, words)
    path = session or default_session_path(folder)
    return path, lambda: _open_session(folder, path)


def _open_session(folder: Path, path: Path) -> "tuple[Session, bool]":
    """Create the session, or open it and update its images.

    Returns
    -------
    session : Session
    is_complete : bool
        Whether all files of the folder were read; the others are read while questions are asked.
    """
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import read_images
    from likewise.session.create import check_can_create
    from likewise.session.database import DATABASE
    from likewise.session.session import Session

    if not (path / DATABASE).exists():
        check_can_create(path)
        with ProgressBars() as bars:
            images = read_images(folder, bars, minimum=2, seconds=_FIRST_SECONDS)
        return Session.create(path, images), not images.n_unread
    session = open_to_write(path, folder)  # before the scan: raises at once if it is in use
    if len(session.images) > _MAX_FIRST_SCAN:
        return session, False
    try:
        with ProgressBars() as bars:
            images = read_images(folder, bars, session.images.known_files, minimum=2)
        changes = session.sync(images)
    except BaseException:
        session.close()
        raise
    for change in ("added", "missing", "broken"):
        if getattr(changes, change):
            print_note(f"Note: {count_noun(len(getattr(changes, change)), 'image')} {change}.")
    return session, True


def _ensure_criterion(session: "Session", by: str, k: int | None, words: str | None) -> None:
    """Create the criterion if the session does not have it; without --by, the page asks for it."""
    n_images = len(session.images.askable)
    problem = ""
    if k is not None and k > n_images:
        problem = (
            f"-k must be at most the number of different images, {n_images}, got {k}; give fewer "
            "groups, or leave -k out."
        )
    if problem:
        session.close()
        raise InvalidParameterError(problem)
    if by:
        name_groups(session, session.ensure_criterion(by, k).name, words)


def _serve(
    workspace: "Workspace",
    bound: "socket.socket",
    page: "PageAddress",
    roots: list[Path],
    people: "Sequence[Person]" = (),
    *,
    browser: bool,
) -> None:
    """Serve the page until Ctrl+C."""
    from likewise.cli.console import ProgressBars
    from likewise.server.app import create_app
    from likewise.server.launcher import Launcher, remember_session
    from likewise.server.serve import LOOPBACK, save_address, serve

    def on_ready() -> None:
        if page.host in LOOPBACK:  # for other hosts, the token cannot be kept
            save_address(workspace.session.path, page)
        _announce(page, app.state.tokens, browser=browser)

    with workspace:
        remember_session(workspace.session.path)
        app = create_app(workspace, page.token, [page.host], Launcher(roots), people)
        app.state.page = page  # for the QR code
        for criterion in workspace.session.criteria:
            workspace.criterion(criterion.name)
        if workspace.session.criteria:  # else the person names one meanwhile
            with ProgressBars() as bars:
                wait_for_embeddings(workspace, bars, seconds=_FIRST_WAIT)
        serve(app, bound, on_ready)


def wait_for_embeddings(
    workspace: "Workspace", bars: "ProgressBars", by: str = "", seconds: float = math.inf
) -> None:
    """Wait until the worker has the first embeddings, and a short time for its first questions.

    Returns after `seconds` at the latest; the first questions are random pairs then.

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
    end = time.monotonic() + seconds
    while not workspace.is_ready.wait(0.2):
        if time.monotonic() > end:
            unsubscribe()
            return
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
    if not by and not workspace.session.criteria:
        return  # the page asks for the criterion
    queue, end = workspace.criterion(by).queue, time.monotonic() + _QUESTION_TIMEOUT
    while (
        not len(queue) and workspace.worker_state["event"] != "trained" and time.monotonic() < end
    ):
        time.sleep(0.05)
