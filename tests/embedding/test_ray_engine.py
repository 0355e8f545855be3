"""Shards computed by workers of Ray: the same vectors, and nothing lost when a worker dies."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import ray
import ray.cloudpickle
from ray import exceptions

from likewise.embedding import ray_engine
from likewise.embedding.ray_engine import connected, run_ray
from likewise.embedding.shard_run import EmbedTask, Failed, Finished, run_local
from likewise.embedding.shards import Shard, ShardFolder
from likewise.errors import EncoderError, InvalidParameterError, MissingExtraError
from likewise.images.encoded import FilesBelow
from tests.embedding.test_shards import ENCODER, rows_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def two_processors() -> Iterator[None]:
    """Ray with two processors."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20
    )
    yield
    ray.shutdown()


class DyingTask:
    """Embeds images, but the process is killed at given images: once, or each time."""

    made_by = {"encoder": ENCODER}  # noqa: RUF012

    def __init__(self, files: FilesBelow, marks: Path, once: str, always: str = "") -> None:
        self.task, self.marks = EmbedTask(files, ENCODER), marks
        self.once, self.always = once, always

    def __call__(self, inputs: Sequence[str]) -> Shard:
        shard = self.task(inputs)
        mark = self.marks / f"{os.getpid()}"
        is_first = not list(self.marks.iterdir())
        if self.always in inputs or (self.once in inputs and is_first):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return shard


class InvalidTask(DyingTask):
    """Raises an error that a person can act on."""

    def __call__(self, inputs: Sequence[str]) -> Shard:
        raise EncoderError("The weights are missing.")


def test_no_image_is_lost_or_duplicated_if_a_worker_is_killed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "_RETRIES", 1)
    files, parts = FilesBelow(str(folder)), [[f"{i}.png"] for i in range(5)]
    out, here = (ShardFolder(str(tmp_path / name)) for name in ("ray", "local"))
    marks = tmp_path / "marks"
    for place in (Path(out.place), Path(here.place), marks):
        place.mkdir()
    task = DyingTask(files, marks, once="2.png", always="4.png")
    ended = list(run_ray(task, parts, out, n_workers=2))
    (failed,) = (one for one in ended if isinstance(one, Failed))
    assert failed == Failed(["4.png"], "its worker process died 2 times")
    assert sum(one.n_rows for one in ended if isinstance(one, Finished)) == 4
    assert len(list(marks.iterdir())) == 3  # processes that were killed

    list(run_local(EmbedTask(files, ENCODER), parts, here))
    found, expected = rows_in(Path(out.place)), rows_in(Path(here.place))
    del expected["4.png"]
    assert found.keys() == expected.keys()
    for name, (identity, vector) in expected.items():
        assert found[name][0] == identity
        np.testing.assert_array_equal(found[name][1], vector)
    assert set(os.listdir(out.place)) == set(out.names())  # no incomplete file


def test_an_error_for_a_person_stops_the_run(folder: Path, tmp_path: Path) -> None:
    task = InvalidTask(FilesBelow(str(folder)), tmp_path, "")
    with pytest.raises(EncoderError, match=r"^The weights are missing\.$"):
        list(run_ray(task, [["0.png"]], ShardFolder(str(tmp_path / "x")), n_workers=1))


def test_more_workers_than_processors_are_refused() -> None:
    with (
        pytest.raises(InvalidParameterError, match=r"--workers must be at most 2 here, got 3"),
        connected(3, gpus=0),
    ):
        pass
    with (
        pytest.raises(InvalidParameterError, match=r"at most 0 here.*each worker takes .* 0.5 GPU"),
        connected(None, gpus=0.5),
    ):
        pass
    with connected(None, gpus=0) as n_workers:
        assert n_workers == 2
    assert ray.is_initialized()  # it was before, so it is left running


def test_without_ray_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'likewise\[ray\]'"):
        ray_engine.check_ray()


def test_ray_does_not_report_its_use() -> None:
    assert exceptions  # imported with Ray
    ray_engine.check_ray()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
