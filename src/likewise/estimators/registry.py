"""Make or load a clustering method by its name; its module is imported when first used."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import InvalidParameterError, ModelFileError, UnknownNameError

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer

#: Name on the command line -> module and class.
METHODS: Mapping[str, str] = {
    "likewise": "likewise.estimators.kernel.likewise:Likewise",
    "cc": "likewise.estimators.deep.cc:CC",
    "dsac": "likewise.estimators.deep.dsac:DSAC",
    "occ": "likewise.estimators.deep.occ:OCC",
    "pcl": "likewise.estimators.deep.pcl:PCL",
    "kmeans": "likewise.estimators.kmeans:KMeans",
}
DEFAULT_METHOD = "likewise"
ENTRY_POINTS = "likewise.methods"  # each gives a mapping such as `METHODS`


@cache
def all_methods() -> Mapping[str, str]:
    """Return `METHODS` and those of installed packages, such as the baselines of likewise_bench."""
    found = dict(METHODS)
    for entry_point in entry_points(group=ENTRY_POINTS):
        found.update(entry_point.load())
    return found


def method_class(name: str) -> type["InteractiveClusterer"]:
    """Return the class of the method called `name`.

    Raises
    ------
    UnknownNameError
        If there is no such method; the nearest name is suggested.
    """
    if name not in all_methods():
        raise UnknownNameError("method", name, all_methods())
    module, cls = all_methods()[name].split(":")
    found: type[InteractiveClusterer] = getattr(import_module(module), cls)
    return found


def make_method(
    name: str,
    n_clusters: int,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = 0,
) -> "InteractiveClusterer":
    """Return an unfitted estimator by name.

    Parameters
    ----------
    name : str
        One of `all_methods`.
    n_clusters : int
    preset : str, optional
        One of the method's presets.
    settings : mapping of str to str or value, optional
        Constructor parameters, or fields of the training plan or the network configuration,
        in this order of precedence, on top of the preset. Strings are converted to the type
        of the value that they replace.
    seed : int, optional

    Examples
    --------
    >>> method = make_method("cc", 3, settings={"epochs_per_round": "5", "views": "one"})
    >>> method.plan.epochs_per_round, method.views
    (5, 'one')
    """
    from likewise.estimators.params import parse_settings

    cls = method_class(name)
    chosen = parse_settings(cls, preset, settings or {})
    return cls(**{**chosen, "n_clusters": n_clusters, "random_state": seed})


def load_method(path: str | Path, **parameters: Any) -> "InteractiveClusterer":
    """Return a saved model of any method; see `InteractiveClusterer.load`."""
    from likewise.estimators.persistence import read_folder

    _, saved = read_folder(Path(path))
    method = saved.get("method")
    if not isinstance(method, str):
        raise ModelFileError(
            f"{path} is damaged (method must be a name, got {method!r:.60}); save the model again, "
            "or ask for another copy."
        )
    for name, place in all_methods().items():
        if place.split(":")[1] == method:
            return method_class(name).load(path, **parameters)
    raise UnknownNameError(f"method ({path} was saved by it)", method, all_methods())


# -- input of a method: images, or vectors of an encoder ---------------------------


def from_scratch(model: "InteractiveClusterer") -> "InteractiveClusterer":
    """Have a method train its network on images, from scratch.

    The backbone is that of its parameters or preset, else a small one.

    Raises
    ------
    InvalidParameterError
        If the method works on vectors only.
    """
    from likewise.estimators.params import DEFAULT_BACKBONE

    parameters = model.get_params()
    if "backbone" not in parameters:
        raise InvalidParameterError(
            f"{type(model).__name__} works on vectors and cannot be trained on images; "
            "leave out --from-scratch, or choose another method."
        )
    if parameters["backbone"] is None:
        model.set_params(backbone=DEFAULT_BACKBONE)
    return model


def with_encoder(model: "InteractiveClusterer", encoder: str) -> "InteractiveClusterer":
    """Make a method use the vectors of `encoder` instead of the backbone of its preset.

    ``bundled`` may be another network in a later release; the model remembers which it is.
    """
    from likewise.embedding.registry import DEFAULT_ENCODER, make_encoder

    name = make_encoder(encoder).name if encoder == DEFAULT_ENCODER else encoder
    changes: dict[str, str | None] = {"encoder": name}
    if "backbone" in model.get_params():
        changes["backbone"] = None
    model.set_params(**changes)
    return model
