"""Run one case in a forked process: what it opens is watched, and its time and memory limited."""

import json
import os
import resource
import select
import signal
import site
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError

Step = tuple[str, Callable[[], object]]
_LIMIT = 5.0  # seconds of processor time of one step
_TIMEOUT = 600.0  # seconds; then the case is killed and counts as hung
_MEMORY = 4 * 2**30  # bytes
_PACKAGES = {os.path.realpath(path) for path in [sys.prefix, sys.base_prefix, *sys.path] if path}
_PACKAGES |= {os.path.realpath(path) for path in site.getsitepackages()}
_SYSTEM = ("/dev/null", "/dev/urandom", "/proc/", "/sys/", "/etc/localtime", "/usr/share/zoneinfo")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate"}
    | {"os.chmod", "os.chown", "os.utime", "shutil.rmtree", "shutil.move"}
)
_FORBIDDEN = frozenset(
    {"socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec", "os.system"}
    | {"os.posix_spawn", "pickle.find_class", "urllib.Request"}
)


@dataclass
class Outcome:
    """The outcome of one case.

    Parameters
    ----------
    kind : {"ok", "message", "traceback", "slow", "hang", "crash"}
        "message" if a step ended in an error of this package.
    details : list of str
    outside : list of str
        Files that were opened, or changed, outside of the allowed folders.
    seconds : float
        Processor time of the longest step.
    megabytes : float
        Peak memory.
    """

    kind: str
    details: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def is_defect(self) -> bool:
        """Return whether this must not happen."""
        return self.kind not in ("ok", "message") or bool(self.outside)


def run_guarded(steps: Sequence[Step], allowed: Path, secret: bytes = b"") -> Outcome:
    """Run steps in a forked process; a step may end in an error of this package.

    Parameters
    ----------
    steps : sequence of (str, callable)
    allowed : Path
        The only folder to be read and written, apart from the installed packages.
    secret : bytes
        No step may return something that contains it.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            outcome = _run(steps, os.path.realpath(allowed), secret)
            os.write(writer, json.dumps(outcome.__dict__).encode())
        finally:
            os._exit(0)
    os.close(writer)
    received, end = b"", time.monotonic() + _TIMEOUT
    while select.select([reader], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(reader, 2**16)
        received += part
        if not part:
            break
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(reader)
    _, status, usage = os.wait4(pid, 0)
    megabytes = usage.ru_maxrss / 2**10
    if received:
        return Outcome(**{**json.loads(received), "megabytes": megabytes})
    kind = "hang" if status == signal.SIGKILL else "crash"
    return Outcome(kind, [f"exit status {status}"], megabytes=megabytes)


def _run(steps: Sequence[Step], allowed: str, secret: bytes) -> Outcome:
    """Run all steps; used in the forked process."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the process ends
    os.dup2(sys.stdout.fileno(), 1), os.dup2(sys.stdout.fileno(), 2)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    outcome = Outcome("ok")
    watch = _Watch(allowed, outcome.outside)
    sys.addaudithook(watch)
    for name, step in steps:
        start = time.process_time()
        try:
            returned = step()
            if secret and isinstance(returned, bytes) and secret in returned:
                outcome.outside.append(f"{name} returned the secret")
        except LikewiseError as error:
            outcome.kind = "message" if outcome.kind == "ok" else outcome.kind
            outcome.details.append(f"{name}: {error}"[:300])
        except BaseException as error:
            outcome.kind = "traceback"
            place = traceback.extract_tb(error.__traceback__)[-4:]
            lines = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(place))
            outcome.details.append(f"{name}: {type(error).__name__}: {error}"[:300] + f" ({lines})")
        seconds = time.process_time() - start
        outcome.seconds = max(outcome.seconds, seconds)
        if seconds > _LIMIT and outcome.kind != "traceback":
            outcome.kind = "slow"
            outcome.details.append(f"{name} took {seconds:.1f} s")
    watch.is_active = False
    return outcome


class _Watch:
    """An audit hook that lists what is opened or changed outside of a folder."""

    def __init__(self, allowed: str, outside: list[str]) -> None:
        self._allowed, self._outside, self.is_active = allowed, outside, True

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.is_active:
            return
        if event == "open":
            path, _, flags = args
            self._check(event, path, is_write=bool((flags or 0) & _WRITES))
        elif event in ("sqlite3.connect", "os.listdir", "os.scandir"):
            self._check(event, _without_uri(args[0]), is_write=event == "sqlite3.connect")
        elif event in _CHANGES:
            paths = args[:2] if event in ("os.rename", "os.link", "shutil.move") else args[:1]
            for path in args[1:2] if event == "os.symlink" else paths:
                self._check(event, path, is_write=True)
        elif event in _FORBIDDEN:
            self._outside.append(f"{event} {args!r:.200}")

    def _check(self, event: str, path: object, *, is_write: bool) -> None:
        if not isinstance(path, str | bytes) or path == ":memory:":  # or a checked descriptor
            return
        self.is_active = False  # `realpath` itself is not watched
        try:
            real = os.path.realpath(os.fsdecode(path))
        except ValueError:  # a null byte
            real = ""
        self.is_active = True
        allowed = [self._allowed, *_SYSTEM] if is_write else [self._allowed, *_SYSTEM, *_PACKAGES]
        if real and not any(
            real == one or real.startswith(f"{one.rstrip('/')}/") for one in allowed
        ):
            self._outside.append(f"{event} {real}"[:300])


def _without_uri(path: object) -> object:
    from urllib.parse import unquote, urlsplit

    text = os.fsdecode(path) if isinstance(path, str | bytes) else ""
    return unquote(urlsplit(text).path) if text.startswith("file:") else path
