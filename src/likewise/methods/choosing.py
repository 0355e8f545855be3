"""Which image to ask about next, and in which form: a pair, a choice, or a label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, MiniBatchKMeans

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, Question
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.methods.one_thread import on_one_thread
from likewise.methods.seeds_of_groups import Seeds
from likewise.seeds import derive

KINDS = ("pair", "choice", "label")
Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
_AT_LEAST = 60  # images among which unsure regions are found
_LOOKED_AT = 6_000


@on_one_thread
def coverage(rows: Floats, n: int, seed: int) -> Indexes:
    """Return `n` images that stand for all: the middle of each of `n` super-instances.

    Any beginning of the list is a good one: each image is the one that, with those before
    it, comes nearest to all super-instances, the larger ones counting more.
    """
    n = min(n, len(rows))
    found = MiniBatchKMeans(
        n, n_init=3, batch_size=2048, random_state=derive(seed, "coverage") % 2**31
    ).fit(rows)
    members = [np.flatnonzero(found.labels_ == c) for c in range(n)]
    centres = found.cluster_centers_
    middle = [
        m[np.linalg.norm(rows[m] - centres[c], axis=1).argmin()]
        for c, m in enumerate(members)
        if len(m)
    ]
    chosen = np.array(middle, dtype=np.intp)
    return chosen[_most_telling_first(rows[chosen], [len(m) for m in members if len(m)])]


def _most_telling_first(
    centres: Floats, sizes: Sequence[int], known: Floats | None = None
) -> Indexes:
    """Return an order of centres of which every beginning, with the known, is near to all."""
    far = np.linalg.norm(centres[:, None] - centres[None, :], axis=2) ** 2
    left = np.full(len(centres), np.inf)
    if known is not None and len(known):
        left = cdist(centres, known, "sqeuclidean").min(axis=1)
    order: list[int] = []
    for _ in centres:
        costs = np.minimum(left, far) @ np.asarray(sizes)
        costs[order] = np.inf
        order.append(int(costs.argmin()))
        left = np.minimum(left, far[order[-1]])
    return np.array(order, dtype=np.intp)


@on_one_thread
def uncovered(
    rows: Floats, is_covered: npt.NDArray[np.bool_], n: int, is_open: npt.NDArray[np.bool_]
) -> Indexes:
    """Return open images, the middles of `n` super-instances, the most telling first.

    The rows are those of the space learned so far, where groups lie closer together than in the
    facets that `coverage` saw: what answers have shown to matter no longer has to be covered in
    all that does not. As there, any beginning of the list, with the images that are covered
    already, comes near to all super-instances.
    """
    looked_at = np.arange(0, len(rows), -(-len(rows) // _LOOKED_AT))
    looked_at = looked_at[is_open[looked_at]]
    if len(looked_at) <= n:
        return looked_at
    found = KMeans(n, n_init=1, max_iter=20, random_state=0).fit(rows[looked_at])
    distance = np.linalg.norm(rows[looked_at] - found.cluster_centers_[found.labels_], axis=1)
    by_instance = [np.flatnonzero(found.labels_ == c) for c in range(n)]
    members = [m for m in by_instance if len(m)]
    middles = looked_at[[m[distance[m].argmin()] for m in members]]
    order = _most_telling_first(rows[middles], [len(m) for m in members], rows[is_covered])
    return middles[order]


@on_one_thread
def unsure_regions(
    probabilities: Floats, rows: Floats, is_open: npt.NDArray[np.bool_], n: int
) -> Indexes:
    r"""Return open images that stand for `n` regions of which the model is unsure.

    Notes
    -----
    With the margin :math:`m = p_{(1)} - p_{(2)}`, the less sure half of the open images is
    divided by k-means with weights :math:`(1 - m)^2` into `n` regions of the learned
    space; the middle of each is asked about, the heaviest region first. The single
    least sure image is often an oddity, and what is learned of it helps no other. After the
    middles come the images next to them, for a person who is quicker than the training.
    """
    open_images = np.flatnonzero(is_open)
    if len(open_images) <= n:
        return open_images
    unsure = _less_sure_half(probabilities, open_images)
    weight = (1 - _margin(probabilities[unsure])) ** 2 + 1e-6
    found = KMeans(min(n, len(unsure)), n_init=1, max_iter=20, random_state=0).fit(
        rows[unsure], sample_weight=weight
    )
    distance = np.linalg.norm(rows[unsure] - found.cluster_centers_[found.labels_], axis=1)
    mass = np.bincount(found.labels_, weights=weight)
    by_region = [np.flatnonzero(found.labels_ == c) for c in np.argsort(-mass)]
    nearest = [members[np.argsort(distance[members], kind="stable")] for members in by_region]
    middles = [members[place] for place in range(2) for members in nearest if len(members) > place]
    return unsure[middles]


def _less_sure_half(probabilities: Floats, open_images: Indexes) -> Indexes:
    """Return half of the images, of many some, in order of their margin."""
    looked_at = open_images[:: -(-len(open_images) // _LOOKED_AT)]
    order = np.argsort(_margin(probabilities[looked_at]), kind="stable")
    return looked_at[order[: max(_AT_LEAST, len(order) // 2)]]


def _margin(probabilities: Floats) -> Floats:
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities), dtype=np.float32)
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    margin: Floats = top[:, 1] - top[:, 0]
    return margin


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
        if "label" in self.kinds:  # where it is allowed: no comparison says more
            return Question.label(image)
        likely = self._likely_groups(image)
        if not likely:
            return None
        if "choice" in self.kinds and (len(likely) > 1 or "pair" not in self.kinds):
            faces = {self.seeds.representatives[c]: self.seeds.keys[c] for c in likely}
            faces = dict([*faces.items()][: MAX_GROUPS - 1]) | self._homeless(image)
            return Question.choice(image, tuple(faces), tuple(faces.values()))
        return Question.pair(image, self.seeds.representatives[likely[0]])

    def _homeless(self, image: int) -> dict[int, str]:
        """Return the largest group that is said to be in none of the classes, as one more.

        If one of the classes is a mistake, the missing one can grow beside it. A few such images
        are more likely mistakes themselves: they must outnumber the smallest class.
        """
        n_classes = len(self.seeds.keys)
        none = [images for images, out in self.seeds.unsettled if len(out) == n_classes]
        sizes = np.bincount(self.seeds.classes[self.seeds.classes >= 0], minlength=n_classes)
        if sum(map(len, none)) <= sizes.min():
            return {}
        is_open = (images for images in none if not self.graph.relation(image, int(images[0])))
        largest = max(is_open, key=len, default=None)
        return {} if largest is None else {int(largest[0]): f"group {n_classes + 1}"}

    def _likely_groups(self, image: int) -> list[int]:
        """Return the classes that the image may still belong to, most likely first.

        Classes that came after the last training have no column yet, and are offered last.
        """
        believed = self.probabilities[image, : len(self.seeds.keys)]
        chances = np.pad(believed, (0, len(self.seeds.keys) - len(believed)))
        order = np.argsort(-chances, kind="stable")
        return [
            int(c)
            for c in order
            if self.seeds.representatives[c] != image
            and self.graph.relation(image, self.seeds.representatives[c]) == 0
        ]


def checked_kinds(kinds: str | Sequence[str]) -> tuple[str, ...]:
    """Return kinds of questions, of a list or of a text with commas, or raise in words."""
    several = kinds.split(",") if isinstance(kinds, str) else kinds
    chosen = tuple(kind.strip() for kind in several)
    for kind in chosen:
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)
    if not chosen:
        raise InvalidParameterError("kinds is empty; allow at least one of pair, choice, label.")
    return chosen
