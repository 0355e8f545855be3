"""Small files in the true formats."""

import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

MakeTar = Callable[[Path, Mapping[str, bytes]], Path]


@pytest.fixture
def make_tar() -> MakeTar:
    """Return a function that writes a tar archive, gzipped if its name says so."""

    def write(path: Path, members: Mapping[str, bytes]) -> Path:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return path

    return write


@pytest.fixture
def jpeg() -> Callable[[int], bytes]:
    """Return a function that makes a small grey JPEG file of a brightness."""

    def make(brightness: int) -> bytes:
        stream = io.BytesIO()
        Image.fromarray(np.full((8, 8, 3), brightness, dtype=np.uint8)).save(stream, "JPEG")
        return stream.getvalue()

    return make
