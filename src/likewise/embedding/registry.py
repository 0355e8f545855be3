"""Encoders by name. Importing this module does not import torch."""

import importlib.util
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.embedding.embeddings import Encoder
from likewise.errors import MissingExtraError, UnknownNameError

DEFAULT_ENCODER = "bundled"
_BUNDLED = re.compile(r"efficientnet-(lite0|lite2)(?:-(\d+)(?:-grid-palette)?)?")
_NAMES = (DEFAULT_ENCODER, "efficientnet-lite0", "efficientnet-lite2")
#: Names that `make_encoder` accepts; the last one is a pattern.
ENCODERS = (*_NAMES, "hf:ID-OR-FOLDER")
# Module and function or class, imported when first used.
_BUNDLED_ENCODER = "likewise.embedding.bundled.encoder:BundledEncoder"
_HUB_ENCODER = "likewise.embedding.huggingface:hub_encoder"
_FIND_HUB_MODEL = "likewise.embedding.hub:find_model"


def make_encoder(name: str = DEFAULT_ENCODER, *, allow_download: bool = True) -> Encoder:
    """Return the encoder called `name`.

    Parameters
    ----------
    name : str
        ``bundled`` needs no download. ``efficientnet-lite0`` or ``efficientnet-lite2``,
        optionally with an input size in pixels (``efficientnet-lite2-224``). ``hf:ID`` is a
        model on the Hugging Face hub or a local folder; an ID or path with a slash needs no
        ``hf:``.
    allow_download : bool
        Whether a model that is not on this machine may be downloaded. It must not if the name
        is from a file, which anybody may have written.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    MissingExtraError
        If the encoder needs torch and transformers, and they are not installed.
    EncoderError
        If the encoder cannot be loaded.
    """
    encoder: Encoder
    if name == DEFAULT_ENCODER:
        encoder = _load(_BUNDLED_ENCODER)()
    elif match := _BUNDLED.fullmatch(name):
        variant, size = match.groups()
        encoder = _load(_BUNDLED_ENCODER)(variant, **({"size": int(size)} if size else {}))
    elif _is_hub_model(name):
        _check_extra(name)
        encoder = _load(_HUB_ENCODER)(name.removeprefix("hf:"), allow_download=allow_download)
    else:
        raise UnknownNameError("encoder", name, ENCODERS)
    return encoder


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
        _load(_FIND_HUB_MODEL)(name.removeprefix("hf:"))
    elif name not in _NAMES:
        make_encoder(name)


def _load(place: str) -> Any:
    """Return what ``module:name`` refers to."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


def _is_hub_model(name: str) -> bool:
    is_bundled = name == DEFAULT_ENCODER or _BUNDLED.fullmatch(name)
    return not is_bundled and (name.startswith("hf:") or "/" in name or Path(name).is_dir())


def _check_extra(name: str) -> None:
    for package in ("torch", "transformers"):
        try:
            is_installed = importlib.util.find_spec(package) is not None
        except ImportError:
            is_installed = False
        if not is_installed:
            raise MissingExtraError(f"The encoder {name!r}", package, "torch")
