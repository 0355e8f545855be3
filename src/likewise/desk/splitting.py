"""Which groups were split off: when the last answer about one is taken back, it goes again."""

import contextlib
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

FILE = "split-off.json"
Floats = npt.NDArray[np.float32]


class SplitOff:
    """The groups that were split off, in order: key -> whether there were two, and no more.

    Parameters
    ----------
    folder : Path
        Of the orientation's model. Losing the file in it only leaves an empty group behind
        when a split is undone.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.made: dict[str, bool] = {}
        with contextlib.suppress(OSError, ValueError, TypeError):
            self.made = {str(k): bool(was_two) for k, was_two in json.loads(self._path.read_text())}

    def note(self, key: str, *, was_two: bool) -> None:
        """Note that a group was split off."""
        self.made[key] = was_two
        self._keep()

    def undo(self) -> tuple[str, bool]:
        """Forget the last one and return it."""
        last = self.made.popitem()
        self._keep()
        return last

    def _keep(self) -> None:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps(list(self.made.items())))
            fresh.replace(self._path)


def without_column(probabilities: Floats, column: int) -> Floats:
    """Return probabilities of one group less; who was in it may be in any of the others.

    Examples
    --------
    >>> without_column(np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]], dtype=np.float32), 2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    left = np.delete(probabilities, column, axis=1)
    left[probabilities.any(axis=1) & ~left.any(axis=1)] = 1  # all that was said is gone
    return np.asarray(left / left.sum(axis=1, keepdims=True).clip(1e-9), dtype=np.float32)
