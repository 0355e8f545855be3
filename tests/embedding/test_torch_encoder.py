"""Any ``nn.Module`` as an encoder."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from likewise.embedding.torch_encoder import module_encoder
from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.nn.training import borrowed_global_generator


def small(seed: int = 0) -> nn.Sequential:
    with borrowed_global_generator(seed, "small"):
        return nn.Sequential(
            nn.Conv2d(3, 4, 3),
            nn.BatchNorm2d(4),
            nn.Dropout(0.5),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )


def test_the_module_gets_normalised_squares(images: list[Pixels]) -> None:
    mean, std = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    encoder = module_encoder(small(), size=24, mean=mean, std=std)
    squares = np.stack([resize(image, 24) for image in images]) / 255
    x = torch.tensor((squares - np.array(mean)) / np.array(std), dtype=torch.float32)
    with torch.inference_mode():
        expected = small().eval()(x.permute(0, 3, 1, 2))
    np.testing.assert_allclose(encoder.encode(images)["last"], expected, rtol=1e-4, atol=1e-5)


def test_layers_are_pooled_in_the_same_forward_pass(images: list[Pixels]) -> None:
    module = small()
    encoder = module_encoder(module, size=24, layers=["1", "0"], mean=[0.0] * 3, std=[1.0] * 3)
    assert dict(encoder.blocks) == {"last": 4, "1": 8, "0": 8}
    x = torch.tensor(np.stack([resize(p, 24) for p in images]) / 255, dtype=torch.float32)
    with torch.inference_mode():
        maps = module[0](x.permute(0, 3, 1, 2)).flatten(2).numpy()
    expected = np.concatenate([maps.mean(2), maps.std(2)], axis=1)
    np.testing.assert_allclose(encoder.encode(images)["0"], expected, rtol=1e-4, atol=1e-5)
    assert not module[0]._forward_hooks


def test_the_module_runs_in_evaluation_mode_and_keeps_its_mode(images: list[Pixels]) -> None:
    module = small().train()
    encoder = module_encoder(module, size=24)
    first, second = encoder.encode(images), encoder.encode(images)
    np.testing.assert_array_equal(first["last"], second["last"])  # dropout would differ
    assert module.training
    assert module[1].num_batches_tracked == 0


def test_the_name_depends_on_everything_that_changes_the_vectors() -> None:
    names = [
        module_encoder(small(), size=24).name,
        module_encoder(small(), size=24).name,
        module_encoder(small(1), size=24).name,
        module_encoder(small(), size=25).name,
        module_encoder(small(), size=24, mean=[0.0] * 3).name,
        module_encoder(small(), size=24, std=[1.0] * 3).name,
        module_encoder(small(), size=24, layers=["0"]).name,
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 6
    assert module_encoder(small(), size=24, name="mine").name == "mine"


def test_more_images_than_a_batch(images: list[Pixels]) -> None:
    encoder = module_encoder(small(), size=24)
    once, often = encoder.encode(images)["last"], encoder.encode(images * 9)["last"]
    np.testing.assert_allclose(often, np.tile(once, (9, 1)), rtol=1e-5, atol=1e-6)
    assert encoder.encode([])["last"].shape == (0, 4)


class Strange(nn.Module):
    """Returns a dict."""

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"x": x}


@pytest.mark.parametrize(
    ("module", "what"),
    [
        (nn.Conv2d(3, 4, 3), r"shape \(1, 4, 22, 22\)"),
        (nn.Flatten(0), r"shape \(1728,\)"),
        (Strange(), "dict"),
    ],
)
def test_an_output_that_is_not_a_vector_per_image_is_rejected(module: nn.Module, what: str) -> None:
    with pytest.raises(
        EncoderError, match=rf"'odd' must return .* \(1, d\); got {what} for .*AdaptiveAvgPool"
    ):
        module_encoder(module, size=24, name="odd")


def test_an_unknown_layer_is_rejected() -> None:
    with pytest.raises(UnknownNameError, match="'layer7' is not a known layer of this module"):
        module_encoder(small(), layers=["layer7"])


def test_a_layer_that_returns_vectors_is_not_pooled(images: list[Pixels]) -> None:
    module = nn.Sequential(*small(), nn.ReLU(inplace=True))  # overwrites the output of layer 4
    found = module_encoder(module, size=24, layers=["4"]).encode(images)
    expected = module_encoder(small(), size=24).encode(images)["last"]
    assert (expected < 0).any()
    np.testing.assert_array_equal(found["4"], expected)


class Tuples(nn.Module):
    """Returns a tuple, as recurrent layers and attention do."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x


class Odd(nn.Module):
    """Has a layer that is never called, one that returns a tuple and one that returns a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Flatten()])
        self.tuples, self.flat = Tuples(), nn.Flatten(0)

    def forward(self, x: Tensor) -> Tensor:
        self.flat(x)
        first: Tensor = self.parts[0](self.tuples(x)[0])
        return first


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ("parts", r"The layer 'parts' is not called in the forward pass of Odd; choose one that"),
        (
            "tuples",
            r"The layer 'tuples' must return maps .* or vectors \(b, d\), got tuple; choose",
        ),
        ("flat", r"The layer 'flat' must return maps .*, got shape \(192,\)"),
    ],
)
def test_a_layer_that_cannot_be_pooled_is_rejected(layer: str, message: str) -> None:
    module = Odd()
    assert module_encoder(module, size=8, layers=["parts.0"]).blocks["parts.0"] == 192
    with pytest.raises(EncoderError, match=message):
        module_encoder(module, size=8, layers=[layer])
    assert not any(inner._forward_hooks for inner in module.modules())


class Widening(nn.Module):
    """Returns vectors as wide as the batch is long."""

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), len(x))


def test_a_width_that_changes_is_rejected(images: list[Pixels]) -> None:
    encoder = module_encoder(Widening(), size=8, name="odd")
    assert encoder.encode(images[:1])["last"].shape == (1, 1)
    with pytest.raises(
        EncoderError,
        match=r"'odd' must return .* constant width; the block 'last' has width 5, previously 1\.",
    ):
        encoder.encode(images)


class Empty(nn.Module):
    """Returns vectors of width 0."""

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), 0)


def test_vectors_of_width_0_are_rejected() -> None:
    with pytest.raises(
        EncoderError,
        match=r"'odd' must return vectors of width >= 1, got width 0 for the block 'last'",
    ):
        module_encoder(Empty(), size=8, name="odd")


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_below_1_is_rejected(size: int) -> None:
    assert module_encoder(nn.Flatten(), size=1).blocks == {"last": 3}
    with pytest.raises(
        InvalidParameterError, match=rf"size must be an integer >= 1 \(pixels\), got {size}\."
    ):
        module_encoder(nn.Flatten(), size=size)
