"""Learned twice: which facets matter, then, in a space turned to the criterion, what is where."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from likewise.errors import ModelFileError
from likewise.methods.aim import Aim, take_aim
from likewise.methods.kernel_learner import KernelLearner
from likewise.methods.kernel_tuning import Tuning
from likewise.methods.self_training import Lesson

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
Believe = Callable[[Indexes], Floats]
Grow = Callable[[Lesson, Believe], Lesson]
_LOOKED_AT = 3_000  # images from which the space is found
_COLUMNS, _FEW_COLUMNS, _MANY = 200, 64, 100_000  # of the space; of that of so many images
_SEEN = "targeted"


class TargetedLearner:
    """Two kernel learners: one that weighs facets, one in the space that its beliefs show.

    The first learns from few answers what matters. What it believes of all other images shows which
    directions vary within groups; `take_aim` evens these out, and the second learns there. Its
    rows are the representation targeted at the criterion.

    Parameters
    ----------
    facets : mapping of str to array of shape (n, d_f)
        Unit rows.
    n_views : int
        How often each facet is given; see `KernelLearner`.
    targeted : bool
        False leaves directions as they are, for comparison.
    """

    def __init__(
        self, facets: Mapping[str, Floats], n_views: int = 1, *, targeted: bool = True
    ) -> None:
        self._weigher, self._targeted = KernelLearner(facets, n_views), targeted
        self._aim: Aim | None = None
        self._learner = KernelLearner({})

    @property
    def tuning(self) -> Tuning | None:
        """What is learned about facets; None before any answer."""
        return self._weigher.tuning

    def weigh(self, lesson: Lesson) -> npt.NDArray[np.float64]:
        """Find out which facets matter; return for each label the chance that it is a slip."""
        return self._weigher.fit(
            lesson.images, lesson.classes, lesson.n_classes, trust=lesson.trust
        )

    def learn(self, lesson: Lesson, grow: Grow) -> None:
        """Learn with the weights found, then once more in the space turned to the criterion.

        Parameters
        ----------
        lesson : Lesson
        grow : callable
            Given a lesson and what is believed so far, returns the lesson with guesses added.
        """
        self._teach(self._weigher, lesson, grow)
        self._aim = self._turned(lesson)
        self._learner = KernelLearner({_SEEN: self._rows(self._weigher.facets)})
        self._learner.fit(lesson.images, lesson.classes, lesson.n_classes, trust=lesson.trust)
        self._teach(self._learner, lesson, grow)

    @staticmethod
    def _teach(learner: KernelLearner, lesson: Lesson, grow: Grow) -> None:
        learner.refit(lesson.images, lesson.classes, trust=lesson.trust)
        more = grow(lesson, learner.believe)
        learner.refit(more.images, more.classes, trust=more.trust)

    def _turned(self, lesson: Lesson) -> Aim:
        n = self._weigher.n_images
        evenly = np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(np.intp)
        images = np.union1d(evenly, lesson.images)
        beliefs = self._weigher.believe(images)
        said = np.eye(lesson.n_classes, dtype=np.float32)[lesson.classes]
        beliefs[np.searchsorted(images, lesson.images)] = said
        some = {name: rows[images] for name, rows in self._weigher.facets.items()}
        rows = self._weigher.weighted(some).numpy()
        n_columns = _COLUMNS if n <= _MANY else _FEW_COLUMNS
        return take_aim(rows, beliefs, n_columns, targeted=self._targeted)

    # -- reading it out -------------------------------------------------------

    def read_out(self, facets: Mapping[str, Floats] | None = None) -> tuple[Floats, Floats]:
        """Return rows ``(n, c)`` and probabilities ``(n, k)`` of given facets, or of all images."""
        if facets is None:
            return self._learner.facets[_SEEN].numpy(), self._learner.predict()
        rows = self._rows({name: torch.from_numpy(x) for name, x in facets.items()})
        return rows, self._learner.predict({_SEEN: rows})

    def _rows(self, facets: Mapping[str, torch.Tensor]) -> Floats:
        """Return unit rows in the space turned to the criterion."""
        assert self._aim is not None  # `learn` comes first
        return self._weigher.mapped(facets, self._aim, self._aim.axes.shape[1])

    # -- on disk ----------------------------------------------------------------

    def arrays(self) -> dict[str, Any]:
        """Return what prediction needs, as named arrays."""
        if self._aim is None:
            return {}
        return {
            **self._weigher.weights_as_arrays("facets."),
            "aim.centre": self._aim.centre.numpy(),
            "aim.axes": self._aim.axes.numpy(),
            **self._learner.arrays(),
        }

    def take_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `arrays` returned."""
        if "aim.axes" not in arrays:
            if "kernel.weights" in arrays:
                raise ModelFileError(
                    "This model was saved by an earlier release, which learned in another way; "
                    "train it again, from its pictures and answers."
                )
            return
        self._weigher.take_weights("facets.", arrays)
        self._aim = Aim(*(torch.from_numpy(arrays[f"aim.{name}"]) for name in ("centre", "axes")))
        self._learner.take_arrays(arrays, [_SEEN])
