"""Which image to ask about next, and in which form: a pair, a choice, or a label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import MiniBatchKMeans

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, Question
from likewise.methods.seeds_of_groups import Seeds
from likewise.seeds import derive

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
_PER_QUESTION = 12  # unsure images considered for each question
_AT_LEAST = 60


def coverage(rows: Floats, n: int, seed: int) -> Indexes:
    """Return `n` images that stand for all: the middle of each of `n` super-instances.

    Larger super-instances first, so that any beginning of the list is a good one.
    """
    n = min(n, len(rows))
    found = MiniBatchKMeans(
        n, n_init=3, batch_size=2048, random_state=derive(seed, "coverage") % 2**31
    ).fit(rows)
    distance = np.linalg.norm(rows - found.cluster_centers_[found.labels_], axis=1)
    sizes = np.bincount(found.labels_, minlength=n)
    middle = [
        members[distance[members].argmin()]
        for members in (np.flatnonzero(found.labels_ == c) for c in np.argsort(-sizes))
        if len(members)
    ]
    return np.array(middle, dtype=np.intp)


def unsure_and_different(
    probabilities: Floats, rows: Floats, is_open: npt.NDArray[np.bool_], n: int
) -> Indexes:
    r"""Return `n` open images with small margins that differ from each other.

    Notes
    -----
    The margin is :math:`p_{(1)} - p_{(2)}`. Among the ``12 n`` smallest, the smallest is taken
    first, then again and again the one farthest from all taken (in the learned metric).
    """
    top = np.partition(probabilities, -2, axis=1)[:, -2:] if probabilities.shape[1] > 1 else None
    margin = np.zeros(len(rows)) if top is None else top[:, 1] - top[:, 0]
    open_images = np.flatnonzero(is_open)
    wanted = min(len(open_images), max(_AT_LEAST, _PER_QUESTION * n))
    order = np.argsort(margin[open_images], kind="stable")[:wanted]
    candidates = open_images[order]
    if not len(candidates):
        return candidates
    chosen = [0]
    far = np.linalg.norm(rows[candidates] - rows[candidates[0]], axis=1)
    while len(chosen) < min(n, len(candidates)):
        far[chosen[-1]] = -1
        chosen.append(int(far.argmax()))
        fresh = np.linalg.norm(rows[candidates] - rows[candidates[chosen[-1]]], axis=1)
        far = np.where(far < 0, far, np.minimum(far, fresh))
    return candidates[chosen]


@dataclass(frozen=True)
class Phrasing:
    """Turns an image into the question that tells most about it.

    Parameters
    ----------
    kinds : tuple of str
        Allowed kinds, of ``pair``, ``choice``, ``label``.
    seeds : Seeds
    probabilities : array of shape (n, k)
    graph : ConstraintGraph
    """

    kinds: Sequence[str]
    seeds: Seeds
    probabilities: Floats
    graph: ConstraintGraph

    def question(self, image: int) -> Question | None:
        """Return a question about `image`; None if no group can be compared with it."""
        if "label" in self.kinds and not {"pair", "choice"} & set(self.kinds):
            return Question.label(image)
        likely = self._likely_groups(image)
        if not likely:
            return None
        if "choice" in self.kinds and (len(likely) > 1 or "pair" not in self.kinds):
            shown = likely[:MAX_GROUPS]
            faces = tuple(self.seeds.representatives[c] for c in shown)
            return Question.choice(image, faces, tuple(self.seeds.keys[c] for c in shown))
        return Question.pair(image, self.seeds.representatives[likely[0]])

    def _likely_groups(self, image: int) -> list[int]:
        """Return the classes that the image may still belong to, most likely first."""
        order = np.argsort(-self.probabilities[image, : len(self.seeds.keys)], kind="stable")
        return [
            int(c)
            for c in order
            if self.seeds.representatives[c] != image
            and self.graph.relation(image, self.seeds.representatives[c]) == 0
        ]
