"""Progress bars on stderr."""

import os
import pty
import subprocess
import sys

import pytest

from likewise.cli.console import ProgressBars


def test_bars_are_on_stderr_with_count_and_rate(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars() as bars:
        update = bars.step("reading images")
        for done in range(41):
            update(done, 40)
    out, err = capfd.readouterr()
    assert out == ""
    assert "reading images" in err
    assert "40/40" in err
    assert "/s" in err


def test_a_step_that_starts_again_resets_its_bar(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars() as bars:
        update = bars.step("training")
        for done in (1, 2, 3):
            update(done, 3)
        update(1, 5)
    err = capfd.readouterr().err
    assert "1/5" in err
    assert err.count("training") == 1


NOTES = """
from likewise.cli.console import ProgressBars, print_note_list
with ProgressBars() as bars:
    bars.step("reading images")(0, 243)
    print_note_list("2 skipped:", ["'a.jpg' is broken", "[b] is broken"])
"""


def test_notes_in_a_terminal_have_separate_lines() -> None:
    screen, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    subprocess.run([sys.executable, "-c", NOTES], stderr=terminal, env=env, check=True)
    os.close(terminal)
    shown = b""
    try:
        while piece := os.read(screen, 65536):
            shown += piece
    except OSError:  # on Linux: the other end is closed
        pass
    os.close(screen)
    begins = shown.replace(b"\x1b[2K", b"\n").split(b"\n")  # an erased line starts a new one
    assert b"reading images" in shown
    for line_wanted in (b"2 skipped:", b"  'a.jpg' is broken", b"  [b] is broken"):
        assert line_wanted in [line.strip(b"\r") for line in begins]
