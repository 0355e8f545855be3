"""Encoders that a user brings: an ONNX file, a function, an ``nn.Module``, or an encoder object."""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from PIL import Image

from likewise.embedding.embeddings import Encoder, n_threads
from likewise.embedding.registry import make_encoder
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.types import Floats

_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_DEFAULT_SIZE, _BATCH_SIZE = 224, 16
_MEMBERS = ("name", "blocks", "encode")
_MODULE_ENCODER = "likewise.embedding.torch_encoder", "module_encoder"
_DTYPES: Mapping[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}


def as_encoder(given: Any, *, allow_download: bool = True) -> Encoder:
    """Return an encoder for any value that a user gives as ``encoder=``.

    Parameters
    ----------
    given : str, Path, Encoder, nn.Module or callable
        A name or path for `make_encoder`; an object with ``name``, ``blocks`` and ``encode``;
        a network from images ``(b, 3, 224, 224)`` to vectors; or a function from a list of PIL
        images to an array ``(n, d)``.
    allow_download : bool
        See `make_encoder`.

    Raises
    ------
    InvalidParameterError
        If it is none of these.
    EncoderError
        If it does not return one vector per image.
    """
    if isinstance(given, str | Path):
        return make_encoder(str(given), allow_download=allow_download)
    if not isinstance(given, type):
        if all(hasattr(given, member) for member in _MEMBERS):
            encoder: Encoder = given
            return encoder
        torch = sys.modules.get("torch")  # imported before, if there is an instance of its classes
        if torch is not None and isinstance(given, torch.nn.Module):
            module, function = _MODULE_ENCODER
            made: Encoder = getattr(import_module(module), function)(given)
            return made
        if callable(given):
            return FunctionEncoder(given)
    raise InvalidParameterError(
        "encoder must be a name, a path to an .onnx file, an nn.Module, a function from a list of "
        f"PIL images to an array (n, d), or an object with {', '.join(_MEMBERS)}; got {given!r}."
    )


class FunctionEncoder:
    """Calls a function with a list of PIL images; its vectors are not cached on disk.

    Parameters
    ----------
    function : callable
        From a list of n images to an array ``(n, d)``, or a tensor.
    name : str, optional
        By default the name of the function.
    """

    def __init__(self, function: Callable[[list[Image.Image]], Any], name: str = "") -> None:
        self._function = function
        self.name: str = name or getattr(function, "__name__", type(function).__name__)
        blank = np.full((_DEFAULT_SIZE, _DEFAULT_SIZE, 3), 127, dtype=np.uint8)
        self.blocks: dict[str, int] = {"last": self._run([blank]).shape[1]}

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        """Return the vectors of some images."""
        return {"last": self._run(images)}

    def _run(self, images: Sequence[Pixels]) -> Floats:
        try:
            vectors = self._function([Image.fromarray(pixels) for pixels in images])
            if hasattr(vectors, "detach"):  # a tensor
                vectors = vectors.detach().cpu()
            found = np.asarray(vectors, dtype=np.float32)
        except Exception as error:  # a user's function can raise anything
            raise EncoderError(
                f"The encoder {self.name!r} failed for a list of {len(images)} PIL images "
                f"({type(error).__name__}: {error}); it must return an array ({len(images)}, d)."
            ) from error
        return _checked(found, len(images), self.name)


class OnnxEncoder:
    """Runs an ONNX file with one input of images and an output of one vector per image.

    Size and normalisation are read from the metadata ``size``, ``mean`` and ``std`` of the file
    (numbers separated by commas); by default the size of the input, else 224, and those of
    ImageNet. An input of type uint8 receives the pixels unchanged.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    EncoderError
        If there is no such file, or it is not such a network.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path).expanduser()
        if not path.is_file():
            raise EncoderError(
                f"There is no file {path}; give the path of an ONNX file, or use the encoder "
                "'bundled'."
            )
        self._path = path
        self._session = _open(path)
        inputs = list(self._session.get_inputs())
        shape = inputs[0].shape if len(inputs) == 1 else []
        if len(shape) != 4 or 3 not in (shape[1], shape[3]) or inputs[0].type not in _DTYPES:
            described = ", ".join(f"{one.name}: {one.type} {one.shape}" for one in inputs)
            raise EncoderError(
                f"The network in {path} must have one input of images, float or uint8 of shape "
                f"(n, 3, h, w) or (n, h, w, 3), got {described}; export the vision part alone."
            )
        self._input, self._dtype = inputs[0].name, _DTYPES[inputs[0].type]
        self._is_channels_first = shape[1] == 3
        self._batch = shape[0] if isinstance(shape[0], int) else None
        side = shape[2 if self._is_channels_first else 1]
        self._read_metadata(side if isinstance(side, int) else _DEFAULT_SIZE)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        slug = re.sub(r"[^A-Za-z0-9.]+", "-", path.stem).strip("-.")
        self.name: str = f"onnx-{slug}-{self.size}-{digest}"
        blank = np.full((self.size, self.size, 3), 127, dtype=np.uint8)
        self.blocks: dict[str, int] = {"last": self._run([blank]).shape[1]}

    def _read_metadata(self, side: int) -> None:
        metadata = self._session.get_modelmeta().custom_metadata_map
        try:
            self.size: int = int(metadata.get("size", side))
            self._mean, self._std = (
                np.array([*map(float, metadata[key].split(","))] if key in metadata else default)
                .reshape(3)
                .astype(np.float32)
                for key, default in (("mean", _IMAGENET_MEAN), ("std", _IMAGENET_STD))
            )
        except ValueError as error:
            raise EncoderError(
                f"The metadata of {self._path} must be numbers (size) or three numbers separated "
                f"by commas (mean, std), got {dict(metadata)}."
            ) from error

    def prepare(self, pixels: Pixels) -> Pixels:
        """Return the resized square that `encode` uses."""
        return resize(pixels, self.size)

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        """Return the vectors of some images."""
        step = self._batch or _BATCH_SIZE
        parts = [self._run(images[at : at + step]) for at in range(0, len(images), step)]
        return {"last": np.concatenate([np.zeros((0, self.blocks["last"]), np.float32), *parts])}

    def _run(self, images: Sequence[Pixels]) -> Floats:
        rows = np.stack([self.prepare(pixels) for pixels in images])
        if self._dtype is not np.uint8:
            rows = ((rows.astype(np.float32) / 255 - self._mean) / self._std).astype(self._dtype)
        if self._is_channels_first:
            rows = rows.transpose(0, 3, 1, 2)
        if self._batch:  # a fixed number of images: repeat the last one
            rows = np.concatenate([rows, np.repeat(rows[-1:], self._batch - len(rows), axis=0)])
        try:
            outputs = self._session.run(None, {self._input: np.ascontiguousarray(rows)})
        except Exception as error:  # ONNX Runtime has no common base of its errors
            raise EncoderError(
                f"The network in {self._path} cannot be run on images of {self.size} pixels "
                f"({error}); set the metadata 'size' of the file."
            ) from error
        vectors = next((one for one in outputs if one.ndim == 2), outputs[0])
        return _checked(vectors[: len(images)].astype(np.float32), len(images), str(self._path))


def _open(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = n_threads(), 4
    try:
        return onnxruntime.InferenceSession(
            path, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # ONNX Runtime has no common base of its errors
        raise EncoderError(
            f"The file {path} is not a network that ONNX Runtime can run ({error}); export it "
            "again, or use the encoder 'bundled'."
        ) from error


def _checked(vectors: Floats, n_images: int, name: str) -> Floats:
    """Return the output of an encoder, if it is one vector per image."""
    if vectors.ndim == 4 and vectors.shape[2:] == (1, 1):
        vectors = vectors[:, :, 0, 0]
    if vectors.ndim == 2 and len(vectors) == n_images and vectors.shape[1]:
        return vectors
    raise EncoderError(
        f"The encoder {name} must return one vector per image, an array ({n_images}, d), got shape "
        f"{vectors.shape}; pool and flatten its output."
    )
