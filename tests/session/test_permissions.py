"""Nobody else can read a session; exports have the permissions that the umask leaves."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.embedding.vector_file import VectorFile
from likewise.estimators.persistence import write_folder
from likewise.images.files import read_folder
from likewise.session import Session, export_csv, export_folders, save_results
from likewise.session.atomic import make_private
from likewise.session.create import EMBEDDINGS
from likewise.workspace.gallery import save_map
from likewise.workspace.status import write_json
from likewise.workspace.thumbnails import Thumbnails


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def wider_than(folder: Path, limit: int) -> list[str]:
    """Return the files and folders that have other permissions than those in `limit`."""
    paths = [folder, *folder.rglob("*")]
    modes = [(path, stat.S_IMODE(path.lstat().st_mode)) for path in paths]
    return [f"{path.name} {mode:o}" for path, mode in modes if mode & ~limit]


def make_images(folder: Path) -> Path:
    folder.mkdir()
    for number in range(4):
        Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(folder / f"{number}.png")
    return folder


def use(session: Session) -> None:
    """Write everything into a session that the commands write."""
    session.ensure_criterion("colour", 2)
    session.make_group("colour", name="red")
    rows = np.full((4, 2), 0.5, dtype=np.float32)
    save_results(session, "colour", rows, keys=("g1", "g2"))
    save_map(session, "colour", np.arange(4), np.zeros((4, 2), dtype=np.uint16))
    write_json(session.model_folder("colour") / "history.json", {})
    Thumbnails(session).thumbnail(0)
    vectors = VectorFile(session.path / EMBEDDINGS, "colours", {"a": 2})
    vectors.add(["c0ffee"], np.zeros((1, 2), dtype=np.float32))
    write_folder(session.model_folder("colour") / "model", {"w": np.zeros(2)}, {})


def test_nothing_in_a_session_is_readable_by_others(tmp_path: Path, umask: int) -> None:
    images = read_folder(make_images(tmp_path / "photos"))
    with Session.create(tmp_path / "photos.likewise", images) as session:
        use(session)
        assert wider_than(session.path, 0o700) == []  # with write-ahead log and pid file
        files = (path for path in session.path.rglob("*") if path.is_file())
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)


def test_a_session_of_0_1_becomes_private_when_it_is_opened_for_writing(
    tmp_path: Path,
) -> None:
    images = read_folder(make_images(tmp_path / "photos"))
    with Session.create(tmp_path / "photos.likewise", images) as session:
        use(session)
    for path in [session.path, *session.path.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    with Session.open(session.path, write=False):
        assert wider_than(session.path, 0o700)  # a reader changes nothing
    with Session.open(session.path):
        assert wider_than(session.path, 0o700) == []


def test_the_target_of_a_link_keeps_its_permissions(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.touch(0o644)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(outside)
    make_private(tmp_path / "folder")
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


@pytest.mark.parametrize("how", ["copy", "symlink"])
def test_exports_have_at_most_the_permissions_of_the_umask(
    tmp_path: Path, umask: int, how: str
) -> None:
    images = read_folder(make_images(tmp_path / "photos"))
    for path in (tmp_path / "photos").iterdir():
        path.chmod(0o644)
    with Session.create(tmp_path / "photos.likewise", images) as session:
        use(session)
        (tmp_path / "out").mkdir()
        export_csv(session, tmp_path / "out" / "groups.csv")
        export_folders(session, tmp_path / "out" / "folders", how=how)
        write_folder(tmp_path / "out" / "model", {"w": np.zeros(2)}, {})
    links = {f"{path.name} 777" for path in (tmp_path / "out").rglob("*") if path.is_symlink()}
    assert set(wider_than(tmp_path / "out", 0o777 & ~umask)) <= links
    mode = stat.S_IMODE((tmp_path / "out" / "groups.csv").stat().st_mode)
    assert mode == 0o666 & ~umask


def test_hard_links_keep_the_permissions_of_the_images(tmp_path: Path) -> None:
    images = read_folder(make_images(tmp_path / "photos"))
    (tmp_path / "photos" / "0.png").chmod(0o666)
    with Session.create(tmp_path / "photos.likewise", images) as session:
        use(session)
        export_folders(session, tmp_path / "folders", how="hardlink")
    assert stat.S_IMODE((tmp_path / "photos" / "0.png").stat().st_mode) == 0o666


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_cannot_list_the_session(tmp_path: Path) -> None:
    images = read_folder(make_images(tmp_path / "photos"))
    Session.create(tmp_path / "photos.likewise", images).close()
    code = f"import os; os.setuid(65534); os.listdir({str(tmp_path / 'photos.likewise')!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"PermissionError" in ended.stderr
