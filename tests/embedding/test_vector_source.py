"""Vectors of NumPy and Parquet files, read in parts and sampled."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from likewise.embedding.shards import Shard, ShardFolder
from likewise.embedding.vector_source import VectorSource
from likewise.errors import EncoderError, InvalidParameterError

N_SHARDS, N_ROWS, WIDTH = 6, 300, 3


def matrix_of(
    n: int = N_SHARDS * N_ROWS, width: int = WIDTH
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Rows that differ; the first column is the number of the row."""
    rows = np.ones((n, width), np.float32)
    rows[:, 0] = np.arange(n)
    return rows


@pytest.fixture
def shards(tmp_path: Path) -> ShardFolder:
    """Six shards of 300 rows; row `i` is called ``row i``."""
    folder, rows = ShardFolder(str(tmp_path / "shards")), matrix_of()
    folder.create()
    for start in range(0, len(rows), N_ROWS):
        part = rows[start : start + N_ROWS]
        names = [f"row {i}" for i in range(start, start + N_ROWS)]
        columns = {
            "name": names,
            "hash": [hashlib.sha256(name.encode()).hexdigest() for name in names],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), WIDTH),
        }
        folder.write(names, Shard(columns), {"encoder": "x", "blocks": [["a", 1], ["b", 2]]})
    return folder


def all_rows(source: VectorSource) -> list[tuple[str, str, float]]:
    return sorted(
        (name, identity, float(row[0]))
        for file in source.files
        for batch in source.batches(file)
        for name, identity, row in zip(batch.names, batch.hashes, batch.matrix, strict=True)
    )


def test_all_rows_of_shards_with_names_hashes_and_blocks(shards: ShardFolder) -> None:
    source = VectorSource(shards.place)
    assert (source.n_rows, source.blocks) == (N_SHARDS * N_ROWS, {"a": 1, "b": 2})
    rows = all_rows(source)
    assert len({name for name, *_ in rows}) == len(rows) == source.n_rows
    assert all(float(name.removeprefix("row ")) == value for name, _, value in rows)
    assert all(hashlib.sha256(name.encode()).hexdigest() == one for name, one, _ in rows)
    sent = pickle.loads(pickle.dumps(source))
    assert all_rows(sent) == rows


@pytest.mark.parametrize("kind", ["shards", "npy"])
def test_a_sample_has_the_size_asked_for_and_is_from_everywhere(
    shards: ShardFolder, tmp_path: Path, kind: str
) -> None:
    np.save(tmp_path / "rows.npy", matrix_of())
    source = VectorSource(shards.place if kind == "shards" else str(tmp_path / "rows.npy"))
    sample = source.sample(400)
    assert 380 <= len(sample.names) <= 400
    assert len(set(sample.names)) == len(set(sample.hashes)) == len(sample.names)
    values = sample.matrix[:, 0]
    assert [float(name.removeprefix("row ")) for name in sample.names] == values.tolist()
    counts, _ = np.histogram(values, bins=N_SHARDS, range=(0, source.n_rows))
    assert counts.min() > 30
    again = VectorSource(source.place).sample(400)
    assert again.names == sample.names  # the same seed
    assert source.sample(400, seed=1).names != sample.names
    assert len(source.sample(10**6).names) == source.n_rows


def test_rows_of_one_row_group_are_a_few_of_a_sample(shards: ShardFolder) -> None:
    """Images of one folder are neighbours in a shard: a sample must not be of few folders."""
    sample = VectorSource(shards.place).sample(60)
    assert len(sample.names) > 30
    assert len({int(value) // 100 for value in sample.matrix[:, 0]}) >= 4


def test_a_numpy_file_takes_names_and_blocks_of_its_description(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, matrix_of(4))
    assert all_rows(VectorSource(str(path)))[0][0] == "0"
    names = ["d.png", "c.png", "b.png", "a.png"]
    description = {"names": names, "blocks": {"a": [0, 1], "b": [1, 3]}, "encoder": "x"}
    path.with_suffix(".json").write_text(json.dumps(description))
    source = VectorSource(str(path))
    assert [value for *_, value in all_rows(source)] == [3, 2, 1, 0]
    assert source.blocks == {"a": 1, "b": 2}
    np.save(path, matrix_of(5))  # newer than its description
    assert all_rows(VectorSource(str(path)))[0][0] == "0"


def test_parquet_files_of_other_programs(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    frame = pd.DataFrame({"id": [7, 8], "text": ["a", "b"], "v": [[1.0, 2.0], [3.0, 4.0]]})
    frame.to_parquet(tmp_path / "other" / "x.parquet")
    assert [name for name, *_ in all_rows(VectorSource(str(tmp_path / "other")))] == ["7", "8"]
    pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}).to_parquet(tmp_path / "numbers.parquet")
    assert VectorSource(str(tmp_path / "numbers.parquet")).n_rows == 2
    frame[["v"]].to_parquet(tmp_path / "other" / "x.parquet")
    (first, second) = all_rows(VectorSource(str(tmp_path / "other" / "x.parquet")))
    assert (first[0], second[0]) == ("x.parquet-0", "x.parquet-1")


def test_invalid_sources(tmp_path: Path, shards: ShardFolder) -> None:
    for place, message in (
        (tmp_path / "nowhere", "does not exist"),
        (tmp_path / "rows.npy", "does not exist"),
        (tmp_path, "contains no Parquet files; write them with"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            VectorSource(str(place))
    parquet.write_table(pa.table({"path": ["a"]}), tmp_path / "texts.parquet")
    with pytest.raises(InvalidParameterError, match="of vectors"):
        VectorSource(str(tmp_path / "texts.parquet"))
    assert not VectorSource.is_one(str(tmp_path / "texts.parquet"))
    first = Path(shards.place) / shards.names()[0]
    first.write_bytes(first.read_bytes()[:-9])
    with pytest.raises(EncoderError, match=f"{first.name} in .* is damaged"):
        VectorSource(shards.place)


def test_vectors_of_several_lengths_are_refused(tmp_path: Path) -> None:
    folder = ShardFolder(str(tmp_path))
    for width in (2, 3):
        flat = pa.array(np.ones(2 * width, np.float32))
        vectors = pa.FixedSizeListArray.from_arrays(flat, width)
        folder.write([str(width)], Shard({"name": ["a", "b"], "vector": vectors}), {})
    with pytest.raises(InvalidParameterError, match=r"lengths 2, 3; one folder must be of one"):
        VectorSource(str(tmp_path))
