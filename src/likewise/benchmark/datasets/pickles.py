"""Read pickled arrays without running what a pickle may ask for."""

import io
import pickle
from typing import Any

from likewise.errors import DatasetError

#: All that a pickle of numbers, texts and arrays needs; old and new homes of NumPy's functions.
_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    *(
        (f"numpy.{core}.{module}", function)
        for core in ("core", "_core")
        for module, function in (("multiarray", "_reconstruct"), ("numeric", "_frombuffer"))
    ),
    ("_codecs", "encode"),  # how Python 3 writes bytes in old protocols
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return what the pickle names, if it is harmless."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which could be anything")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_pickle(content: bytes, name: str) -> dict[str, Any]:
    """Return a pickled dict with its keys as text.

    Parameters
    ----------
    content : bytes
        What is in the file. Of all Python's objects only numbers, texts,
        lists, dicts and arrays are made.
    name : str
        What the file is called, for messages.

    Raises
    ------
    DatasetError
        If it is no pickle, is cut short, or asks for anything else.
    """
    try:
        found = _Reader(io.BytesIO(content), encoding="bytes").load()
    except Exception as error:  # a broken pickle raises anything at all
        raise DatasetError(
            f"{name!r} cannot be read as arrays ({error}); it is broken, or not the official "
            "file: download the archive again."
        ) from error
    if not isinstance(found, dict):
        raise DatasetError(f"{name!r} holds no batch of pictures; download the archive again.")
    return {key.decode() if isinstance(key, bytes) else str(key): v for key, v in found.items()}
