"""`python -m tests.faults.by_hand [WORD ...]`: plant the faults of `by_hand*.toml` with a word.

For tests that no planted fault reaches: those of the page, of style sheets, of text.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.faults.planting import Fault
from tests.faults.trial import Case, Copy

HERE = Path(__file__).parent
SECONDS = 60.0  # allowed for each test; a fault may make it wait


def planted(copy: Copy, entries: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each fault with the tests that should have failed and did not."""
    for entry in entries:
        path = Path(entry["file"])
        source, before = (copy.tree / path).read_bytes(), entry["before"].encode()
        if source.count(before) != 1:
            yield entry["file"], f"not planted, for this is not there once: {entry['before']}"
            continue
        start = source.index(before)
        words = ("by hand", entry["before"], entry["after"])
        fault = Fault(path, range(1), True, *words, start, start + len(before))
        tests = [Case(name, SECONDS, frozenset()) for name in entry["tests"]]
        outcome = copy.run([fault], tests)
        failed = {name.split("[")[0] for name in outcome.failed} | set(outcome.failed)
        said = f"{fault}\n      {outcome.reason}"
        yield said, ", ".join(sorted(set(entry["tests"]) - failed))


def main() -> None:
    """Plant the faults whose file or tests contain a word; say which tests stayed green."""
    words = argparse.ArgumentParser(prog="python -m tests.faults.by_hand", description=__doc__)
    words.add_argument("words", nargs="*", default=[""], help="of a file, a test or a change")
    words.add_argument("--skip", type=int, default=0, help="go on after so many of them")
    words.add_argument("--sure", action="store_true", help="the tests pass without faults")
    given = words.parse_args()
    files = sorted(HERE.glob("by_hand*.toml"))
    entries = [entry for file in files for entry in tomllib.loads(file.read_text())["fault"]]
    chosen = [e for e in entries if any(word in str(e) for word in given.words)][given.skip :]
    tests = sorted({name for entry in chosen for name in entry["tests"]})
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(HERE.parents[1], Path(folder), "")
        all_of_them = [Case(name, SECONDS, frozenset()) for name in tests]
        if not given.sure and (sound := copy.run([], all_of_them)).noticed:
            raise RuntimeError(f"without any fault these fail: {sound.failed}")
        for k, (fault, green) in enumerate(planted(copy, chosen), given.skip + 1):
            sys.stdout.write(f"{k:3d} {'GREEN  ' + green if green else 'failed'}  {fault}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
