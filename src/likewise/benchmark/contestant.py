"""The method of a run, with its parameters; what it was in the end, for the row."""

from dataclasses import asdict
from typing import Any

from likewise.benchmark.protocol import Run
from likewise.encoders.registry import DEFAULT
from likewise.errors import InvalidParameterError
from likewise.methods.architecture import Architecture
from likewise.methods.base import PersonalClusterer
from likewise.methods.footing import on_pictures, on_vectors
from likewise.methods.plan import Plan
from likewise.methods.registry import make_method, method_class
from likewise.methods.settings import defaults, resolve

_PARTS = {"plan": Plan, "architecture": Architecture}
_ELSEWHERE = ("n_clusters", "random_state", "preset", "encoder", "strategy")


def make_contestant(run: Run, n_clusters: int) -> PersonalClusterer:
    """Return the method of a run, untrained.

    Raises
    ------
    InvalidParameterError
        If the run wants of the method what it does not have.
    """
    settings = {**run.settings, **_questions(run, method_class(run.method))}
    if "backbone" in settings and not run.from_scratch:
        raise InvalidParameterError(
            f"backbone={settings['backbone']} is trained on pictures; add --from-scratch."
        )
    model = make_method(run.method, n_clusters, preset=run.preset, settings=settings, seed=run.seed)
    return on_pictures(model) if run.from_scratch else on_vectors(model, run.encoder or DEFAULT)


def _questions(run: Run, cls: type[PersonalClusterer]) -> dict[str, Any]:
    """Return the parameters that say how a method asks, or say that it cannot ask so."""
    own, chosen = defaults(cls), {}
    if run.strategy is not None:
        if "strategy" not in own:
            raise InvalidParameterError(
                f"The method {run.method!r} has no strategy to choose, so "
                f"strategy={run.strategy!r} would not be used; leave it out."
            )
        chosen["strategy"] = run.strategy
    if run.kinds is not None:
        if "kinds" in own:
            return {**chosen, "kinds": run.kinds}
        if not set(cls.asks) <= set(run.kinds):
            raise InvalidParameterError(
                f"The method {run.method!r} asks questions of the kind {', '.join(cls.asks)}; "
                f"kinds={','.join(run.kinds)} does not allow that: leave kinds out, or add what is "
                "missing."
            )
    return chosen


def describe(run: Run, model: PersonalClusterer) -> dict[str, Any]:
    """Return the fields of a row that say what took part.

    `settings` holds every parameter in force, under the names that ``--set`` takes, and
    what else was chosen about the run, so that it can always be made again.
    """
    chosen = vars(resolve(model))
    settings: dict[str, Any] = {}
    for name, value in chosen.items():
        if name in _PARTS:
            usual = getattr(model, f"default_{name}", None) or _PARTS[name]()
            settings.update(asdict(value or usual))
        elif name not in _ELSEWHERE:
            settings[name] = value if _is_plain(value) else type(value).__name__
    for name in ("split", "test_fraction", "kinds", "noise", "unsure", "from_scratch"):
        settings.setdefault(name, getattr(run, name))
    strategy = chosen.get("strategy")
    return {
        "method": run.method,
        "strategy": strategy if _is_plain(strategy) else type(strategy).__name__,
        "preset": run.preset,
        "settings": settings,
    }


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, tuple, list))
