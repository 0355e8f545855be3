import os
import pty
import subprocess
import sys

import pytest

from likewise.cli.console import ProgressBars


def test_bars_are_on_stderr_with_count_and_rate(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars() as bars:
        tell = bars.step("reading pictures")
        for done in range(41):
            tell(done, 40)
    out, err = capfd.readouterr()
    assert out == ""
    assert "reading pictures" in err
    assert "40/40" in err
    assert "/s" in err


def test_a_step_that_begins_again_begins_its_bar_again(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars() as bars:
        tell = bars.step("training")
        for done in (1, 2, 3):
            tell(done, 3)
        tell(1, 5)
    err = capfd.readouterr().err
    assert "1/5" in err
    assert err.count("training") == 1


NOTES = """
from likewise.cli.console import Bars
from likewise.cli.console import note_list
with Bars() as bars:
    bars.step("reading pictures")(0, 243)
    note_list("2 left out:", ["'a.jpg' is broken", "[b] is broken"])
"""


def test_what_is_said_meanwhile_in_a_terminal_has_lines_of_its_own() -> None:
    screen, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    subprocess.run([sys.executable, "-c", NOTES], stderr=terminal, env=env, check=True)
    os.close(terminal)
    shown = b""
    try:
        while piece := os.read(screen, 65536):
            shown += piece
    except OSError:  # how Linux says that nobody will write any more
        pass
    os.close(screen)
    begins = shown.replace(b"\x1b[2K", b"\n").split(b"\n")  # an erased line is a new one
    assert b"reading pictures" in shown
    for said in (b"2 left out:", b"  'a.jpg' is broken", b"  [b] is broken"):
        assert said in [line.strip(b"\r") for line in begins]
