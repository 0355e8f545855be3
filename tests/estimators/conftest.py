"""Small collections for all method tests; one thread, so that tiny networks stay quick."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.datasets import make_blobs


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def blobs() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Three well separated groups of vectors, and which is which."""
    X, y = make_blobs(120, n_features=10, centers=3, cluster_std=1.0, random_state=0)
    return X, y
