"""The start page: recent sessions, folders to choose from, and opening one of them; its routes.

Each session is served by a `likewise start` process of its own, which ends with this one.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Annotated

import fastapi
import platformdirs
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from likewise.errors import CollectionError, InvalidParameterError, LikewiseError, UnknownNameError
from likewise.images.find_files import EXTENSIONS
from likewise.server.requests import OpenRequest
from likewise.server.security import person_of
from likewise.server.serve import ANY_HOST, is_open, lan_address, load_address, qr_svg
from likewise.session.create import THUMBNAILS, default_session_path, read_root
from likewise.session.database import Database
from likewise.workspace.workspace import N_FIRST_THUMBNAILS

_MAX_RECENT = 12
_MAX_ENTRIES = 20_000  # of a folder that are looked at
_OPEN_SECONDS = 300.0  # in which the page of a session must open


@dataclass(frozen=True)
class RecentSession:
    """A recently opened session.

    Parameters
    ----------
    path, folder : Path
        Of the session and of its images.
    criteria : list of str
    n_images, n_answers : int
    thumbnails : list of str
        Names of files in its folder of thumbnails.
    """

    path: Path
    folder: Path
    criteria: list[str] = field(default_factory=list)
    n_images: int = 0
    n_answers: int = 0
    thumbnails: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class BrowsedFolder:
    """A folder to choose from: its subfolders, and the number of images directly in it."""

    path: Path
    parent: Path | None
    folders: list[str]
    n_images: int


def recent_file() -> Path:
    """Return the file with the list of recent sessions, which belongs to the user."""
    return platformdirs.user_state_path("likewise") / "recent.json"


def remember_session(path: Path) -> None:
    """Put a session first in the list of recent ones; a list that cannot be written is ignored."""
    file = recent_file()
    paths = [str(path.absolute()), *(str(one) for one in _recent_paths())]
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(list(dict.fromkeys(paths))[:_MAX_RECENT], stream)
        os.replace(temporary, file)
    except OSError:
        temporary.unlink(missing_ok=True)


def _recent_paths() -> list[Path]:
    try:
        saved = json.loads(recent_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    paths = [Path(one) for one in saved if isinstance(one, str)] if isinstance(saved, list) else []
    return [path for path in paths if path.is_dir()]


class Launcher:
    """Lists recent sessions and folders, and opens one of them in a process of its own.

    Parameters
    ----------
    roots : sequence of Path
        Folders below which image folders can be chosen; by default the home folder.
    """

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.roots: list[Path] = [root.expanduser().resolve() for root in (roots or [Path.home()])]
        self._children: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the processes of all sessions."""
        with self._lock:
            for child in self._children:
                child.terminate()
                if child.stdout is not None:
                    child.stdout.close()

    # -- what can be opened -------------------------------------------------------

    def recent(self) -> list[RecentSession]:
        """Return the recently opened sessions, the latest first; unreadable ones are omitted."""
        found = []
        for path in _recent_paths():
            try:
                found.append(_read_session(path))
            except (LikewiseError, OSError):
                continue
        return found

    def thumbnail(self, session: int, name: str) -> bytes:
        """Return a thumbnail of a recent session."""
        recent = self.recent()
        if not 0 <= session < len(recent) or name not in recent[session].thumbnails:
            raise UnknownNameError("thumbnail", name, ())
        return (recent[session].path / THUMBNAILS / name).read_bytes()

    def browse(self, path: str) -> BrowsedFolder:
        """Return the subfolders of a folder below the roots; the empty path is the first root.

        Raises
        ------
        InvalidParameterError
            If it is not a folder, or not below the roots.
        """
        folder = self._checked(path)
        folders, n_images = [], 0
        try:
            with os.scandir(folder) as entries:
                for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False):
                    if entry.name.startswith(".") or entry.name.endswith(".likewise"):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    n_images += os.path.splitext(entry.name)[1].lower() in EXTENSIONS
        except OSError as error:
            raise InvalidParameterError(
                f"The folder {path!r} cannot be read ({error.strerror}); choose another one."
            ) from error
        parent = None if folder in self.roots else folder.parent
        return BrowsedFolder(folder, parent, sorted(folders, key=str.casefold), n_images)

    def _checked(self, path: str) -> Path:
        """Return a folder that was chosen, without links; it must be below the roots."""
        try:
            folder = Path(path).expanduser().resolve() if path else self.roots[0]
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidParameterError(f"{path!r:.200} must be the path of a folder.") from error
        if not any(folder.is_relative_to(root) for root in self.roots):
            shown = ", ".join(str(root) for root in self.roots)
            raise InvalidParameterError(
                f"The folder must be below {shown}, got {path!r}; start with `likewise start "
                "--root FOLDER` to choose from others."
            )
        if not folder.is_dir():
            raise InvalidParameterError(f"{path!r} is not a folder; check the path.")
        return folder

    # -- open ---------------------------------------------------------------------

    def open_folder(self, path: str) -> str:
        """Start a session of a folder, or continue it; return the address of its page."""
        folder = self._checked(path)
        return self._open(default_session_path(folder), folder, [])

    def open_recent(self, number: int) -> str:
        """Continue a recent session; return the address of its page."""
        recent = self.recent()
        if not 0 <= number < len(recent):
            raise InvalidParameterError(
                f"session must be a number from 0 to {len(recent) - 1}, got {number}; reload the "
                "page."
            )
        session = recent[number]
        return self._open(session.path, session.folder, ["--session", str(session.path)])

    def _open(self, session: Path, folder: Path, options: list[str]) -> str:
        page = load_address(session)
        if page is not None and is_open(page):
            return page.url
        command = [sys.executable, "-m", "likewise", "start", str(folder), "--no-browser"]
        with tempfile.TemporaryFile("w+") as errors:
            child = subprocess.Popen(
                [*command, *options], stdout=subprocess.PIPE, stderr=errors, text=True
            )
            with self._lock:
                self._children.append(child)
            timer = threading.Timer(_OPEN_SECONDS, child.kill)
            timer.start()
            try:
                assert child.stdout is not None  # because of stdout=PIPE
                address = child.stdout.readline().strip()
            finally:
                timer.cancel()
            if address:
                return address
            child.wait()
            child.stdout.close()
            raise InvalidParameterError(_reason(errors, folder))


def _reason(errors: IO[str], folder: Path) -> str:
    """Return the error that a process printed before it ended."""
    errors.seek(0)
    printed = " ".join(errors.read().split())
    _, found, text = printed.rpartition("Error: ")
    return text if found else f"{folder} cannot be opened: {printed[-300:]}"


def _read_session(path: Path) -> RecentSession:
    """Return what the start page shows of a session."""
    database = Database(path, write=False)
    try:
        folder = read_root(database, path)
        if folder is None:
            raise CollectionError(f"{path} has no folder of images.")
        criteria = [name for (name,) in database.rows("SELECT name FROM criterion ORDER BY id")]
        ((n_images,),) = database.rows("SELECT count(*) FROM image WHERE status = 'present'")
        ((n_answers,),) = database.rows(
            "SELECT count(*) FROM log WHERE kind <> 'retract' AND id NOT IN "
            "(SELECT retracts FROM log WHERE retracts IS NOT NULL)"
        )
        hashes = database.rows(
            f"SELECT hash FROM image ORDER BY hash LIMIT {20 * N_FIRST_THUMBNAILS}"
        )
        names = (f"{content}.webp" for (content,) in hashes)
        stored = [name for name in names if (path / THUMBNAILS / name).is_file()]
    finally:
        database.close()
    return RecentSession(path, folder, criteria, n_images, n_answers, stored[:N_FIRST_THUMBNAILS])


FolderPath = Annotated[str, Query(max_length=4096, description="Empty: the first allowed folder.")]
SessionNumber = Annotated[
    int, fastapi.Path(ge=0, le=100, description="Position in the list of recent sessions.")
]
ThumbnailName = Annotated[str, fastapi.Path(pattern=r"^[0-9a-f]{64}\.webp$")]


class RecentResponse(BaseModel):
    """A recently opened session; its thumbnails are at `/api/start/{number}/{name}`."""

    name: str
    folder: str
    criteria: list[str]
    n_images: int
    n_answers: int
    thumbnails: list[str]


class StartResponse(BaseModel):
    """Recently opened sessions, the latest first, and the folders to choose images from."""

    recent: list[RecentResponse]
    roots: list[str]


class FolderResponse(BaseModel):
    """A folder; `parent` is null at the top. `n_images` counts the images directly in it."""

    path: str
    parent: str | None
    folders: list[str]
    n_images: int


class AccessResponse(BaseModel):
    """Who may open the page, and with which address.

    `url` is the address in the local network, `qr` its QR code; null without `--lan`. `viewer_url`
    is a read-only address. For a viewer, `read_only` is true and the addresses are null. `person`
    and `role` are those of the link; empty for the link of the session.
    """

    read_only: bool
    url: str | None
    qr: str | None
    viewer_url: str | None
    person: str = ""
    role: str = ""


class OpenResponse(BaseModel):
    """The address of the page of a session, with its token."""

    url: str


def start_router(launcher: Launcher) -> APIRouter:
    """Return the routes of the start page."""
    router = APIRouter(tags=["start"])

    @router.get("/start")
    def get_start() -> StartResponse:
        """Return the recently opened sessions and the folders below which images can be chosen."""
        recent = [
            RecentResponse(
                name=one.folder.name,
                folder=str(one.folder),
                criteria=one.criteria,
                n_images=one.n_images,
                n_answers=one.n_answers,
                thumbnails=one.thumbnails,
            )
            for one in launcher.recent()
        ]
        return StartResponse(recent=recent, roots=[str(root) for root in launcher.roots])

    @router.get("/start/{session}/{name}", response_class=Response)
    def get_recent_thumbnail(session: SessionNumber, name: ThumbnailName) -> Response:
        """Return a thumbnail of a recent session."""
        headers = {"Cache-Control": "private, max-age=60"}
        content = launcher.thumbnail(session, name)
        return Response(content, media_type="image/webp", headers=headers)

    @router.get("/folders")
    def list_folders(path: FolderPath = "") -> FolderResponse:
        """Return the subfolders of a folder; folders outside the allowed ones are an error."""
        found = launcher.browse(path)
        return FolderResponse(
            path=str(found.path),
            parent=None if found.parent is None else str(found.parent),
            folders=found.folders,
            n_images=found.n_images,
        )

    @router.post("/open", status_code=201)
    def open_session(request: OpenRequest) -> OpenResponse:
        """Open a folder or a recent session; the response has the address of its page."""
        if request.session is not None:
            return OpenResponse(url=launcher.open_recent(request.session))
        return OpenResponse(url=launcher.open_folder(request.folder))

    @router.get("/access")
    def get_access(request: Request) -> AccessResponse:
        """Return the addresses of the page for a phone and for viewers."""
        return _access(request)

    return router


def _access(request: Request) -> AccessResponse:
    if request.state.is_read_only:
        return AccessResponse(read_only=True, url=None, qr=None, viewer_url=None)
    person = person_of(request)
    if person is not None:  # an address with another token would give other rights
        named = {"person": person.name, "role": person.role}
        return AccessResponse(read_only=False, url=None, qr=None, viewer_url=None, **named)
    tokens, page = request.app.state.tokens, getattr(request.app.state, "page", None)
    if page is None or page.host not in ANY_HOST:
        viewer_url = f"{request.base_url}?token={tokens.viewer}"
        return AccessResponse(read_only=False, url=None, qr=None, viewer_url=viewer_url)
    page = replace(page, host=lan_address())
    viewer_url = replace(page, token=tokens.viewer).url
    qr = qr_svg(page.url)
    return AccessResponse(read_only=False, url=page.url, qr=qr, viewer_url=viewer_url)
