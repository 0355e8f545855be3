"""Any nn.Module as an encoder."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from likewise.encoders.module import module_encoder
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


def test_sees_scaled_squares_and_gives_its_output(pictures: list[Pixels]) -> None:
    mean, std = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    encoder = module_encoder(small(), size=24, mean=mean, std=std)
    squares = np.stack([resize(picture, 24) for picture in pictures]) / 255
    x = torch.tensor((squares - np.array(mean)) / np.array(std), dtype=torch.float32)
    with torch.inference_mode():
        expected = small().eval()(x.permute(0, 3, 1, 2))
    np.testing.assert_allclose(encoder.encode(pictures)["last"], expected, rtol=1e-4, atol=1e-5)


def test_middle_layers_are_pooled_in_the_same_pass(pictures: list[Pixels]) -> None:
    module = small()
    encoder = module_encoder(module, size=24, layers=["1", "0"], mean=[0.0] * 3, std=[1.0] * 3)
    assert dict(encoder.facets) == {"last": 4, "1": 8, "0": 8}
    x = torch.tensor(np.stack([resize(p, 24) for p in pictures]) / 255, dtype=torch.float32)
    with torch.inference_mode():
        maps = module[0](x.permute(0, 3, 1, 2)).flatten(2).numpy()
    expected = np.concatenate([maps.mean(2), maps.std(2)], axis=1)
    np.testing.assert_allclose(encoder.encode(pictures)["0"], expected, rtol=1e-4, atol=1e-5)
    assert not module[0]._forward_hooks


def test_the_module_stays_in_its_mode_and_is_run_in_evaluation(pictures: list[Pixels]) -> None:
    module = small().train()
    encoder = module_encoder(module, size=24)
    first, second = encoder.encode(pictures), encoder.encode(pictures)
    np.testing.assert_array_equal(first["last"], second["last"])  # dropout would differ
    assert module.training
    assert module[1].num_batches_tracked == 0


def test_the_name_follows_the_weights_and_all_that_changes_vectors() -> None:
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


def test_more_pictures_than_a_batch(pictures: list[Pixels]) -> None:
    encoder = module_encoder(small(), size=24)
    once, often = encoder.encode(pictures)["last"], encoder.encode(pictures * 9)["last"]
    np.testing.assert_allclose(often, np.tile(once, (9, 1)), rtol=1e-5, atol=1e-6)
    assert encoder.encode([])["last"].shape == (0, 4)


class Strange(nn.Module):
    """Gives something that is no tensor."""

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
def test_an_output_that_is_no_vector_is_refused(module: nn.Module, what: str) -> None:
    with pytest.raises(EncoderError, match=rf"'odd' gives {what} for 1 pictures .*AdaptiveAvgPool"):
        module_encoder(module, size=24, name="odd")


def test_a_layer_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'layer7' is not a known layer of this module"):
        module_encoder(small(), layers=["layer7"])


def test_a_layer_that_gives_vectors_is_a_facet_as_it_is(pictures: list[Pixels]) -> None:
    module = nn.Sequential(*small(), nn.ReLU(inplace=True))  # writes over what layer 4 gave
    found = module_encoder(module, size=24, layers=["4"]).encode(pictures)
    expected = module_encoder(small(), size=24).encode(pictures)["last"]
    assert (expected < 0).any()
    np.testing.assert_array_equal(found["4"], expected)


class Tuples(nn.Module):
    """Gives two things, as recurrent layers and attention do."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x


class Odd(nn.Module):
    """Has a layer that is never called, one that gives no tensor and one that gives one number."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Flatten()])
        self.tuples, self.flat = Tuples(), nn.Flatten(0)

    def forward(self, x: Tensor) -> Tensor:
        self.flat(x)
        first: Tensor = self.parts[0](self.tuples(x)[0])
        return first


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("parts", r"The layer 'parts' is never called when Odd looks at pictures; choose one that"),
        ("tuples", r"The layer 'tuples' gives tuple, neither maps .* nor vectors \(b, d\); choose"),
        ("flat", r"The layer 'flat' gives shape \(192,\), neither maps"),
    ],
)
def test_a_layer_that_gives_nothing_to_pool_is_refused(layer: str, words: str) -> None:
    module = Odd()
    assert module_encoder(module, size=8, layers=["parts.0"]).facets["parts.0"] == 192
    with pytest.raises(EncoderError, match=words):
        module_encoder(module, size=8, layers=[layer])
    assert not any(inner._forward_hooks for inner in module.modules())


class Widening(nn.Module):
    """Gives as many numbers a picture as there are pictures."""

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), len(x))


def test_vectors_that_change_their_length_are_refused(pictures: list[Pixels]) -> None:
    encoder = module_encoder(Widening(), size=8, name="odd")
    assert encoder.encode(pictures[:1])["last"].shape == (1, 1)
    with pytest.raises(
        EncoderError, match=r"'odd' gives vectors of 5 numbers \(facet 'last'\) where it gave 1 bef"
    ):
        encoder.encode(pictures)


class Empty(nn.Module):
    """Gives vectors without numbers."""

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), 0)


def test_vectors_without_numbers_are_refused() -> None:
    with pytest.raises(
        EncoderError, match=r"'odd' gives vectors of 0 numbers \(facet 'last'\), so"
    ):
        module_encoder(Empty(), size=8, name="odd")


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_that_is_no_length_is_refused(size: int) -> None:
    assert module_encoder(nn.Flatten(), size=1).facets == {"last": 3}
    with pytest.raises(InvalidParameterError, match=f"size={size} is no length of a side; choose"):
        module_encoder(nn.Flatten(), size=size)
