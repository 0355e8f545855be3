"""Named random streams for PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from likewise.seeds import derive


def generator(seed: int, *names: str | int) -> torch.Generator:
    """Return a torch generator for the stream called `names`."""
    return torch.Generator().manual_seed(derive(seed, *names))


@contextmanager
def borrowed_global_generator(seed: int, *names: str | int) -> Iterator[None]:
    """Seed torch's global generator inside, and give it back as it was.

    For code that will draw from nothing else: layer initialisers, kornia.
    """
    with torch.random.fork_rng():
        torch.manual_seed(derive(seed, *names))
        yield
