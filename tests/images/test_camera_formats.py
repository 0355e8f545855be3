"""Photos of phones and cameras: HEIC, AVIF, and the previews of raw files."""

import struct
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pillow_heif import from_pillow

from likewise.errors import ImageError
from likewise.images.decoding import decode
from likewise.images.files import read_folder

RED, BLUE = (200, 30, 30), (30, 30, 200)
ROTATED = 6  # EXIF orientation: the top is on the right of the stored image


def half_red(width: int, height: int) -> Image.Image:
    """Return an image with a red left half and a blue right half."""
    pixels = np.full((height, width, 3), BLUE, dtype=np.uint8)
    pixels[:, : width // 2] = RED
    return Image.fromarray(pixels)


def exif() -> bytes:
    values = Image.Exif()
    values[274] = ROTATED
    return values.tobytes()


def heic(image: Image.Image, **options: bytes) -> bytes:
    content, file = BytesIO(), from_pillow(image)
    for name, value in options.items():
        file.info[name] = value
    file.save(content, quality=90)
    return content.getvalue()


def stored(image: Image.Image, kind: str, **options: object) -> bytes:
    content = BytesIO()
    image.save(content, kind, **options)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["HEIC", "AVIF"])
@pytest.mark.parametrize("is_rotated", [False, True])
def test_a_photo_is_decoded_upright(kind: str, is_rotated: bool) -> None:
    image, options = half_red(90, 60), {"exif": exif()} if is_rotated else {}
    content = heic(image, **options) if kind == "HEIC" else stored(image, kind, **options)
    pixels = decode(content)
    assert pixels.shape == ((90, 60, 3) if is_rotated else (60, 90, 3))
    first, last = (
        (pixels[10, 30], pixels[-10, 30]) if is_rotated else (pixels[30, 5], pixels[30, 85])
    )
    np.testing.assert_allclose(first, RED, atol=25)
    np.testing.assert_allclose(last, BLUE, atol=25)


def raw_file(*previews: bytes, orientation: int = 1) -> bytes:
    """Return a TIFF with an orientation, unreadable sensor data, and JPEG previews in between."""
    directory = struct.pack("<H", 1) + struct.pack("<HHIHH", 274, 3, 1, orientation, 0) + bytes(4)
    noise = np.random.default_rng(0).integers(0, 255, 3000, dtype=np.uint8).tobytes()
    return b"II*\0" + struct.pack("<I", 8) + directory + noise + noise.join(previews) + noise


def test_the_largest_preview_of_a_raw_photo_is_used(tmp_path: Path) -> None:
    small, large = (stored(half_red(n, 2 * n // 3), "JPEG") for n in (162, 600))
    path = tmp_path / "a.NEF"
    path.write_bytes(raw_file(small, large, small))
    assert decode(path).shape == (400, 600, 3)
    path.write_bytes(raw_file(small, large, orientation=ROTATED))
    assert decode(path).shape == (600, 400, 3)


def test_a_raw_photo_without_a_preview_is_named_and_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.cr2").write_bytes(raw_file(stored(half_red(90, 60), "JPEG")))
    with pytest.raises(ImageError, match=r"a.cr2' is a raw photo without a preview; save it as"):
        decode(tmp_path / "a.cr2")
    half_red(30, 20).save(tmp_path / "b.png")
    (tmp_path / "c.heic").write_bytes(heic(half_red(90, 60)))
    (tmp_path / "d.heic").write_bytes(heic(half_red(90, 60))[:200])
    found = read_folder(tmp_path)
    assert [found.name(i) for i in range(len(found))] == ["b.png", "c.heic"]
    assert [one.name for one in found.skipped] == ["a.cr2", "d.heic"]


def test_a_folder_can_be_read_in_part_and_completely_later(tmp_path: Path) -> None:
    for i in range(100):
        half_red(20 + i, 10).save(tmp_path / f"{i:03}.png")
    some = read_folder(tmp_path, seconds=0)
    names = [some.name(i) for i in range(len(some))]
    assert (len(names), some.n_unread) == (32, 68)
    assert names == sorted(names)
    assert min(names) < "020.png"  # from all parts
    assert max(names) > "080.png"
    assert read_folder(tmp_path, seconds=60).n_unread == 0
