"""Data sets by name, each with its criteria."""

from likewise_bench.datasets.base import Dataset
from likewise_bench.datasets.labels_csv import load_labels_csv
from likewise_bench.datasets.registry import DATASETS, load_dataset

__all__ = ["DATASETS", "Dataset", "load_dataset", "load_labels_csv"]
