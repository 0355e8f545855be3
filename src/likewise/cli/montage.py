"""The pictures of one question on one sheet, for a terminal that shows them."""

import io
from collections.abc import Sequence

from PIL import Image

_GAP = 8  # pixels between two pictures
_GREY = (128, 128, 128)


def montage(pictures: Sequence[bytes | None], height: int) -> Image.Image:
    """Return pictures in a row, all of one height; what cannot be shown is a grey field.

    Examples
    --------
    >>> montage([None, None], 10).size
    (28, 10)
    """
    shown = [_scaled(content, height) for content in pictures]
    width = sum(one.width for one in shown) + _GAP * (len(shown) - 1)
    sheet = Image.new("RGB", (max(width, 1), height))
    left = 0
    for one in shown:
        sheet.paste(one, (left, 0))
        left += one.width + _GAP
    return sheet


def _scaled(content: bytes | None, height: int) -> Image.Image:
    if content is None:
        return Image.new("RGB", (height, height), _GREY)
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    width = max(1, round(picture.width * height / picture.height))
    return picture.resize((min(width, 3 * height), height))
