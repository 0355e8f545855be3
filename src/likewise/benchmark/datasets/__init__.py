"""Data sets by name, each with every way to sort it that we know of."""

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.datasets.registry import DATASETS, load_dataset
from likewise.benchmark.datasets.table import load_table

__all__ = ["DATASETS", "Dataset", "load_dataset", "load_table"]
