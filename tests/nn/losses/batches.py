"""Answers a batch may come with, by name."""

import torch
from torch import Tensor

RELATIONS = ("none", "same", "different", "mixed", "all same")


def relations_of(name: str, n: int) -> Tensor:
    """Return (n, n) relations, symmetric with zero diagonal; n at least 4."""
    relations = torch.zeros(n, n, dtype=torch.int8)
    pairs = {
        "none": [],
        "same": [(0, 1, 1), (0, 2, 1), (1, 2, 1)],
        "different": [(0, 3, -1), (1, 3, -1)],
        "mixed": [(0, 1, 1), (0, 3, -1), (1, 3, -1), (2, 3, 1), (0, 2, -1)],
        "all same": [(i, j, 1) for i in range(n) for j in range(i)],
    }[name]
    for i, j, relation in pairs:
        relations[i, j] = relations[j, i] = relation
    return relations
