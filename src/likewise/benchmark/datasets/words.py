"""How messages list many things: the first few, and how many more there are."""

from collections.abc import Iterable


def some(things: Iterable[object], n_shown: int = 3) -> str:
    """Return the first few things and the number of the others.

    Examples
    --------
    >>> some(["a.jpg", "b.jpg", "c.jpg"], n_shown=2)
    "'a.jpg', 'b.jpg' and 1 more"
    """
    texts = [repr(thing) for thing in things]
    more = f" and {len(texts) - n_shown} more" if len(texts) > n_shown else ""
    return ", ".join(texts[:n_shown]) + more
