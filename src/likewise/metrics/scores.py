"""All scores of a clustering at once."""

from dataclasses import asdict, dataclass

from likewise.metrics.contingency import Labels, contingency
from likewise.metrics.information import nmi_of
from likewise.metrics.matching import accuracy_of
from likewise.metrics.pairs import ari_of, fowlkes_mallows_of, pairwise_f1_of
from likewise.metrics.purity import purity_of


@dataclass(frozen=True)
class Scores:
    """How well a clustering agrees with the truth; 1 is perfect in each."""

    nmi: float
    ari: float
    acc: float
    fmi: float
    pair_f1: float
    purity: float

    def as_dict(self) -> dict[str, float]:
        """Return the scores by name, in a fixed order."""
        return asdict(self)


def score(truth: Labels, found: Labels) -> Scores:
    """Return all scores of `found` against `truth`.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)
        Integers, strings, or anything hashable; their names do not matter.

    Examples
    --------
    >>> score([0, 0, 1, 1], ["b", "b", "a", "a"]).acc
    1.0
    """
    table = contingency(truth, found)
    return Scores(
        nmi=nmi_of(table),
        ari=ari_of(table),
        acc=accuracy_of(table),
        fmi=fowlkes_mallows_of(table),
        pair_f1=pairwise_f1_of(table),
        purity=purity_of(table),
    )
