"""The query of a terminal, tested with a pseudo-terminal."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from likewise.cli.terminal_images import query_terminal

PROGRAM = (
    "from likewise.cli.terminal_images import query_terminal; "
    "print('draws', query_terminal(timeout={timeout})); print('typed', input())"
)


def read_until(terminal: int, until: bytes) -> bytes:
    """Return the output of a program up to a given text."""
    output, end = b"", time.monotonic() + 60
    while until not in output:
        assert select.select([terminal], [], [], end - time.monotonic())[0], output
        output += os.read(terminal, 1024)
    return output


def output_after(reply: bytes, *, timeout: float = 60) -> bytes:
    """Return the output of a program that queries its terminal, gets `reply`, and reads a key."""
    terminal, program = pty.openpty()
    command = [sys.executable, "-c", PROGRAM.format(timeout=timeout)]
    process = subprocess.Popen(command, stdin=program, stdout=program)
    try:
        read_until(terminal, b"\x1b[c")
        os.write(terminal, reply)
        shown = read_until(terminal, b"draws")
        shown += read_until(terminal, b"\n") if b"\n" not in shown.split(b"draws")[1] else b""
        os.write(terminal, b"s\n")
        return shown + read_until(terminal, b"typed s")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(program)


@pytest.mark.parametrize(
    ("reply", "protocol"),
    [
        (b"\x1b[?63;1;2;4;6c", b"sixel"),  # xterm -ti vt340
        (b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c", b"kitty"),
        (b"\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?62;22c", b"None"),
        (b"\x1b[?4c", b"None"),  # the first number is the class of the terminal
    ],
)
def test_the_protocol_of_the_reply_is_used(reply: bytes, protocol: bytes) -> None:
    shown = output_after(reply)
    assert b"draws " + protocol in shown
    assert b"?6" not in shown  # the reply is neither echoed nor read as a key


def test_a_terminal_that_does_not_reply_is_not_waited_for() -> None:
    assert b"draws None" in output_after(b"", timeout=0.05)


def test_without_a_terminal_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert query_terminal() is None
    assert capsys.readouterr().out == ""


def test_output_to_a_file_is_not_queried() -> None:
    terminal, program = pty.openpty()
    code = (
        "from likewise.cli.terminal_images import query_terminal; "
        "print(query_terminal(timeout=0.05))"
    )
    try:
        ended = subprocess.run(
            [sys.executable, "-c", code], stdin=program, capture_output=True, check=True
        )
    finally:
        os.close(terminal)
        os.close(program)
    assert ended.stdout == b"None\n"


def test_one_key_answers_a_question_without_enter() -> None:
    program = (
        "from likewise.cli.ask import _read_key, _UndoRequest\n"
        "from likewise.constraints.question import Question\n"
        "from likewise.oracles.terminal import TerminalOracle\n"
        "oracle = TerminalOracle('colour', read_key=_read_key)\n"
        "for i in (1, 2, 3):\n"
        "    try:\n"
        "        (one,) = oracle.answer([Question.pair(0, i)])\n"
        "        print('answer', one.answer)\n"
        "    except _UndoRequest:\n"
        "        print('answer undone')\n"
        "print('typed', input())"
    )
    terminal, stdin = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program], stdin=stdin, stdout=stdin)
    try:
        read_until(terminal, b"q stop > ")
        for key, answer in ((b"s", b"same"), (b"\x1b[C", b"different")):
            os.write(terminal, key)
            assert b"answer " + answer in read_until(terminal, b"q stop > ")
        os.write(terminal, b"u")
        read_until(terminal, b"answer undone")
        os.write(terminal, b"a whole line\n")  # lines are read as before
        read_until(terminal, b"typed a whole line")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(stdin)
