"""Run all speed benchmarks: ``make bench``, or ``python -m benchmarks.speed [PART ...]``."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

#: Imported when needed, so that the memory of a constraint graph is measured without torch.
PARTS = {
    "constraints": "benchmarks.speed_constraints:constraints_bench",
    "encoders": "benchmarks.speed_encoders:encoders_bench",
    "likewise": "benchmarks.speed_likewise:likewise_bench",
    "page": "benchmarks.speed_page:page_bench",
    "processes": "benchmarks.speed_processes:processes_bench",
    "step": "benchmarks.speed_step:step_bench",
}


def main(words: Sequence[str] | None = None) -> None:
    """Print the rows of the named parts, or of all parts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; default: all")
    names: list[str] = parser.parse_args(words).part
    for name in names:
        if name not in PARTS:
            parser.error(f"unknown part {name!r}; choose from {', '.join(PARTS)}")
    for name in names or PARTS:
        sys.stdout.write(f"\n== {name}\n")
        sys.stdout.flush()
        module, function = PARTS[name].split(":")
        for row in getattr(import_module(module), function)() or ():
            sys.stdout.write(f"{row}\n")


if __name__ == "__main__":
    main()
