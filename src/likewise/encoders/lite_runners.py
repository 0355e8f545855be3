"""Two ways to run the bundled network: ONNX Runtime on processors, torch on everything else.

Both take ``(b, s, s, 3)`` uint8 and return pooled vectors: for each stage the mean and the
spread of its map over all places side by side, the mean of the last map, ``grid``, the means
of one middle map in nine places, and ``parts``, two middle maps in every place.
"""

import importlib.util
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from likewise.encoders.efficientnet_lite import CENTRE, SCALE, EfficientNetLite
from likewise.encoders.encoder import Floats
from likewise.encoders.lite_onnx import to_onnx
from likewise.encoders.parts import STAGES as PART_STAGES
from likewise.encoders.parts import by_place, usual
from likewise.encoders.pooling import grid_means, grid_means_of_array, mean_and_spread
from likewise.images.collection import Pixels

_AT_ONCE = 8  # the maps of so few pictures stay in the cache
GRID_STAGE = 4  # late enough to know parts of things, early enough to know where they are
Runner = Callable[[Pixels], dict[str, Floats]]


def make_runner(network: EfficientNetLite, stages: Mapping[str, int]) -> Runner:
    """Return the fastest runner there is here.

    Parameters
    ----------
    network : EfficientNetLite
    stages : mapping of facet to the position of its stage
    """
    if torch.cuda.is_available():
        return torch_runner(network, stages, device="cuda")
    if importlib.util.find_spec("onnxruntime") is not None:
        return onnx_runner(network, stages)
    return torch_runner(network, stages)


def torch_runner(
    network: EfficientNetLite, stages: Mapping[str, int], device: str = "cpu"
) -> Runner:
    """Return plain torch in float32: the reference, and the way for GPUs."""
    network = network.eval().to(device)
    units = usual(network)

    @torch.inference_mode()
    def run(squares: Pixels) -> dict[str, Floats]:
        x = torch.from_numpy(squares).to(device).permute(0, 3, 1, 2)  # channels last already
        maps = network((x.float() - CENTRE) / SCALE)
        pooled = {facet: mean_and_spread(maps[stage]) for facet, stage in stages.items()}
        pooled["last"] = maps[-1].mean((2, 3))
        pooled["grid"] = grid_means(maps[GRID_STAGE])
        pooled["parts"] = by_place([maps[stage] for stage in PART_STAGES], units)
        return {facet: vectors.cpu().numpy() for facet, vectors in pooled.items()}

    return run


def onnx_runner(network: EfficientNetLite, stages: Mapping[str, int]) -> Runner:
    """Return the network in ONNX Runtime: the same float32 numbers, several times faster.

    Each thread takes some pictures through the whole network. Threads that share every
    layer instead wait for each other, twice as long where other programs run too.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        to_onnx(network, stages, PART_STAGES), options, providers=["CPUExecutionProvider"]
    )

    units, n_maps = usual(network), len(PART_STAGES)

    def some(squares: Pixels) -> list[Floats]:
        results: list[Floats] = session.run(None, {"pixels": squares})
        maps, pooled = results[:n_maps], results[n_maps:]
        parts = by_place([torch.from_numpy(one) for one in maps], units).numpy()
        grid = grid_means_of_array(maps[PART_STAGES.index(GRID_STAGE)])
        return [parts, grid, *(values.reshape(len(squares), -1) for values in pooled)]

    def run(squares: Pixels) -> dict[str, Floats]:
        few = [squares[i : i + _AT_ONCE] for i in range(0, len(squares), _AT_ONCE)]
        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            columns = zip(*pool.map(some, few), strict=True)
        parts, grid, last, *moments = (np.concatenate(column) for column in columns)
        pooled = {
            facet: _from_moments(mean, squared)
            for facet, mean, squared in zip(stages, moments[::2], moments[1::2], strict=True)
        }
        return {**pooled, "last": last, "grid": grid, "parts": parts}

    return run


def _from_moments(mean: Floats, squared: Floats) -> Floats:
    """Return mean and spread side by side from the means of x and of x²."""
    spread = np.sqrt(np.maximum(squared - mean * mean, 0))  # below zero only by rounding
    return np.concatenate([mean, spread], axis=1)
