"""Script that adds blocks of rows to a vector file and prints their names after each block."""

import sys
from pathlib import Path

import numpy as np

from likewise.embedding.vector_file import VectorFile

WIDTH = 64


def row_of(name: str) -> float:
    """Return the value of all columns in the row of `name`."""
    return float(int(name.rpartition("-")[2]) % 2048)


def main(folder: str, who: str, n_blocks: int, block: int = 16) -> None:
    file = VectorFile(Path(folder), "numbers", {"all": WIDTH}, "float16")
    for start in range(0, n_blocks * block, block):
        names = [f"{who}-{i}" for i in range(start, start + block)]
        file.add(names, np.array([[row_of(n)] * WIDTH for n in names], dtype=np.float32))
        print("\n".join(names), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
