"""Names that release 0.1 gave to parameters and saved arrays of `Likewise`."""

from collections.abc import Mapping
from typing import Any

from likewise.errors import ModelFileError
from likewise.estimators.kernel.visual_words import block_name

#: Constructor parameters of release 0.1; None: removed, its value is ignored.
RENAMED_PARAMETERS: Mapping[str, str | None] = {
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
_ARRAYS = {
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
_PREFIXES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "space.": ("features.", {".witnesses": ".references"}),
    "words.": ("visual_words.", {".words": ".codebook", ".usual": ".mean_distance"}),
    "kernel.": ("gp.", {}),
}


def upgrade_state(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of a saved model by present names; other states are returned unchanged.

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
    if name in _ARRAYS:
        return _ARRAYS[name]
    for old_prefix, (new_prefix, endings) in _PREFIXES.items():
        if name.startswith(old_prefix):
            block, dot, ending = name.removeprefix(old_prefix).rpartition(".")
            # Release 0.1 called the feature block of the patch grid "parts" "own parts".
            grid = block.removeprefix("own ")
            renamed = block if grid == block else block_name(grid)
            return f"{new_prefix}{renamed}{endings.get(dot + ending, dot + ending)}"
    return name
