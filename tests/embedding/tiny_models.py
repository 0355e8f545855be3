"""Untrained vision models of every family with a few thousand weights each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers

_VISION: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 28,
    "patch_size": 14,
}
_TEXT: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "vocab_size": 50,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_WIDTHS: dict[str, Any] = {"hidden_sizes": [4, 8, 8, 16], "depths": [1, 1, 1, 1]}
_BOTH: dict[str, Any] = {"text_config": _TEXT, "vision_config": _VISION}

MAKERS: dict[str, Callable[[], Any]] = {
    "dinov2": lambda: transformers.Dinov2Model(
        transformers.Dinov2Config(**{k: v for k, v in _VISION.items() if k != "intermediate_size"})
    ),
    "clip": lambda: transformers.CLIPModel(transformers.CLIPConfig(**_BOTH)),
    "siglip": lambda: transformers.SiglipModel(transformers.SiglipConfig(**_BOTH)),
    "vit": lambda: transformers.ViTModel(transformers.ViTConfig(**_VISION)),
    "vit-classifier": lambda: transformers.ViTForImageClassification(
        transformers.ViTConfig(**_VISION)
    ),
    "convnext": lambda: transformers.ConvNextModel(transformers.ConvNextConfig(**_WIDTHS)),
    "resnet": lambda: transformers.ResNetModel(
        transformers.ResNetConfig(embedding_size=4, layer_type="basic", **_WIDTHS)
    ),
    "bert": lambda: transformers.BertModel(transformers.BertConfig(**_TEXT)),
}
PREPROCESSOR = {
    "do_center_crop": True,
    "crop_size": {"height": 28, "width": 28},
    "size": {"shortest_edge": 32},
    "do_normalize": True,
    "image_mean": [0.5, 0.25, 0.0],
    "image_std": [0.5, 1.0, 2.0],
    "do_rescale": True,
    "rescale_factor": 1 / 255,
}


def save_tiny(kind: str, folder: Path, preprocessor: dict[str, Any] | None = None) -> Any:
    """Save a model of one family with its preprocessor configuration, and return it."""
    model = MAKERS[kind]().eval()
    model.save_pretrained(folder)
    if preprocessor is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return model
