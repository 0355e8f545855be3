"""Vision models of transformers as encoders: DINOv2, CLIP, SigLIP, ConvNeXt and others."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from likewise.embedding.hub import find_model, has_tokenizer, knows_text, weight_files
from likewise.embedding.torch_encoder import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    TorchEncoder,
    fingerprint,
    mean_and_std,
)
from likewise.errors import EncoderError
from likewise.types import Floats

_DEFAULT_SIZE = 224
_TEMPLATES = ("{}", "a photo of {}")  # of the texts for a word; their vectors are averaged


class ImageTextEncoder(TorchEncoder):
    """An encoder around the vision part of a model that also embeds texts: CLIP, SigLIP."""

    folder: Path

    @torch.inference_mode()
    def similarities(self, vectors: Floats, words: Sequence[str]) -> Floats:
        """Return the cosine similarity of images to words, ``(n, len(words))``.

        Parameters
        ----------
        vectors : array of shape (n, d)
            The block ``last`` of the images.
        words : sequence of str

        Raises
        ------
        EncoderError
            If the folder has no tokenizer, or the model has no common space of images and texts.
        """
        texts, project = _words(self.name, self.folder, tuple(words))
        images = project(torch.from_numpy(np.asarray(vectors, dtype=np.float32)))
        if images.shape[1] != texts.shape[1]:
            raise EncoderError(
                f"The model in {self.folder} must have vectors of images and of texts of one "
                f"width, got {images.shape[1]} and {texts.shape[1]}; use CLIP or SigLIP, or leave "
                "the words out."
            )
        found: Floats = (normalize(images, dim=1) @ texts.T).numpy()
        return found


@lru_cache(maxsize=8)
def _words(_: str, folder: Path, words: tuple[str, ...]) -> tuple[Tensor, nn.Module]:
    """Return the vectors of words, and the map of image vectors into their space.

    The first argument, the name of the encoder, distinguishes models that were in one folder.
    """
    model, _missing = _load_model(folder)
    project: nn.Module = getattr(model, "visual_projection", nn.Identity())
    return _text_vectors(model, folder, words), project


def _text_vectors(model: Any, folder: Path, words: Sequence[str]) -> Tensor:
    """Return the unit vector of each word, ``(len(words), d)``."""
    from transformers import AutoTokenizer

    if not has_tokenizer(folder):
        raise EncoderError(
            f"The model in {folder} cannot embed words without its tokenizer (tokenizer.json); "
            "copy the model again with all its files, or leave the words out."
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        inputs = tokenizer(
            [template.format(word) for word in words for template in _TEMPLATES],
            padding="max_length",  # as SigLIP was trained; CLIP masks what is added
            truncation=True,
            max_length=model.config.text_config.max_position_embeddings,
            return_token_type_ids=False,
            return_tensors="pt",
        )
        output = model.get_text_features(**inputs)
    except Exception as error:  # a foreign folder can raise nearly anything
        reason = str(error).strip().split("\n")[0]
        raise EncoderError(
            f"The model in {folder} cannot embed words ({reason}); use CLIP or SigLIP, or "
            "leave the words out."
        ) from error
    pooled: Tensor = normalize(getattr(output, "pooler_output", output), dim=1)
    return normalize(pooled.unflatten(0, (len(words), -1)).mean(dim=1), dim=1)


def hub_encoder(model: str, *, allow_download: bool = True) -> TorchEncoder:
    """Return an encoder around a model, by its ID on the hub or its folder.

    Block ``last`` is the pooled output; the others are mean and standard deviation, over all
    patches or positions, of the output of the layers at 1/4, 1/2 and 3/4 of the depth.

    Parameters
    ----------
    model : str
        ``facebook/dinov2-small``, ``openai/clip-vit-base-patch32``, ``./my-model``. Of a
        model for images and text only the vision part is used.
    allow_download : bool
        Whether a model that is not on this machine is downloaded.

    Raises
    ------
    EncoderError
        If the model is not available, is not a vision model, or does not return vectors.

    Notes
    -----
    Input size and normalisation are read from the model's preprocessor_config.json.
    Fidelity: the whole image is resized to a square; the models' own processors crop the
    center. What matters to a person may be at the edge.
    """
    folder = find_model(model, allow_download=allow_download)
    network = load_vision_model(folder)
    preprocessing = _preprocessing(folder, network)
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", Path(model).name if folder == Path(model) else model)
    digest = fingerprint(_fingerprinted_files(folder))
    name = f"hf-{slug.strip('-.')}-{preprocessing['size']}-{digest}"
    n_patches = _n_patches(network, preprocessing["size"])

    def forward(x: Tensor) -> Mapping[str, Tensor]:
        return _blocks(network(pixel_values=x, output_hidden_states=True), n_patches)

    kind = ImageTextEncoder if knows_text(folder) else TorchEncoder
    try:
        encoder = kind(name, network, forward, **preprocessing)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise EncoderError(
            f"The model {model} cannot be run on images of {preprocessing['size']} pixels "
            f"({error}); choose another model, or pass it as an nn.Module that returns vectors."
        ) from error
    if isinstance(encoder, ImageTextEncoder):
        encoder.folder = folder
    return encoder


def load_vision_model(folder: Path) -> nn.Module:
    """Return the network in a folder; of a model for images and text, the vision part.

    A model that was saved for another task has no weights for its pooling layer. That layer
    would be random, so it is removed, and patches are averaged instead.
    """
    model, missing = _load_model(folder)
    network: nn.Module = getattr(model, "vision_model", model)
    if getattr(network, "main_input_name", None) != "pixel_values":
        raise EncoderError(
            f"The model in {folder} must be a vision model, got {type(model).__name__}; "
            "choose one such as facebook/dinov2-small."
        )
    _handle_missing(network, folder, missing)
    return network.eval().requires_grad_(False)


def _load_model(folder: Path) -> tuple[Any, list[str]]:
    """Return the whole model in a folder, and the names of its missing weights."""
    from transformers import AutoModel
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # its report of missing weights is checked below
    logging.disable_progress_bar()
    try:
        model, report = AutoModel.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # a foreign folder can raise nearly anything
        reason = str(error).strip().split("\n")[0]
        raise EncoderError(
            f"The folder {folder} cannot be loaded as a model ({reason}); "
            "use one that `save_pretrained` wrote, or copy it again with all its files."
        ) from error
    finally:
        logging.set_verbosity(before[0])
        if before[1]:
            logging.enable_progress_bar()
    return model.eval(), sorted(report["missing_keys"])


def _handle_missing(network: nn.Module, folder: Path, missing: list[str]) -> None:
    """Remove a pooling layer without weights; raise if any other weights are missing."""
    needed = [key for key in missing if not key.startswith(("pooler.", "text_model."))]
    if needed:
        raise EncoderError(
            f"The model in {folder} has {len(needed)} missing weights ({needed[0]}, …); "
            "copy it again with all its files."
        )
    if any(key.startswith("pooler.") for key in missing):
        network.add_module("pooler", None)


def _blocks(output: Any, n_patches: int | None) -> dict[str, Tensor]:
    """Return the pooled output, and mean and standard deviation of three middle layers."""
    states: Sequence[Tensor] = output.hidden_states or ()
    pooled = getattr(output, "pooler_output", None)
    if pooled is None:
        pooled = _by_channel(output.last_hidden_state, n_patches).mean(2)
    blocks = {"last": pooled.flatten(1) if pooled.ndim == 4 else pooled}
    n_layers = len(states) - 1  # the first state is their input
    for layer in sorted({round(n_layers * share) for share in (0.25, 0.5, 0.75)} - {0, n_layers}):
        blocks[f"layer{layer}"] = mean_and_std(_by_channel(states[layer], n_patches))
    return blocks


def _by_channel(states: Tensor, n_patches: int | None) -> Tensor:
    """Return (b, c, positions) of a map (b, c, h, w), or of the patch tokens of (b, t, c)."""
    if states.ndim == 4:
        return states.flatten(2)
    patches = states if n_patches is None else states[:, -n_patches:]  # special tokens come first
    return patches.transpose(1, 2)


def _n_patches(network: nn.Module, size: int) -> int | None:
    patch = getattr(network.config, "patch_size", None)
    return (size // patch) ** 2 if isinstance(patch, int) else None


def _preprocessing(folder: Path, network: nn.Module) -> dict[str, Any]:
    """Return size, mean and standard deviation of the input, as the model was trained."""
    config = _preprocessor_config(folder)
    default = getattr(network.config, "image_size", None)
    wanted = config.get("crop_size" if config.get("do_center_crop") else "size")
    is_rescaled = config.get("do_rescale", True)
    scale = config.get("rescale_factor", 1 / 255) * 255 if is_rescaled else 255.0
    is_normal = config.get("do_normalize", True)
    mean = config.get("image_mean", IMAGENET_MEAN) if is_normal else (0.0, 0.0, 0.0)
    std = config.get("image_std", IMAGENET_STD) if is_normal else (1.0, 1.0, 1.0)
    return {
        "size": _side(wanted) or _side(default) or _DEFAULT_SIZE,
        "mean": [value / scale for value in mean],
        "std": [value / scale for value in std],
    }


def _preprocessor_config(folder: Path) -> dict[str, Any]:
    for file, key in (
        ("preprocessor_config.json", None),
        ("processor_config.json", "image_processor"),
    ):
        if (folder / file).is_file():
            config: dict[str, Any] = json.loads((folder / file).read_text(encoding="utf-8"))
            return config if key is None else config.get(key, {})
    return {}


def _side(size: Any) -> int | None:
    """Return the side length from any of the forms that transformers writes."""
    if isinstance(size, Mapping):
        size = size.get("height") or size.get("shortest_edge")
    if isinstance(size, Sequence):
        size = size[0]
    return int(size) if size else None


def _fingerprinted_files(folder: Path) -> Iterator[bytes]:
    """Yield the content of all files that determine the vectors."""
    configs = [folder / "config.json", folder / "preprocessor_config.json"]
    for path in [*(file for file in configs if file.is_file()), *weight_files(folder)]:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk
