"""All speed figures by one command: ``make bench``, or ``python -m likewise.benchmark.speed``."""

import sys

from likewise.benchmark.speed_constraints import constraints_bench
from likewise.benchmark.speed_encoders import encoders_bench
from likewise.benchmark.speed_processes import processes_bench

PARTS = {
    "constraints": constraints_bench,
    "encoders": encoders_bench,
    "processes": lambda: sys.stdout.write("\n".join(processes_bench()) + "\n"),
}


def main() -> None:
    """Print the rows of the parts named on the command line, or of all."""
    for name in sys.argv[1:] or PARTS:
        sys.stdout.write(f"\n== {name}\n")
        sys.stdout.flush()
        PARTS[name]()


if __name__ == "__main__":
    main()
