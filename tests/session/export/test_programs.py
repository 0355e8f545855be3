"""Exports are read by the libraries and programs they are for.

FiftyOne, Label Studio and Datumaro (which CVAT uses) need environments of their own. Their checks
run if a variable names one, and skip otherwise::

    python -m venv fo && fo/bin/pip install fiftyone
    LIKEWISE_FIFTYONE=fo/bin/python LIKEWISE_LABEL_STUDIO=ls/bin/label-studio \
        LIKEWISE_DATUMARO=dm/bin/python pytest tests/session/export/test_programs.py
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from pyarrow import parquet
from pycocotools.coco import COCO

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError
from likewise.images.files import read_folder
from likewise.session import Session, save_results
from likewise.session.export import formats
from likewise.session.export.folders import export_folders
from likewise.session.export.xmp import export_xmp, packet, with_keyword
from likewise.workspace.thumbnails import Thumbnails

N = 40
NAMES = ("rot & grün", "blue")
EXIFTOOL = shutil.which("exiftool")


def name_of(i: int) -> str:
    return ("trip/" if i % 3 else "") + f"photo {i:02}.{'jpg' if i % 2 else 'png'}"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Return a session of 40 images, even ones (PNG) in the first group, odd ones (JPEG) not."""
    for i in range(N):
        path = tmp_path / "photos" / name_of(i)
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 8 + i), (6 * i, 90, 90)).save(path)
    images = read_folder(tmp_path / "photos")
    with Session.create(tmp_path / "photos.likewise", images) as made:
        made.add_criterion("colour", 2)
        made.make_groups("colour", NAMES)
        is_odd = np.array([int(name.split(".")[0][-1]) % 2 for name in made.images.names])
        probabilities = np.where(is_odd[:, None], [[0.2, 0.8]], [[0.9, 0.1]])
        save_results(made, "colour", probabilities, keys=("g1", "g2"))
        made.tell(Answer(Question.pair(0, 2), "same", criterion="colour"))
        yield made


def content(session: Session, to: str) -> bytes:
    return formats.export(session, Thumbnails(session), "colour", to)


def expected() -> dict[str, str]:
    return {name_of(i): NAMES[i % 2] for i in range(N)}


def run_python(variable: str, code: str, *arguments: object) -> Any:
    """Run code in the environment that a variable names; return the JSON that it prints last."""
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"needs {variable}, an environment with the program (see the module)")
    command = [python, "-c", code, *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_tables_are_read_by_pandas_pyarrow_and_datasets(session: Session, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_bytes(content(session, "csv"))
    (tmp_path / "out.parquet").write_bytes(content(session, "parquet"))
    tables = [
        pd.read_csv(tmp_path / "out.csv"),
        pd.read_parquet(tmp_path / "out.parquet"),
        parquet.read_table(tmp_path / "out.parquet").to_pandas(),
        datasets.Dataset.from_parquet(
            str(tmp_path / "out.parquet"), cache_dir=str(tmp_path / "cache")
        ).to_pandas(),
    ]
    for table in tables:
        assert dict(zip(table["path"], table["name"], strict=True)) == expected()
        assert table["confidence"].astype(float).round(1).isin([0.8, 0.9]).all()


def test_folders_are_an_image_folder(session: Session, tmp_path: Path) -> None:
    export_folders(session, tmp_path / "sorted", "colour")
    found = datasets.load_dataset(
        "imagefolder", data_dir=str(tmp_path / "sorted"), cache_dir=str(tmp_path / "cache")
    )["train"]
    labels = found.features["label"].names
    assert sorted(labels) == sorted(NAMES)
    assert sorted(labels[row["label"]] for row in found) == sorted(expected().values())


def test_coco_is_read_by_pycocotools(session: Session, tmp_path: Path) -> None:
    (tmp_path / "coco.json").write_bytes(content(session, "coco"))
    coco = COCO(str(tmp_path / "coco.json"))
    found = {}
    for image in coco.loadImgs(coco.getImgIds()):
        (annotation,) = coco.loadAnns(coco.getAnnIds(imgIds=image["id"]))
        (category,) = coco.loadCats(annotation["category_id"])
        found[image["file_name"]] = category["name"]
        with Image.open(session.path.with_name("photos") / image["file_name"]) as opened:
            assert opened.size == (image["width"], image["height"])
    assert found == expected()


# -- XMP ---------------------------------------------------------------------------------


def exiftool(*paths: Path) -> list[dict[str, Any]]:
    if EXIFTOOL is None:
        pytest.skip("needs exiftool (Debian: libimage-exiftool-perl)")
    fields = ["-XMP-dc:Subject", "-XMP-lr:HierarchicalSubject", "-XMP-digiKam:TagsList"]
    command = [EXIFTOOL, "-j", "-validate", "-warning", *fields, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_sidecars_are_read_by_exiftool(session: Session, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    before = {path: path.read_bytes() for path in photos.rglob("*.*")}
    assert export_xmp(session, None, "colour").n_written == N
    assert {path: path.read_bytes() for path in before} == before
    assert len(read_folder(photos)) == N  # sidecars are not images
    rows = exiftool(*[photos / f"{name_of(i)}.xmp" for i in range(N)])
    for i, row in enumerate(rows):
        assert row["Subject"] == NAMES[i % 2]
        assert row["HierarchicalSubject"] == f"colour|{NAMES[i % 2]}"
        assert row["TagsList"] == f"colour/{NAMES[i % 2]}"
        assert "Warning" not in row


def test_keywords_of_others_are_kept_and_those_of_the_criterion_replaced(
    session: Session, tmp_path: Path
) -> None:
    if EXIFTOOL is None:
        pytest.skip("needs exiftool")
    sidecar = tmp_path / "photos" / f"{name_of(0)}.xmp"
    command = [EXIFTOOL, "-XMP-dc:Subject=beach", "-XMP-xmp:Rating=4", str(sidecar)]
    subprocess.run(command, check=True, capture_output=True)
    export_xmp(session, None, "colour")
    session.change_group("colour", "g1", name="red")
    export_xmp(session, None, "colour")
    (row,) = exiftool(sidecar)
    assert row["Subject"] == ["beach", "red"]
    assert row["HierarchicalSubject"] == "colour|red"
    rating = subprocess.run([EXIFTOOL, "-s3", "-Rating", sidecar], capture_output=True, check=True)
    assert rating.stdout.strip() == b"4"


def test_a_sidecar_that_is_not_xmp_is_left_alone(session: Session, tmp_path: Path) -> None:
    sidecar = tmp_path / "photos" / f"{name_of(0)}.xmp"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x:xmpmeta xmlns:x="adobe:ns:meta/">&a;</x:xmpmeta>'
    for text in ("no xml", "<html/>", bomb):
        sidecar.write_text(text)
        ((path, reason),) = export_xmp(session, None, "colour").left_out
        assert path == name_of(0)
        assert "not valid XMP" in reason
        assert sidecar.read_text() == text


def test_copies_get_keywords_and_keep_their_pixels(session: Session, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    before = {path: path.read_bytes() for path in photos.rglob("*.*")}
    exported = export_folders(session, tmp_path / "sorted", "colour", tags=True)
    assert exported.n_written == N
    assert {path: path.read_bytes() for path in before} == before
    copies = sorted((tmp_path / "sorted").rglob("*.*"))
    for row, path in zip(exiftool(*copies), copies, strict=True):
        assert row["Subject"] == path.parent.name
        assert row["HierarchicalSubject"] == f"colour|{path.parent.name}"
        original = next(photos.rglob(path.name))
        with Image.open(path) as copy, Image.open(original) as image:
            assert copy.tobytes() == image.tobytes()
    with pytest.raises(InvalidParameterError, match="written only into copies, never into orig"):
        export_folders(session, tmp_path / "links", "colour", how="hardlink", tags=True)


def test_a_keyword_is_replaced_not_repeated(tmp_path: Path) -> None:
    for kind in ("png", "jpg"):
        path = tmp_path / f"a.{kind}"
        Image.new("RGB", (9, 9)).save(path, exif=Image.Exif())
        once = with_keyword(path.read_bytes(), "red", "colour")
        path.write_bytes(with_keyword(with_keyword(once, "blue", "colour"), "big", "size"))
        (row,) = exiftool(path)
        assert row["HierarchicalSubject"] == ["colour|blue", "size|big"]
        assert row["Subject"] == ["blue", "big"]
        assert path.read_bytes().count(b"<?xpacket begin") == 1
    assert b"colour|red" not in packet("", "colour", packet("red", "colour"))


# -- programs in environments of their own ---------------------------------------------------


def test_fiftyone_has_all_samples_with_confidence(session: Session, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "photos" / name_of(1), tmp_path / "photos" / "photo 00.jpg")
    session.sync(read_folder(tmp_path / "photos"))  # photo 00.png exists too
    (tmp_path / "labels.json").write_bytes(content(session, "fiftyone"))
    code = """
import json, sys
import fiftyone as fo
dataset = fo.Dataset.from_dir(
    dataset_type=fo.types.FiftyOneImageClassificationDataset, labels_path=sys.argv[1]
)
print(json.dumps([[s.filepath, s.ground_truth.label, s.ground_truth.confidence] for s in dataset]))
"""
    rows = run_python("LIKEWISE_FIFTYONE", code, tmp_path / "labels.json")
    photos = tmp_path / "photos"
    assert len(rows) == N + 1
    found = {Path(path).relative_to(photos).as_posix(): label for path, label, _ in rows}
    assert {name: found[name] for name in expected()} == expected()
    assert {round(confidence, 1) for *_, confidence in rows} == {0.8, 0.9}


def test_cvat_annotations_are_read_by_datumaro(session: Session, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "photos", tmp_path / "cvat" / "images")
    (tmp_path / "cvat" / "annotations.xml").write_bytes(content(session, "cvat"))
    code = """
import json, sys
from datumaro import Dataset
dataset = Dataset.import_from(sys.argv[1], "cvat")
names = [label.name for label in next(iter(dataset.categories().values()))]
print(json.dumps({item.id: names[item.annotations[0].label] for item in dataset}))
"""
    found = run_python("LIKEWISE_DATUMARO", code, tmp_path / "cvat")
    assert found == {name.rsplit(".", 1)[0]: group for name, group in expected().items()}


TOKEN = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def label_studio(tmp_path: Path) -> Iterator[httpx.Client]:
    """Return a client of a running Label Studio whose document root is `tmp_path`."""
    command = os.environ.get("LIKEWISE_LABEL_STUDIO")
    if not command:
        pytest.skip("needs LIKEWISE_LABEL_STUDIO, the command label-studio of an environment")
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(tmp_path),
        "LABEL_STUDIO_BASE_DATA_DIR": str(tmp_path / "label studio"),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "false",
    }
    options = ["--no-browser", "--port", "8097", "--username", "a@b.cc", "--password", "secret123"]
    server = subprocess.Popen(
        [command, "start", *options, "--user-token", TOKEN],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    headers = {"Authorization": f"Token {TOKEN}"}
    try:
        with httpx.Client(base_url="http://localhost:8097", headers=headers, timeout=60) as client:
            for _ in range(200):
                try:
                    if client.get("/health").status_code == 200:
                        break
                except httpx.HTTPError:
                    time.sleep(2)
            yield client
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.timeout(900)
def test_label_studio_imports_every_choice_and_serves_every_image(
    session: Session, tmp_path: Path, label_studio: httpx.Client
) -> None:
    config = content(session, "labelstudio-config").decode()
    body = {"title": "colour", "label_config": config}
    answer = label_studio.post("/api/projects", json=body)
    assert answer.status_code == 201, answer.text
    project = answer.json()["id"]
    storage = {"project": project, "path": str(tmp_path / "photos"), "use_blob_urls": True}
    assert label_studio.post("/api/storages/localfiles", json=storage).status_code == 201
    tasks = json.loads(content(session, "labelstudio"))
    imported = label_studio.post(f"/api/projects/{project}/import", json=tasks)
    assert imported.status_code == 201, imported.text
    assert imported.json()["task_count"] == N + 1
    found, same = {}, []
    page = label_studio.get(
        "/api/tasks", params={"project": project, "page_size": 100, "fields": "all"}
    )
    for task in page.json()["tasks"]:
        for key in ("image", "second"):
            assert label_studio.get(task["data"][key]).status_code == 200, task["data"][key]
        for prediction in task["predictions"]:
            (choice,) = prediction["result"][0]["value"]["choices"]
            found[task["data"]["path"]] = choice
        same += [one["result"][0]["value"]["choices"] for one in task["annotations"]]
    assert found == expected()
    assert same == [["same"]]
    known = re.findall(r'Choice value="([^"]*)"', config.replace("&amp;", "&"))
    assert set(found.values()) <= set(known)
