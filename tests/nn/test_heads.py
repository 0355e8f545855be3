"""Projection, assignment and classifier heads, and the trunk for vectors."""

import pytest
import torch
from torch import nn

from likewise.nn.heads import AssignmentHead, ClassifierHead, ProjectionHead, VectorTrunk


def n_parameters(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


def test_embeddings_have_length_one_and_the_papers_size(rng: torch.Generator) -> None:
    head = ProjectionHead()
    z = head(torch.randn(5, 512, generator=rng))
    assert z.shape == (5, 128)
    torch.testing.assert_close(z.norm(dim=1), torch.ones(5))
    assert n_parameters(head) == 512 * 512 + 512 + 512 * 128 + 128


def test_assignments_are_the_softmax_of_the_logits(rng: torch.Generator) -> None:
    head = AssignmentHead(512, 512, 10)
    features = torch.randn(5, 512, generator=rng)
    p = head(features)
    assert p.shape == (5, 10)
    torch.testing.assert_close(p.sum(dim=1), torch.ones(5))
    torch.testing.assert_close(p, head.logits(features).softmax(dim=1))
    assert n_parameters(head) == 512 * 512 + 512 + 512 * 10 + 10


@pytest.mark.parametrize("name", ["projection", "assignment", "classifier"])
def test_a_head_answers_in_float32_under_autocast_and_in_float64_if_it_is(
    name: str, rng: torch.Generator
) -> None:
    head = {
        "projection": ProjectionHead(8, 8, 4),
        "assignment": AssignmentHead(8, 8, 3),
        "classifier": ClassifierHead(8, 3),
    }[name]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert head(torch.randn(2, 8, generator=rng)).dtype == torch.float32
    assert head.double()(torch.randn(2, 8, generator=rng).double()).dtype == torch.float64


@pytest.mark.parametrize("kind", [ProjectionHead, AssignmentHead])
def test_a_hidden_layer_that_sees_only_negatives_passes_on_its_bias_alone(
    kind: type[ProjectionHead] | type[AssignmentHead],
) -> None:
    """ReLU between the layers: below zero all features look the same."""
    head = kind(2, 8, 3)
    first = head.layers[0]
    assert isinstance(first, nn.Linear)
    nn.init.ones_(first.weight)
    nn.init.zeros_(first.bias)
    out = head(torch.tensor([[-1.0, -1.0], [-5.0, -2.0]]))
    torch.testing.assert_close(out[0], out[1])


def test_the_classifier_is_one_layer() -> None:
    assert n_parameters(ClassifierHead(200, 10)) == 2010


def test_the_trunk_is_one_layer_with_relu(rng: torch.Generator) -> None:
    trunk = VectorTrunk(30, n_features=8)
    features = trunk(torch.randn(5, 30, generator=rng))
    assert features.shape == (5, trunk.n_features) == (5, 8)
    assert (features >= 0).all()
    assert n_parameters(trunk) == 30 * 8 + 8
    assert n_parameters(VectorTrunk(30)) == 30 * 512 + 512
