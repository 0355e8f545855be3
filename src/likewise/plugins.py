"""Extensions of other packages, found by their entry points: encoders, strategies, exporters.

Methods and commands have entry points of their own, ``likewise.methods`` and ``likewise.commands``.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from likewise.errors import PluginError

ENCODERS = "likewise.encoders"  #: name -> function without parameters that returns an encoder
STRATEGIES = "likewise.strategies"  #: name -> class derived from `QueryStrategy`
EXPORTERS = "likewise.exporters"  #: name -> `likewise.session.export.formats.Format`


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    return {entry_point.name: entry_point for entry_point in entry_points(group=group)}


def plugin_names(group: str) -> list[str]:
    """Return the names of the extensions in a group."""
    return sorted(_found(group))


def load_plugin(group: str, name: str) -> Any:
    """Import the package of an extension and return the object it provides.

    Raises
    ------
    PluginError
        If it cannot be imported.
    """
    entry_point = _found(group)[name]
    try:
        return entry_point.load()
    except Exception as error:  # a foreign package can raise anything
        package = entry_point.dist.name if entry_point.dist else entry_point.value
        raise PluginError(
            f"The extension {name!r} ({group}) of the package {package} cannot be loaded "
            f"({error}); update or uninstall that package."
        ) from error
