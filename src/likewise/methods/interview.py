"""Which images a person is asked about, and in which order: coverage first, then doubt."""

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Question
from likewise.methods.choosing import Phrasing, uncovered, unsure_regions

Floats = npt.NDArray[np.float32]
_SOON = 50  # answers before an image of which nobody could tell is asked about again
_LEARNED = 10  # answers from which the learned space says better what is still uncovered


class Interview:
    """A line of images to ask about, made anew when it is empty or the model has changed.

    Parameters
    ----------
    cover : array of int
        Images that stand for all, the most important first.
    at_once : int
        Images lined up together, so that they differ from each other.
    anew : bool
        Whether coverage goes on in the learned space once every group has been seen, with as
        many super-instances as `cover` has.
    """

    def __init__(self, cover: npt.NDArray[np.intp], at_once: int, *, anew: bool = True) -> None:
        self._cover, self._at_once, self._anew = cover, at_once, anew
        self._line: list[int] = []

    def line_up(self, n: int, phrasing: Phrasing, embeddings: Floats, n_asked: int) -> None:
        """Prepare the next questions, so that nobody waits for them.

        Parameters
        ----------
        n : int
            Questions wanted at least.
        phrasing : Phrasing
            What is known, and how to put it.
        embeddings : array of shape (n_images, d)
            In which unsure regions are found.
        n_asked : int
            Questions before.
        """
        self._fill(n, phrasing, embeddings, _open_images(phrasing), n_asked)

    def ask(self, n: int, phrasing: Phrasing, embeddings: Floats, n_asked: int) -> list[Question]:
        """Return up to `n` questions, none if answers have settled every image; see `line_up`."""
        is_open = _open_images(phrasing)
        questions: list[Question] = []
        while len(questions) < n:
            if not self._line:
                asked = n_asked + len(questions)
                self._fill(n - len(questions), phrasing, embeddings, is_open, asked)
            if not self._line:
                break
            question = self._phrase(self._line.pop(0), phrasing, is_open)
            if question is not None:
                questions.append(question)
        return questions

    def _phrase(
        self, image: int, phrasing: Phrasing, is_open: npt.NDArray[np.bool_]
    ) -> Question | None:
        if not is_open[image]:
            return None
        if phrasing.seeds.keys or "label" in phrasing.kinds:
            is_open[image] = False  # not twice in one round
            return phrasing.question(image)
        # Nothing is known yet: compare with the next image in line.
        other = next((i for i in self._line if is_open[i] and i != image), None)
        if other is None:
            is_open[image] = False  # nobody is left to compare it with
            return None
        self._line.insert(0, image)
        self._line.remove(other)
        is_open[other] = False
        if "pair" in phrasing.kinds:
            return Question.pair(image, other)
        return Question.choice(other, (image,), ("group 1",))

    def _fill(
        self,
        n: int,
        phrasing: Phrasing,
        embeddings: Floats,
        is_open: npt.NDArray[np.bool_],
        n_asked: int,
    ) -> None:
        fresh = self._cover[:0]
        if n_asked < len(self._cover):
            fresh = self._to_cover(phrasing, embeddings, is_open, n_asked)
        if not len(fresh):
            n_wanted = max(n, self._at_once)
            fresh = unsure_regions(phrasing.probabilities, embeddings, is_open, n_wanted)
        self._line = [int(image) for image in fresh]

    def _to_cover(
        self,
        phrasing: Phrasing,
        embeddings: Floats,
        is_open: npt.NDArray[np.bool_],
        n_asked: int,
    ) -> npt.NDArray[np.intp]:
        """Return open images that stand for what nobody has said anything about.

        While a group is missing, the learned space cannot know where it lies: images of it are
        drawn to the groups that are known.
        """
        is_learned = len(phrasing.seeds.keys) >= phrasing.probabilities.shape[1]
        if not (self._anew and is_learned and n_asked >= _LEARNED):
            return self._cover[is_open[self._cover]]
        is_covered = ~is_open
        for images, _ in phrasing.seeds.unsettled:
            is_covered[images] = True
        return uncovered(embeddings, is_covered, len(self._cover), is_open)


def _open_images(phrasing: Phrasing) -> npt.NDArray[np.bool_]:
    """Return which images have no settled place, and may be asked about now."""
    is_open: npt.NDArray[np.bool_] = phrasing.seeds.classes < 0
    is_open[list(phrasing.graph.bad_images)] = False
    for answer in list(phrasing.graph.answers.values())[-_SOON:]:
        if answer.answer == "cannot_tell":
            is_open[answer.question.images[0]] = False
    return is_open
