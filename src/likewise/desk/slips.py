"""Which of several answers that cannot all be right is most likely the slip."""

from collections.abc import Mapping, Sequence

from likewise.constraints.question import DIFFERENT, NEW, NONE, SAME
from likewise.session.log import Entry
from likewise.session.results import Results


def likely_slip(
    entries: Sequence[Entry], results: Results | None, positions: Mapping[str, int]
) -> int | None:
    """Return the number of the answer that the model believes least; None if it knows nothing.

    Parameters
    ----------
    entries : sequence of Entry
        Answers on one cycle.
    results : Results, optional
    positions : mapping of str to int
        From content hash to position.
    """
    if results is None or not results.n_answers or not entries:
        return None
    doubts = {entry.id: doubt(entry, results, positions) for entry in entries}
    return max(doubts, key=doubts.__getitem__)


def doubt(entry: Entry, results: Results, positions: Mapping[str, int]) -> float:
    r"""Return the chance, by the model, that what an answer says is not so.

    Two pictures are the same with the chance that both are drawn from one group,
    :math:`\sum_k p_{ik} p_{jk}`.
    """
    if any(content not in positions for content in entry.images):
        return 0.0
    rows = results.probabilities[[positions[content] for content in entry.images]]
    same = (rows[:1] * rows[1:]).sum(axis=1)  # the first picture with each of the others
    if entry.answer == SAME:
        return float(1 - same[0])
    if entry.answer in (DIFFERENT, NONE, NEW):
        return float(same.max())
    if entry.group in entry.groups:
        return float(1 - same[entry.groups.index(entry.group)])
    return 0.0
