"""Short forms of the trials in `benchmarks.robustness`; see docs/development/testing.md."""

import faulthandler
import os
import random
import shutil
from pathlib import Path

import pytest

from benchmarks.robustness.clients import Client, check
from benchmarks.robustness.fuzz import fuzz_images, fuzz_models, fuzz_sessions
from benchmarks.robustness.guarded import run_guarded
from benchmarks.robustness.kill_trials import kill_trials
from benchmarks.robustness.malformed_images import malformed_image
from benchmarks.robustness.power_loss import power_loss
from likewise.errors import LikewiseError
from likewise.session import Session
from tests.session.pictures import pictures


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_acknowledged_answer_is_lost_when_the_server_is_killed() -> None:
    kinds = ("kill", "overwritten", "full", "kill")
    (result,) = kill_trials(8, seed=1, mount=False, kinds=kinds)
    assert result.n_acknowledged > 20
    assert (result.n_lost, result.n_twice) == (0, 0)
    assert result.n_repaired


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("ignores_sync", [False, True])
def test_no_acknowledged_answer_is_lost_when_the_power_fails(ignores_sync: bool) -> None:
    (result,) = power_loss(10, seed=1, ignores_sync=ignores_sync, seconds=0.7)
    assert result.n_acknowledged > 10
    assert (
        result.n_lost > 0
    ) == ignores_sync  # the trials find what a disk loses that ignores syncs
    assert (result.n_twice, result.n_unreadable) == (0, 0)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_malformed_files_end_in_messages() -> None:
    for result in (fuzz_images(60, seed=1), fuzz_models(20, seed=1), fuzz_sessions(5, seed=1)):
        assert result.defects == []
        assert result.kinds["message"]


def test_lost_and_doubled_answers_are_counted(tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.likewise", pictures(5)) as session:
        session.add_criterion("group")
    client = Client("client", 0, acknowledged=[1, 2])
    assert check(tmp_path / "a.likewise", [client]) == (2, 0)


def test_a_malformed_image_depends_on_its_seed_only() -> None:
    first, again, other = (malformed_image(random.Random(seed)) for seed in (3, 3, 4))
    assert first == again != other


def fail() -> None:
    raise ZeroDivisionError


def end_in_a_message() -> None:
    raise LikewiseError("the file is damaged")


def crash() -> None:
    faulthandler.disable()  # pytest enables it; its dump would look like a failure of the tests
    os.abort()


class TestRunGuarded:
    def test_a_message_passes(self, tmp_path: Path) -> None:
        outcome = run_guarded([("open", end_in_a_message)], tmp_path)
        assert (outcome.kind, outcome.is_defect) == ("message", False)

    @pytest.mark.parametrize(("step", "kind"), [(fail, "traceback"), (crash, "crash")])
    def test_other_errors_do_not_pass(self, tmp_path: Path, step: object, kind: str) -> None:
        assert callable(step)
        outcome = run_guarded([("open", step)], tmp_path)
        assert (outcome.kind, outcome.is_defect) == (kind, True)

    def test_what_is_opened_outside_is_found(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("x")
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "link").symlink_to(secret)
        for path in (secret, tmp_path / "own" / "link"):
            outcome = run_guarded([("open", path.read_text)], tmp_path / "own")
            assert outcome.outside == [f"open {secret}"]
        made = run_guarded([("make", (tmp_path / "other").mkdir)], tmp_path / "own")
        assert made.outside == [f"os.mkdir {tmp_path / 'other'}"]
