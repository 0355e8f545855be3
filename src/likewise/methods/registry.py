"""Every method by its name; a method is imported when it is first asked for."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UnknownNameError

if TYPE_CHECKING:
    from likewise.methods.base import PersonalClusterer

#: Name on the command line -> where its class is; after a change run
#: ``python -m likewise_bench.method_info``, from which `bench list` knows them unimported.
METHODS: Mapping[str, str] = {
    "likewise": "likewise.estimators.kernel.likewise:Likewise",
    "cc": "likewise.methods.cc:CC",
    "dsac": "likewise.methods.dsac:DSAC",
    "occ": "likewise.methods.occ:OCC",
    "pcl": "likewise.methods.pcl:PCL",
    "kmeans": "likewise.methods.kmeans:KMeans",
    "cobra": "likewise.methods.rivals.cobra:Cobra",
    "cop-kmeans": "likewise.methods.rivals.cop_kmeans:CopKMeans",
    "pckmeans": "likewise.methods.rivals.pckmeans:PCKMeans",
    "sc": "likewise.methods.rivals.sc:SC",
    "ac": "likewise.methods.rivals.ac:AC",
    "nmf": "likewise.methods.rivals.nmf:NMF",
    "ae": "likewise.methods.rivals.ae:AE",
    "dec": "likewise.methods.rivals.dec:DEC",
    "idec": "likewise.methods.rivals.idec:IDEC",
    "sdec": "likewise.methods.rivals.sdec:SDEC",
    "dcc": "likewise.methods.rivals.dcc:DCC",
    "vae": "likewise.methods.rivals.vae:VAE",
    "adc": "likewise.methods.rivals.adc:ADC",
    "dc-gmm": "likewise.methods.rivals.dc_gmm:DCGMM",
    "idc": "likewise.methods.rivals.idc:IDC",
    "pica": "likewise.methods.rivals.pica:PICA",
    "idfd": "likewise.methods.rivals.idfd:IDFD",
    "gcc": "likewise.methods.rivals.gcc:GCC",
    "mice": "likewise.methods.rivals.mice:MiCE",
    "spice": "likewise.methods.rivals.spice:SPICE",
    "tod": "likewise.methods.rivals.tod:TOD",
    "autoembedder": "likewise.methods.rivals.autoembedder:AutoEmbedder",
    "spherepair": "likewise.methods.rivals.spherepair:SpherePair",
}
DEFAULT = "likewise" if "likewise" in METHODS else "cc"
#: Every name that is promised, built or not.
PROMISED = (
    *("likewise", "cc", "occ", "pcl", "dsac", "kmeans"),
    *("pica", "idfd", "gcc", "mice", "spice", "dec", "idec", "sdec", "dcc", "adc", "dc-gmm"),
    *("cobra", "cop-kmeans", "pckmeans", "idc", "autoembedder", "spherepair"),
    *("sc", "ac", "nmf", "ae", "vae", "tod"),
)


def method_class(name: str) -> type["PersonalClusterer"]:
    """Return the class of the method called `name`.

    Raises
    ------
    UnknownNameError
        If there is no such method; the nearest name is suggested.
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    module, cls = METHODS[name].split(":")
    found: type[PersonalClusterer] = getattr(import_module(module), cls)
    return found


def make_method(
    name: str,
    n_clusters: int,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = 0,
) -> "PersonalClusterer":
    """Return an estimator by name, its parameters set by words.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    n_clusters : int
    preset : str, optional
        One of the method's presets.
    settings : mapping of str to str or value, optional
        Constructor parameters, entries of its plan, or of its architecture, in this order
        of precedence, on top of the preset. Strings are read by the type of the value
        they replace.
    seed : int, optional

    Examples
    --------
    >>> method = make_method("cc", 3, settings={"epochs_per_round": "5", "views": "one"})
    >>> method.plan.epochs_per_round, method.views
    (5, 'one')
    """
    from likewise.methods.parameters import parameters

    cls = method_class(name)
    chosen = parameters(cls, preset, settings or {})
    return cls(**{**chosen, "n_clusters": n_clusters, "random_state": seed})


def load_method(path: str | Path) -> "PersonalClusterer":
    """Return a saved model, of whatever method it is."""
    from likewise.nn.checkpoint_io import read_folder

    _, facts = read_folder(Path(path))
    for name, place in METHODS.items():
        if place.split(":")[1] == facts["method"]:
            return method_class(name).load(path)
    raise UnknownNameError(f"method ({path} was saved by it)", str(facts["method"]), METHODS)
