"""Train for twenty steps under torchrun; rank 0 writes loss and parameters as JSON.

CC on vectors or pictures, or PCL on vectors with answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.pcl import PCL
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.nn.device import leave
from likewise.nn.training import borrowed_global_generator
from likewise.random_streams import stream
from likewise_bench.datasets.synthetic import make_scenes

STEPS = 20


def train(kind: str) -> dict[str, list[float]]:
    """Return loss by epoch and all parameters after `STEPS` steps on synthetic data."""
    rng = stream(0, "ranks", kind)
    plan = TrainingPlan(
        epochs_per_round=STEPS // 4, batch_size=64, learning_rate=3e-4, precision="float32"
    )
    shape = NetworkConfig(n_features=64, n_hidden=64, n_projection=32, size=16)
    X: npt.NDArray[Any] = rng.normal(size=(256, 32)).astype(np.float32)
    backbone = None
    if kind == "pictures":
        X = make_scenes(256)[0][:, ::4, ::4]
        with borrowed_global_generator(0, "ranks"):
            backbone = small_network()
    given: dict[str, Any] = {"architecture": shape, "random_state": 0, "backbone": backbone}
    model: CC | PCL
    if kind == "answers":
        linked = plan.replace(sampler="linked")
        model = PCL(n_clusters=4, plan=linked, **given)
        pairs = rng.permutation(256)[:80].reshape(-1, 2).tolist()
        model.fit(X, ml=pairs[:20], cl=pairs[20:])
    else:
        model = CC(n_clusters=4, plan=plan, **given).fit(X)
    learner = model.learner_
    assert isinstance(learner, NetworkLearner)
    parameters = torch.cat([p.detach().reshape(-1) for p in learner.network.parameters()])
    return {
        "n_processes": [float(learner.runtime.n_processes)],
        "loss": [epoch["loss"] for epoch in model.history_],
        "parameters": parameters.tolist(),
    }


def small_network() -> nn.Module:
    """Return a convolutional network with batch statistics, shallow enough for comparison to 1e-5.

    A ResNet-18 in float32 is too sensitive: a change of 1e-7 in its weights changes a
    gradient of the second step by 4 % (measured with one process).
    """
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def main() -> None:
    """Train and write; one thread per process, so that sums have a fixed order."""
    out, kind = Path(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(1)
    facts = train(kind)
    if int(facts["n_processes"][0]) == 1 or torch.distributed.get_rank() == 0:
        out.write_text(json.dumps(facts))
    leave()


if __name__ == "__main__":
    main()
