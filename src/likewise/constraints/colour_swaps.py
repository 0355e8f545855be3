"""A larger sum of scores, swap by swap, without a new clash."""

from likewise.constraints.colour_search import Neighbours, Scores

MAX_SWEEPS = 20
MAX_STEPS = 1_000_000  # neighbours looked at: about a tenth of a second
LEAST_GAIN = 1e-9


def swap_for_gain(colours: list[int], scores: Scores, neighbours: Neighbours) -> list[int]:
    """Swap two colours along chains of neighbours while the sum of scores grows.

    A swap of all groups of two colours that hang together (a Kempe chain) makes
    no new clash. A chain may be a single group.
    """
    swapped, n_steps = colours.copy(), 0
    for _ in range(MAX_SWEEPS):
        before = swapped.copy()
        for group, row in enumerate(scores):
            wished = [other for other in range(len(row)) if row[other] > row[swapped[group]]]
            for other in sorted(wished, key=row.__getitem__, reverse=True):
                chain = _chain(swapped, group, other, neighbours)
                n_steps += sum(len(neighbours[g]) for g in chain)
                if _swap_if_better(swapped, chain, other, scores):
                    break
            if n_steps > MAX_STEPS:
                return swapped
        if swapped == before:
            break
    return swapped


def _chain(colours: list[int], start: int, wanted: int, neighbours: Neighbours) -> list[int]:
    """Return the groups that hang together with `start` by its colour and `wanted`."""
    two = (colours[start], wanted)
    chain, seen = [start], {start}
    for group in chain:  # grows as we go
        new = [o for o in neighbours[group] if colours[o] in two and o not in seen]
        seen.update(new)
        chain += new
    return chain


def _swap_if_better(colours: list[int], chain: list[int], wanted: int, scores: Scores) -> bool:
    """Swap the two colours of a chain if that gains something; say whether."""
    turned = {colours[chain[0]]: wanted, wanted: colours[chain[0]]}
    gain = sum(scores[g][turned[colours[g]]] - scores[g][colours[g]] for g in chain)
    if gain <= LEAST_GAIN:
        return False
    for group in chain:
        colours[group] = turned[colours[group]]
    return True
