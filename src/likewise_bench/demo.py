"""The demo: synthetic images clustered before and after simulated answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.registry import make_encoder
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.registry import make_method
from likewise.images.in_memory import ArrayCollection
from likewise.images.resize import thumbnail
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, LabelOracle, Oracle
from likewise.random_streams import stream
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
    """Images with their groups before and after the answers.

    Parameters
    ----------
    method : str
    images : array of shape (n, h, w, 3)
    truth : mapping of str to array of shape (n,)
        The true labels by each criterion, to score and to name groups.
    before, after : array of shape (n,)
        Clusters before and after the answers.
    asked : array of int
        Images in at least one answer.
    n_answers : int
    """

    method: str
    images: npt.NDArray[np.uint8]
    truth: Mapping[str, Labels]
    before: Found
    after: Found
    asked: Found
    n_answers: int

    @property
    def guessed(self) -> str:
        """Return the criterion that the unguided groups match best."""
        return max(self.truth, key=lambda name: accuracy(self.truth[name], self.before))

    def figures(self) -> dict[str, float | None]:
        """Return the accuracy before the answers and after them.

        `after_unasked` is the accuracy on images in no answer; None without such images.
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
    store: EmbeddingCache | None = None,
    step: Step = quiet,
) -> Demo:
    """Cluster the scenes unguided, then by `WANTED` with simulated answers."""
    images, truth = make_scenes(n_images, seed=seed)
    vectors = embed(ArrayCollection(images), make_encoder(), store, step("embedding"))
    kinds = {"kinds": "pair,choice"}  # an answer is about one image: most images are in no answer
    model = make_method(METHOD, len(np.unique(truth[WANTED])), settings=kinds, seed=seed)
    model.start(vectors).train(progress=step("clustering"))
    before = model.labels_.copy()
    oracle = CountingOracle(LabelOracle(truth[WANTED]))
    _ask_and_train(model, oracle, n_questions, step)
    named = {i for a in model.constraints_.answers.values() for i in a.question.images}
    asked = np.array(sorted(named), dtype=np.intp)
    return Demo(METHOD, images, truth, before, model.labels_, asked, oracle.n_answers)


def _ask_and_train(
    model: InteractiveClusterer, oracle: Oracle, n_questions: int, step: Step
) -> None:
    """Ask and train in rounds, as the app does."""
    report_progress = step("asking and training")
    for number in range(N_ROUNDS):
        n = n_questions // N_ROUNDS + (number < n_questions % N_ROUNDS)
        if n:
            questions = model.ask(n)
            model.tell(questions, oracle.answer(questions))
            model.train()
        report_progress(number + 1, N_ROUNDS)


_N_TILES = 30  # per group


def demo_page(shown: Demo) -> Page:
    """Return the gallery; groups are matched one to one to classes, as for accuracy."""
    figures, guessed = shown.figures(), shown.guessed
    n_groups = len(np.unique(shown.truth[WANTED]))
    rest = figures["after_unasked"]
    unasked = "" if rest is None else f", and {rest:.0%} among images in no question"
    return Page(
        "likewise: the same images, grouped by the wanted criterion",
        [
            _section(f"Before any answer: grouped by {guessed}", shown, "before"),
            _section(f"After {shown.n_answers} answers: grouped by {WANTED}", shown, "after"),
        ],
        [
            f"{len(shown.images):,} synthetic images: a shape with a colour and a size on a "
            "background. The pixels do not show which of these criteria is wanted.",
            f"Unguided, the groups follow {guessed} ({figures['guessed']:.0%} correct). By "
            f"{WANTED}, the wanted criterion, {figures['before']:.0%} are correct; chance is "
            f"{1 / n_groups:.0%}.",
            f"Then a simulated annotator answered {shown.n_answers} questions about the {WANTED}: "
            f"{figures['after']:.0%} correct{unasked}. Images in a wrong group have a frame.",
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
            thumbnail(shown.images[i]),
            ", ".join(str(column[i]) for column in shown.truth.values()),
            "" if labels[i] == name else "odd",
        )
        for i in chosen
    ]
    note = f"{np.mean(labels[members] == name):.0%} {name}"
    return GroupTiles(name, COLOURS[cluster % len(COLOURS)], len(members), tiles, note)


def _names(found: Found, labels: Labels) -> dict[int, str]:
    """Return a class name for each cluster by a one-to-one matching.

    Further clusters are named after the majority of their images.
    """
    clusters, values = np.unique(found), np.unique(labels)
    counts = np.array([[np.sum(labels[found == c] == v) for v in values] for c in clusters])
    rows, columns = linear_sum_assignment(counts, maximize=True)
    chosen = counts.argmax(axis=1)
    chosen[rows] = columns
    return {int(c): str(values[v]) for c, v in zip(clusters, chosen, strict=True)}
