"""Vision models of transformers as encoders, tested with tiny ones of every family."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.huggingface import hub_encoder
from likewise.errors import EncoderError
from likewise.images.collection import Pixels
from likewise.images.files import read_folder
from likewise.images.resize import resize
from likewise.nn.training import borrowed_global_generator
from tests.embedding.tiny_models import PREPROCESSOR, save_tiny


def saved(kind: str, folder: Path, preprocessor: dict[str, Any] | None = PREPROCESSOR) -> Any:
    with borrowed_global_generator(0, kind):
        return save_tiny(kind, folder, preprocessor)


def scaled(images: list[Pixels], size: int = 28) -> torch.Tensor:
    """Return the input that `PREPROCESSOR` describes."""
    squares = np.stack([resize(image, size) for image in images]) / 255
    x = (squares - np.array([0.5, 0.25, 0.0])) / np.array([0.5, 1.0, 2.0])
    return torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2)


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [
        ("dinov2", {"last": 16, "layer1": 32, "layer2": 32, "layer3": 32}),
        ("clip", {"last": 16, "layer1": 32, "layer2": 32, "layer3": 32}),
        ("siglip", {"last": 16, "layer1": 32, "layer2": 32, "layer3": 32}),
        ("vit", {"last": 16, "layer1": 32, "layer2": 32, "layer3": 32}),
        ("vit-classifier", {"last": 16, "layer1": 32, "layer2": 32, "layer3": 32}),
        ("convnext", {"last": 16, "layer1": 8, "layer2": 16, "layer3": 16}),
        ("resnet", {"last": 16, "layer1": 8, "layer2": 16, "layer3": 16}),
    ],
)
def test_every_family_has_its_blocks(
    tmp_path: Path, images: list[Pixels], kind: str, blocks: dict[str, int]
) -> None:
    saved(kind, tmp_path / kind, PREPROCESSOR | {"crop_size": 64 if kind == "convnext" else 28})
    encoder = hub_encoder(str(tmp_path / kind))
    assert dict(encoder.blocks) == blocks
    found = encoder.encode(images)
    assert {block: v.shape for block, v in found.items()} == {
        block: (len(images), width) for block, width in blocks.items()
    }
    assert found["last"].std(axis=0).max() > 1e-4  # different images, different vectors
    again = hub_encoder(str(tmp_path / kind))
    assert again.name == encoder.name
    np.testing.assert_array_equal(again.encode(images)["last"], found["last"])


@torch.inference_mode()
def test_tokens_are_pooled_without_the_class_token(tmp_path: Path, images: list[Pixels]) -> None:
    model = saved("dinov2", tmp_path)
    found = hub_encoder(str(tmp_path)).encode(images)
    out = model(scaled(images), output_hidden_states=True)
    np.testing.assert_allclose(found["last"], out.pooler_output, rtol=1e-4, atol=1e-5)
    patches = out.hidden_states[2][:, 1:].numpy()  # 2 x 2 of them after the class token
    expected = np.concatenate([patches.mean(1), patches.std(1)], axis=1)
    np.testing.assert_allclose(found["layer2"], expected, rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def test_only_the_vision_part_of_a_multimodal_model_is_used(
    tmp_path: Path, images: list[Pixels]
) -> None:
    model = saved("clip", tmp_path)
    found = hub_encoder(str(tmp_path)).encode(images)
    out = model.vision_model(scaled(images))
    np.testing.assert_allclose(found["last"], out.pooler_output, rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def test_a_pooling_layer_without_weights_is_removed(tmp_path: Path, images: list[Pixels]) -> None:
    model = saved("vit-classifier", tmp_path)
    found = hub_encoder(str(tmp_path)).encode(images)
    patches = model.vit(scaled(images)).last_hidden_state[:, 1:]
    np.testing.assert_allclose(found["last"], patches.mean(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({"do_center_crop": False, "size": {"height": 42, "width": 42}}, 42),
        ({"do_center_crop": False, "size": 56}, 56),
        ({"do_center_crop": False, "size": {"shortest_edge": 70}}, 70),
        ({"crop_size": 56}, 56),
    ],
)
def test_the_size_is_read_from_any_form(tmp_path: Path, changes: dict[str, Any], size: int) -> None:
    saved("dinov2", tmp_path, PREPROCESSOR | changes)
    assert hub_encoder(str(tmp_path)).size == size


@torch.inference_mode()
def test_scaling_is_read_from_any_form(tmp_path: Path, images: list[Pixels]) -> None:
    model = saved(
        "vit", tmp_path, PREPROCESSOR | {"rescale_factor": 2 / 255, "do_normalize": False}
    )
    squares = torch.tensor(np.stack([resize(p, 28) for p in images]))
    x = squares.permute(0, 3, 1, 2).float() * 2 / 255
    expected = model(x).pooler_output
    found = hub_encoder(str(tmp_path)).encode(images)["last"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    saved("vit", tmp_path / "raw", PREPROCESSOR | {"do_rescale": False, "do_normalize": False})
    raw = hub_encoder(str(tmp_path / "raw")).encode(images)["last"]
    np.testing.assert_allclose(raw, model(x * 127.5).pooler_output, rtol=1e-3, atol=1e-3)


def test_without_a_preprocessor_the_size_of_the_model_is_used(tmp_path: Path) -> None:
    saved("vit", tmp_path, None)
    assert hub_encoder(str(tmp_path)).size == 28
    (tmp_path / "processor_config.json").write_text(
        json.dumps({"image_processor": {"size": {"height": 28}, "image_mean": [0.1] * 3}})
    )
    assert hub_encoder(str(tmp_path)).size == 28


def test_other_weights_give_another_name(tmp_path: Path) -> None:
    saved("vit", tmp_path)
    before = hub_encoder(str(tmp_path)).name
    weights = load_file(tmp_path / "model.safetensors")
    weights["layernorm.bias"] += 1
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert hub_encoder(str(tmp_path)).name != before


def test_vectors_can_be_cached(tmp_path: Path, folder: Path) -> None:
    saved("resnet", tmp_path / "my model", PREPROCESSOR | {"crop_size": 64})
    encoder = hub_encoder(str(tmp_path / "my model"))
    found = embed(read_folder(folder), encoder, EmbeddingCache(tmp_path / "cache"))
    assert found.matrix().shape == (5, sum(encoder.blocks.values()))


def test_a_text_model_is_rejected(tmp_path: Path) -> None:
    saved("bert", tmp_path)
    with pytest.raises(EncoderError, match=r"must be a vision model, got BertModel; choose"):
        hub_encoder(str(tmp_path))


def test_a_folder_without_a_model_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"is not a model: it has no config\.json"):
        hub_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"has no weights \(\*\.safetensors or"):
        hub_encoder(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(EncoderError, match=r"cannot be loaded as a model \(.+\); use one"):
        hub_encoder(str(tmp_path))


def test_missing_weights_are_rejected(tmp_path: Path) -> None:
    saved("vit", tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["layernorm.bias"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match=r"has 1 missing weights \(layernorm.bias, …\); copy"):
        hub_encoder(str(tmp_path))


def test_a_size_the_model_cannot_process_is_reported(tmp_path: Path) -> None:
    saved("vit", tmp_path, PREPROCESSOR | {"crop_size": 56})
    with pytest.raises(EncoderError, match=r"cannot be run on images of 56 pixels"):
        hub_encoder(str(tmp_path))
