"""Find the files of a Hugging Face model, downloading them if needed. Imports no torch."""

import json
import os
import warnings
from fnmatch import fnmatch
from pathlib import Path

from likewise.errors import EncoderError, LikewiseWarning

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # in order of preference
_CONFIGS = ("config.json", "preprocessor_config.json", "processor_config.json")
# Of models that know text.
_TOKENIZER = ("tokenizer*.json", "special_tokens_map.json", "vocab.*", "merges.txt", "*.model")
_TIMEOUT = 10.0  # seconds
OFFLINE = "LIKEWISE_OFFLINE"  #: environment variable; if set, nothing is downloaded


def find_model(name: str, *, allow_download: bool = True) -> Path:
    """Return the folder with the files of a model.

    Parameters
    ----------
    name : str
        A folder, or an ID on the hub such as ``facebook/dinov2-small``. A downloaded model is
        used again without a request to the hub.
    allow_download : bool
        Whether to download a model that is not on this machine.

    Raises
    ------
    EncoderError
        If there is no such folder or model, or the hub cannot be reached.
    """
    if not name.strip():
        raise EncoderError(
            "The ID of the model is missing; write it after hf:, such as "
            "hf:facebook/dinov2-small, or use a folder with a model, such as ./my-model."
        )
    folder = Path(name).expanduser()
    if folder.is_dir():
        return checked_folder(folder)
    if folder.exists():
        raise EncoderError(
            f"{name} must be a folder with a model, but is a file; "
            "use a folder that `save_pretrained` wrote."
        )
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise EncoderError(
            f"The folder {name} does not exist; use a folder with a model, "
            "or an ID on the Hugging Face hub such as facebook/dinov2-small."
        )
    if (downloaded := _downloaded(name)) is not None:
        return downloaded
    if os.environ.get(OFFLINE):
        raise EncoderError(
            f"The encoder hf:{name} is not on this machine, and downloads are turned off "
            f"(--offline, or {OFFLINE}); use a folder with the model, or the encoder 'bundled'."
        )
    if not allow_download:
        raise EncoderError(
            f"The encoder hf:{name} is named in a file and is not on this machine; it is not "
            f"downloaded unless you name it yourself, for example with encoder='hf:{name}'."
        )
    return _download(name)


def checked_folder(folder: Path) -> Path:
    """Return `folder` if it contains a model."""
    if not (folder / "config.json").is_file():
        raise EncoderError(
            f"The folder {folder} is not a model: it has no config.json; "
            "use a folder that `save_pretrained` wrote."
        )
    if not weight_files(folder):
        raise EncoderError(
            f"The folder {folder} has no weights ({' or '.join(_WEIGHTS)}); "
            "copy the model again, with all its files."
        )
    return folder


def weight_files(folder: Path) -> list[Path]:
    """Return the files with the weights in order; safetensors files are preferred."""
    return next((files for kind in _WEIGHTS if (files := sorted(folder.glob(kind)))), [])


def knows_text(folder: Path) -> bool:
    """Return whether the model in a folder is one for images and text, such as CLIP."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and {"text_config", "vision_config"} <= config.keys()


def has_tokenizer(folder: Path) -> bool:
    """Return whether a folder has a vocabulary; transformers would do without one."""
    return any(any(folder.glob(kind)) for kind in ("tokenizer.json", "vocab.*", "*.model"))


def _downloaded(name: str) -> Path | None:
    """Return the copy in the hub's cache, if it is complete."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError as error:
        raise EncoderError(
            f"{name!r} is not a valid model ID; IDs look like facebook/dinov2-small, "
            "folders start with ./ or /."
        ) from error
    if not isinstance(config, str) or not weight_files(Path(config).parent):
        return None
    return Path(config).parent


def _download(name: str) -> Path:
    """Download the model to the hub's cache and return its folder."""
    from huggingface_hub import snapshot_download

    sizes = _listing(name)
    files = list(sizes)
    tokenizer = [file for file in files if any(fnmatch(file, kind) for kind in _TOKENIZER)]
    wanted = [*_CONFIGS, *tokenizer, *_wanted_weights(name, files)]
    n_bytes = sum(sizes.get(file) or 0 for file in wanted)
    how_much = f" ({n_bytes / 1e6:,.0f} MB)" if n_bytes else ""
    warnings.warn(
        f"Downloading the model {name}{how_much} from the Hugging Face hub to its cache.",
        LikewiseWarning,
        stacklevel=2,
    )
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:  # transport errors differ between versions of the client
        raise _unreachable(name, error) from error


def _listing(name: str) -> dict[str, int | None]:
    """Return the files of a model on the hub, with their sizes in bytes."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        info = HfApi().model_info(name, timeout=_TIMEOUT, files_metadata=True)
    except GatedRepoError as error:
        raise EncoderError(
            f"The model {name} is gated: accept its terms on its page on the hub and log in "
            "with `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise EncoderError(
            f"There is no public model {name!r} on the Hugging Face hub; check the spelling, "
            "or log in with `hf auth login` if it is private."
        ) from error
    except Exception as error:
        raise _unreachable(name, error) from error
    return {file.rfilename: file.size for file in info.siblings or []}


def _wanted_weights(name: str, files: list[str]) -> list[str]:
    for kind in _WEIGHTS:
        if found := [file for file in files if fnmatch(file, kind) and "/" not in file]:
            return found
    raise EncoderError(
        f"The model {name} on the hub has no weights in a supported format "
        f"({' or '.join(_WEIGHTS)}); choose another model."
    )


def _unreachable(name: str, error: Exception) -> EncoderError:
    return EncoderError(
        f"The model {name} is not on this machine and the Hugging Face hub cannot be reached "
        f"({error}); connect to the internet, use a folder with the model, or use the encoder "
        "'bundled', which needs no download."
    )
