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
    words.add_argument("room", help="a folder or file of src/likewise, e.g. losses or seeds.py")
    words.add_argument("--tests", nargs="+", help="files or folders of tests (default: the twin)")
    words.add_argument("--marks", default="", help="as pytest -m, e.g. 'not slow'")
    words.add_argument("--patience", type=float, default=60.0, help="seconds of tests a fault")
    words.add_argument("--record", type=Path, help="append a line of JSON for each fault")
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
        copy = Copy(ROOT, Path(folder), given.room, given.tests, given.marks)
        campaign = Campaign(copy, _say, given.patience, given.record)
        _say(f"{len(campaign.tests)} tests, {len(campaign.faults)} possible faults")
        with suppress(KeyboardInterrupt):  # Ctrl+C: what was found so far
            if not given.only:
                campaign.chase(given.chase, given.seed)
                _say(f"{len(campaign.report.never_failed)} tests have not failed")
            campaign.sample(given.faults, given.seed, given.only or ("",))
    found = campaign.report
    for name in found.never_failed if not given.only else []:
        _say(f"never failed  {name}")
    _say(
        f"{given.room}, seed {given.seed}: {found.n_planted} of {found.n_possible} possible faults"
        f" planted, {len(found.survivors)} survived; {found.n_chased} more planted to make every"
        f" test fail, {len(found.never_failed)} of {len(found.functions)} tests never failed"
        f" ({found.n_late} noticed because time ran out; {time.monotonic() - began:.0f} s)"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
