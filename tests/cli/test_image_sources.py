"""Commands on archives, addresses and tables instead of a folder."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from likewise import Likewise
from likewise.errors import InvalidParameterError
from likewise.session import Session
from likewise.workspace.folder_watch import FolderWatch
from tests.cli.conftest import Run, done, error_of, json_of


def zipped(folder: Path) -> Path:
    path = folder.with_name("holiday.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for image in sorted(folder.rglob("*.png")):
            archive.write(image, image.relative_to(folder))
        archive.writestr("broken.png", b"no image")
    return path


def test_an_archive_is_copied_once_and_a_session_is_next_to_it(run: Run, photos: Path) -> None:
    archive = zipped(photos)
    first = done(run("fit", archive, "-k", 3, "--by", "colour"))
    assert "Copying 24 images" in first.stderr
    assert "'broken.png'" in first.stderr
    copies = {path: path.stat().st_mtime_ns for path in (archive.parent / "holiday").rglob("*.png")}
    assert len(copies) == 24
    with Session.open(archive.parent / "holiday.likewise", write=False) as session:
        assert len(session.images) == 24
    done(run("fit", archive, "-k", 3, "--by", "colour"))
    assert copies == {path: path.stat().st_mtime_ns for path in copies}


def test_a_folder_of_another_origin_is_not_filled(run: Run, photos: Path) -> None:
    archive = zipped(photos)
    (archive.parent / "holiday").mkdir()
    message = error_of(run, "embed", archive, "-o", "x.npy")
    assert "would be copied to" in message
    assert "rename that folder" in message


def test_an_address_is_copied_to_the_working_directory(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (photos.parent / "elsewhere").mkdir()
    monkeypatch.chdir(photos.parent / "elsewhere")
    row = json_of(run("embed", f"file://{photos}", "-o", "vectors.npy", "--json"))
    assert row["n_images"] == 24
    assert len(list(Path("photos").rglob("*.png"))) == 24


def test_an_unknown_scheme_is_one_line(run: Run) -> None:
    message = error_of(run, "embed", "foo://bucket/photos", "-o", "x.npy")
    assert "The scheme 'foo' of 'foo://bucket/photos' is not known" in message


def test_a_session_of_a_table_contains_only_the_listed_images(run: Run, photos: Path) -> None:
    images = sorted(photos.rglob("*.png"))[::2]
    table = photos.with_name("chosen.csv")
    pd.DataFrame({"path": [str(path) for path in images]}).to_csv(table, index=False)
    done(run("fit", table, "-k", 3, "--by", "colour"))
    with Session.open(photos.with_name("chosen.likewise")) as session:
        assert session.root == photos
        assert len(session.images) == len(images)
        assert FolderWatch(session, print, print).scan() is None
        assert len(session.images) == len(images)
    rows = done(run("export", "chosen.likewise", "-o", "out.csv"))
    assert f"{len(images)} images" in rows.stdout


# -- vectors in files --------------------------------------------------------------


def vectors() -> Any:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(i * 4, 1, (20, 3)) for i in range(2)]).astype(np.float32)


def test_an_estimator_reads_vectors_from_files(tmp_path: Path) -> None:
    matrix = vectors()
    expected = Likewise(2, random_state=0).fit(matrix).labels_
    np.save(tmp_path / "v.npy", matrix)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), 3)
    parquet.write_table(pa.table({"text": ["a"] * 40, "v": lists}), tmp_path / "v.parquet")
    pd.DataFrame(matrix, columns=list("abc")).to_parquet(tmp_path / "columns.parquet")
    for name in ("v.npy", "v.parquet", "columns.parquet"):
        model = Likewise(2, random_state=0).fit(tmp_path / name)
        assert np.array_equal(model.labels_, expected), name


def test_vector_files_that_cannot_be_used(tmp_path: Path) -> None:
    ragged = pa.array([[1.0, 2.0], [1.0]])
    parquet.write_table(pa.table({"v": ragged}), tmp_path / "ragged.parquet")
    np.save(tmp_path / "objects.npy", np.array([None, "a"], dtype=object), allow_pickle=True)
    np.save(tmp_path / "one.npy", np.arange(3.0))
    whole = (tmp_path / "one.npy").read_bytes()
    (tmp_path / "half.npy").write_bytes(whole[:-8])
    for name, message in (
        ("ragged.parquet", r"must all have the same length, got 2 rows with lengths 1, 2"),
        ("objects.npy", "cannot be read as a NumPy file"),
        ("half.npy", "cannot be read as a NumPy file"),
        ("one.npy", r"an array of shape \(3,\) and type float64; give a matrix"),
        ("missing.npy", "does not exist"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            Likewise(2).fit(tmp_path / name)
