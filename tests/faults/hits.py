"""Which lines of a room ran, in whatever process; the survey makes the room call this."""

import os
from os import write  # a test may put another function in its place

seen: set[tuple[str, int]] = set()
_out = os.open(os.environ.get("FAULTS_HITS", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def hit(path: str, line: int) -> None:
    """Note that a line ran: at once and on disk, for the process may be killed."""
    if (path, line) not in seen:
        seen.add((path, line))
        write(_out, f"{path}\t{line}\n".encode())
