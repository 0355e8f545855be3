"""Colours made better step by step: fewer clashes first, then a larger sum of scores."""

from likewise.constraints.colour_search import Neighbours, Scores

MAX_SWEEPS = 20
LEAST_GAIN = 1e-9


def mend(colours: list[int], scores: Scores, neighbours: Neighbours) -> list[int]:
    """Recolour groups that clash where this leaves fewer clashes, until nothing helps."""
    mended = colours.copy()
    for _ in range(MAX_SWEEPS):
        is_changed = False
        for group, row in enumerate(scores):
            taken = [mended[other] for other in neighbours[group]]
            now = taken.count(mended[group])
            if now:
                best = min(range(len(row)), key=lambda c: (taken.count(c), -row[c]))
                if taken.count(best) < now:
                    mended[group], is_changed = best, True
        if not is_changed:
            break
    return mended


def swap_for_gain(colours: list[int], scores: Scores, neighbours: Neighbours) -> list[int]:
    """Swap two colours along chains of neighbours while the sum of scores grows.

    A swap of all groups of two colours that hang together (a Kempe chain) makes
    no new clash. A chain may be a single group.
    """
    swapped = colours.copy()
    for _ in range(MAX_SWEEPS):
        is_changed = False
        for group, row in enumerate(scores):
            wished = [other for other in range(len(row)) if row[other] > row[swapped[group]]]
            for other in sorted(wished, key=row.__getitem__, reverse=True):
                if _swap(swapped, group, other, scores, neighbours):
                    is_changed = True
                    break
        if not is_changed:
            break
    return swapped


def _swap(
    colours: list[int], start: int, wanted: int, scores: Scores, neighbours: Neighbours
) -> bool:
    """Swap the colour of `start` and `wanted` along their chain if that gains; say whether."""
    turned = {colours[start]: wanted, wanted: colours[start]}
    chain, seen = [start], {start}
    for group in chain:  # grows as we go
        new = [o for o in neighbours[group] if colours[o] in turned and o not in seen]
        seen.update(new)
        chain += new
    gain = sum(scores[g][turned[colours[g]]] - scores[g][colours[g]] for g in chain)
    if gain <= LEAST_GAIN:
        return False
    for group in chain:
        colours[group] = turned[colours[group]]
    return True
