"""Device, precision and distributed training: gathered batches and shared batch statistics."""

import hashlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast_object_list
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, UnknownNameError

Module = TypeVar("Module", bound=nn.Module)
PRECISIONS = ("auto", "float32", "bf16")
#: Precision, and whether channels are last, from the one without drawbacks.
FORMATS = (("float32", False), ("bf16", False), ("bf16", True))
_FORMATS_FILE = "training_formats.json"
_PIXELS = 64 * 32 * 32  # of the images of which a step is measured


@dataclass(frozen=True)
class Runtime:
    """Device, precision and processes of a training.

    Parameters
    ----------
    accelerator : Accelerator
    precision : {"float32", "bf16"}
    channels_last : bool
        Whether images are stored with channels last. Only with bf16: in float32, torch's batch
        normalisation of that format loses precision (2 % of a gradient), and one process and two
        would differ.
    is_chosen : bool
        Whether both were given or measured, and are not the default.
    """

    accelerator: Accelerator
    precision: str
    channels_last: bool = False
    is_chosen: bool = False

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

    def prepare(self, step: nn.Module) -> nn.Module:
        """Return `step`, with gradients averaged over processes if there are several."""
        self.accelerator.free_memory()  # the network before
        prepared: nn.Module = self.accelerator.prepare_model(step)
        return prepared

    def to_memory_format(self, rows: Tensor) -> Tensor:
        """Return images in the memory format of this runtime, vectors contiguous."""
        if rows.dim() == 4 and self.channels_last:
            return rows.contiguous(memory_format=torch.channels_last)
        return rows.contiguous()

    @property
    def format_number(self) -> int:
        """Return precision and memory format as their position in `FORMATS`."""
        return FORMATS.index((self.precision, self.channels_last))

    def with_format(self, number: int) -> "Runtime":
        """Return this runtime with `FORMATS[number]`, if the processor computes it natively."""
        precision, channels_last = FORMATS[number]
        if precision == "bf16" and not _has_bf16(self.device):
            return self
        return replace(self, precision=precision, channels_last=channels_last, is_chosen=True)

    def with_fastest_format(self, network: nn.Module, images: Tensor, cache: Path) -> "Runtime":
        """Return this runtime with the format in which `network` trains fastest.

        Measured once for a network, image size and machine, and kept in a file below `cache`,
        so that later trainings use the same; the first process decides for all.
        """
        if self.is_chosen:
            return self
        n = min(max(_PIXELS // images[0, 0].numel(), 4), len(images))
        key = _machine_key(self.device, network, images[:n])
        number = [0]
        if self.rank == 0:
            known = _read_formats(cache)
            if key not in known:
                known[key] = fastest_format(network, images[:n])
                _write_formats(cache, known)
            number = [known[key]]
        return self.with_format(broadcast_object_list(number)[0])


def make_runtime(precision: str = "auto", *, images: bool, log_to: Path | None = None) -> Runtime:
    """Return the runtime of this process.

    Parameters
    ----------
    precision : {"auto", "float32", "bf16"}
        ``auto`` uses bf16 for images where the processor has it, until `with_fastest_format`
        has measured; small networks on vectors do not become faster.
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
        # A loss may use only some of the heads.
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if accelerator.num_processes != expected:
        raise InvalidParameterError(
            f"accelerate must join WORLD_SIZE={expected} processes, got "
            f"{accelerator.num_processes}; start them with `torchrun --nproc-per-node {expected}`."
        )
    is_open = precision == "auto" and images and _has_bf16(accelerator.device)
    if precision == "auto":
        precision = "bf16" if is_open else "float32"
    return Runtime(accelerator, precision, precision == "bf16" and images, not is_open)


@cache
def _has_bf16(device: torch.device) -> bool:
    """Return whether bf16 is computed natively, not emulated."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def fastest_format(network: nn.Module, images: Tensor, n_repeats: int = 2) -> int:
    """Return the position in `FORMATS` of the one in which a training step takes least time.

    A format replaces an earlier one in the list only if it saves a tenth, so that chance rarely
    decides.
    """
    copy = deepcopy(network).train()
    clock = time.perf_counter if images.is_cuda else time.process_time  # without other programs
    seconds = [math.inf] * len(FORMATS)
    with torch.random.fork_rng():
        for repeat in range(1 + n_repeats):
            for number, (precision, channels_last) in enumerate(FORMATS):
                order = torch.channels_last if channels_last else torch.contiguous_format
                begin = clock()
                with torch.autocast(images.device.type, torch.bfloat16, precision == "bf16"):
                    loss = copy(images.contiguous(memory_format=order)).float().square().mean()
                loss.backward()
                if images.is_cuda:
                    torch.cuda.synchronize()
                if repeat:  # the first is for allocation and the choice of algorithms
                    seconds[number] = min(seconds[number], clock() - begin)
    best = 0
    for number in range(1, len(FORMATS)):
        if seconds[number] < 0.9 * seconds[best]:
            best = number
    return best


def _machine_key(device: torch.device, network: nn.Module, images: Tensor) -> str:
    """Return what the time of a step depends on, as a hash."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor()
    capability, n_threads = torch.backends.cpu.get_cpu_capability(), torch.get_num_threads()
    facts = torch.__version__, name, capability, n_threads, network, tuple(images.shape)
    return hashlib.sha256("|".join(str(fact) for fact in facts).encode()).hexdigest()


def _read_formats(cache: Path) -> dict[str, int]:
    """Return the measured formats; none if the file is missing or damaged."""
    try:
        found = json.loads((cache / _FORMATS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {str(key): number for key, number in known if number in range(len(FORMATS))}


def _write_formats(cache: Path, known: dict[str, int]) -> None:
    """Replace the file of measured formats; a folder that is not writable is no error."""
    fresh = cache / f"{_FORMATS_FILE}.{os.getpid()}"
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(known, indent=1), encoding="utf-8")
        fresh.replace(cache / _FORMATS_FILE)


class _GatherRows(torch.autograd.Function):
    """Concatenate equal blocks of rows over processes; gradients are summed over them."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        blocks = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
        dist.all_gather(blocks, rows.contiguous())
        return torch.cat(blocks)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        total = grad.contiguous().clone()
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]


class _SumOver(torch.autograd.Function):
    """Sum a tensor over processes, in both directions."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        total = grad.contiguous().clone()
        dist.all_reduce(total)
        return total


def n_processes() -> int:
    """Return the number of processes that train together; 1 outside of torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather_rows(rows: Tensor) -> Tensor:
    r"""Return the rows of all processes in rank order: the whole batch in every process.

    Every process then computes the same loss :math:`L` of the whole batch. The
    backward pass sums over the :math:`W` processes, so each holds
    :math:`W\, \partial L / \partial` of its own rows, and the mean of gradients over
    processes, by DistributedDataParallel, gives exactly those of one process.
    """
    if n_processes() == 1:
        return rows
    gathered: Tensor = _GatherRows.apply(rows)  # type: ignore[no-untyped-call]  # torch
    return gathered


def sum_over_processes(values: Tensor) -> Tensor:
    """Return the sum of `values` over processes, with gradient."""
    if n_processes() == 1:
        return values
    total: Tensor = _SumOver.apply(values)  # type: ignore[no-untyped-call]  # torch
    return total


class SharedBatchNorm(nn.Module):
    r"""Batch normalisation whose mean and variance are those of the whole batch.

    Notes
    -----
    With sums over all processes, :math:`\mu = \sum x / m` and, in a second
    pass so that nothing cancels, :math:`\sigma^2 = \sum (x - \mu)^2 / m`.
    torch's ``SyncBatchNorm`` does the same but refuses CPU tensors.

    Parameters
    ----------
    norm : nn.modules.batchnorm._BatchNorm
        The layer it replaces, whose parameters and buffers it has.
    """

    def __init__(self, norm: nn.modules.batchnorm._BatchNorm) -> None:
        super().__init__()
        self.weight: nn.Parameter = norm.weight
        self.bias: nn.Parameter = norm.bias
        self.eps: float = norm.eps
        self.momentum: float | None = norm.momentum
        self.running_mean: Tensor
        self.running_var: Tensor
        self.num_batches_tracked: Tensor
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(norm, name))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise ``(b, c)`` or ``(b, c, h, w)`` over all but the channels."""
        shape = (1, -1, *([1] * (x.dim() - 2)))
        values = x.to(self.running_mean.dtype)
        if self.training:
            mean, var = self._batch_statistics(values, shape)
        else:
            mean, var = self.running_mean, self.running_var
        scale = self.weight * torch.rsqrt(var + self.eps)
        centred = values - mean.view(shape)
        return (centred * scale.view(shape) + self.bias.view(shape)).to(x.dtype)

    def _batch_statistics(self, x: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        axes = [axis for axis in range(x.dim()) if axis != 1]
        count = sum_over_processes(torch.tensor(float(x.numel() // x.shape[1]), device=x.device))
        mean = sum_over_processes(x.sum(axes)) / count
        var = sum_over_processes((x - mean.view(shape)).square().sum(axes)) / count
        with torch.no_grad():
            unbiased = var * count / (count - 1).clamp(min=1)
            momentum = 0.1 if self.momentum is None else self.momentum
            self.running_mean.lerp_(mean, momentum)
            self.running_var.lerp_(unbiased, momentum)
            self.num_batches_tracked += 1
        return mean, var


def share_batch_statistics(network: Module) -> Module:
    """Replace every batch normalisation inside `network`, if there are several processes.

    By torch's ``SyncBatchNorm``, or by `SharedBatchNorm` on a CPU, which torch's refuses.
    """
    if n_processes() == 1:
        return network
    if any(parameter.is_cuda for parameter in network.parameters()):
        return cast(Module, nn.SyncBatchNorm.convert_sync_batchnorm(network))
    for name, child in network.named_children():
        if isinstance(child, nn.modules.batchnorm._BatchNorm):
            setattr(network, name, SharedBatchNorm(child))
        else:
            share_batch_statistics(child)
    return network


def leave() -> None:
    """End one of several processes at once; a single process returns.

    With several processes, the usual exit sometimes fails with *terminate called without an
    active exception*, since a thread of torch is still running when its library is unloaded
    (one of eight runs, torch 2.13.0). Everything is written by then, but torchrun would report
    a failure.
    """
    if not torch.distributed.is_initialized():
        return
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
