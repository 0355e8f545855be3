"""What all encoders that run in torch share: squares in, scaled batches through, facets out."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from likewise.encoders.encoder import Floats
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.resize import resize

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Forward = Callable[[Tensor], Mapping[str, Tensor]]


class TorchEncoder:
    """Runs a network in evaluation mode, a batch at a time; leaves its mode as it was.

    Parameters
    ----------
    name : str
    network : nn.Module
    forward : callable
        From a scaled batch ``(b, 3, s, s)`` to one tensor ``(b, d)`` a facet.
    size : int
    mean, std : sequences of three floats
        Of the colours, for pixels from 0 to 1.
    batch_size : int
    """

    def __init__(
        self,
        name: str,
        network: nn.Module,
        forward: Forward,
        *,
        size: int,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        batch_size: int = 16,
    ) -> None:
        if size < 1:
            raise InvalidParameterError(f"size={size} is no length of a side; choose at least 1.")
        self.name, self.size = name, size
        self._network, self._forward, self._batch_size = network, forward, batch_size
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._mean = torch.tensor(mean, device=self._device).view(3, 1, 1)
        self._std = torch.tensor(std, device=self._device).view(3, 1, 1)
        self.facets: dict[str, int] = {}
        blank = np.full((1, size, size, 3), 127, dtype=np.uint8)
        self.facets = {facet: vectors.shape[1] for facet, vectors in self._run(blank).items()}

    def prepare(self, pixels: Pixels) -> Pixels:
        """Return the square `encode` will look at; it may be called from many threads."""
        return resize(pixels, self.size)

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        """Return for each facet an array ``(len(pictures), width)``."""
        parts = [{f: np.zeros((0, width), np.float32) for f, width in self.facets.items()}]
        for start in range(0, len(pictures), self._batch_size):
            batch = pictures[start : start + self._batch_size]
            parts.append(self._run(np.stack([self.prepare(pixels) for pixels in batch])))
        return {facet: np.concatenate([part[facet] for part in parts]) for facet in self.facets}

    @torch.inference_mode()
    def _run(self, squares: Pixels) -> dict[str, Floats]:
        was_training = self._network.training
        self._network.to(self._device).eval()
        try:
            x = torch.from_numpy(squares).to(self._device).permute(0, 3, 1, 2).float() / 255
            found = self._forward((x - self._mean) / self._std)
            return {facet: self._checked(facet, v, len(squares)) for facet, v in found.items()}
        finally:
            self._network.train(was_training)

    def _checked(self, facet: str, vectors: object, n_images: int) -> Floats:
        if isinstance(vectors, Tensor) and vectors.ndim == 2 and len(vectors) == n_images:
            self._check_width(facet, vectors.shape[1])
            found: Floats = vectors.float().cpu().numpy()
            return found
        raise EncoderError(
            f"The encoder {self.name!r} gives {shape_or_kind(vectors)} for {n_images} pictures "
            f"(facet {facet!r}), not one vector an image; pool and flatten its output: "
            "nn.Sequential(module, nn.AdaptiveAvgPool2d(1), nn.Flatten())."
        )

    def _check_width(self, facet: str, width: int) -> None:
        if not width:
            raise EncoderError(
                f"The encoder {self.name!r} gives vectors of 0 numbers (facet {facet!r}), so all "
                "pictures are alike; give a network with at least one output."
            )
        known = self.facets.get(facet, width)  # not known yet for the first, blank picture
        if width != known:
            raise EncoderError(
                f"The encoder {self.name!r} gives vectors of {width} numbers (facet {facet!r}) "
                f"where it gave {known} before; give a network whose output has the same width "
                "for all pictures, however many it sees at once."
            )


def shape_or_kind(value: object) -> str:
    """Return what a network gave, for messages: the shape of a tensor, else the type."""
    if isinstance(value, Tensor):
        return f"shape {tuple(value.shape)}"
    return type(value).__name__


def fingerprint(chunks: Iterable[bytes]) -> str:
    """Return twelve digits that change with any byte: weights are part of an encoder's name."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()[:12]
