"""Fixtures: generated image files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.images.pictures import as_file, make_pixels

FORMAT_OF = {"jpg": "JPEG", "tif": "TIFF"}
Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that saves a generated image at a path below `tmp_path`."""

    def save_one(name: str, seed: int = 0, kind: str | None = None, **options: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        ending = path.suffix[1:].lower()
        kind = kind or FORMAT_OF.get(ending, ending.upper())
        path.write_bytes(as_file(Image.fromarray(make_pixels(seed)), kind, **options))
        return path

    return save_one
