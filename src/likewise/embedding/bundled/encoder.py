"""The bundled encoder: EfficientNet-lite, its last and middle layers, without a download."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from likewise.embedding.bundled.features import (
    COLOR_BINS,
    COLOR_GRID,
    GRID_CELLS,
    color_grids,
    color_histograms,
)
from likewise.embedding.bundled.inference import GRID_STAGE, PATCH_STAGES, load_inference_network
from likewise.embedding.bundled.network import HEAD_WIDTH, scaled_stages
from likewise.embedding.embeddings import quantize
from likewise.embedding.encoder import Bytes, PatchGrids, grid_widths
from likewise.errors import InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.types import Floats

DEFAULT_VARIANT, DEFAULT_SIZE = "lite2", 160  # see docs/research/encoders.md
_SMALLEST, _LARGEST = 32, 1024  # the network halves the side five times; cost is quadratic
_BATCH = 64  # bounds memory


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
