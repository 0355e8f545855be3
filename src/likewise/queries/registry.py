"""Make a query strategy from its name; the table `STRATEGIES` names them all.

To add one: a class with `score` (see `QueryStrategy`), an entry here, and a line in
``tests/queries/test_contract.py``.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.plugins import STRATEGIES as PLUGINS
from likewise.plugins import load_plugin, plugin_names
from likewise.queries.base import QueryStrategy

#: Name -> module in `likewise.queries` and class, imported when first used.
STRATEGIES: Mapping[str, str] = {
    "csd": "occ:SimilarityChange",
    "entropy": "occ:Entropy",
    "joint": "pcl:Joint",
    "joint-connected": "pcl:ConnectedJoint",
    "margin-diversity": "uncertainty:MarginDiversity",
    "random": "base:Random",
    "representative-difficult": "density:RepresentativeDifficult",
    "s-hp": "pcl:HardPairs",
    "s-up": "pcl:UncertainPairs",
    "sqrt-loss": "occ:SqrtLoss",
    "typiclust": "density:TypiClust",
    "uncertainty": "uncertainty:Uncertainty",
}


def make_strategy(name: str, **parameters: object) -> QueryStrategy:
    """Return the strategy called `name`; ``_`` and ``-`` are equivalent in a name.

    Numeric parameters may follow the name after a colon.

    Examples
    --------
    >>> make_strategy("joint", hard="eq7")
    Joint(epsilon=0.2, hard='eq7')
    >>> make_strategy("joint:epsilon=0.4")
    Joint(epsilon=0.4, hard='bernoulli')
    """
    key, assignments = strategy_name(name), name.partition(":")[2]
    parameters = {**_parse_numbers(key, assignments), **parameters}
    if key not in STRATEGIES and key not in plugin_names(PLUGINS):
        known = [*STRATEGIES, *plugin_names(PLUGINS)]
        raise UnknownNameError("strategy", name.partition(":")[0], known)
    strategy = strategy_class(key)
    accepted = inspect.signature(strategy).parameters
    for parameter in parameters:
        if parameter not in accepted:
            raise UnknownNameError(f"parameter of strategy {key!r}", parameter, accepted)
    return strategy(**parameters)


def strategy_class(key: str) -> Callable[..., QueryStrategy]:
    """Return the class of a key of `STRATEGIES`, or of a strategy of another package."""
    found: Callable[..., QueryStrategy]
    if key not in STRATEGIES:
        found = load_plugin(PLUGINS, key)
        return found
    module, name = STRATEGIES[key].split(":")
    found = getattr(import_module(f"likewise.queries.{module}"), name)
    return found


def strategy_name(text: str) -> str:
    """Return the name in `text`, without its parameters, as a key of `STRATEGIES`."""
    return text.partition(":")[0].replace("_", "-")


def _parse_numbers(name: str, assignments: str) -> dict[str, float]:
    numbers = {}
    for text in assignments.split(",") if assignments else ():
        parameter, _, number = text.partition("=")
        try:
            numbers[parameter] = float(number)
        except ValueError as error:
            raise InvalidParameterError(
                f"Parameter {parameter!r} in strategy={name}:{assignments} must be a number; "
                f"write {name}:NAME=NUMBER."
            ) from error
    return numbers
