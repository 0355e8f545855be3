import shutil
from pathlib import Path

import pytest

from likewise.constraints.question import Question
from likewise.errors import CollectionError
from likewise.workspace.workspace import Workspace
from tests.workspace.images import paint_folder


def test_new_images_are_added_and_missing_ones_recorded(
    trained_workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    workspace, published = trained_workspace, list[str]()
    workspace.events.subscribe(lambda message: published.append(message["event"]))
    assert workspace.rescan() is None
    extra = paint_folder(tmp_path / "extra", 14)
    for name in ("12red.png", "13blue.png"):
        shutil.copy(extra / name, folder / name)
    (folder / "00red.png").unlink()
    changes = workspace.rescan()
    assert changes is not None
    assert (changes.added, changes.missing) == ((12, 13), (0,))
    assert published == ["images"]
    criterion = workspace.criterion("colour")
    gallery = criterion.status.gallery()
    assert sorted(gallery.new.tolist()) == [12, 13]  # in no group until they are embedded
    assert 0 not in gallery.members["g1"].tolist()
    assert workspace.thumbnails.thumbnail(13)[:4] == b"RIFF"
    assert criterion.answer(Question.pair(2, 12), "same").result.accepted


def test_a_missing_folder_is_reported_and_no_image_is_recorded_as_missing(
    trained_workspace: Workspace, folder: Path
) -> None:
    moved = folder.rename(folder.with_name("moved"))
    with pytest.raises(CollectionError, match=r"cannot be reached.*does not exist.*kept"):
        trained_workspace.rescan()
    assert trained_workspace.folder_problem is not None
    assert trained_workspace.session.images.n_missing == 0
    trained_workspace.criterion("colour").answer(Question.pair(0, 2), "same")
    moved.rename(folder)
    assert trained_workspace.rescan() is None
    assert trained_workspace.folder_problem is None


def test_an_image_that_becomes_unreadable_is_left_out_until_it_is_readable_again(
    trained_workspace: Workspace, folder: Path
) -> None:
    content = (folder / "00red.png").read_bytes()
    (folder / "00red.png").write_bytes(content[:100])
    changes = trained_workspace.rescan()
    assert changes is not None
    assert changes.broken == (0,)
    (folder / "00red.png").write_bytes(content)
    changes = trained_workspace.rescan()
    assert changes is not None
    assert changes.returned == (0,)
