"""Reading torch checkpoints without torch: the same tensors, and no code from the file is run."""

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from likewise.embedding.bundled.torch_weights import read_torch_weights
from likewise.errors import EncoderError
from likewise.nn.training import generator
from tests.embedding.torch_reference import weights_path

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]


def saved(path: Path, value: Any, is_zip: bool) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=is_zip)
    return path


def assert_same(path: Path | str, expected: dict[str, torch.Tensor]) -> None:
    weights = read_torch_weights(path)
    assert list(weights) == list(expected)
    for name, tensor in expected.items():
        array = tensor.numpy()
        assert weights[name].shape == array.shape
        assert weights[name].dtype == array.dtype
        np.testing.assert_array_equal(weights[name], array)


@pytest.mark.parametrize("variant", ["lite0", "lite2"])
def test_the_bundled_weights_are_those_that_torch_reads(variant: str) -> None:
    path = weights_path(variant)
    assert_same(path, torch.load(path, weights_only=True))


@pytest.mark.parametrize("is_zip", [True, False])
def test_all_dtypes_and_views_of_shared_storages_are_read(tmp_path: Path, is_zip: bool) -> None:
    base = torch.randn(6, 8, generator=generator(0, "base"))
    tensors = OrderedDict({str(dtype): (10 * base).to(dtype) for dtype in DTYPES})
    tensors |= {
        "transposed": base.T,
        "part": base[1:4, ::2],
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 4),
        "same storage": base,
    }
    assert_same(saved(tmp_path / "x.pth", tensors, is_zip), tensors)


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_state_dict_with_metadata_is_read(tmp_path: Path, is_zip: bool) -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    state = module.state_dict()
    assert hasattr(state, "_metadata")
    assert_same(saved(tmp_path / "x.pth", state, is_zip), state)


class Attack:
    """Unpickled by anyone who allows it, it creates a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self._folder,)


@pytest.mark.parametrize("is_zip", [True, False])
def test_code_in_the_file_is_not_run(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path / "x.pth", {"a": Attack(tmp_path / "harm")}, is_zip)
    with pytest.raises(EncoderError, match=r"posix\.mkdir is not allowed"):
        read_torch_weights(path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    "name",
    ["torch._utils _rebuild_parameter", "builtins eval", "torch load", "torch FloatStorage.x"],
)
def test_every_other_name_is_refused(tmp_path: Path, name: str) -> None:
    module, attribute = name.split()
    content = f"\x80\x02c{module}\n{attribute}\n.".encode("latin1")
    with pytest.raises(EncoderError, match=f"{module}.{attribute} is not allowed"):
        read_torch_weights(zipped(tmp_path, content))


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([torch.zeros(2)], "it contains a list, not a dict"),
        ({"a": 3}, "'a' is a int, not a tensor"),
        ({3: torch.zeros(2)}, "3 is a _Tensor, not a tensor"),
        ({"a": {"b": torch.zeros(2)}}, "'a' is a dict, not a tensor"),
        ({"a": torch.zeros(2, dtype=torch.bfloat16)}, "BFloat16Storage is not allowed"),
        ({"a": torch.zeros(1).expand(50)}, "'a' has more elements than its storage"),
    ],
)
def test_anything_but_named_plain_tensors_is_refused(
    tmp_path: Path, is_zip: bool, value: object, reason: str
) -> None:
    path = saved(tmp_path / "x.pth", value, is_zip)
    with pytest.raises(EncoderError, match=rf"x\.pth must be a torch checkpoint .*{reason}"):
        read_torch_weights(path)


class _Reference:
    """Pickled as a reference to a storage."""

    def __init__(self, *pid: Any) -> None:
        self.pid = pid


class _Call:
    """Pickled as a call of `abs`, which `pickled` replaces by the function of torch."""

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __reduce__(self) -> tuple[Any, ...]:
        return abs, self.args


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return obj.pid if isinstance(obj, _Reference) else None


def pickled(*arguments: Any) -> bytes:
    """Return the pickle of a dict with one tensor that is rebuilt with `arguments`."""
    stream = io.BytesIO()
    _Pickler(stream, 2).dump({"a": _Call(*arguments)})
    content = stream.getvalue().replace(
        b"c__builtin__\nabs\n", b"ctorch._utils\n_rebuild_tensor_v2\n"
    )
    return content.replace(b"X\x0c\x00\x00\x00FloatStorage", b"ctorch\nFloatStorage\n")


def zipped(folder: Path, content: bytes, data: bytes = b"", compress: bool = False) -> Path:
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(folder / "x.pth", "w", method) as archive:
        archive.writestr("x/data.pkl", content)
        archive.writestr("x/data/0", data)
    return folder / "x.pth"


def storage(numel: Any = 6, key: Any = "0", kind: str = "storage") -> _Reference:
    return _Reference(kind, "FloatStorage", key, "cpu", numel)


SIX = struct.pack("<6f", *range(6))


def test_a_tensor_written_by_hand_is_read(tmp_path: Path) -> None:
    content = pickled(storage(), 1, (2, 2), (2, 1), False, OrderedDict())
    found = read_torch_weights(zipped(tmp_path, content, SIX))["a"]
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((storage(), 0, (7,), (1,), False, {}), "more elements than its storage"),
        ((storage(), 1, (6,), (1,), False, {}), "does not lie in its storage"),
        ((storage(), 3, (2, 2), (2, 1), False, {}), "does not lie in its storage"),
        ((storage(), 0, (2, 2), (5, 1), False, {}), "does not lie in its storage"),
        ((storage(), -1, (2,), (1,), False, {}), "does not lie in its storage"),
        ((storage(), 0, (-2,), (1,), False, {}), "does not lie in its storage"),
        ((storage(), 5, (2,), (-1,), False, {}), "does not lie in its storage"),
        ((storage(), 0, (2,), (1, 1), False, {}), "argument 2 is longer"),
        ((storage(), 0.0, (2,), (1,), False, {}), "does not lie in its storage"),
        ((storage(), True, (2,), (1,), False, {}), "does not lie in its storage"),
        ((storage(), 0, ("2",), (1,), False, {}), "does not lie in its storage"),
        ((storage(), 0, (10**6, 10**6), (0, 0), False, {}), "more elements than its storage"),
        ((storage(7), 0, (2,), (1,), False, {}), "storage of 'a' is truncated"),
        ((storage(-6), 0, (2,), (1,), False, {}), "storage of 'a' is truncated"),
        ((storage(), 0, (2,), (1,), False, {"hook": 1}), "has hooks"),
        (("storage", 0, (2,), (1,), False, {}), "has no storage"),
        ((storage(key="../0"), 0, (2,), (1,), False, {}), "not the key of a storage"),
        ((storage(key=0), 0, (2,), (1,), False, {}), "not the key of a storage"),
        ((storage(key="1"), 0, (2,), (1,), False, {}), "no item named 'x/data/1'"),
        ((storage(kind="module"), 0, (2,), (1,), False, {}), "not a plain storage"),
        ((storage(), 0), "not enough values"),
    ],
)
def test_a_tensor_outside_of_its_storage_is_refused(
    tmp_path: Path, arguments: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(EncoderError, match=reason):
        read_torch_weights(zipped(tmp_path, pickled(*arguments), SIX))


def test_a_compressed_archive_is_refused(tmp_path: Path) -> None:
    content = pickled(storage(), 0, (2,), (1,), False, OrderedDict())
    with pytest.raises(EncoderError, match="the archive is compressed"):
        read_torch_weights(zipped(tmp_path, content, SIX, compress=True))


def test_objects_of_the_reader_cannot_be_changed_by_the_file(tmp_path: Path) -> None:
    """BUILD sets attributes of the object on the stack; the replacements have none."""
    change = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}U\x08__call__K\x01sb."
    with pytest.raises(EncoderError, match="must be a torch checkpoint"):
        read_torch_weights(zipped(tmp_path, change))
    content = pickled(storage(), 0, (2,), (1,), False, OrderedDict())
    assert read_torch_weights(zipped(tmp_path, content, SIX))["a"].tolist() == [0, 1]


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_truncated_file_is_refused(tmp_path: Path, is_zip: bool) -> None:
    whole = saved(tmp_path / "x.pth", {"a": torch.arange(100.0)}, is_zip).read_bytes()
    for size in (0, 3, 20, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.pth").write_bytes(whole[:size])
        with pytest.raises(EncoderError, match=r"cut\.pth must be a torch checkpoint"):
            read_torch_weights(tmp_path / "cut.pth")


def test_big_endian_files_are_read(tmp_path: Path) -> None:
    content = pickled(storage(), 0, (6,), (1,), False, OrderedDict())
    path = zipped(tmp_path, content, struct.pack(">6f", *range(6)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("x/byteorder", b"big")
    found = read_torch_weights(path)["a"]
    assert found.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.dtype.isnative


def test_other_pickles_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pth").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(EncoderError, match="does not begin like a torch file"):
        read_torch_weights(tmp_path / "x.pth")
    with pytest.raises(EncoderError, match="No such file"):
        read_torch_weights(tmp_path / "absent.pth")
