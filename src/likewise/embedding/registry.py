"""Encoders by name. Importing this module does not import torch."""

import importlib.util
import re
from pathlib import Path

from likewise.embedding.embeddings import Encoder
from likewise.errors import MissingExtraError, UnknownNameError

DEFAULT = "bundled"
_BUNDLED = re.compile(r"efficientnet-(lite0|lite2)(?:-(\d+)(?:-grid-palette)?)?")
_NAMES = (DEFAULT, "efficientnet-lite0", "efficientnet-lite2")
#: Names that `make_encoder` accepts; the last one is a pattern.
ENCODERS = (*_NAMES, "hf:ID-OR-FOLDER")


def make_encoder(name: str = DEFAULT) -> Encoder:
    """Return the encoder called `name`.

    Parameters
    ----------
    name : str
        ``bundled`` needs no download. ``efficientnet-lite0`` or ``efficientnet-lite2``,
        optionally with an input size in pixels (``efficientnet-lite2-224``). ``hf:ID`` is a
        model on the Hugging Face hub or a local folder; an ID or path with a slash needs no
        ``hf:``.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    MissingExtraError
        If the encoder needs torch and transformers, and they are not installed.
    EncoderError
        If the encoder cannot be loaded.
    """
    from likewise.embedding.bundled.encoder import BundledEncoder

    if name == DEFAULT:
        return BundledEncoder()
    if match := _BUNDLED.fullmatch(name):
        variant, size = match.groups()
        return BundledEncoder(variant, int(size)) if size else BundledEncoder(variant)
    if _is_hub_model(name):
        _check_extra(name)
        from likewise.embedding.huggingface import hub_encoder

        return hub_encoder(name.removeprefix("hf:"))
    raise UnknownNameError("encoder", name, ENCODERS)


def check_encoder(name: str) -> None:
    """Raise if there is no such encoder, before any image is read and without importing torch.

    A hub model that is not on this machine yet is downloaded.

    Raises
    ------
    UnknownNameError, MissingExtraError, EncoderError
        As `make_encoder` would.
    """
    if _is_hub_model(name):
        _check_extra(name)
        from likewise.embedding.hub import find_model

        find_model(name.removeprefix("hf:"))
    elif name not in _NAMES:
        make_encoder(name)


def _is_hub_model(name: str) -> bool:
    is_bundled = name == DEFAULT or _BUNDLED.fullmatch(name)
    return not is_bundled and (name.startswith("hf:") or "/" in name or Path(name).is_dir())


def _check_extra(name: str) -> None:
    for package in ("torch", "transformers"):
        try:
            is_installed = importlib.util.find_spec(package) is not None
        except ImportError:
            is_installed = False
        if not is_installed:
            raise MissingExtraError(f"The encoder {name!r}", package, "torch")
