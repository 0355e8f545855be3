"""The bundled encoder: EfficientNet-lite in ONNX Runtime, its features and color histograms."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import numpy.typing as npt
import onnxruntime
from PIL import Image

from likewise.embedding.bundled.network import (
    HEAD_WIDTH,
    channel_statistics,
    load_network,
    scaled_stages,
)
from likewise.embedding.bundled.onnx_export import to_onnx
from likewise.embedding.embeddings import Bytes, PatchGrids, grid_widths, n_threads, quantize
from likewise.errors import InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.types import Floats

GRID_SIDE = 3
GRID_CELLS = GRID_SIDE * GRID_SIDE
HISTOGRAM_SIDE = 32  # pixels per side that are counted
_LIGHTNESS_BINS, _CHROMA_BINS = 5, 7  # of L*, and of each of a* and b*
COLOR_BINS = _LIGHTNESS_BINS * _CHROMA_BINS * _CHROMA_BINS
COLOR_GRID_SIDE = 16
COLOR_GRID = COLOR_GRID_SIDE * COLOR_GRID_SIDE, 3  # positions, and L*, a*, b* of each
_LAB_CENTER = np.array([50.0, 0.0, 0.0], np.float32)
_LAB_UNIT = np.array([6.5, 10.0, 10.0], np.float32)  # 8 units cover nearly all colors
_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], np.float32
)
_WHITE = np.array([0.9505, 1.0, 1.089], np.float32)
_BIN_STRIDES = np.array([_CHROMA_BINS * _CHROMA_BINS, _CHROMA_BINS, 1])
_GRAYS = np.arange(256, dtype=np.float32) / 255
_LINEAR = np.where(_GRAYS > 0.04045, ((_GRAYS + 0.055) / 1.055) ** 2.4, _GRAYS / 12.92)


def color_histograms(images: Sequence[Pixels] | Pixels) -> Floats:
    r"""Return a soft histogram of CIE L*a*b* colors for each image, ``(n, 245)``.

    Notes
    -----
    A network trained to name objects learns to ignore color; people often group by it. Every
    pixel of a small copy is divided among the eight nearest bins, with the weight
    :math:`\exp(-2 r^2)` at distance :math:`r` (in half sides) from the center. Rows sum to one.
    """
    if not len(images):
        return np.zeros((0, COLOR_BINS), np.float32)
    lab = to_lab(np.stack([_downscale(image, HISTOGRAM_SIDE) for image in images]))
    low, share = _lower_bins(lab.reshape(len(images), -1, 3))  # each (n, p, 3)
    nearest = low @ _BIN_STRIDES + (np.arange(len(images)) * COLOR_BINS)[:, None]
    shares = [(1 - share[..., axis], share[..., axis]) for axis in range(3)]
    counts = np.zeros(len(images) * COLOR_BINS)
    for corner in np.ndindex(2, 2, 2):
        weight = shares[0][corner[0]] * shares[1][corner[1]] * shares[2][corner[2]]
        weight = weight * _center_weights()
        bins = nearest + int(corner @ _BIN_STRIDES)
        counts += np.bincount(bins.ravel(), weight.ravel(), minlength=counts.size)
    rows = counts.reshape(len(images), COLOR_BINS)
    histograms: Floats = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    return histograms


def color_grids(images: Sequence[Pixels] | Pixels) -> Floats:
    """Return CIE L*a*b* at 16 x 16 positions, ``(n, 768)``, scaled to about unit variance."""
    if not len(images):
        return np.zeros((0, COLOR_GRID[0] * COLOR_GRID[1]), np.float32)
    lab = to_lab(np.stack([_downscale(image, COLOR_GRID_SIDE) for image in images]))
    scaled: Floats = ((lab - _LAB_CENTER) / _LAB_UNIT).reshape(len(images), -1)
    return scaled


def to_lab(pixels: npt.NDArray[np.uint8]) -> Floats:
    """Return CIE L*a*b* of sRGB; the last axis has length three."""
    xyz = _LINEAR[pixels] @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x_, y_, z_ = f[..., 0], f[..., 1], f[..., 2]
    lab: Floats = np.stack([116 * y_ - 16, 500 * (x_ - y_), 200 * (y_ - z_)], axis=-1)
    return lab


def mean_and_std(mean: Floats, square: Floats) -> Floats:
    """Return mean and standard deviation side by side, from the means of x and of x²."""
    std = np.sqrt(np.maximum(square - mean * mean, 0))  # negative only by rounding
    return np.concatenate([mean, std], axis=1)


def grid_means(maps: Floats) -> Floats:
    """Return the mean of each cell of a 3 x 3 grid over maps ``(b, c, h, w)``, ``(b, 9 c)``.

    The cells of a side that is not divisible by three overlap by one position.
    """
    rows, columns = (_cells(side) for side in maps.shape[2:])
    cells = [maps[:, :, row, column].mean((2, 3)) for row in rows for column in columns]
    pooled: Floats = np.stack(cells, axis=2).reshape(len(maps), -1)
    return pooled


def standardized_patches(
    maps: Sequence[Floats], statistics: Sequence[tuple[Floats, Floats]]
) -> Floats:
    """Return maps ``(b, c, h, w)`` position by position, standardized, ``(b, h w (c + c'))``.

    Parameters
    ----------
    maps : sequence of arrays
        All of the same height and width.
    statistics : sequence of (mean, standard deviation), each of shape (c,)
    """
    patches = [
        (values.reshape(*values.shape[:2], -1).transpose(0, 2, 1) - mean) / std  # (b, h w, c)
        for values, (mean, std) in zip(maps, statistics, strict=True)
    ]
    return np.concatenate(patches, axis=2).reshape(len(maps[0]), -1)


def _cells(side: int) -> list[slice]:
    return [slice(i * side // GRID_SIDE, -(-(i + 1) * side // GRID_SIDE)) for i in range(GRID_SIDE)]


def _downscale(image: Pixels, side: int) -> Pixels:
    """Return a square copy in which every pixel is the mean of the area it covers."""
    small = Image.fromarray(image).resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.uint8)


def _lower_bins(lab: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the lower bin of each value, and the fraction that belongs to the next bin."""
    lowest = np.array([0.0, -60.0, -60.0], np.float32)
    span = np.array([100.0, 120.0, 120.0], np.float32)
    last = np.array([_LIGHTNESS_BINS - 1, _CHROMA_BINS - 1, _CHROMA_BINS - 1])
    position = np.clip((lab - lowest) / span, 0, 1) * last
    low = np.minimum(position.astype(np.intp), last - 1)
    return low, (position - low).astype(np.float32)


@cache
def _center_weights() -> Floats:
    """Return the weight of each pixel of a square, ``(p,)``."""
    axis = np.linspace(-1, 1, HISTOGRAM_SIDE, dtype=np.float32)
    weights: Floats = np.exp(-2 * (axis[:, None] ** 2 + axis[None, :] ** 2)).ravel()
    return weights


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
        self.variant = variant
        self.size = size
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
        """Return the blocks of one batch; colors are computed in parallel to the network."""
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
