"""The files that release 0.1 wrote in the folder of each criterion are read."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.session import Session
from likewise.workspace.gallery import load_map
from likewise.workspace.group_edits import SplitHistory
from likewise.workspace.workspace import Workspace

DATA = Path(__file__).parents[1] / "session" / "data"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    shutil.copytree(DATA / "pictures", tmp_path / "pictures")
    path = shutil.copytree(DATA / "release_0_1.likewise", tmp_path / "release_0_1.likewise")
    with Workspace(Session.open(path), has_worker=False) as workspace:
        yield workspace


@pytest.mark.parametrize("by", ["color", "shape"])
def test_groups_and_map_are_shown(workspace: Workspace, by: str) -> None:
    expected = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["criteria"][by]
    criterion = workspace.criterion(by)
    gallery = criterion.status.gallery()
    shown = [key for key, *_, merged_into in expected["groups"] if merged_into is None]
    assert [group.key for group in gallery.groups] == shown
    cluster_of = {row[0]: row[1] for row in expected["assignments"]}
    for members in gallery.members.values():
        assert len({cluster_of[gallery.names[i]] for i in members.tolist()}) <= 1
    positions, places = load_map(workspace.session, by)
    assert len(positions) == len(places) > 0
    assert len(criterion.review.conflicts()) == len(expected["conflicts"])


def test_split_groups_are_read(workspace: Workspace) -> None:
    folder = workspace.session.model_folder("color")
    (folder / "split-off.json").write_text('[["g3", true]]')
    assert SplitHistory(folder).remove_last() == ("g3", True)
    assert SplitHistory(folder).last is None  # the new file counts from now on
    assert workspace.criterion("color").status.quality == {}
