"""Speed of the bundled encoder, compared with plain float32 torch on the same network."""

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Bytes, n_threads
from likewise.images.collection import Pixels
from likewise.images.files import read_folder
from likewise.types import Floats
from likewise_bench.datasets.synthetic import make_scenes
from tests.embedding.torch_reference import reference_blocks

SPEEDUP, COSINE = 4.0, 0.999  # targets
_USUAL, _SMALL = 32, 8  # batch sizes of plain torch; the maps of a small batch fit in the cache
_ROUNDS, _MORE_FILES = 3, 4
Vectors = Mapping[str, Floats | Bytes]


def encoders_bench(n_images: int = 64) -> None:
    """Print the rates of plain torch and of the encoder, and the agreement of the vectors."""
    write, encoder = sys.stdout.write, BundledEncoder()
    images, _ = make_scenes(_MORE_FILES * n_images)  # all different: copies are encoded once
    squares = np.stack([encoder.prepare(image) for image in images[:n_images]])
    functions: dict[str, Callable[[], Vectors]] = {
        "plain": _at_batch(encoder, squares, _USUAL),
        "small": _at_batch(encoder, squares, _SMALL),
        "ours": lambda: encoder.encode(list(squares)),
    }
    rates = measure_rates(functions, n_images)
    write(f"{encoder.name}, {n_images} images, {n_threads()} threads\n")
    write(_line(f"plain float32 torch, batches of {_USUAL}", rates["plain"], "images/s"))
    write(_line(f"plain float32 torch, batches of {_SMALL}", rates["small"], "images/s"))
    write(_line("ours", rates["ours"], "images/s"))
    speedup = rates["ours"] / rates["plain"]
    verdict = f"times; {_verdict(speedup, SPEEDUP)}"
    write(_line(f"ours over batches of {_USUAL}", speedup, verdict))
    write(_line(f"ours over batches of {_SMALL}", rates["ours"] / rates["small"], "times"))
    write(_line("ours, from JPEG files", rate_of_files(images), "images/s"))
    for block, cosine in agreement(functions["ours"](), functions["plain"]()).items():
        write(_line(f"mean cosine of {block}", cosine, _verdict(cosine, COSINE)))


def measure_rates(
    functions: Mapping[str, Callable[[], Vectors]], n_images: int
) -> dict[str, float]:
    """Return the images per second of each function: the best of several interleaved rounds."""
    seconds = dict.fromkeys(functions, float("inf"))
    for _ in range(_ROUNDS):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    return {name: n_images / value for name, value in seconds.items()}


def agreement(ours: Vectors, plain: Vectors) -> dict[str, float]:
    """Return for each block the mean cosine between the two vectors of an image."""
    return {
        block: float(
            np.mean([_cosine(a, b) for a, b in zip(ours[block], plain[block], strict=True)])
        )
        for block in plain
    }


def rate_of_files(images: Pixels) -> float:
    """Return images per second from a folder of JPEG files to vectors, without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        for i, image in enumerate(images):
            Image.fromarray(image).save(Path(folder) / f"{i:05}.jpg", quality=95)
        collection, encoder = read_folder(folder), BundledEncoder()
        encoder.encode([images[0]])  # load the weights before timing
        begin = time.perf_counter()
        embed(collection, encoder)
        return len(images) / (time.perf_counter() - begin)


def _at_batch(encoder: BundledEncoder, squares: Pixels, size: int) -> Callable[[], Vectors]:
    def run() -> Vectors:
        parts = [
            reference_blocks(encoder.variant, squares[i : i + size])
            for i in range(0, len(squares), size)
        ]
        return {block: np.concatenate([part[block] for part in parts]) for block in parts[0]}

    return run


def _cosine(a: Floats | Bytes, b: Floats | Bytes) -> float:
    x, y = a.astype(np.float64), b.astype(np.float64)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def _line(what: str, value: float, unit: str) -> str:
    return f"{what:<38} {value:10.{6 if value <= 1 else 1}f} {unit}\n"


def _verdict(value: float, least: float) -> str:
    return f"at least {least:g}: {'ok' if value >= least else 'MISSED'}"


if __name__ == "__main__":
    encoders_bench()
