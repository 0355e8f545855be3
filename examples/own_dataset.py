"""Write your own data set: a function that returns a `Dataset`, and one line in the registry."""

from pathlib import Path

import numpy as np

from likewise.images.in_memory import ArrayCollection
from likewise_bench.datasets.base import Dataset
from likewise_bench.datasets.registry import DATASETS, Source
from likewise_bench.runner import run_benchmark
from likewise_bench.spec import RunSpec


def load_stripes(data: Path | None = None) -> Dataset:
    """Generate images of stripes that differ in direction and in colour.

    A data set in files expects them in `data`, and raises `DatasetError` with the missing
    file and where to get it (see `likewise_bench/datasets/archives.py`).
    """
    rng = np.random.default_rng(0)
    steep, blue = rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    rows, columns = np.mgrid[:24, :24]
    along = np.where(steep[:, None, None] == 1, columns, rows)
    dark = (along + rng.integers(0, 6, (120, 1, 1))) // 3 % 2 == 0
    pixels = np.full((120, 24, 24, 3), 255, dtype=np.uint8)
    ink = np.where(blue[:, None] == 1, (40, 60, 200), (200, 60, 40))
    pixels[dark] = np.repeat(ink, dark.sum(axis=(1, 2)), axis=0)
    small = (pixels[:, ::4, ::4].reshape(120, -1) / 255).astype(np.float32)
    return Dataset(
        "stripes",
        {
            "direction": np.where(steep == 1, "steep", "flat"),
            "colour": np.where(blue == 1, "blue", "red"),
        },
        ArrayCollection(pixels),
        vectors=small,  # a data set with vectors needs no encoder
    )


# In the package this is one line in `likewise_bench/datasets/registry.py`.
DATASETS["stripes"] = Source(load_stripes, "generated stripes, by direction or by colour; no files")
for criterion in ("colour", "direction"):
    run = RunSpec("likewise", dataset="stripes", criterion=criterion, n_questions=15)
    row = run_benchmark(run)
    print(f"{row['dataset']} by {criterion}: ACC {row['acc']:.2f}")
