"""A tiny CLIP, trained for seconds on painted images, that really knows a few words."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from likewise.images.collection import Pixels
from likewise.nn.training import borrowed_global_generator

COLOURS = {"red": (200, 40, 40), "green": (40, 170, 60), "blue": (40, 60, 200)}
MARKS = ("white", "black")  # of a small square
VOCABULARY = ("[pad]", "[start]", "[end]", "[unknown]", "a", "photo", "of", *COLOURS, *MARKS)
_SIZE, _STEPS, _BATCH = 28, 200, 48
_LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def paint(colour: int, mark: int, rng: np.random.Generator) -> Pixels:
    """Return a noisy square of a colour, with a small white or black square in it."""
    image = np.empty((_SIZE, _SIZE, 3))
    image[:] = list(COLOURS.values())[colour]
    image[8:20, 8:20] = (225, 30)[mark]
    image += rng.normal(0, 25, image.shape)
    return image.clip(0, 255).astype(np.uint8)


def paint_folder(folder: Path, n: int = 60, seed: int = 1) -> tuple[list[int], list[int]]:
    """Save images; return colour and mark of each, in the order of their names."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    colours, marks = rng.integers(0, 3, n).tolist(), rng.integers(0, 2, n).tolist()
    for i, (colour, mark) in enumerate(zip(colours, marks, strict=True)):
        Image.fromarray(paint(colour, mark, rng)).save(folder / f"{i:03}.png")
    return colours, marks


def save_tiny_clip(folder: Path) -> Any:
    """Save model, tokenizer and preprocessor like a model of the hub, and return the model."""
    model = _trained()
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    processor = {"size": {"height": _SIZE, "width": _SIZE}, "image_mean": [0.5] * 3}
    text = str({**processor, "image_std": [0.5] * 3}).replace("'", '"')
    (folder / "preprocessor_config.json").write_text(text)
    return model


def _tokenizer() -> Any:
    words = {word: i for i, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[unknown]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[start] $A [end]", special_tokens=[("[start]", 1), ("[end]", 2)]
    )
    special = {"pad_token": "[pad]", "unk_token": "[unknown]", "eos_token": "[end]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


@cache
def _trained() -> Any:
    text = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 8, "hidden_size": 16}
    ids = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    vision = {"image_size": _SIZE, "patch_size": 14, "hidden_size": 16, **_LAYERS}
    config = transformers.CLIPConfig(
        text_config={**text, **ids, **_LAYERS}, vision_config=vision, projection_dim=12
    )
    with borrowed_global_generator(0, "tiny clip"):
        model: Any = transformers.CLIPModel(config)
        _train(model)
    return model.eval()


def _train(model: Any) -> None:
    """Teach the words for colours and for marks, marks two times of three."""
    tokenizer, rng = _tokenizer(), np.random.default_rng(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(_STEPS):
        colours, marks = rng.integers(0, 3, _BATCH), rng.integers(0, 2, _BATCH)
        images = np.stack([paint(c, s, rng) for c, s in zip(colours, marks, strict=True)])
        pixels = torch.tensor(images / 127.5 - 1, dtype=torch.float32).permute(0, 3, 1, 2)
        words, target = (MARKS, marks) if step % 3 else (tuple(COLOURS), colours)
        texts = tokenizer([f"a photo of {word}" for word in words], return_tensors="pt")
        texts.pop("token_type_ids", None)
        found = model(pixel_values=pixels, **texts)
        loss = torch.nn.functional.cross_entropy(found.logits_per_image, torch.tensor(target))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
