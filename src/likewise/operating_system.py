"""What differs between Linux, macOS and Windows: folders, locks, limits, priority, terminals.

No other module imports a module that exists on one system only; a test and the workflow
``platforms.yml`` check this.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
    import resource
    import select
    import termios
    import tty

#: Flags of `os.open` for every file: binary, not inherited by child processes.
OPEN_FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
#: Do not open the target of a link.
NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
KILLED = -9  # exit status of a process that was killed; Windows has no signals
_LOCK_FILE = ".lock"  # Windows cannot lock a folder
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000
_NICENESS = 5
_MAX_KEY = 16  # bytes that one key sends, at most


def default_cache_folder() -> Path:
    """Return ``$LIKEWISE_CACHE``, or the user's cache folder."""
    if chosen := os.environ.get("LIKEWISE_CACHE"):
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("likewise", appauthor=False))


def lock_folder(folder: Path) -> int:
    """Lock a folder until the returned descriptor is closed.

    Raises
    ------
    BlockingIOError
        If another process, or this one, holds the lock.
    """
    if sys.platform == "win32":
        descriptor = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)
    else:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | OPEN_FLAGS)
    try:
        lock_file(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def lock_file(descriptor: int) -> None:
    """Lock an open file until it is closed; raise `BlockingIOError` if it is locked."""
    if sys.platform == "win32":
        os.lseek(descriptor, 2**30, os.SEEK_SET)  # behind the content, which stays readable
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def call_after_fork(function: Callable[[], None]) -> None:
    """Register a function to call in every forked child; Windows forks no processes."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=function)


def max_open_files() -> int | None:
    """Return how many files this process may have open; None if there is no limit."""
    if sys.platform == "win32":
        return None
    else:
        n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if n_files == resource.RLIM_INFINITY else n_files


def n_available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    else:
        return os.cpu_count() or 1


def total_memory() -> int | None:
    """Return the memory of the machine in bytes; None if it is unknown."""
    if sys.platform == "win32":
        return None
    else:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def peak_memory() -> int | None:
    """Return the largest memory that this process has used, in bytes; None if it is unknown."""
    if sys.platform == "win32":
        return None
    else:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 2**10


def lower_priority() -> None:
    """Lower the scheduling priority of this process."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def end_with_parent() -> None:
    """On Linux, ask the kernel to kill this process with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def query_terminal(request: bytes, is_complete: Callable[[bytes], bool], timeout: float) -> bytes:
    """Write a request to the terminal and return its reply, without showing it.

    Parameters
    ----------
    request : bytes
    is_complete : callable
        Whether the bytes so far are the whole reply.
    timeout : float
        Seconds to wait for the reply.

    Returns
    -------
    reply : bytes
        What arrived; empty if the terminal cannot be asked.
    """
    if sys.platform == "win32":
        return b""
    else:
        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
        reply, end = b"", time.monotonic() + timeout
        try:
            tty.setcbreak(keyboard, termios.TCSANOW)  # no echo, no line buffering
            os.write(sys.stdout.fileno(), request)
            while not is_complete(reply):
                left = end - time.monotonic()
                if left <= 0 or not select.select([keyboard], [], [], left)[0]:
                    break
                piece = os.read(keyboard, 1024)
                if not piece:
                    break
                reply += piece
        finally:
            with suppress(termios.error):
                termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)  # discard a late reply
        return reply


def pressed_key(show_prompt: Callable[[], None]) -> str:
    """Return the characters that one key sends; keys pressed before the prompt are dropped."""
    if sys.platform == "win32":
        show_prompt()
        return msvcrt.getwch()
    else:
        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
        try:
            tty.setcbreak(keyboard)  # Ctrl+C still interrupts
            show_prompt()
            return os.read(keyboard, _MAX_KEY).decode(errors="replace")
        finally:
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
