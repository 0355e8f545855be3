"""Answers that the rest contradicts: found, ranked, and with the chain that makes them doubtful."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from likewise.constraints.constraint import Constraint
from likewise.constraints.graph import ConstraintGraph
from likewise.methods.seeds_of_groups import Seeds

DOUBTFUL = 0.7  # chance of a slip from which an answer is worth a question of `fit`
_USUAL, _WORTH_A_LOOK = 0.1, 0.4  # slips of a person; chance from which it looks again itself
_AT_ONCE = 5  # answers offered to a person
_ENOUGH = 2  # images confirmed to be in none of all groups, after which the groups are doubtful
_HOMELESS, _FOUNDER = 0.99, 0.9  # images in none of all groups; groups, when such images are sure
_VOTES, _SHARE = 3, 0.2  # contradictions, and share of all answers, that blame one answer
_FELLOWS = 20  # images of the same group looked at for the shortest chain


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
    chain: tuple[Constraint, ...]


def find_suspects(
    seeds: Seeds,
    doubts: dict[int, float],
    graph: ConstraintGraph,
    n_clusters: int | None,
    confirmed: Collection[int] = (),
    *,
    above: float = DOUBTFUL,
) -> tuple[Suspect, ...]:
    """Return the doubtful answers, most doubtful first, each once.

    Parameters
    ----------
    seeds : Seeds
    doubts : dict of int to float
        For labelled images the chance that the label is a slip.
    graph : ConstraintGraph
    n_clusters : int, optional
        With all groups known, an image that is in none of them is doubtful too.
    confirmed : collection of int
        Images that were looked at again. Once two of these are in none of all
        groups, two groups are likely one: the groups themselves are doubtful.
    above : float
        Chance of a slip from which an answer is doubtful.
    """
    homeless = _homeless(seeds, n_clusters)
    found = {image: chance for image, chance in doubts.items() if chance > above}
    found |= dict.fromkeys(homeless, _HOMELESS)
    if len(homeless & set(confirmed)) >= _ENOUGH:
        found |= dict.fromkeys(seeds.representatives, _FOUNDER)
    suspects: dict[int, Suspect] = {}
    for image, surprise in sorted(found.items(), key=lambda doubt: (-doubt[1], doubt[0])):
        chain = _what_put_it_there(image, seeds, graph)
        naming = next((f.answer_id for f in chain if image in (f.first, f.second)), None)
        if naming is not None and naming not in suspects and image not in confirmed:
            suspects[naming] = Suspect(naming, image, surprise, chain)
    return tuple(suspects.values())


def worth_a_look(
    seeds: Seeds,
    doubts: dict[int, float],
    graph: ConstraintGraph,
    n_clusters: int | None,
    confirmed: Collection[int] = (),
    *,
    slips: float,
) -> tuple[Suspect, ...]:
    r"""Return the few answers that a person had best look at again; see `find_suspects`.

    A look costs a person little, while `fit` pays with a question: so less doubt is enough.

    Parameters
    ----------
    slips : float
        The share of slips with which the chances were found.

    Notes
    -----
    Where groups are hard to tell apart, few answers do not show that there are slips at all, and
    their share is found to be tiny. People do slip, so that at least the usual share
    :math:`\epsilon_0` is taken for granted here. By Bayes only the odds change:

    .. math:: \frac{c'}{1 - c'} = \frac{c}{1 - c} \cdot
              \frac{\epsilon_0 / (1 - \epsilon_0)}{\epsilon / (1 - \epsilon)} .
    """
    factor = max(1.0, _odds(_USUAL) / _odds(slips))
    usual = {image: _chance(factor * _odds(chance)) for image, chance in doubts.items()}
    found = find_suspects(seeds, usual, graph, n_clusters, confirmed, above=_WORTH_A_LOOK)
    # More images in none of all groups would only say again what these say.
    homeless = _homeless(seeds, n_clusters)
    n_wanted = max(0, _ENOUGH - len(homeless & set(confirmed)))
    passed_over = [suspect for suspect in found if suspect.image in homeless][n_wanted:]
    return tuple(suspect for suspect in found if suspect not in passed_over)[:_AT_ONCE]


def _homeless(seeds: Seeds, n_clusters: int | None) -> set[int]:
    """Return images, one of each group, that are in none of all groups there may be."""
    return {int(m[0]) for m, excluded in seeds.unsettled if len(excluded) == n_clusters}


def _odds(chance: float) -> float:
    return chance / max(1 - chance, 1e-12)


def _chance(odds: float) -> float:
    return odds / (1 + odds)


def _what_put_it_there(image: int, seeds: Seeds, graph: ConstraintGraph) -> tuple[Constraint, ...]:
    """Return the shortest chain to another image of its group, else to another group.

    What puts an image that stands for its group there is what holds the groups apart.
    """
    others = list(seeds.representatives)
    if image not in others and seeds.classes[image] >= 0:
        others += np.flatnonzero(seeds.classes == seeds.classes[image])[:_FELLOWS].tolist()
    chains = (graph.proof(image, other) for other in others if other != image)
    return min((chain for chain in chains if chain), key=len, default=())


def blamed(graph: ConstraintGraph) -> int | None:
    """Return the answer that very many contradictions have in common; None if there is none.

    If the first two images are called different and are not, every image of the true second
    group is then set aside. One in five of all answers must rest on the one that is blamed.
    """
    proofs = graph.conflicts.values()
    votes = Counter(number for proof in proofs for number in {f.answer_id for f in proof})
    number, n_votes = max(votes.items(), key=lambda vote: vote[1], default=(0, 0))
    return number if n_votes >= max(_VOTES, _SHARE * len(graph.answers)) else None


def at_fault(suspect: Suspect, proof: tuple[Constraint, ...], seeds: Seeds) -> set[int]:
    """Return the answers that a reply which contradicts a suspect speaks against.

    Those that name the image; where the image stands for its group, those that
    hold the group apart from the one it turned out to be.
    """
    if suspect.image in seeds.representatives:
        return {fact.answer_id for fact in proof if fact.relation < 0}
    return {fact.answer_id for fact in proof if suspect.image in (fact.first, fact.second)}
