"""`likewise embed` and `likewise predict` to folders of Parquet files."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from likewise.constraints.question import Answer, Question
from likewise.embedding.vector_source import VectorSource
from likewise.workspace.vector_session import create_vector_session
from tests.cli.conftest import Run, done, error_of, json_of

ENCODER = ("--encoder", "efficientnet-lite2-32")


def rows_in(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder).sort_values("name", ignore_index=True)


def test_embed_to_a_folder_continues_and_reports_broken_images(run: Run, photos: Path) -> None:
    (photos / "broken.png").write_bytes(b"no image")
    first = json_of(run("embed", photos, "-o", "vectors", *ENCODER, "--json"))
    assert (first["n_images"], first["n_new"], first["n_skipped"]) == (24, 24, 1)
    assert first["skipped"][0]["name"] == "broken.png"
    (damaged, *_) = sorted(Path("vectors").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:100])
    again = run("embed", photos, "-o", "vectors", *ENCODER, "--json")
    assert f"{damaged.name} in {Path('vectors').absolute()} is damaged" in again.stderr
    assert json_of(again)["n_images"] == 24
    assert "0 new, 1 skipped" in done(run("embed", photos, "-o", "vectors", *ENCODER)).stdout
    assert rows_in(Path("vectors"))["name"].is_unique


def test_invalid_engines_and_places(run: Run, photos: Path, tmp_path: Path) -> None:
    error = error_of(run, "embed", photos, "-o", "x.npy", "--engine", "ray")
    assert "writes a folder of Parquet files, got -o x.npy" in error
    assert "choose one of: local, ray" in error_of(
        run, "embed", photos, "-o", "x", "--engine", "dask"
    )
    assert "need --engine ray" in error_of(run, "embed", photos, "-o", "x", "--workers", 2)
    for arguments in (("memory://photos", "-o", "x"), (photos, "-o", "memory://x")):
        assert "exists in this process only" in error_of(
            run, "embed", *arguments, "--engine", "ray"
        )
    assert "create its parent folder" in error_of(run, "embed", photos, "-o", "no/such/folder")
    assert "scheme 'foo'" in error_of(run, "embed", photos, "-o", "foo://x")
    done(run("embed", photos, "-o", "vectors", *ENCODER))
    message = error_of(run, "embed", photos, "-o", "vectors", "--encoder", "efficientnet-lite2-64")
    assert "one folder must be of one encoder" in message


def test_a_missing_extra_is_one_line(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, extra in (("pyarrow", "parquet"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, module, None)
        result = run("embed", photos, "-o", "x", *(["--engine", "ray"] * (extra == "ray")))
        assert result.exit_code == 2
        assert f"pip install 'likewise[{extra}]'" in result.stderr


def test_no_readable_image_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "a.png").write_bytes(b"no image")
    assert "None of the 1 images can be read" in error_of(run, "embed", "odd", "-o", "x", *ENCODER)


def test_both_ways_to_predict_give_the_same_groups(run: Run, photos: Path) -> None:
    (photos / "broken.png").write_bytes(b"no image")
    done(run("fit", photos, "-k", 3, "--by", "colour", "-o", "model"))
    done(run("predict", "model", photos, "-o", "rows.csv"))
    result = json_of(run("predict", "model", photos, "--engine", "local", "-o", "groups", "--json"))
    assert (result["n_images"], result["n_skipped"]) == (24, 1)
    rows = pd.read_csv("rows.csv").sort_values("path", ignore_index=True)
    found = rows_in(Path("groups"))
    assert found["name"].tolist() == rows["path"].tolist()
    assert found["cluster"].tolist() == rows["cluster"].tolist()
    assert found["confidence"].to_numpy() == pytest.approx(rows["confidence"], abs=1e-4)
    again = run("predict", "model", photos, "--engine", "local", "-o", "groups")
    assert "0 new" in done(again).stdout
    done(run("fit", photos, "-k", 2, "--by", "warmth", "-o", "other"))
    message = error_of(run, "predict", "other", photos, "--engine", "local", "-o", "groups")
    assert "one folder must be of one encoder or model" in message


def test_a_session_of_vectors_predicts_all_of_them(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = 9 * np.eye(4)[np.arange(300) % 3] + rng.standard_normal((300, 4))
    np.save("vectors.npy", rows.astype(np.float32))
    session = create_vector_session(
        tmp_path / "vectors.likewise", VectorSource("vectors.npy"), 90, None
    )
    with session:
        session.add_criterion("kind", 3)
        at = [[i for i, n in enumerate(session.images.names) if int(n) % 3 == c] for c in range(3)]
        for c in range(3):
            session.tell(Answer(Question.pair(at[c][0], at[c][1]), "same", criterion="kind"))
            other = at[(c + 1) % 3][0]
            session.tell(Answer(Question.pair(at[c][0], other), "different", criterion="kind"))
    done(run("predict", "vectors.likewise", "vectors.npy", "-o", "rows.csv"))
    found = pd.read_csv("rows.csv")
    assert len(found) == 300
    assert all(len(set(found["cluster"][c::3])) == 1 for c in range(3))
    arguments = ("--engine", "local", "-o", "groups", "--json")
    assert json_of(run("predict", "vectors.likewise", "vectors.npy", *arguments))["n_new"] == 300
    assert json_of(run("predict", "vectors.likewise", "vectors.npy", *arguments))["n_new"] == 0
    np.save("wide.npy", np.ones((3, 5), np.float32))
    message = error_of(run, "predict", "vectors.likewise", "wide.npy")
    assert "needs vectors of length 4, but those in wide.npy have 5" in message


def test_invalid_options_of_vectors(run: Run, photos: Path) -> None:
    assert "--sample needs --vectors" in error_of(run, "start", photos, "--sample", 9)
    assert "does not exist" in error_of(run, "start", "--vectors", "no.npy", "--no-browser")
    np.save("v.npy", np.eye(3, dtype=np.float32))
    message = error_of(run, "start", "nowhere", "--vectors", "v.npy", "--no-browser")
    assert "The folder 'nowhere' does not exist" in message
    assert "--engine needs -o DIR" in error_of(run, "predict", "m", photos, "--engine", "local")
