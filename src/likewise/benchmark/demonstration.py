"""The demonstration: painted pictures, sorted by what nobody would guess, after a few answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.benchmark.datasets.dataset import Labels
from likewise.benchmark.inputs import Step, quiet
from likewise.benchmark.scenes import make_scenes
from likewise.encoders.embed import embed
from likewise.encoders.registry import make_encoder
from likewise.encoders.store import EmbeddingStore
from likewise.images.arrays import ArrayCollection
from likewise.methods.base import PersonalClusterer
from likewise.methods.registry import METHODS, make_method
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, Oracle
from likewise.oracles.simulated import LabelOracle

METHOD = "likewise" if "likewise" in METHODS else "kmeans"
WANTED = "shape"
N_ROUNDS = 5
Found = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Demonstration:
    """Pictures with the groups they were in before and after the answers.

    Parameters
    ----------
    method : str
    pictures : array of shape (n, h, w, 3)
    truth : mapping of str to array of shape (n,)
        The true labels by each criterion, to score and to name groups.
    before, after : array of shape (n,)
        Clusters found without a word, and with the answers.
    asked : array of int
        The pictures named in an answer.
    n_answers : int
    """

    method: str
    pictures: npt.NDArray[np.uint8]
    truth: Mapping[str, Labels]
    before: Found
    after: Found
    asked: Found
    n_answers: int

    @property
    def guessed(self) -> str:
        """Return the criterion that the groups found without a word come nearest to."""
        return max(self.truth, key=lambda name: accuracy(self.truth[name], self.before))

    def figures(self) -> dict[str, float | None]:
        """Return the accuracies: of what was guessed, and of what was wanted.

        `after_unasked` looks at pictures named in no answer; None if there are none.
        """
        wanted = self.truth[WANTED]
        rest = np.setdiff1d(np.arange(len(wanted)), self.asked)
        return {
            "guessed": accuracy(self.truth[self.guessed], self.before),
            "before": accuracy(wanted, self.before),
            "after": accuracy(wanted, self.after),
            "after_unasked": accuracy(wanted[rest], self.after[rest]) if len(rest) else None,
        }


def demonstrate(
    n_images: int = 1024,
    n_questions: int = 100,
    *,
    seed: int = 0,
    store: EmbeddingStore | None = None,
    step: Step = quiet,
) -> Demonstration:
    """Sort painted pictures without a word, then by `WANTED` as a simulated person answers."""
    pictures, truth = make_scenes(n_images, seed=seed)
    vectors = embed(ArrayCollection(pictures), make_encoder(), store, step("embedding"))
    model = make_method(METHOD, len(np.unique(truth[WANTED])), seed=seed)
    model.start(vectors).train(progress=step("sorting without a word"))
    before = model.labels_.copy()
    person = CountingOracle(LabelOracle(truth[WANTED]))
    _converse(model, person, n_questions, step)
    named = {i for a in model.constraints_.answers.values() for i in a.question.images}
    asked = np.array(sorted(named), dtype=np.intp)
    return Demonstration(METHOD, pictures, truth, before, model.labels_, asked, person.n_answers)


def _converse(model: PersonalClusterer, person: Oracle, n_questions: int, step: Step) -> None:
    """Ask some and train, a few times over, as the page does with a person."""
    tell = step("asking and training")
    for number in range(N_ROUNDS):
        n = n_questions // N_ROUNDS + (number < n_questions % N_ROUNDS)
        if n:
            questions = model.ask(n)
            model.tell(questions, person.answer(questions))
            model.train()
        tell(number + 1, N_ROUNDS)
