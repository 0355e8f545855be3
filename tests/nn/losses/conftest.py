import pytest
import torch

from likewise.random_streams import derive


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(derive(0, "losses"))
