"""Every score compared with loops and scikit-learn, and under renaming."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.metrics.cluster import contingency_matrix

from likewise.metrics import accuracy, ari, fowlkes_mallows, nmi, pairwise_f1, purity, score
from likewise.random_streams import stream

Score = Callable[[Sequence[int], Sequence[int]], float]


def naive_accuracy(truth: Sequence[int], found: Sequence[int]) -> float:
    """Try every one-to-one naming, with blank names for clusters that get none."""
    clusters = sorted(set(found))
    names: list[int | None] = [*sorted(set(truth)), *([None] * len(clusters))]
    best = 0
    for chosen in itertools.permutations(names, len(clusters)):
        naming = dict(zip(clusters, chosen, strict=True))
        best = max(best, sum(naming[f] == t for t, f in zip(truth, found, strict=True)))
    return best / len(truth)


def naive_nmi(truth: Sequence[int], found: Sequence[int]) -> float:
    n, both = len(truth), Counter(zip(truth, found, strict=True))
    in_truth, as_found = Counter(truth), Counter(found)
    mutual = sum(m / n * math.log(n * m / in_truth[t] / as_found[f]) for (t, f), m in both.items())
    entropies = [-sum(m / n * math.log(m / n) for m in c.values()) for c in (in_truth, as_found)]
    return 2 * mutual / sum(entropies) if sum(entropies) else 1.0


def naive_pairs(truth: Sequence[int], found: Sequence[int]) -> tuple[int, int, int, int]:
    """Return pairs together in both, in truth only, as found only, apart in both."""
    kinds: Counter[tuple[bool, bool]] = Counter()
    for i, j in itertools.combinations(range(len(truth)), 2):
        kinds[truth[i] == truth[j], found[i] == found[j]] += 1
    return kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False]


def naive_ari(truth: Sequence[int], found: Sequence[int]) -> float:
    """(index - expected) / (greatest - expected), Hubert and Arabie's way to write it."""
    a, b, c, d = naive_pairs(truth, found)
    if b == c == 0:
        return 1.0
    expected = (a + b) * (a + c) / (a + b + c + d)
    return (a - expected) / ((a + b + a + c) / 2 - expected)


def naive_fmi(truth: Sequence[int], found: Sequence[int]) -> float:
    a, b, c, _ = naive_pairs(truth, found)
    return a / math.sqrt((a + b) * (a + c)) if a else 0.0


def naive_pairwise_f1(truth: Sequence[int], found: Sequence[int]) -> float:
    a, b, c, _ = naive_pairs(truth, found)
    if not a:
        return 0.0
    precision, recall = a / (a + c), a / (a + b)
    return 2 * precision * recall / (precision + recall)


def naive_purity(truth: Sequence[int], found: Sequence[int]) -> float:
    total = 0
    for cluster in set(found):
        inside = [t for t, f in zip(truth, found, strict=True) if f == cluster]
        total += Counter(inside).most_common(1)[0][1]
    return total / len(truth)


NAIVE: dict[Score, Score] = {
    accuracy: naive_accuracy,
    nmi: naive_nmi,
    ari: naive_ari,
    fowlkes_mallows: naive_fmi,
    pairwise_f1: naive_pairwise_f1,
    purity: naive_purity,
}
two_labellings = st.integers(1, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)
every_score = pytest.mark.parametrize("ours", NAIVE, ids=lambda f: f.__name__)


@every_score
@settings(deadline=None)  # two cores, many workers
@given(labels=two_labellings)
def test_agrees_with_the_loops(ours: Score, labels: tuple[list[int], list[int]]) -> None:
    truth, found = labels
    assert ours(truth, found) == pytest.approx(NAIVE[ours](truth, found), abs=1e-12)


@every_score
@settings(deadline=None)  # two cores, many workers
@given(labels=two_labellings, names=st.permutations("abcd"), data=st.data())
def test_does_not_depend_on_the_names_of_groups(
    ours: Score, labels: tuple[list[int], list[int]], names: list[str], data: st.DataObject
) -> None:
    truth, found = labels
    others = data.draw(st.permutations([(0, "x"), None, -7, "0"]))
    renamed = ours([names[t] for t in truth], [others[f] for f in found])  # type: ignore[misc]  # any hashable is a label
    assert renamed == pytest.approx(ours(truth, found), abs=1e-12)


@every_score
@settings(deadline=None)  # two cores, many workers
@given(labels=two_labellings, data=st.data())
def test_does_not_depend_on_the_order_of_images(
    ours: Score, labels: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    truth, found = labels
    order = data.draw(st.permutations(range(len(truth))))
    shuffled = ours([truth[i] for i in order], [found[i] for i in order])
    assert shuffled == pytest.approx(ours(truth, found), abs=1e-12)


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(2, 2), (10, 10), (10, 3), (3, 40), (5, 1)])
def test_agrees_with_scikit_learn(n_classes: int, n_clusters: int) -> None:
    rng = stream(0, "labels", n_classes, n_clusters)
    truth = rng.integers(n_classes, size=3000)
    found = np.where(rng.random(3000) < 0.5, truth, rng.integers(40, size=3000)) % n_clusters
    ours = score(truth, found)
    assert ours.nmi == pytest.approx(
        sklearn_metrics.normalized_mutual_info_score(truth, found), abs=1e-12
    )
    assert ours.ari == pytest.approx(sklearn_metrics.adjusted_rand_score(truth, found), abs=1e-12)
    assert ours.fmi == pytest.approx(sklearn_metrics.fowlkes_mallows_score(truth, found), abs=1e-12)
    assert ours.purity == contingency_matrix(truth, found).max(axis=0).sum() / 3000
    pairs = np.triu_indices(300, 1)
    together = [(labels[:300, None] == labels[:300])[pairs] for labels in (truth, found)]
    assert pairwise_f1(truth[:300], found[:300]) == pytest.approx(
        sklearn_metrics.f1_score(*together), abs=1e-12
    )
