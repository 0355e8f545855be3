"""Which images DSAC asks to be labelled: representative ones, difficult ones, or any."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Answer
from likewise.errors import PoolExhaustedError
from likewise.methods.seeded_kmeans import Grouping
from likewise.queries.density import N_CANDIDATES
from likewise.queries.dsac import difficult, quotas, representatives, shares
from likewise.seeds import stream

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
_SOON = 50  # answers during which an image that nobody could name is not asked again
SELECTIONS = ("full", "random", "difficult", "representative")


def choose(
    selection: str,
    rows: Floats,
    found: Grouping,
    is_closed: Mask,
    n: int,
    draw: int,
    seed: int,
    *,
    n_candidates: int = N_CANDIDATES,
) -> Indexes:
    """Return at most `n` open images to be labelled, all different.

    Parameters
    ----------
    selection : {"full", "random", "difficult", "representative"}
    rows : array of shape (n_images, d)
    found : Grouping
    is_closed : array of shape (n_images,)
        Images not to ask about.
    n : int
    draw : int
        Number of this call, from 0: where a cluster gets one label, calls alternate
        between representative and difficult images.
    seed : int
    n_candidates : int
        Of each cluster and kind, :math:`k_1`; the most compact of them are chosen.
    """
    open_images = np.flatnonzero(~is_closed)
    if selection == "random":
        rng = stream(seed, "label at random", draw)
        return rng.permutation(open_images)[:n]
    n_open = np.bincount(found.clusters[open_images], minlength=len(found.centres))
    quota = quotas(min(n, len(open_images)), n_open)
    first, then = shares(quota, draw, only=_ONLY[selection])
    near = representatives(
        rows, found.clusters, found.distances, first, is_closed, n_candidates=n_candidates
    )
    closed = is_closed.copy()
    closed[near] = True
    far = difficult(rows, found.clusters, found.distances, then, closed, n_candidates=n_candidates)
    return np.concatenate([near, far])


def closed_images(graph: ConstraintGraph) -> Mask:
    """Return which images have a label, were passed over of late, or are bad, (n_images,)."""
    closed: Mask = np.isin(graph.groups(), list(graph.group_names()))
    recent = list(graph.answers.values())[-_SOON:]
    passed = [a.question.images[0] for a in recent if _is_passed(a)]
    closed[[*graph.bad_images, *passed]] = True
    return closed


def check_open(graph: ConstraintGraph, n: int) -> None:
    """Refuse to ask for more labels than there are images without one.

    Raises
    ------
    PoolExhaustedError
    """
    n_open = int((~closed_images(graph)).sum())
    if n_open < n:
        told = f"{n} labels were asked for but only {n_open} images have none; ask for fewer."
        raise PoolExhaustedError(told)


def _is_passed(answer: Answer) -> bool:
    return answer.question.kind == "label" and answer.answer == CANNOT_TELL


_ONLY: dict[str, Literal["representative", "difficult"] | None] = {
    "full": None,
    "difficult": "difficult",
    "representative": "representative",
}
