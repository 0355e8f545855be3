"""A terminal at the other end of a real pair of terminals says what it draws."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from likewise.cli.terminal_images import asked

PROGRAM = (
    "from likewise.cli.terminal_images import asked; "
    "print('draws', asked(wait={wait})); print('typed', input())"
)


def hear(terminal: int, until: bytes) -> bytes:
    """Return what a program writes to its terminal, up to some word."""
    heard, end = b"", time.monotonic() + 60
    while until not in heard:
        assert select.select([terminal], [], [], end - time.monotonic())[0], heard
        heard += os.read(terminal, 1024)
    return heard


def converse(answer: bytes, *, wait: float = 60) -> bytes:
    """Return what a program shows that asks its terminal, is answered so, and reads a key."""
    terminal, program = pty.openpty()
    command = [sys.executable, "-c", PROGRAM.format(wait=wait)]
    process = subprocess.Popen(command, stdin=program, stdout=program)
    try:
        hear(terminal, b"\x1b[c")
        os.write(terminal, answer)
        shown = hear(terminal, b"draws")
        shown += hear(terminal, b"\n") if b"\n" not in shown.split(b"draws")[1] else b""
        os.write(terminal, b"s\n")
        return shown + hear(terminal, b"typed s")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(program)


@pytest.mark.parametrize(
    ("answer", "draws"),
    [
        (b"\x1b[?63;1;2;4;6c", b"sixel"),  # xterm -ti vt340
        (b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c", b"kitty"),
        (b"\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?62;22c", b"None"),
        (b"\x1b[?4c", b"None"),  # the first number is the terminal's class
    ],
)
def test_a_terminal_that_is_asked_says_what_it_draws(answer: bytes, draws: bytes) -> None:
    shown = converse(answer)
    assert b"draws " + draws in shown
    assert b"?6" not in shown  # the answer is neither echoed nor taken for a key


def test_a_terminal_that_does_not_answer_is_not_waited_for() -> None:
    assert b"draws None" in converse(b"", wait=0.05)


def test_no_terminal_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked() is None
    assert capsys.readouterr().out == ""


def test_what_goes_to_a_file_asks_nothing() -> None:
    terminal, program = pty.openpty()
    code = "from likewise.cli.terminal_images import asked; print(asked(wait=0.05))"
    try:
        ended = subprocess.run(
            [sys.executable, "-c", code], stdin=program, capture_output=True, check=True
        )
    finally:
        os.close(terminal)
        os.close(program)
    assert ended.stdout == b"None\n"
