"""What happens to files after they were scanned."""

import os
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ImageError
from likewise.images.folder import read_folder
from tests.images.conftest import Save
from tests.images.pictures import make_pixels


def test_a_picture_that_vanished_is_named(save: Save, tmp_path: Path) -> None:
    save("sub/a.png").with_name("b.png").write_bytes(b"")
    collection = read_folder(tmp_path)
    (tmp_path / "sub/a.png").unlink()
    with pytest.raises(ImageError, match=r"^'sub/a.png' does not exist; check its name, or read"):
        collection.pixels(0)


def test_a_picture_that_became_another_is_refused(save: Save, tmp_path: Path) -> None:
    save("a.png")
    collection = read_folder(tmp_path)
    save("a.png", seed=1)
    with pytest.raises(ImageError, match=r"^'a.png' was changed since it was scanned; read the"):
        collection.pixels(0)


def test_a_picture_that_was_only_touched_is_still_itself(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    collection = read_folder(tmp_path)
    os.utime(path, (1, 1))
    np.testing.assert_array_equal(collection.pixels(0), make_pixels())


def test_a_picture_that_became_a_pipe_keeps_nobody_waiting(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    collection = read_folder(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ImageError, match=r"^'a.png' is a pipe or a device"):
        collection.pixels(0)
