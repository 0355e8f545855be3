"""One figure of a table: a mean and its spread over seeds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Figure:
    """A mean, the standard deviation over seeds (None for one seed), and how many there were.

    Examples
    --------
    >>> str(Figure.of([0.5, 0.7])), str(Figure.of([12.0], digits=0)), str(Figure.of([]))
    ('.600 ± .141', '12', '')
    """

    mean: float | None
    spread: float | None = None
    n: int = 0
    digits: int = 3

    @classmethod
    def of(cls, values: Iterable[float | None], digits: int = 3) -> "Figure":
        """Return the figure of several runs; those without a value do not count."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(None)
        spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
        return cls(float(np.mean(known)), spread, len(known), digits)

    @classmethod
    def known(cls, values: Iterable[float | None]) -> "Figure":
        """Return a figure that may be the same for every seed; then it has no spread."""
        figure = cls.of(values)
        is_one = not round(figure.spread or 0, figure.digits)
        return cls(figure.mean, None, figure.n) if is_one else figure

    def but(self, *, digits: int) -> "Figure":
        """Return the same figure, written with other decimals."""
        return replace(self, digits=digits)

    def __str__(self) -> str:
        if self.mean is None:
            return ""
        text = self._short(self.mean)
        return text if self.spread is None else f"{text} ± {self._short(self.spread)}"

    def _short(self, value: float) -> str:
        text = f"{value:,.{self.digits}f}"
        return text.replace("0.", ".", 1) if abs(value) < 1 and self.digits else text
