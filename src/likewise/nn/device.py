"""Device, precision and process group of a training run (Accelerate)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

PRECISIONS = ("auto", "float32", "bf16")


@dataclass(frozen=True)
class Runtime:
    """Device, precision and processes of a training.

    Parameters
    ----------
    accelerator : Accelerator
    precision : {"float32", "bf16"}
    """

    accelerator: Accelerator
    precision: str

    @property
    def device(self) -> torch.device:
        """Return the device of this process."""
        device: torch.device = self.accelerator.device
        return device

    @property
    def n_processes(self) -> int:
        """Return the number of processes that train together."""
        return int(self.accelerator.num_processes)

    @property
    def rank(self) -> int:
        """Return the rank of this process, from 0."""
        return int(self.accelerator.process_index)

    @contextmanager
    def autocast(self) -> Iterator[None]:
        """Compute in bf16 inside, if that is the precision."""
        # Not accelerate's own autocast: its precision is one for the whole process,
        # and two estimators in one program may want different ones.
        enabled = self.precision == "bf16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=enabled):
            yield

    def to_memory_format(self, rows: Tensor) -> Tensor:
        """Return images in the memory format in which convolutions are fastest.

        Channels last only with bf16: in float32, torch's batch normalisation of that
        format loses precision (2 % of a gradient), and one process and two would differ.
        """
        if rows.dim() == 4 and self.precision == "bf16":
            return rows.contiguous(memory_format=torch.channels_last)
        return rows.contiguous()


def make_runtime(precision: str = "auto", *, images: bool, log_to: Path | None = None) -> Runtime:
    """Return the runtime of this process.

    Parameters
    ----------
    precision : {"auto", "float32", "bf16"}
        ``auto`` uses bf16 for images where the processor has it; small
        networks on vectors do not become faster.
    images : bool
        Whether a convolutional network is trained.
    log_to : Path, optional
        Folder for TensorBoard; None: no log.
    """
    if precision not in PRECISIONS:
        raise UnknownNameError("precision", precision, PRECISIONS)
    accelerator = Accelerator(
        cpu=not torch.cuda.is_available(),
        log_with=None if log_to is None else "tensorboard",
        project_dir=None if log_to is None else str(log_to),
    )
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if accelerator.num_processes != expected:
        raise InvalidParameterError(
            f"accelerate must join WORLD_SIZE={expected} processes, got "
            f"{accelerator.num_processes}; start them with `torchrun --nproc-per-node {expected}`."
        )
    if precision == "auto":
        precision = "bf16" if images and _has_bf16(accelerator.device) else "float32"
    return Runtime(accelerator, precision)


@cache
def _has_bf16(device: torch.device) -> bool:
    """Return whether bf16 is computed natively, not emulated."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
