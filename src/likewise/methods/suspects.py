"""Answers that the rest contradicts: found, ranked, and with the chain that makes them doubtful."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.facts import Fact
from likewise.constraints.graph import ConstraintGraph
from likewise.methods.seeds_of_groups import Seeds

DOUBTFUL = 0.5  # chance of a slip from which an answer is worth a second look
_HOMELESS = 0.99  # the image fits no group although all groups are known


@dataclass(frozen=True)
class Suspect:
    """An answer worth a second look.

    Parameters
    ----------
    answer : int
        Its id in `constraints_.answers`.
    image : int
        The image whose place is doubtful.
    surprise : float
        The chance, 0 to 1, that it is a slip.
    chain : tuple of Fact
        Given facts, from `image` to its group, that put it where nothing else would.
    """

    answer: int
    image: int
    surprise: float
    chain: tuple[Fact, ...]


def find_suspects(
    seeds: Seeds,
    images: npt.NDArray[np.intp],
    slipped: npt.NDArray[np.float64],
    graph: ConstraintGraph,
    n_clusters: int | None,
) -> tuple[Suspect, ...]:
    """Return the doubtful answers, most doubtful first, each once.

    Parameters
    ----------
    seeds : Seeds
    images, slipped : arrays of shape (m,)
        Labelled images, and for each the chance that its label is a slip.
    graph : ConstraintGraph
    n_clusters : int, optional
        With all groups known, an image that is in none of them is doubtful too.
    """
    doubts = {int(i): float(s) for i, s in zip(images, slipped, strict=True) if s > DOUBTFUL}
    for members, excluded in seeds.unsettled:
        if n_clusters is not None and len(excluded) == n_clusters:
            doubts[int(members[0])] = _HOMELESS
    found: dict[int, Suspect] = {}
    for image, surprise in sorted(doubts.items(), key=lambda doubt: (-doubt[1], doubt[0])):
        chain = _what_put_it_there(image, seeds, graph)
        naming = next((f.answer_id for f in chain if image in (f.first, f.second)), None)
        if naming is not None and naming not in found:
            found[naming] = Suspect(naming, image, surprise, chain)
    return tuple(found.values())


def _what_put_it_there(image: int, seeds: Seeds, graph: ConstraintGraph) -> tuple[Fact, ...]:
    """Return the shortest chain to another image of its group, else to another group."""
    place = seeds.classes[image]
    fellows = np.flatnonzero(seeds.classes == place) if place >= 0 else np.empty(0, np.intp)
    others = [*seeds.representatives, *fellows[:_MANY].tolist()][::-1]
    chains = (graph.proof(image, other) for other in others if other != image)
    return min((chain for chain in chains if chain), key=len, default=())


_MANY = 20  # fellows looked at: one of them is near
