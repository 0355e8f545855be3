"""The files that release 0.1 wrote in the folder of each criterion are read."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.estimators.kernel.likewise import Likewise
from likewise.random_streams import stream
from likewise.session import Session
from likewise.workspace.group_edits import SplitHistory
from likewise.workspace.map2d import load_map
from likewise.workspace.training_job import load_calibration, save_calibration
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


def test_predicted_answers_and_split_groups_are_read(workspace: Workspace, tmp_path: Path) -> None:
    folder = workspace.session.model_folder("color")
    (folder / "agreement.json").write_text("[true, false, true]")
    (folder / "split-off.json").write_text('[["g3", true]]')
    progress = workspace.criterion("color").status.progress()
    assert progress is not None
    assert progress.n_checked == 3
    assert progress.agreement == pytest.approx(2 / 3)
    assert SplitHistory(folder).remove_last() == ("g3", True)
    assert SplitHistory(folder).last is None  # the new file counts from now on


def test_the_calibration_is_read(tmp_path: Path) -> None:
    said = np.repeat(np.array([[0.95, 0.05]], dtype=np.float32), 20, axis=0)
    left = np.tile([[True, False], [False, True]], (10, 1))  # half of the predictions are wrong
    arrays: dict[str, Any] = {"experience.said": said, "experience.left": left}
    np.savez(tmp_path / "experience.npz", **arrays)
    model = Likewise(2).start(stream(0, "rows").normal(size=(20, 4)))
    assert temperature(model) == 1
    load_calibration(tmp_path, model)
    assert temperature(model) > 1.5
    save_calibration(tmp_path, model)
    again = Likewise(2).start(stream(0, "rows").normal(size=(20, 4)))
    load_calibration(tmp_path, again)
    assert temperature(again) == temperature(model)


def temperature(model: Likewise) -> float:
    return model.temperature_scaler_.temperature()
