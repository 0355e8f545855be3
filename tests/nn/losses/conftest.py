import pytest
import torch

from likewise.seeds import derive


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(derive(0, "losses"))
