"""`python -m tests.faults ROOM`: the faults a room's tests miss, the tests that never fail."""

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Read the command line, run the campaign, print what was found."""
    words = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    words.add_argument("room", help="a folder of src/likewise that has one in tests, e.g. losses")
    words.add_argument("--faults", type=int, default=80, help="how many to plant (default 80)")
    words.add_argument("--chase", type=int, default=12, help="faults tried for each quiet test")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", nargs="+", help="only faults whose printed line contains one")
    given = words.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # a forked child must find no threads of its parent
    from tests.faults.campaign import Campaign
    from tests.faults.trial import Copy

    began = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no child is left behind
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Copy(ROOT, Path(folder), given.room), _say)
        _say(f"{len(campaign.tests)} tests, {len(campaign.faults)} possible faults")
        with suppress(KeyboardInterrupt):  # Ctrl+C: what was found so far
            campaign.sample(given.faults, given.seed, given.only or ("",))
            if not given.only:
                campaign.chase(given.chase, given.seed)
    found = campaign.report
    for name in found.never_failed if not given.only else []:
        _say(f"never failed  {name}")
    _say(
        f"{given.room}, seed {given.seed}: {found.n_planted} of {found.n_possible} possible faults"
        f" planted, {len(found.survivors)} survived; {found.n_chased} more planted under quiet"
        f" tests, {len(found.never_failed)} of {len(found.functions)} tests never failed"
        f" ({found.n_late} noticed because time ran out; {time.monotonic() - began:.0f} s)"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
