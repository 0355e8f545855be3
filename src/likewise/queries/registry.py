"""Strategies by name."""

import inspect
from collections.abc import Callable

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.queries.at_random import Random
from likewise.queries.csd import SimilarityChange
from likewise.queries.entropy import Entropy
from likewise.queries.joint import Joint
from likewise.queries.joint_authors import JointAuthors
from likewise.queries.margin_diversity import MarginDiversity
from likewise.queries.pool import QueryStrategy
from likewise.queries.representative_difficult import RepresentativeDifficult
from likewise.queries.s_hp import HardPairs
from likewise.queries.s_up import UncertainPairs
from likewise.queries.sqrt_loss import SqrtLoss
from likewise.queries.typiclust import Typical
from likewise.queries.uncertainty import Uncertainty

STRATEGIES: dict[str, Callable[..., QueryStrategy]] = {
    "csd": SimilarityChange,
    "entropy": Entropy,
    "joint": Joint,
    "joint-authors": JointAuthors,
    "margin-diversity": MarginDiversity,
    "random": Random,
    "representative-difficult": RepresentativeDifficult,
    "s-hp": HardPairs,
    "s-up": UncertainPairs,
    "sqrt-loss": SqrtLoss,
    "typiclust": Typical,
    "uncertainty": Uncertainty,
}


def make_strategy(name: str, **parameters: object) -> QueryStrategy:
    """Return the strategy called `name`; ``_`` and ``-`` are the same in a name.

    Numbers may stand in the name, after a colon.

    Examples
    --------
    >>> make_strategy("joint", hard="eq7")
    Joint(epsilon=0.2, hard='eq7')
    >>> make_strategy("joint:epsilon=0.4")
    Joint(epsilon=0.4, hard='bernoulli')
    """
    key, chosen = strategy_name(name), name.partition(":")[2]
    parameters = {**_numbers(key, chosen), **parameters}
    if key not in STRATEGIES:
        raise UnknownNameError("strategy", name.partition(":")[0], STRATEGIES)
    known = inspect.signature(STRATEGIES[key]).parameters
    for parameter in parameters:
        if parameter not in known:
            raise UnknownNameError(f"parameter of strategy {key!r}", parameter, known)
    return STRATEGIES[key](**parameters)


def strategy_name(text: str) -> str:
    """Return the name in `text`, without its numbers, as `STRATEGIES` has it."""
    return text.partition(":")[0].replace("_", "-")


def _numbers(name: str, chosen: str) -> dict[str, float]:
    found = {}
    for text in chosen.split(",") if chosen else ():
        parameter, _, number = text.partition("=")
        try:
            found[parameter] = float(number)
        except ValueError as error:
            raise InvalidParameterError(
                f"strategy={name}:{chosen} gives {parameter!r} no number; write it as "
                f"{name}:NAME=NUMBER."
            ) from error
    return found
