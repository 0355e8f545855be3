"""Folders of Parquet files with embeddings: resumed, checked, read by other libraries."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from likewise.embedding import shards
from likewise.embedding.embed import embed
from likewise.embedding.registry import make_encoder
from likewise.embedding.shard_run import EmbedTask, Finished, check_engine, run_local
from likewise.embedding.shards import ShardFolder, plan, shard_name
from likewise.errors import CollectionError, EncoderError, OutputError, UnknownNameError
from likewise.images.collection import Skipped
from likewise.images.encoded import FilesBelow
from likewise.images.files import read_folder

ENCODER = "efficientnet-lite2-32"
Row = tuple[str, Any]


def rows_in(place: Path) -> dict[str, Row]:
    """Return hash and vector by name; no name may occur twice."""
    rows: dict[str, Row] = {}
    for path in place.glob("*.parquet"):
        table = parquet.read_table(path)
        for row in table.to_pylist():
            assert row["name"] not in rows
            rows[row["name"]] = row["hash"], np.asarray(row["vector"], np.float32)
    return rows


def compute(source: object, out: object, n_rows: int = 2) -> list[Finished]:
    """Embed what is missing, in shards of `n_rows`."""
    task, folder = EmbedTask(FilesBelow(str(source)), ENCODER), ShardFolder(str(out))
    folder.create()
    done = folder.written(task.made_by).inputs
    names = [name for name in FilesBelow(str(source)).images()[0] if name not in done]
    parts = (names[start : start + n_rows] for start in range(0, len(names), n_rows))
    ended = list(run_local(task, parts, folder))
    return [one for one in ended if isinstance(one, Finished)]


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def test_rows_are_those_of_the_other_way_to_embed(folder: Path, tmp_path: Path) -> None:
    compute(folder, tmp_path / "out", n_rows=3)
    collection = read_folder(folder)
    expected = embed(collection, make_encoder(ENCODER)).matrix()
    rows = rows_in(tmp_path / "out")
    assert len(rows) == len(collection) == 5
    for i, vector in enumerate(expected):
        identity, found = rows[collection.name(i)]
        assert identity == collection.identity(i)
        np.testing.assert_array_equal(found, vector)


def test_a_broken_file_is_skipped_with_its_reason(folder: Path, tmp_path: Path) -> None:
    (folder / "2b.png").write_bytes(b"no image")
    done = compute(folder, tmp_path / "out")
    (skipped,) = [one for end in done for one in end.skipped]
    assert skipped.name == "2b.png"
    assert skipped.reason.startswith("is not a supported image")
    written = ShardFolder(str(tmp_path / "out")).written(
        EmbedTask(FilesBelow(str(folder)), ENCODER).made_by
    )
    assert (written.n_rows, written.skipped) == (5, [Skipped("2b.png", skipped.reason)])
    assert not compute(folder, tmp_path / "out")  # neither the others nor the broken one again


def test_only_new_images_are_computed(folder: Path, tmp_path: Path) -> None:
    (folder / "3.png").rename(tmp_path / "later.png")
    compute(folder, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    (tmp_path / "later.png").rename(folder / "0a.png")
    (ended,) = compute(folder, tmp_path / "out")
    assert ended.n_rows == 1
    assert before.items() <= {p: p.stat().st_mtime_ns for p in (tmp_path / "out").iterdir()}.items()
    assert set(rows_in(tmp_path / "out")) == {"0.png", "0a.png", "1.png", "2.png", "4.png"}


def test_a_half_written_shard_is_named_and_its_images_are_missing(
    folder: Path, tmp_path: Path
) -> None:
    compute(folder, tmp_path / "out")
    out, made_by = ShardFolder(str(tmp_path / "out")), {"encoder": "x"}
    name = shard_name(["0.png", "1.png"])
    path = tmp_path / "out" / name
    path.write_bytes(path.read_bytes()[:-20])
    made_by = EmbedTask(FilesBelow(str(folder)), ENCODER).made_by
    written = out.written(made_by)
    assert written.damaged == [name]
    assert written.inputs == {"2.png", "3.png", "4.png"}
    with pytest.raises(EncoderError, match=rf"{name} in .* is damaged .* Delete it and run"):
        out.open(name)


def test_two_encoders_in_one_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    compute(folder, tmp_path / "out")
    other = EmbedTask(FilesBelow(str(folder)), "efficientnet-lite2-64").made_by
    out = ShardFolder(str(tmp_path / "out"))
    with pytest.raises(EncoderError, match=r"lite2-32.*and not by .*lite2-64.*another folder"):
        out.written(other)
    (first, *_) = out.names()
    mixed = ShardFolder(str(tmp_path / "out"))
    table = parquet.read_table(tmp_path / "out" / first)
    mixed.write(["x"], shards.Shard({"name": ["x"], "vector": table["vector"][:1]}), other)
    with pytest.raises(EncoderError, match="one folder must be of one encoder"):
        mixed.describe(mixed.names())


def test_shards_at_an_address(folder: Path, memory: Any) -> None:
    for path in folder.glob("*.png"):
        memory.pipe(f"/photos/{path.name}", path.read_bytes())
    compute("memory://photos", "memory://vectors")
    out = ShardFolder("memory://vectors")
    assert len(out.names()) == 3
    assert out.describe(out.names())["encoder"].startswith("efficientnet-lite2-32")
    assert not compute("memory://photos", "memory://vectors")
    out.delete(out.names()[0])
    assert len(compute("memory://photos", "memory://vectors")) == 1


def test_other_libraries_read_the_shards(folder: Path, tmp_path: Path) -> None:
    compute(folder, tmp_path / "out")
    frame = pd.read_parquet(tmp_path / "out")
    assert sorted(frame["name"]) == [f"{i}.png" for i in range(5)]
    loaded = datasets.load_dataset(
        "parquet", data_dir=str(tmp_path / "out"), cache_dir=str(tmp_path / "hub"), split="train"
    )
    assert np.shape(loaded["vector"]) == (5, len(frame["vector"][0]))


def test_a_shard_is_one_file_whoever_writes_it_and_however_often(tmp_path: Path) -> None:
    out = ShardFolder(str(tmp_path))
    for _ in range(2):
        out.write(["a", "b"], shards.Shard({"name": pa.array(["a", "b"])}), {"encoder": "x"})
    assert len(list(tmp_path.iterdir())) == 1


def test_shards_are_large_and_every_worker_gets_several() -> None:
    names = [str(i) for i in range(10_000)]
    sizes = [len(part) for part in plan(names, n_workers=2)]
    assert len(sizes) >= 8
    assert sum(sizes) == 10_000
    assert max(len(part) for part in plan(names * 10, n_workers=2)) == shards.MAX_ROWS


def test_sources_and_places_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=r"does not exist; check its name"):
        FilesBelow(str(tmp_path / "nowhere")).images()
    with pytest.raises(CollectionError, match="scheme 'foo'"):
        FilesBelow("foo://bucket").images()
    with pytest.raises(OutputError, match="create its parent folder"):
        ShardFolder(str(tmp_path / "no" / "such")).create()
    with pytest.raises(UnknownNameError, match="choose one of: local, ray"):
        check_engine("spark")
