"""What each method asks and which presets it has, known without importing it.

``python -m likewise_bench.method_info`` writes `catalogue.json` anew from the classes; a
test says when that is due. A method that is not in it is imported and looked at.
"""

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypedDict

from likewise.methods.registry import METHODS, method_class

_FILE = "method_info.json"


class MethodInfo(TypedDict):
    """Kinds of questions a method asks, its presets, and whether its strategy can be chosen."""

    asks: list[str]
    presets: list[str]
    strategy: bool


def method_info(method: str) -> MethodInfo:
    """Return the entry of a method.

    Examples
    --------
    >>> method_info("kmeans")["asks"], method_info("dsac")["asks"]
    ([], ['label'])
    """
    return _kept()[method] if method in _kept() else look(method)


def look(method: str) -> MethodInfo:
    """Return the entry computed from the class of a method."""
    from likewise.methods.settings import defaults

    cls = method_class(method)
    return {
        "asks": list(cls.asks),
        "presets": sorted(cls.presets),
        "strategy": "strategy" in defaults(cls),
    }


@cache
def _kept() -> dict[str, MethodInfo]:
    text = resources.files("likewise_bench").joinpath(_FILE).read_text("utf-8")
    kept: dict[str, MethodInfo] = json.loads(text)
    return kept


def write() -> None:
    """Write the file anew from the classes."""
    lines = [f"{json.dumps(name)}: {json.dumps(look(name))}" for name in METHODS]
    Path(__file__).with_name(_FILE).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
