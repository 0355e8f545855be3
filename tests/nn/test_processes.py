"""Two processes see one batch: gathered rows, shared statistics, averaged gradients."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from likewise.nn.device import SharedBatchNorm

SCRIPT = Path(__file__).parent / "two_ranks.py"


def run_ranks(script: Path, n_processes: int, out: Path) -> list[dict[str, list[float]]]:
    """Run `script` under torchrun; return what each rank wrote."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(n_processes), str(script), str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((out / f"{rank}.json").read_text()) for rank in range(n_processes)]


@pytest.mark.slow
def test_two_ranks_compute_what_one_computes(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (alone,) = run_ranks(SCRIPT, 1, tmp_path / "one")
    first, second = run_ranks(SCRIPT, 2, tmp_path / "two")
    assert first["n_processes"] == [2]
    assert first["parameters"] == second["parameters"]
    for name in ("loss", "parameters", "running_var"):
        torch.testing.assert_close(
            torch.tensor(first[name]), torch.tensor(alone[name]), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5, 5)])
def test_shared_batch_norm_is_batch_norm(shape: tuple[int, ...]) -> None:
    """With one process it must give torch's own values, gradients and running statistics."""
    kind = torch.nn.BatchNorm1d if len(shape) == 2 else torch.nn.BatchNorm2d
    theirs, base = kind(3).double(), kind(3).double()
    ours = SharedBatchNorm(base)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ours.double()
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    out_a, out_b = theirs(a), ours(b)
    torch.testing.assert_close(out_a, out_b)
    out_a.square().sum().backward()
    out_b.square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad)
    torch.testing.assert_close(theirs.running_mean, ours.running_mean)
    torch.testing.assert_close(theirs.running_var, ours.running_var)
    theirs.eval()
    ours.eval()
    torch.testing.assert_close(theirs(x), ours(x))
