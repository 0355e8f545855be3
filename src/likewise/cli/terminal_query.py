"""Asks a terminal itself which pictures it can draw, where its name does not say.

Many terminals call themselves ``xterm-256color`` and draw more than xterm does. Each answers the
question "what are you?" (DA1, DEC 1978), with a 4 among the numbers if it knows sixel; one that
knows kitty's graphics answers the query sent before it, too.
"""

import os
import re
import select
import sys
import time
from contextlib import suppress

_KITTY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
_WHAT = "\x1b[c"
_ANSWER = re.compile(rb"\x1b\[\?([0-9;]*)c")


def asked(wait: float = 0.5) -> str | None:
    """Return ``kitty`` or ``sixel`` if the terminal says that it draws so, else None.

    Parameters
    ----------
    wait : float
        Seconds to wait for an answer that does not come.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return None
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard, termios.TCSANOW)  # no echo, and no waiting for the end of a line
        os.write(sys.stdout.fileno(), (_KITTY + _WHAT).encode())
        return understood(_received(keyboard, wait))
    except OSError:
        return None
    finally:
        with suppress(termios.error):
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)  # a late answer is no key


def understood(answer: bytes) -> str | None:
    r"""Return what an answer says the terminal draws.

    Examples
    --------
    >>> understood(b"\x1b[?63;4;6c"), understood(b"\x1b_Gi=31;OK\x1b\\\x1b[?62c")
    ('sixel', 'kitty')
    >>> understood(b"\x1b[?62;22c") is None
    True
    """
    if b"\x1b_Gi=31;OK" in answer:
        return "kitty"
    told = _ANSWER.search(answer)
    return "sixel" if told and b"4" in told[1].split(b";")[1:] else None


def _received(keyboard: int, wait: float) -> bytes:
    """Return what comes until the answer that every terminal gives, or until time is up."""
    answer, end = b"", time.monotonic() + wait
    while not _ANSWER.search(answer):
        left = end - time.monotonic()
        if left <= 0 or not select.select([keyboard], [], [], left)[0]:
            break
        piece = os.read(keyboard, 1024)
        if not piece:
            break
        answer += piece
    return answer
