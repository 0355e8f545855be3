from pathlib import Path

import pytest

from likewise.errors import CollectionError, ImageError, InvalidParameterError
from likewise.session import Session
from likewise.workspace.thumbnails import Thumbnails
from likewise.workspace.workspace import Workspace
from tests.session.pictures import pictures


def test_images_are_webp_and_thumbnails_are_cached(workspace: Workspace) -> None:
    assert workspace.thumbnails.image(0)[:4] == b"RIFF"
    small = workspace.thumbnails.thumbnail(0)
    (cached,) = (workspace.session.path / "thumbnails").iterdir()
    assert cached.read_bytes() == small


def test_a_missing_file_is_reported(workspace: Workspace, folder: Path) -> None:
    (folder / "00red.png").unlink()
    with pytest.raises(ImageError, match=r"'00red.png' does not exist"):
        workspace.thumbnails.image(0)


def test_a_link_to_a_file_outside_of_the_folder_is_not_shown(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.png"
    (folder / "00red.png").rename(secret)
    (folder / "00red.png").symlink_to(secret)
    with pytest.raises(ImageError, match="link to a file outside of the image folder"):
        workspace.thumbnails.image(0)
    with pytest.raises(ImageError, match="link to a file outside of the image folder"):
        workspace.thumbnails.thumbnail(0)


def test_an_unknown_image_is_refused(workspace: Workspace) -> None:
    for number in (-1, 12):
        with pytest.raises(InvalidParameterError, match="is not in this session"):
            workspace.thumbnails.image(number)


def test_a_session_without_image_files_is_refused(tmp_path: Path) -> None:
    with (
        Session.create(tmp_path / "arrays.likewise", pictures(4)) as session,
        pytest.raises(CollectionError, match="not created from image files"),
    ):
        Thumbnails(session)
