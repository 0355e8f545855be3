"""Generated images."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from likewise.images.collection import Pixels
from likewise.random_streams import stream


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Use one thread: more only add contention on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def images() -> list[Pixels]:
    """Five different images of different shapes."""
    rng = stream(0, "pictures")
    shapes = [(40, 60), (60, 40), (32, 32), (64, 64), (100, 30)]
    coarse = [rng.integers(0, 256, (5, 5, 3), dtype=np.uint8) for _ in shapes]
    return [
        np.asarray(Image.fromarray(c).resize((w, h), Image.Resampling.BICUBIC))
        for c, (h, w) in zip(coarse, shapes, strict=True)
    ]


@pytest.fixture
def folder(tmp_path: Path, images: list[Pixels]) -> Path:
    """A folder with the five images, ``0.png`` to ``4.png``."""
    path = tmp_path / "photos"
    path.mkdir()
    for i, pixels in enumerate(images):
        Image.fromarray(pixels).save(path / f"{i}.png")
    return path
