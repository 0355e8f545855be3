import numpy as np
import pytest

from likewise.queries import similarity
from likewise.queries.similarity import products
from likewise.seeds import stream


@pytest.mark.parametrize("m", [0, 5, 400])  # few pairs go row by row, many through the table
@pytest.mark.parametrize("small", [0, 10_000])  # of which a large one is a matrix product
def test_products_are_those_of_the_rows(
    m: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "_ROWS", 2)  # several parts, and an incomplete last one
    monkeypatch.setattr(similarity, "_SMALL", small)
    rng = stream(0)
    left, right = rng.normal(size=(9, 3)), rng.normal(size=(7, 3))
    rows, columns = rng.integers(9, size=m), rng.integers(7, size=m)
    expected = [sum(left[i] * right[j]) for i, j in zip(rows, columns, strict=True)]
    np.testing.assert_allclose(products(left, rows, right, columns), expected, atol=1e-12)


def test_scores_are_double_precision_whatever_the_embeddings() -> None:
    rows = np.ones((3, 2), dtype=np.float32)
    for m in (1, 50):
        some = np.zeros(m, dtype=np.intp)
        assert products(rows, some, rows, some).dtype == np.float64
