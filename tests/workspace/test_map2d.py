from typing import Any

import numpy as np
import pytest

from likewise.random_streams import stream
from likewise.workspace.gallery import FILE, SCALE, load_map, project_2d, save_map
from likewise.workspace.workspace import Workspace


def test_distant_rows_are_apart_and_all_are_within_the_scale() -> None:
    rows = stream(0, "rows").normal(0, 0.01, (100, 6)).astype(np.float32)
    rows[:50, 3] += 1
    places = project_2d(rows, np.zeros(100, dtype=np.intp))
    assert places.min() >= 0
    assert places.max() <= SCALE
    assert abs(int(places[:50, 0].mean()) - int(places[50:, 0].mean())) > SCALE / 2


def test_groups_are_separated_although_images_vary_more_in_other_directions() -> None:
    rng = stream(0, "rows by groups")
    groups = np.arange(300) % 3
    rows = rng.normal(0, [3, 3, 0.3, 0.3, 0.3], (300, 5)).astype(np.float32)
    rows[:, 2:] += np.eye(3, dtype=np.float32)[groups] * 3
    places = project_2d(rows, groups).astype(np.float64)
    means = np.stack([places[groups == group].mean(axis=0) for group in range(3)])
    distance = np.linalg.norm(places[:, None] - means, axis=2)
    assert (distance.argmin(axis=1) == groups).mean() > 0.95
    assert np.array_equal(project_2d(rows, groups), project_2d(rows, groups))


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_equal_or_narrow_rows_have_coordinates(n_columns: int) -> None:
    equal = np.full((5, n_columns), 7, dtype=np.float32)
    places = project_2d(equal, np.arange(5) % 2)
    assert places.shape == (5, 2)
    assert (places == places[0]).all()


def test_a_saved_map_is_loaded_and_a_missing_or_damaged_one_is_empty(workspace: Workspace) -> None:
    session, positions = workspace.session, np.arange(3, dtype=np.intp)
    assert [len(array) for array in load_map(session, "colour")] == [0, 0]
    places = np.arange(6, dtype=np.uint16).reshape(3, 2)
    save_map(session, "colour", positions, places)
    loaded = load_map(session, "colour")
    np.testing.assert_array_equal(loaded[0], positions)
    np.testing.assert_array_equal(loaded[1], places)
    (session.model_folder("colour") / "map.npz").write_bytes(b"damaged")
    assert [len(array) for array in load_map(session, "colour")] == [0, 0]


@pytest.mark.parametrize(
    "changed",
    [
        {"positions": np.arange(3.0)},
        {"positions": np.array([0, 1, 10**6])},
        {"positions": np.array([0, 1, -1])},
        {"places": np.zeros((2, 2), dtype=np.uint16)},
        {"places": np.zeros((3, 2))},
    ],
)
def test_a_map_that_does_not_fit_the_images_is_empty(
    workspace: Workspace, changed: dict[str, np.ndarray]
) -> None:
    session = workspace.session
    arrays: dict[str, Any] = {"positions": np.arange(3), "places": np.zeros((3, 2), np.uint16)}
    save_map(session, "colour", arrays["positions"], arrays["places"])
    np.savez(session.model_folder("colour") / FILE, **{**arrays, **changed})
    assert [len(array) for array in load_map(session, "colour")] == [0, 0]
