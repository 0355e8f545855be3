"""Relations of a batch are laid over its views, and refused where they cannot be."""

import pytest
import torch

from likewise.errors import InvalidParameterError
from likewise.nn.losses.contrastive import tile_relations


def test_every_view_of_two_images_has_their_relation() -> None:
    relations = torch.tensor([[0, 1, 0], [1, 0, -1], [0, -1, 0]], dtype=torch.int8)
    views = tile_relations(relations, 3)
    for i in range(6):
        for j in range(6):
            assert views[i, j] == relations[i % 3, j % 3]


def test_relations_of_another_batch_are_refused() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"batch of 3 images must have shape \(3, 3\), got \(2, 2\)"
    ):
        tile_relations(torch.zeros(2, 2), 3)


def test_an_image_related_to_itself_is_refused_by_name() -> None:
    relations = torch.zeros(3, 3, dtype=torch.int8)
    relations[1, 1] = 1
    with pytest.raises(InvalidParameterError, match=r"relation of an image to itself at \[1, 1\]"):
        tile_relations(relations, 3)
