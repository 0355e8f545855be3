"""The demo: synthetic images clustered before and after simulated answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from likewise.encoders.embed import embed
from likewise.encoders.registry import make_encoder
from likewise.encoders.store import EmbeddingStore
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.registry import make_method
from likewise.images.arrays import ArrayCollection
from likewise.images.resize import thumbnail
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, Oracle
from likewise.oracles.simulated import LabelOracle
from likewise.seeds import stream
from likewise.session.export.html import GroupTiles, Page, Section, Tile
from likewise.session.groups import COLOURS
from likewise_bench.datasets.base import Labels
from likewise_bench.datasets.synthetic import make_scenes
from likewise_bench.inputs import Step, quiet

METHOD = "likewise"
WANTED = "shape"
N_ROUNDS = 5
Found = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Demo:
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


def run_demo(
    n_images: int = 1024,
    n_questions: int = 100,
    *,
    seed: int = 0,
    store: EmbeddingStore | None = None,
    step: Step = quiet,
) -> Demo:
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
    return Demo(METHOD, pictures, truth, before, model.labels_, asked, person.n_answers)


def _converse(model: InteractiveClusterer, person: Oracle, n_questions: int, step: Step) -> None:
    """Ask some and train, a few times over, as the page does with a person."""
    tell = step("asking and training")
    for number in range(N_ROUNDS):
        n = n_questions // N_ROUNDS + (number < n_questions % N_ROUNDS)
        if n:
            questions = model.ask(n)
            model.tell(questions, person.answer(questions))
            model.train()
        tell(number + 1, N_ROUNDS)


_N_TILES = 30  # of each group


def demo_page(shown: Demo) -> Page:
    """Return the gallery; groups are named one to one, as when accuracy is measured."""
    figures, guessed = shown.figures(), shown.guessed
    n_groups = len(np.unique(shown.truth[WANTED]))
    rest = figures["after_unasked"]
    unasked = "" if rest is None else f", and {rest:.0%} among the pictures no question named"
    return Page(
        "likewise: the same pictures, sorted the way you mean it",
        [
            _section(f"Before: nobody said a word, sorted by {guessed}", shown, "before"),
            _section(f"After {shown.n_answers} answers: sorted by {WANTED}", shown, "after"),
        ],
        [
            f"{len(shown.pictures):,} painted pictures, each a shape of some colour and size "
            "before some background. By which of these they should be sorted, no program can see.",
            f"Left alone, the method went by {guessed} ({figures['guessed']:.0%} right). By "
            f"{WANTED}, which was meant, that is {figures['before']:.0%}, where guessing gives "
            f"{1 / n_groups:.0%}.",
            f"Then a simulated person answered {shown.n_answers} questions about the {WANTED}: "
            f"{figures['after']:.0%} right{unasked}. Pictures in the wrong group have a frame.",
        ],
    )


def _section(title: str, shown: Demo, moment: str) -> Section:
    is_before = moment == "before"
    found = shown.before if is_before else shown.after
    labels = shown.truth[shown.guessed if is_before else WANTED]
    names = _names(found, labels)
    return Section(title, [_group(c, name, shown, found, labels) for c, name in names.items()])


def _group(cluster: int, name: str, shown: Demo, found: Found, labels: Labels) -> GroupTiles:
    members = np.flatnonzero(found == cluster)
    chosen = stream(0, "demo page", cluster).permutation(members)[:_N_TILES]
    tiles = [
        Tile(
            thumbnail(shown.pictures[i]),
            ", ".join(str(column[i]) for column in shown.truth.values()),
            "" if labels[i] == name else "odd",
        )
        for i in chosen
    ]
    note = f"{np.mean(labels[members] == name):.0%} {name}"
    return GroupTiles(name, COLOURS[cluster % len(COLOURS)], len(members), tiles, note)


def _names(found: Found, labels: Labels) -> dict[int, str]:
    """Return a name for each cluster: each name once, so that most pictures agree.

    Clusters beyond the number of names are called as most of their pictures are.
    """
    clusters, values = np.unique(found), np.unique(labels)
    counts = np.array([[np.sum(labels[found == c] == v) for v in values] for c in clusters])
    rows, columns = linear_sum_assignment(counts, maximize=True)
    chosen = counts.argmax(axis=1)
    chosen[rows] = columns
    return {int(c): str(values[v]) for c, v in zip(clusters, chosen, strict=True)}
