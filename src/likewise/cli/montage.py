"""The pictures of one question on one sheet, for a terminal that shows them."""

import io
from collections.abc import Sequence

from PIL import Image

_GAPS = 32  # as many gaps between two pictures make a height
_GREY = (128, 128, 128)


def montage(pictures: Sequence[bytes | None], height: int) -> Image.Image:
    """Return pictures in a row, all of one height; what cannot be shown is a grey field.

    Examples
    --------
    >>> montage([None, None], 10).size
    (21, 10)
    """
    shown = [_scaled(content, height) for content in pictures]
    gap = max(1, height // _GAPS)
    width = sum(one.width for one in shown) + gap * (len(shown) - 1)
    sheet = Image.new("RGB", (max(width, 1), height))
    left = 0
    for one in shown:
        sheet.paste(one, (left, 0))
        left += one.width + gap
    return sheet


def _scaled(content: bytes | None, height: int) -> Image.Image:
    if content is None:
        return Image.new("RGB", (height, height), _GREY)
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    width = max(1, round(picture.width * height / picture.height))
    return picture.resize((min(width, 3 * height), height))
