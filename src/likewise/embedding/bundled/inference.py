"""Run the bundled network in ONNX Runtime on the CPU."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import onnxruntime

from likewise.embedding.bundled.features import (
    grid_means,
    mean_and_std,
    standardized_patches,
)
from likewise.embedding.bundled.network import channel_statistics, load_network
from likewise.embedding.bundled.onnx_export import to_onnx
from likewise.images.collection import Pixels
from likewise.types import Floats

#: Stages of 1/16 resolution whose maps become patch vectors: shapes, and parts of objects.
PATCH_STAGES = 3, 4
GRID_STAGE = 4  # late enough for parts of objects, early enough for their position
_IMAGES_PER_RUN = 8  # the maps of this many images fit in the processor's cache


class Network:
    """The network ``lite0`` or ``lite2``, pooled to feature blocks.

    Building the ONNX model from the weights takes about as long as reading and verifying a
    cached copy would (0.1 s), so it is built in memory in each process.

    Parameters
    ----------
    variant : {"lite0", "lite2"}
    """

    def __init__(self, variant: str) -> None:
        network = load_network(variant)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            to_onnx(network, PATCH_STAGES), options, providers=["CPUExecutionProvider"]
        )
        self._statistics = [channel_statistics(network.stages[stage]) for stage in PATCH_STAGES]

    def __call__(self, squares: Pixels) -> dict[str, Floats]:
        """Return the blocks ``stage0`` to ``stage6``, ``last``, ``grid`` and ``parts``.

        Each thread runs a few images through the whole network. Threads that share every
        layer instead wait for each other, which takes twice as long on a busy machine.

        Parameters
        ----------
        squares : array of shape (b, s, s, 3), uint8
        """
        starts = range(0, len(squares), _IMAGES_PER_RUN)
        batches = [squares[start : start + _IMAGES_PER_RUN] for start in starts]
        with ThreadPoolExecutor(n_threads()) as pool:
            results = list(pool.map(self._run, batches))
        return {name: np.concatenate([blocks[name] for blocks in results]) for name in results[0]}

    def _run(self, squares: Pixels) -> dict[str, Floats]:
        outputs: list[Floats] = self._session.run(None, {"pixels": squares})
        maps, pooled = outputs[: len(PATCH_STAGES)], outputs[len(PATCH_STAGES) :]
        last, *moments = (values.reshape(len(squares), -1) for values in pooled)
        stages = zip(moments[::2], moments[1::2], strict=True)
        return {
            **{f"stage{i}": mean_and_std(mean, square) for i, (mean, square) in enumerate(stages)},
            "last": last,
            "grid": grid_means(maps[PATCH_STAGES.index(GRID_STAGE)]),
            "parts": standardized_patches(maps, self._statistics),
        }


@cache
def load_inference(variant: str) -> Network:
    """Return the network, built once in each process."""
    return Network(variant)


def n_threads() -> int:
    """Return ``$OMP_NUM_THREADS``, or the number of available cores."""
    chosen = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
