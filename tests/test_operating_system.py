"""What exists on one operating system only is in one module."""

import ast
import os
import sys
from pathlib import Path

import pytest

from likewise import operating_system

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
_MODULES = {"fcntl", "termios", "tty", "pty", "resource", "select", "pwd", "grp", "msvcrt"}
_NAMES = {
    *("fork", "nice", "getuid", "geteuid", "getpgid", "killpg", "setsid", "sysconf", "pwrite"),
    *("mkfifo", "register_at_fork", "sched_getaffinity", "O_DIRECTORY", "O_NOFOLLOW"),
    *("O_CLOEXEC", "SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGSTOP", "prctl"),
}


def used(source: str) -> set[str]:
    """Return what a module uses that one operating system lacks."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names} & _MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module).partition(".")[0]} & _MODULES
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & _NAMES
    return found


def test_one_module_has_all_that_one_system_lacks() -> None:
    found = {path.name: used(path.read_text("utf-8")) for path in SOURCES}
    assert {name for name, names in found.items() if names} == {"operating_system.py"}


def test_what_one_system_lacks_is_found() -> None:
    assert used("import fcntl") == {"fcntl"}
    assert used("from os import path\nimport os\nos.fork()") == {"fork"}


def test_a_locked_file_is_not_locked_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    operating_system.lock_file(first)
    with pytest.raises(BlockingIOError):
        operating_system.lock_file(second)
    os.close(first)
    operating_system.lock_file(second)
    os.close(second)


def test_measures_are_of_this_machine() -> None:
    assert operating_system.n_available_cores() >= 1
    if sys.platform != "win32":
        assert (operating_system.peak_memory() or 0) > 2**20
        assert (operating_system.total_memory() or 0) > (operating_system.peak_memory() or 0)
        assert (operating_system.max_open_files() or 2**20) > 10
