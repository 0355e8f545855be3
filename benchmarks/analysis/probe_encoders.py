"""Linear probe of encoders with a hundred labels, to choose one.

``python -m benchmarks.analysis.probe_encoders DATA ENCODER...`` prints the table of
docs/research/encoders.md. It compares encoders; it is not a result of a method.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from benchmarks.speed_encoders import measure_rates
from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings
from likewise.embedding.registry import make_encoder
from likewise.operating_system import default_cache_folder
from likewise.random_streams import stream
from likewise.types import Floats
from likewise_bench.datasets.base import Dataset
from likewise_bench.datasets.registry import load_dataset
from likewise_bench.datasets.synthetic import make_scenes
from likewise_bench.inputs import Subset

DATASETS = ("fashion", "fruits", "cards", "cifar10")
N_LABELS, N_SEEDS, N_CIFAR = 100, 5, 2000
_N_TIMED = 64


def probe_table(data: Path, encoders: Sequence[str], seed: int = 0) -> Iterator[str]:
    """Yield the lines of a Markdown table: per encoder, the last layer and all feature blocks."""
    sets = {name: _some(load_dataset(name, data), seed) for name in DATASETS}
    tasks = [(name, column) for name, one in sets.items() for column in one.criteria]
    heads = " | ".join(f"{a} {b}" for a, b in tasks)
    yield f"| encoder | images/s | blocks | {heads} | mean |"
    yield "|---" * (len(tasks) + 4) + "|"
    rates = rates_of(encoders)
    for encoder in encoders:
        vectors = {name: vectors_of(one, encoder) for name, one in sets.items()}
        for blocks in (["last"], list(next(iter(vectors.values())).blocks)):
            found = [
                probe(prepared(vectors[name], blocks), sets[name].labels(column), seed)
                for name, column in tasks
            ]
            what = blocks[0] if len(blocks) == 1 else "all"
            cells = " | ".join(f"{value:.3f}" for value in [*found, np.mean(found)])
            yield f"| {encoder} | {rates[encoder]:.0f} | {what} | {cells} |"


def rates_of(encoders: Sequence[str]) -> dict[str, float]:
    """Return images per second of each encoder, from pixels to vectors, on the same images."""
    pictures = list(make_scenes(_N_TIMED)[0])
    made = {name: make_encoder(name) for name in encoders}
    ways = {name: partial(encoder.encode, pictures) for name, encoder in made.items()}
    for way in ways.values():
        way()  # load the weights before timing
    return measure_rates(ways, len(pictures))


def vectors_of(dataset: Dataset, encoder: str) -> Embeddings:
    """Return the embeddings of an image data set, cached in the user's cache."""
    assert dataset.collection is not None  # all of `DATASETS` are images
    return embed(dataset.collection, make_encoder(encoder), EmbeddingCache(default_cache_folder()))


def prepared(vectors: Embeddings, blocks: Sequence[str]) -> Floats:
    """Return concatenated blocks: signed square root, standardised columns, unit rows."""
    columns = []
    for block in blocks:
        x = np.sign(vectors.blocks[block]) * np.sqrt(np.abs(vectors.blocks[block]))
        x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)
        columns.append(x / np.linalg.norm(x, axis=1, keepdims=True))
    rows: Floats = np.concatenate(columns, axis=1) * np.float32(2 / np.sqrt(len(blocks)))
    return rows


def probe(x: Floats, labels: npt.NDArray[np.str_], seed: int) -> float:
    """Return the accuracy on unseen images of logistic regression on random labels."""
    accuracies = []
    for repeat in range(N_SEEDS):
        order = stream(seed, "probe", repeat).permutation(len(labels))
        seen, unseen = order[:N_LABELS], order[N_LABELS:]
        model = LogisticRegression(C=10.0, max_iter=300).fit(x[seen], labels[seen])
        accuracies.append(float(np.mean(model.predict(x[unseen]) == labels[unseen])))
    return float(np.mean(accuracies))


def _some(dataset: Dataset, seed: int) -> Dataset:
    """Return a sample of the test images of a large data set; a small one unchanged."""
    if dataset.test is None or dataset.collection is None:
        return dataset
    chosen = stream(seed, "probe", "images").permutation(dataset.test)[:N_CIFAR]
    columns = {name: labels[chosen] for name, labels in dataset.criteria.items()}
    return Dataset(dataset.name, columns, Subset(dataset.collection, chosen))


def main(arguments: Sequence[str]) -> None:
    """Print the table, line by line."""
    begin = time.perf_counter()
    for line in probe_table(Path(arguments[0]), arguments[1:]):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    sys.stderr.write(f"{time.perf_counter() - begin:.0f} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
