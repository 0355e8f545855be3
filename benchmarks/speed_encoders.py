"""How fast the bundled encoder is, against plain float32 torch on the same network."""

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.bundled.features import grid_means, mean_and_spread
from likewise.embedding.bundled.inference import GRID_STAGE
from likewise.embedding.bundled.network import CENTRE, SCALE, load_network
from likewise.embedding.embed import embed
from likewise.embedding.encoder import Bytes
from likewise.images.collection import Pixels
from likewise.images.files import read_folder
from likewise.types import Floats
from likewise_bench.datasets.synthetic import make_scenes

TIMES_FASTER, COSINE = 4.0, 0.999  # what must hold
_USUAL, _SMALL = 32, 8  # batches of plain torch; the maps of a small one stay in the cache
_ROUNDS, _MORE_FILES = 3, 4
Vectors = Mapping[str, Floats | Bytes]


def encoders_bench(n_images: int = 64) -> None:
    """Print the rate of plain torch, ours, and how well the vectors agree."""
    write, encoder = sys.stdout.write, BundledEncoder()
    pictures, _ = make_scenes(_MORE_FILES * n_images)  # all unlike: copies are not encoded
    squares = np.stack([encoder.prepare(picture) for picture in pictures[:n_images]])
    ways: dict[str, Callable[[], Vectors]] = {
        "plain": _at_batch(encoder, squares, _USUAL),
        "small": _at_batch(encoder, squares, _SMALL),
        "ours": lambda: encoder.encode(list(squares)),
    }
    rates = measure_rates(ways, n_images)
    write(f"{encoder.name}, {n_images} pictures, {torch.get_num_threads()} threads\n")
    write(_line(f"plain float32 torch, batches of {_USUAL}", rates["plain"], "pictures/s"))
    write(_line(f"plain float32 torch, batches of {_SMALL}", rates["small"], "pictures/s"))
    write(_line("ours", rates["ours"], "pictures/s"))
    times = rates["ours"] / rates["plain"]
    write(_line(f"ours over batches of {_USUAL}", times, f"times; {_verdict(times, TIMES_FASTER)}"))
    write(_line(f"ours over batches of {_SMALL}", rates["ours"] / rates["small"], "times"))
    write(_line("ours, from JPEG files, decoded beside", rate_of_files(pictures), "pictures/s"))
    for facet, cosine in agreement(ways["ours"](), ways["plain"]()).items():
        write(_line(f"mean cosine of {facet}", cosine, _verdict(cosine, COSINE)))


def plain_vectors(encoder: BundledEncoder, squares: Pixels) -> Vectors:
    """Return the network's facets as eager torch computes them, nothing folded or reordered."""
    x = torch.from_numpy(squares).permute(0, 3, 1, 2).contiguous().float()
    with torch.inference_mode():
        maps = load_network(encoder.variant)((x - CENTRE) / SCALE)
        pooled = {f"stage{i}": mean_and_spread(m) for i, m in enumerate(maps[:-1])}
        pooled["last"] = maps[-1].mean((2, 3))
    pooled["grid"] = grid_means(maps[GRID_STAGE])
    return {facet: vectors.numpy() for facet, vectors in pooled.items()}


def measure_rates(ways: Mapping[str, Callable[[], Vectors]], n_images: int) -> dict[str, float]:
    """Return pictures a second of each way: the best of several rounds, taken in turns."""
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(_ROUNDS):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    return {name: n_images / value for name, value in seconds.items()}


def agreement(ours: Vectors, plain: Vectors) -> dict[str, float]:
    """Return for each facet the mean cosine between the two vectors of a picture."""
    return {
        facet: float(
            np.mean([_cosine(a, b) for a, b in zip(ours[facet], plain[facet], strict=True)])
        )
        for facet in plain
    }


def rate_of_files(pictures: Pixels) -> float:
    """Return pictures a second from a folder of JPEG files to vectors, nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        for i, picture in enumerate(pictures):
            Image.fromarray(picture).save(Path(folder) / f"{i:05}.jpg", quality=95)
        collection, encoder = read_folder(folder), BundledEncoder()
        encoder.encode([pictures[0]])  # loading the weights is not what is timed
        begin = time.perf_counter()
        embed(collection, encoder)
        return len(pictures) / (time.perf_counter() - begin)


def _at_batch(encoder: BundledEncoder, squares: Pixels, size: int) -> Callable[[], Vectors]:
    def run() -> Vectors:
        parts = [
            plain_vectors(encoder, squares[i : i + size]) for i in range(0, len(squares), size)
        ]
        return {f: np.concatenate([part[f] for part in parts]) for f in parts[0]}

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
