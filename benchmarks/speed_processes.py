"""Difference of loss and parameters after twenty steps of CC and PCL, one process against two."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from likewise.errors import LikewiseError


def difference(kind: str) -> tuple[float, float]:
    """Return the largest difference in loss and in parameters, one process against two.

    Parameters
    ----------
    kind : {"vectors", "pictures", "answers"}
        CC on vectors or pictures, or PCL on vectors with answers.
    """
    alone, together = run_ranks(kind, 1), run_ranks(kind, 2)
    gaps = [
        float(np.abs(np.array(alone[name]) - np.array(together[name])).max())
        for name in ("loss", "parameters")
    ]
    return gaps[0], gaps[1]


def run_ranks(kind: str, n_processes: int) -> dict[str, list[float]]:
    """Return what `benchmarks.ddp_check` wrote under torchrun; check the number of processes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "facts.json"
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--nproc-per-node", str(n_processes), "-m", "benchmarks.ddp_check"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run(
            [*command, str(out), kind], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise LikewiseError(f"torchrun ended with {done.returncode}: {done.stderr[-2000:]}")
        facts: dict[str, list[float]] = json.loads(out.read_text())
    if facts["n_processes"] != [n_processes]:
        raise LikewiseError(
            f"{n_processes} processes were started and {facts['n_processes'][0]:.0f} joined."
        )
    return facts


def processes_bench() -> list[str]:
    """Return one printed row per kind of input."""
    rows = []
    for kind, method in (("vectors", "CC"), ("pictures", "CC"), ("answers", "PCL")):
        loss, parameters = difference(kind)
        rows.append(
            f"{method}, {kind}, 20 steps, 1 process against 2 (gloo): "
            f"loss {loss:.1e}, parameters {parameters:.1e} apart (at most 1e-5)"
        )
    return rows
