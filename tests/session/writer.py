"""Processes that write answers and say so after each one, until they are killed.

What is slow, the imports, is done once; then every line on stdin, a session and
a name, starts a new process that opens the session for itself.
"""

import os
import sys

from likewise.constraints.question import Answer, Question
from likewise.session import Session


def write_answers(path: str, life: str) -> None:
    """Answer about ever new pairs; on stdout stands what was acknowledged."""
    with Session.open(path) as session:
        n = len(session.images)
        for count in range(10**6):
            i, j = count % n, (count // n + 1 + count) % n
            answer = "same" if count % 3 else "different"
            if i != j:
                told = session.tell(Answer(Question.pair(i, j), answer, who=f"{life} {count}"))
                say(f"{told.id} {life} {count}\n")
                if count % 5 == 0:  # an action of three entries
                    labels = [Answer(Question.label(one), "moved", who=life) for one in (i, j)]
                    session.act("season", labels, [told.id], who=life)
            if count % 7 == 0:  # labels write two tables, retractions replay
                session.tell(
                    Answer(Question.label(i), f"name {count}", who=f"{life} label {count}")
                )
                session.undo("season")


def say(text: str) -> None:
    os.write(1, text.encode())  # one call, one line: a pipe never holds half of it


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            write_answers(*line.split())
        say(f"pid {pid}\n")
        os.waitpid(pid, 0)
        say("dead\n")


if __name__ == "__main__":
    main()
