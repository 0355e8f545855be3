"""Encoders by name."""

import re
from pathlib import Path

from likewise.encoders.encoder import Encoder
from likewise.errors import UnknownNameError

DEFAULT = "bundled"
_OWN = re.compile(r"efficientnet-(lite0|lite2)(?:-(\d+)(?:-grid-palette)?)?")
_KNOWN = (DEFAULT, "efficientnet-lite0", "efficientnet-lite2")
#: What `make_encoder` takes; the last is a form.
ENCODERS = (*_KNOWN, "hf:ID-OR-FOLDER")


def make_encoder(name: str = DEFAULT) -> Encoder:
    """Return the encoder called `name`.

    Parameters
    ----------
    name : str
        ``bundled`` needs no download. ``efficientnet-lite0`` or ``efficientnet-lite2``,
        with a size in pixels if wanted (``efficientnet-lite2-224``). ``hf:ID`` is a model of
        the Hugging Face hub, or its folder; an id or path with a slash needs no ``hf:``.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    EncoderError
        If there is, but it cannot be had.
    """
    from likewise.encoders.bundled import LiteEncoder

    if name == DEFAULT:
        return LiteEncoder()
    if own := _OWN.fullmatch(name):
        variant, size = own.groups()
        return LiteEncoder(variant, int(size)) if size else LiteEncoder(variant)
    if _is_foreign(name):
        from likewise.encoders.huggingface import hub_encoder

        return hub_encoder(name.removeprefix("hf:"))
    raise UnknownNameError("encoder", name, ENCODERS)


def check_encoder(name: str) -> None:
    """Say at once if there is no such encoder: before pictures are read, without torch.

    A model of the hub that is not on this machine yet is downloaded.

    Raises
    ------
    UnknownNameError, EncoderError
        As `make_encoder` would.
    """
    if _is_foreign(name):
        from likewise.encoders.hub import find_model

        find_model(name.removeprefix("hf:"))
    elif name not in _KNOWN:
        make_encoder(name)


def _is_foreign(name: str) -> bool:
    is_own = name == DEFAULT or _OWN.fullmatch(name)
    return not is_own and (name.startswith("hf:") or "/" in name or Path(name).is_dir())
