"""Any vision model of Hugging Face as an encoder: DINOv2, CLIP, SigLIP, ConvNeXt and others."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from likewise.encoders.hub import find_model, weight_files
from likewise.encoders.pooling import mean_and_spread
from likewise.encoders.torch_encoder import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    TorchEncoder,
    fingerprint,
)
from likewise.errors import EncoderError

_DEFAULT_SIZE = 224


def hub_encoder(model: str) -> TorchEncoder:
    """Return an encoder around a model, by its id on the hub or its folder.

    Facet ``last`` is the pooled output; the others are mean and spread, over all patches
    or places, of what goes out of a quarter, a half and three quarters of the layers.

    Parameters
    ----------
    model : str
        ``facebook/dinov2-small``, ``openai/clip-vit-base-patch32``, ``./my-model``. Of a
        model for pictures and texts only the part for pictures is used.

    Raises
    ------
    EncoderError
        If the model cannot be had, is not one for pictures, or gives no vectors.

    Notes
    -----
    Size and scale of the input are read from the model's preprocessor_config.json.
    Fidelity: pictures are resized to that square whole; the models' own processors cut
    the middle out of it. What matters to a person may stand at the edge.
    """
    folder = find_model(model)
    network = load_vision_model(folder)
    sight = _sight(folder, network)
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", Path(model).name if folder == Path(model) else model)
    name = f"hf-{slug.strip('-.')}-{sight['size']}-{fingerprint(_files(folder))}"
    n_patches = _n_patches(network, sight["size"])

    def forward(x: Tensor) -> Mapping[str, Tensor]:
        return _facets(network(pixel_values=x, output_hidden_states=True), n_patches)

    try:
        return TorchEncoder(name, network, forward, **sight)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise EncoderError(
            f"The model {model} cannot be run on pictures of {sight['size']} pixels ({error}); "
            "choose another model, or pass it as an nn.Module that gives vectors."
        ) from error


def load_vision_model(folder: Path) -> nn.Module:
    """Return the network in a folder; of one for pictures and texts, the part for pictures.

    A model that was saved for another task comes without the layer that pools; that layer
    would be random, so it is taken out, and patches are averaged instead.
    """
    from transformers import AutoModel
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # its report of missing weights is judged below
    logging.disable_progress_bar()
    try:
        model, report = AutoModel.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # whatever a foreign folder makes the library stumble over
        reason = str(error).strip().split("\n")[0]
        raise EncoderError(
            f"The folder {folder} cannot be loaded as a model ({reason}); "
            "give one that `save_pretrained` wrote, or copy it again with all its files."
        ) from error
    finally:
        logging.set_verbosity(before[0])
        if before[1]:
            logging.enable_progress_bar()
    network: nn.Module = getattr(model, "vision_model", model)
    if getattr(network, "main_input_name", None) != "pixel_values":
        raise EncoderError(
            f"The model in {folder} ({type(model).__name__}) does not look at pictures; "
            "choose a vision model such as facebook/dinov2-small."
        )
    _settle_missing(network, folder, sorted(report["missing_keys"]))
    return network.eval().requires_grad_(False)


def _settle_missing(network: nn.Module, folder: Path, missing: list[str]) -> None:
    """Take out a pooling layer without weights; refuse anything else without."""
    needed = [key for key in missing if not key.startswith(("pooler.", "text_model."))]
    if needed:
        raise EncoderError(
            f"The model in {folder} lacks {len(needed)} of its weights ({needed[0]}, …); "
            "copy it again with all its files."
        )
    if any(key.startswith("pooler.") for key in missing):
        network.add_module("pooler", None)


def _facets(output: Any, n_patches: int | None) -> dict[str, Tensor]:
    """Return the pooled output, and mean and spread of three middle layers."""
    states: Sequence[Tensor] = output.hidden_states or ()
    pooled = getattr(output, "pooler_output", None)
    if pooled is None:
        pooled = _by_channel(output.last_hidden_state, n_patches).mean(2)
    facets = {"last": pooled.flatten(1) if pooled.ndim == 4 else pooled}
    n_layers = len(states) - 1  # the first is what goes into them
    for layer in sorted({round(n_layers * share) for share in (0.25, 0.5, 0.75)} - {0, n_layers}):
        facets[f"layer{layer}"] = mean_and_spread(_by_channel(states[layer], n_patches))
    return facets


def _by_channel(states: Tensor, n_patches: int | None) -> Tensor:
    """Return (b, c, places) of a map (b, c, h, w) or of tokens (b, t, c), special ones left out."""
    if states.ndim == 4:
        return states.flatten(2)
    patches = states if n_patches is None else states[:, -n_patches:]  # class token comes first
    return patches.transpose(1, 2)


def _n_patches(network: nn.Module, size: int) -> int | None:
    patch = getattr(network.config, "patch_size", None)
    return (size // patch) ** 2 if isinstance(patch, int) else None


def _sight(folder: Path, network: nn.Module) -> dict[str, Any]:
    """Return size, mean and standard deviation of the input, as the model was trained."""
    facts = _preprocessor(folder)
    known = getattr(network.config, "image_size", None)
    wanted = facts.get("crop_size" if facts.get("do_center_crop") else "size")
    scale = facts.get("rescale_factor", 1 / 255) * 255 if facts.get("do_rescale", True) else 255.0
    is_normal = facts.get("do_normalize", True)
    mean = facts.get("image_mean", IMAGENET_MEAN) if is_normal else (0.0, 0.0, 0.0)
    std = facts.get("image_std", IMAGENET_STD) if is_normal else (1.0, 1.0, 1.0)
    return {
        "size": _side(wanted) or _side(known) or _DEFAULT_SIZE,
        "mean": [value / scale for value in mean],
        "std": [value / scale for value in std],
    }


def _preprocessor(folder: Path) -> dict[str, Any]:
    for file, key in (
        ("preprocessor_config.json", None),
        ("processor_config.json", "image_processor"),
    ):
        if (folder / file).is_file():
            facts: dict[str, Any] = json.loads((folder / file).read_text(encoding="utf-8"))
            return facts if key is None else facts.get(key, {})
    return {}


def _side(size: Any) -> int | None:
    """Return the side of a square from the several ways it is written."""
    if isinstance(size, Mapping):
        size = size.get("height") or size.get("shortest_edge")
    if isinstance(size, Sequence):
        size = size[0]
    return int(size) if size else None


def _files(folder: Path) -> Iterator[bytes]:
    """Yield all that decides what the vectors will be."""
    facts = [folder / "config.json", folder / "preprocessor_config.json"]
    for path in [*(file for file in facts if file.is_file()), *weight_files(folder)]:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk
