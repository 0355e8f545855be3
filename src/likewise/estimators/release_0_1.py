"""Convert models and checkpoints written by release 0.1 to the current format and names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import ModelFileError
from likewise.estimators.params import RENAMED_FIELDS, renamed_parameters

Arrays = Mapping[str, npt.NDArray[Any]]
_RESULTS = ("labels", "probabilities", "embeddings", "columns")
_NUMBERS = {"_seed": "seed_", "_round": "round_"}
_COUNTERS = {"n_asked": "n_asked_", "n_heard": "n_answered_", "budget": "budget_"}
_LEARNER_NUMBERS = {"_epoch": "epoch", "_epochs_due": "epochs_left"}
_QUESTIONER_ARRAYS = {"remembered": "rows", "previous": "previous"}
#: Constructor parameters of `Likewise` in release 0.1; None: removed, its value is ignored.
RENAMED_LIKEWISE_PARAMETERS: Mapping[str, str | None] = {
    "n_cover": "n_coverage_questions",
    "cover_learned": "learned_coverage",
    "self_training": "pseudo_label_fraction",
    "targeted": "within_class_whitening",
    "width": "n_components",
    "n_words": "n_visual_words",
    "parity": "two_groups",
    "plan": None,
    "preset": None,
}
_LIKEWISE_ARRAYS = {
    "centres": "initial_clusters.centroids",
    "expectations": "predicted_correctly",
    "beliefs": "predictions",
    "experience.said": "temperature.probabilities",
    "experience.left": "temperature.allowed",
    "doubts.images": "label_issues.images",
    "doubts.chances": "label_issues.errors",
    "doubts.foretold": "label_issues.raw_errors",
    "doubts.confirmed": "label_issues.confirmed",
    "doubts.against": "label_issues.contradictions",
    "facets.weights": "first_stage.weights",
    "facets.numbers": "first_stage.hyperparameters",
    "facets.scale": "first_stage.scale",
    "aim.centre": "whitening.mean",
    "aim.axes": "whitening.axes",
    "kernel.numbers": "gp.hyperparameters",
    "kernel.known.targeted": "gp.known.whitened",
}
# Old prefix -> new prefix, and the endings that changed below it.
_LIKEWISE_PREFIXES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "space.": ("features.", {".witnesses": ".references"}),
    "words.": ("visual_words.", {".words": ".codebook", ".usual": ".mean_distance"}),
    "kernel.": ("gp.", {}),
}


def upgrade(
    arrays: Arrays, description: dict[str, Any]
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return arrays and description of a folder of format 1 as format 2 has them.

    Arrays of a method go to its learner and its questioner under their old names;
    each takes those that it knows.
    """
    numbers, asker = dict(description.pop("counters")), description.pop("asker")
    found = {f"{name}_": arrays[name] for name in _RESULTS}
    for part in ("learner", "questioner"):
        found |= {f"{part}/{name}": a for name, a in arrays.items() if name not in _RESULTS}
    for old, new in _QUESTIONER_ARRAYS.items():
        if old in arrays:
            found[f"questioner/{new}"] = arrays[old]
    is_mid_round = numbers.get("_epochs_due", 0) > 0 and "lesson.targets" in arrays
    found["learner/round"] = np.array(numbers["_round"] + is_mid_round)
    for old, new in _LEARNER_NUMBERS.items():
        found[f"learner/{new}"] = np.array(numbers.pop(old, 0))
    if "bank" in arrays and description["method"] == "PCL":  # now a buffer of the network
        found["learner/network:bank"] = found.pop("learner/bank")
    found["questioner/n_calls"] = np.array(asker["n_calls"])
    numbers = {_NUMBERS.get(name, name): value for name, value in numbers.items()}
    numbers |= {new: asker[old] for old, new in _COUNTERS.items()}
    description["numbers"] = numbers
    description["pseudo_links"] = description.pop("guesses", [])
    parameters = description["parameters"]
    description["method"] = upgrade_method(description["method"], parameters)
    plan = parameters.get("plan")
    if plan is not None and plan.get("sampler") == "fixed":  # of the public PCL code only
        plan["sampler"], parameters["fixed_batches"] = "uniform", True
    return found, description


def upgrade_method(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the class of a model: the public PCL code's defects have a class of their own."""
    is_public_code = method == "PCL" and (
        parameters.get("preset") == "authors"
        or parameters.get("weights") == "authors"
        or parameters.get("companions")
        or parameters.get("frozen_after") is not None
        or (parameters.get("plan") or {}).get("sampler") == "fixed"
    )
    return "PCLAuthors" if is_public_code else method


def upgrade_parameters(cls: type, saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved parameters under their current names."""
    names = renamed_parameters(cls)
    found = {}
    for name, value in saved.items():
        present = names.get(name, name)
        if present is None:
            continue
        is_dataclass = isinstance(value, dict)  # a training plan or a network configuration
        found[present] = _upgrade_fields(value) if is_dataclass else value
    return found


def _upgrade_fields(saved: Mapping[str, Any]) -> dict[str, Any]:
    return {RENAMED_FIELDS.get(field, field): value for field, value in saved.items()}


def upgrade_likewise_state(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of a saved model under current names; other states are unchanged.

    Raises
    ------
    ModelFileError
        If the model was saved before release 0.1, by another classifier.
    """
    if "kernel.weights" in state and "aim.axes" not in state:
        raise ModelFileError(
            "This model was saved by a version before release 0.1, whose classifier differs; "
            "train it again from its images and answers."
        )
    if "beliefs" not in state:
        return state
    return {_present_name(name): array for name, array in state.items()}


def _present_name(name: str) -> str:
    if name in _LIKEWISE_ARRAYS:
        return _LIKEWISE_ARRAYS[name]
    for old_prefix, (new_prefix, endings) in _LIKEWISE_PREFIXES.items():
        if name.startswith(old_prefix):
            block, dot, ending = name.removeprefix(old_prefix).rpartition(".")
            # Release 0.1 called the feature block of the patch grid "parts" "own parts".
            grid = block.removeprefix("own ")
            renamed = block if grid == block else f"visual words of {grid}"
            return f"{new_prefix}{renamed}{endings.get(dot + ending, dot + ending)}"
    return name
