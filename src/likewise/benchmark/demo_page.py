"""The gallery of the demonstration: the same pictures before and after, side by side."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from likewise.benchmark.datasets.dataset import Labels
from likewise.benchmark.demonstration import WANTED, Demonstration, Found
from likewise.images.resize import thumbnail
from likewise.seeds import stream
from likewise.session.gallery import Page, Section, Shown, Tile
from likewise.session.groups import COLOURS

_N_TILES = 30  # of each group


def demo_page(shown: Demonstration) -> Page:
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


def _section(title: str, shown: Demonstration, moment: str) -> Section:
    is_before = moment == "before"
    found = shown.before if is_before else shown.after
    labels = shown.truth[shown.guessed if is_before else WANTED]
    names = _names(found, labels)
    return Section(title, [_group(c, name, shown, found, labels) for c, name in names.items()])


def _group(cluster: int, name: str, shown: Demonstration, found: Found, labels: Labels) -> Shown:
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
    return Shown(name, COLOURS[cluster % len(COLOURS)], len(members), tiles, note)


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
