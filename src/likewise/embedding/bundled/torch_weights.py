"""Read the tensors of a torch checkpoint without torch and without running code from it.

``torch.save`` writes a pickle in which each tensor refers to a storage by key, and the raw bytes
of the storages: as entries of a zip archive since release 1.6, one after the other in the same
file before ("legacy"). The pickle is read by an `Unpickler` that resolves `OrderedDict`,
``_rebuild_tensor_v2`` and the names of storage types, and refuses everything else.
"""

import io
import math
import pickle
import struct
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import EncoderError

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # of the legacy format
_DTYPES = {
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}


@dataclass(frozen=True, slots=True)
class _Storage:
    """A reference to a storage, as it is in the pickle."""

    key: str
    dtype: str
    numel: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor as it is in the pickle: a strided view of a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_torch_weights(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a file written by ``torch.save(module.state_dict())``.

    Parameters
    ----------
    path : str or Path
        A zip archive or a file in the legacy format.

    Raises
    ------
    EncoderError
        If the file contains anything but a dict of plain tensors, or is damaged.
    """
    try:
        content = Path(path).read_bytes()
        is_zip = content[:4] == b"PK\x03\x04"
        return _read_zip(content) if is_zip else _read_legacy(content)
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise EncoderError(
            f"{path} must be a torch checkpoint of plain tensors ({error}). "
            "Install the package of the weights again."
        ) from error


def _read_zip(content: bytes) -> dict[str, npt.NDArray[Any]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
            raise ValueError("the archive is compressed")
        (pickled,) = (name for name in sizes if name.count("/") == 1 and name.endswith("/data.pkl"))
        root = pickled.removesuffix("data.pkl")
        is_big = f"{root}byteorder" in sizes and archive.read(f"{root}byteorder") == b"big"
        tensors = _tensors(_Unpickler(io.BytesIO(archive.read(pickled))).load())
        keys = {tensor.storage.key for tensor in tensors.values()}
        storages = {key: archive.read(f"{root}data/{key}") for key in keys}
    return _arrays(tensors, storages, is_little=not is_big)


def _read_legacy(content: bytes) -> dict[str, npt.NDArray[Any]]:
    stream = io.BytesIO(content)
    if _Unpickler(stream).load() != _MAGIC or _Unpickler(stream).load() != _PROTOCOL:
        raise ValueError("it does not begin like a torch file")
    is_little = _Unpickler(stream).load()["little_endian"]
    tensors = _tensors(_Unpickler(stream).load())
    sizes = {t.storage.key: np.dtype(t.storage.dtype).itemsize for t in tensors.values()}
    storages: dict[str, bytes] = {}
    for key in _Unpickler(stream).load():
        (numel,) = struct.unpack("<q" if is_little else ">q", stream.read(8))
        if numel < 0:
            raise ValueError(f"the storage {key!r} has {numel} elements")
        storages[key] = stream.read(numel * sizes[key])
    return _arrays(tensors, storages, is_little)


class _RebuildTensor:
    """Replaces ``torch._utils._rebuild_tensor_v2``; without attributes a pickle could change."""

    __slots__ = ()

    def __call__(self, *args: Any) -> _Tensor:
        storage, offset, shape, strides, _requires_grad, hooks = args
        if not isinstance(storage, _Storage) or len(hooks):
            raise pickle.UnpicklingError("a tensor has no storage, or has hooks")
        return _Tensor(storage, offset, tuple(shape), tuple(strides))


class _Unpickler(pickle.Unpickler):
    """Builds `OrderedDict`, `_Tensor` and plain values; refuses every other class or function."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the replacement of a global name of the pickle."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _RebuildTensor()
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")

    def persistent_load(self, pid: Any) -> _Storage:
        """Return the storage that a tensor refers to."""
        kind, dtype, key, _location, numel, *view = pid
        if kind != "storage" or dtype not in _DTYPES.values() or any(v is not None for v in view):
            raise pickle.UnpicklingError(f"{pid!r} is not a plain storage")
        if not isinstance(key, str) or not key.isalnum():
            raise pickle.UnpicklingError(f"{key!r} is not the key of a storage")
        return _Storage(key, dtype, numel)


def _tensors(loaded: Any) -> dict[str, _Tensor]:
    """Return the unpickled object as a dict, if it is one of names and tensors."""
    if not isinstance(loaded, dict):
        raise TypeError(f"it contains a {type(loaded).__name__}, not a dict")
    tensors = dict(dict.items(loaded))
    for name, value in tensors.items():
        if not isinstance(name, str) or not isinstance(value, _Tensor):
            raise TypeError(f"{name!r} is a {type(value).__name__}, not a tensor")
    return tensors


def _arrays(
    tensors: dict[str, _Tensor], storages: dict[str, bytes], is_little: bool
) -> dict[str, npt.NDArray[Any]]:
    return {
        name: _array(name, t, storages[t.storage.key], is_little) for name, t in tensors.items()
    }


def _array(name: str, tensor: _Tensor, content: bytes, is_little: bool) -> npt.NDArray[Any]:
    """Return the view that `tensor` describes, after checking that it lies in its storage."""
    native = np.dtype(tensor.storage.dtype)
    dtype = native.newbyteorder("<" if is_little else ">")
    if len(content) != tensor.storage.numel * dtype.itemsize:
        raise ValueError(f"the storage of {name!r} is truncated")
    _check_view(name, tensor)
    values = np.frombuffer(content, dtype)[tensor.offset :]
    strides = [step * dtype.itemsize for step in tensor.strides]
    view = np.lib.stride_tricks.as_strided(values, tensor.shape, strides, writeable=False)
    return np.asarray(view, native, order="C")


def _check_view(name: str, tensor: _Tensor) -> None:
    """Raise if a tensor is not a view of its storage, or repeats elements of it."""
    numbers = (tensor.offset, *tensor.shape, *tensor.strides)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"the tensor {name!r} does not lie in its storage")
    numel = math.prod(tensor.shape)
    if numel > tensor.storage.numel:
        raise ValueError(f"the tensor {name!r} has more elements than its storage")
    steps = zip(tensor.shape, tensor.strides, strict=True)
    last = tensor.offset + sum((n - 1) * step for n, step in steps) if numel else 0
    if last >= max(tensor.storage.numel, 1):
        raise ValueError(f"the tensor {name!r} does not lie in its storage")
