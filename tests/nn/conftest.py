from collections.abc import Iterator

import pytest
import torch

from likewise.random_streams import derive


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(derive(0, "heads"))


@pytest.fixture(autouse=True)
def same_weights_every_time() -> Iterator[None]:
    """Layers draw their weights from torch's global generator, so it is borrowed."""
    with torch.random.fork_rng():
        torch.manual_seed(derive(0, "weights"))
        yield
