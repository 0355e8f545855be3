"""Read and write model folders: safetensors and JSON, never pickle."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from likewise.errors import ModelFileError

FORMAT = 1
TENSORS, FACTS = "tensors.safetensors", "model.json"


def write_folder(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write a folder with `tensors` and `facts`; an earlier one is replaced at once.

    A reader finds the old folder or the new one, never half of either.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        contiguous = {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}
        save_file(contiguous, fresh / TENSORS)
        text = json.dumps({"format": FORMAT, **facts}, indent=1, ensure_ascii=False)
        (fresh / FACTS).write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        _swap(fresh, path)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _swap(fresh: Path, path: Path) -> None:
    """Put `fresh` in the place of `path`."""
    if not path.exists():
        os.replace(fresh, path)
        return
    if not (path / FACTS).exists():
        raise ModelFileError(
            f"{path} exists and is not a likewise model, so it was not overwritten; "
            "choose another name or remove it."
        )
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    os.replace(path, old / "model")
    os.replace(fresh, path)
    shutil.rmtree(old, ignore_errors=True)


def read_folder(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and facts of a folder written by `write_folder`."""
    path = Path(path)
    check_model(path)
    try:
        facts: dict[str, Any] = json.loads((path / FACTS).read_text(encoding="utf-8"))
        tensors = load_file(path / TENSORS)
    except (json.JSONDecodeError, SafetensorError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{path} is damaged ({error}); save the model again.") from error
    if facts.get("format", 0) > FORMAT:
        raise ModelFileError(
            f"{path} was written by a newer release (format {facts['format']}; this one reads "
            f"{FORMAT}). Upgrade, or load it with the release that wrote it."
        )
    return tensors, facts


def check_model(path: Path) -> None:
    """Refuse a place that no model was saved to, without reading one.

    Raises
    ------
    ModelFileError
    """
    if not path.exists():
        raise ModelFileError(
            f"There is nothing at {path}; check its name, or train a model with `likewise fit -o`."
        )
    if not (path / FACTS).is_file() or not (path / TENSORS).is_file():
        raise ModelFileError(
            f"{path} is not a saved likewise model ({FACTS} and {TENSORS} are not both there); "
            "give the folder that `save` or `likewise fit -o` wrote."
        )


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's state as named tensors: ``"3/exp_avg"``."""
    state = optimiser.state_dict()["state"]
    return {
        f"{index}/{name}": torch.as_tensor(value).clone()
        for index, entry in state.items()
        for name, value in entry.items()
        if value is not None
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimiser_tensors` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split("/", 1)
        state.setdefault(int(index), {})[name] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
