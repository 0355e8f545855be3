"""Query strategies by name."""

import inspect
from collections.abc import Callable

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.queries.base import QueryStrategy, Random
from likewise.queries.density import RepresentativeDifficult, TypiClust
from likewise.queries.occ import Entropy, SimilarityChange, SqrtLoss
from likewise.queries.pcl import HardPairs, Joint, UncertainPairs
from likewise.queries.uncertainty import MarginDiversity, Uncertainty

STRATEGIES: dict[str, Callable[..., QueryStrategy]] = {
    "csd": SimilarityChange,
    "entropy": Entropy,
    "joint": Joint,
    "margin-diversity": MarginDiversity,
    "random": Random,
    "representative-difficult": RepresentativeDifficult,
    "s-hp": HardPairs,
    "s-up": UncertainPairs,
    "sqrt-loss": SqrtLoss,
    "typiclust": TypiClust,
    "uncertainty": Uncertainty,
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
    if key not in STRATEGIES:
        raise UnknownNameError("strategy", name.partition(":")[0], STRATEGIES)
    known = inspect.signature(STRATEGIES[key]).parameters
    for parameter in parameters:
        if parameter not in known:
            raise UnknownNameError(f"parameter of strategy {key!r}", parameter, known)
    return STRATEGIES[key](**parameters)


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
