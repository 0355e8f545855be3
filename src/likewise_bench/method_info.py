"""Questions and presets of each method, without importing it.

``python -m likewise_bench.method_info`` writes `method_info.json` from the classes; a test
fails if the file is out of date. A method that is not in the file is imported.
"""

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypedDict

from likewise.estimators.registry import all_methods, method_class

_FILE = "method_info.json"


class MethodInfo(TypedDict):
    """Kinds of questions a method asks, its presets, and whether its strategy can be chosen."""

    asks: list[str]
    presets: list[str]
    strategy: bool


def method_info(method: str) -> MethodInfo:
    """Return the entry of a method from the file, or from its class if the file has none.

    Examples
    --------
    >>> method_info("kmeans")["asks"], method_info("dsac")["asks"]
    ([], ['label'])
    """
    return _read()[method] if method in _read() else info_of_class(method)


def info_of_class(method: str) -> MethodInfo:
    """Return the entry of a method, from its class."""
    from likewise.estimators.params import defaults

    cls = method_class(method)
    return {
        "asks": list(cls.asks),
        "presets": sorted(cls.presets),
        "strategy": "strategy" in defaults(cls),
    }


@cache
def _read() -> dict[str, MethodInfo]:
    text = resources.files("likewise_bench").joinpath(_FILE).read_text("utf-8")
    entries: dict[str, MethodInfo] = json.loads(text)
    return entries


def write() -> None:
    """Write the file from the classes."""
    lines = [f"{json.dumps(name)}: {json.dumps(info_of_class(name))}" for name in all_methods()]
    Path(__file__).with_name(_FILE).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
