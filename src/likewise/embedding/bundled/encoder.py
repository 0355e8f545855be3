"""The bundled encoder: EfficientNet-lite in ONNX Runtime, its last and middle layers."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import onnxruntime

from likewise.embedding.bundled.features import (
    COLOR_BINS,
    COLOR_GRID,
    GRID_CELLS,
    color_grids,
    color_histograms,
    grid_means,
    mean_and_std,
    standardized_patches,
)
from likewise.embedding.bundled.network import (
    HEAD_WIDTH,
    channel_statistics,
    load_network,
    scaled_stages,
)
from likewise.embedding.bundled.onnx_export import to_onnx
from likewise.embedding.embeddings import Bytes, PatchGrids, grid_widths, quantize
from likewise.errors import InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.types import Floats

DEFAULT_VARIANT, DEFAULT_SIZE = "lite2", 160  # see docs/research/encoders.md
_SMALLEST, _LARGEST = 32, 1024  # the network halves the side five times; cost is quadratic
_BATCH = 64  # bounds memory
#: Stages of 1/16 resolution whose maps become patch vectors: shapes, and parts of objects.
PATCH_STAGES = 3, 4
GRID_STAGE = 4  # late enough for parts of objects, early enough for their position
_IMAGES_PER_RUN = 8  # the maps of this many images fit in the processor's cache


class BundledEncoder:
    """EfficientNet-lite with ImageNet weights, in feature blocks.

    The last layer represents objects; texture and pose are in the middle layers, and color is
    counted separately. Block ``last`` is the pooled last layer; ``stage0`` to ``stage6`` are mean
    and standard deviation of the output of each stage; ``grid`` is a middle stage averaged in
    each cell of a 3 x 3 grid; ``palette`` is a color histogram. The patch grids are ``parts``,
    two middle stages at each position, and ``colours``, the colors of 16 x 16 positions. The
    names are those of release 0.1, which are part of caches and models on disk.

    Parameters
    ----------
    variant : {"lite0", "lite2"}
    size : int
        Images are resized to squares of this side length, 32 to 1024 pixels.

    Examples
    --------
    >>> encoder = BundledEncoder("lite0", size=64)
    >>> gray = np.full((48, 64, 3), 127, dtype=np.uint8)
    >>> encoder.encode([gray])["last"].shape
    (1, 1280)
    """

    storage = "float16"  # half the disk space, three significant digits

    def __init__(self, variant: str = DEFAULT_VARIANT, size: int = DEFAULT_SIZE) -> None:
        if not _SMALLEST <= size <= _LARGEST:
            raise InvalidParameterError(
                f"size must be between {_SMALLEST} and {_LARGEST} pixels, got {size}."
            )
        self.variant, self.size = variant, size
        widths = [stage[3] for stage in scaled_stages(variant)]
        self._blocks = {
            "last": HEAD_WIDTH,
            **{f"stage{i}": 2 * width for i, width in enumerate(widths)},
            "grid": GRID_CELLS * widths[GRID_STAGE],
            "palette": COLOR_BINS,
        }
        n_patches = (-(-size // 16)) ** 2  # the patch stages have 1/16 of the resolution
        depth = sum(widths[stage] for stage in PATCH_STAGES)
        self.patch_grids: PatchGrids = {"parts": (n_patches, depth), "colours": COLOR_GRID}

    @property
    def name(self) -> str:
        """Return the cache key."""
        return f"efficientnet-{self.variant}-{self.size}-grid-palette"

    @property
    def blocks(self) -> Mapping[str, int]:
        """Return the feature blocks with their widths."""
        return self._blocks

    def prepare(self, pixels: Pixels) -> Pixels:
        """Return the resized square that `encode` uses; safe to call from several threads."""
        return resize(pixels, self.size)

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats | Bytes]:
        """Return for each block an array ``(len(images), width)``, and the patches as bytes."""
        batches = [self._empty()]
        with ThreadPoolExecutor(1) as pool:
            for start in range(0, len(images), _BATCH):
                squares = np.stack(
                    [self.prepare(image) for image in images[start : start + _BATCH]]
                )
                batches.append(self._encode_batch(squares, pool))
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    def _encode_batch(self, squares: Pixels, pool: ThreadPoolExecutor) -> dict[str, Floats | Bytes]:
        """Return the blocks of one batch; colors are computed beside the network."""
        histograms = pool.submit(color_histograms, squares)
        colors = pool.submit(color_grids, squares)
        blocks = load_inference_network(self.variant)(squares)
        patches = {"parts": blocks.pop("parts"), "colours": colors.result()}
        quantized = {grid: quantize(values) for grid, values in patches.items()}
        return {**blocks, "palette": histograms.result(), **quantized}

    def _empty(self) -> dict[str, Floats | Bytes]:
        """Return arrays of zero rows, in the order of blocks and grids."""
        blocks = {name: np.zeros((0, width), np.float32) for name, width in self._blocks.items()}
        widths = grid_widths(self.patch_grids)
        return {**blocks, **{name: np.zeros((0, n), np.uint8) for name, n in widths.items()}}


class InferenceNetwork:
    """The network ``lite0`` or ``lite2``, pooled to feature blocks.

    The ONNX model is built in memory in each process: that takes 0.07 s, and reading and
    verifying a copy on disk would take half of it.

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
def load_inference_network(variant: str) -> InferenceNetwork:
    """Return the network, built once in each process."""
    return InferenceNetwork(variant)


def n_threads() -> int:
    """Return ``$OMP_NUM_THREADS``, or the number of available cores."""
    chosen = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
