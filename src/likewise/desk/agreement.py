"""How often the model had guessed an answer before it learned from it; kept across restarts."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

from likewise.constraints.question import Answer
from likewise.estimators.kernel.calibration import was_predicted
from likewise.session.results import Results

FILE = "agreement.json"
_KEPT = 200


class Agreement:
    """The latest guesses and whether they were right.

    Parameters
    ----------
    folder : Path
        Of the orientation's model. The file in it only saves a person from starting to count
        anew; losing it costs nothing else.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.guesses: list[bool] = []
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self._path.read_text())
            self.guesses = [bool(guess) for guess in kept] if isinstance(kept, list) else []

    def note(self, answer: Answer, results: Results | None) -> bool | None:
        """Compare an answer with what the results say; None if they say nothing."""
        if results is None or not results.n_answers:
            return None
        images = list(answer.question.images)
        rows = results.probabilities[images]
        if not rows.any(axis=1).all():
            return None
        about = replace(answer.question, images=tuple(range(len(images))))
        guess = was_predicted(replace(answer, question=about), rows)
        if guess is not None:
            self.guesses = [*self.guesses, guess][-_KEPT:]
        return guess

    def keep(self) -> None:
        """Write the guesses down, if that can be."""
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps(self.guesses))
            fresh.replace(self._path)
