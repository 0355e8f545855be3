"""Parameters that are one of a few words."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace

from likewise.errors import UnknownNameError


def check_choices(settings: SimpleNamespace, choices: Mapping[str, Iterable[str | None]]) -> None:
    """Refuse a setting that is none of its choices, and suggest the nearest.

    Raises
    ------
    UnknownNameError
    """
    for name, known in choices.items():
        value = getattr(settings, name)
        if value not in known:
            raise UnknownNameError(f"value of {name}", str(value), [str(word) for word in known])
