"""Words of a collection's own: as loops count them, of no other image, and worth having."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from likewise import LabelOracle, Likewise
from likewise.encoders.embeddings import Embeddings
from likewise.encoders.places import Places, to_bytes
from likewise.errors import InvalidParameterError
from likewise.estimators.kernel.visual_words import VisualWords
from likewise.metrics import accuracy
from likewise.seeds import stream

Floats = npt.NDArray[np.float32]
N_PLACES, DEPTH = 12, 4


def as_places(vectors: Floats) -> Places:
    rows = to_bytes(vectors.reshape(len(vectors), -1))
    return Places(rows, {"parts": vectors.shape[1:]}, np.arange(len(vectors)))


def with_a_symbol(n: int, seed: int = 0) -> tuple[Places, npt.NDArray[np.intp]]:
    """Return images that are noise but for one place, anywhere, which shows their group."""
    rng = stream(seed, "symbols")
    truth = rng.integers(0, 3, n)
    symbols = 6 * np.eye(DEPTH)[:3]
    vectors = rng.normal(size=(n, N_PLACES, DEPTH))
    vectors[np.arange(n), rng.integers(0, N_PLACES, n)] = symbols[truth]
    return as_places(vectors.astype(np.float32)), truth


def test_shares_equal_a_loop_over_places_and_words() -> None:
    places, _ = with_a_symbol(40)
    vocabulary = VisualWords(5, seed=0).fit(places)
    found = vocabulary(places)["own parts"]
    a = {name: array.astype(float) for name, array in vocabulary.arrays.items()}
    words, usual = a["parts.words"], float(a["parts.usual"])
    assert words.shape == (5, DEPTH)
    for image in range(3):
        expected = np.zeros(5)
        for place in places.read("parts", slice(image, image + 1))[0]:
            x = (place - a["parts.mean"]) * a["parts.scale"]
            near = [np.exp(-((x - word) ** 2).sum() / (0.1 * usual)) for word in words]
            expected += np.array(near) / sum(near) / N_PLACES
        np.testing.assert_allclose(found[image], expected, atol=1e-4)


def test_a_small_collection_is_standardised_by_all_its_places() -> None:
    vectors = stream(0, "scales").normal(1.0, [0.1, 1.0, 2.0, 0.0], (40, N_PLACES, DEPTH))
    places = as_places(vectors.astype(np.float32))
    arrays = VisualWords(5, seed=0).fit(places).arrays
    kept = places.read("parts", slice(0, 40)).reshape(-1, DEPTH)
    np.testing.assert_allclose(arrays["parts.mean"], kept.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(arrays["parts.scale"][:3], 1 / kept.std(axis=0)[:3], rtol=1e-4)
    assert arrays["parts.scale"][3] == 0  # says nothing
    rows = (kept - arrays["parts.mean"]) * arrays["parts.scale"]
    away = ((rows[:, None] - arrays["parts.words"][None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(arrays["parts.usual"], away.min(axis=1).mean(), rtol=1e-3)
    assert away.min(axis=1).mean() < 0.8 * (rows**2).sum(axis=1).mean()  # words are where rows are


def test_an_image_has_the_same_words_in_any_company() -> None:
    places, _ = with_a_symbol(300)
    vocabulary = VisualWords(8, seed=0).fit(places)
    together = vocabulary(places)["own parts"]
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-5)
    for image in (0, 130, 299):
        alone = vocabulary(places.take(np.array([image])))["own parts"]
        np.testing.assert_allclose(alone[0], together[image], atol=1e-6)


def test_the_same_seed_finds_the_same_words() -> None:
    places, _ = with_a_symbol(60)
    one, again, other = (VisualWords(6, seed=s).fit(places)(places) for s in (1, 1, 2))
    np.testing.assert_array_equal(one["own parts"], again["own parts"])
    assert np.abs(one["own parts"] - other["own parts"]).max() > 1e-3


@pytest.mark.parametrize("n_words", [0, 16])
def test_nothing_is_read_where_there_is_nothing(n_words: int) -> None:
    alike = as_places(np.ones((9, N_PLACES, DEPTH), np.float32))
    for places in (None, alike):
        assert VisualWords(n_words, seed=0).fit(places)(places) == {}


def test_zero_words_leave_places_alone() -> None:
    places, _ = with_a_symbol(30)
    assert VisualWords(0, seed=0).fit(places)(places) == {}


def test_few_different_places_give_few_words() -> None:
    vectors = stream(0, "three").integers(0, 2, (20, N_PLACES, 2)).astype(np.float32)
    vocabulary = VisualWords(64, seed=0).fit(as_places(vectors))
    assert vocabulary(as_places(vectors))["own parts"].shape == (20, 2)  # four vectors, two words


@pytest.mark.parametrize("n_words", [1, -3])
def test_numbers_that_make_no_sense_are_refused(n_words: int) -> None:
    with pytest.raises(InvalidParameterError, match=rf"n_words={n_words} .* 2 or more, or 0"):
        VisualWords(n_words, seed=0)


def embeddings(n: int = 240) -> tuple[Embeddings, npt.NDArray[np.intp]]:
    places, truth = with_a_symbol(n)
    noise = stream(1, "noise").normal(size=(n, 10)).astype(np.float32)
    return Embeddings({"last": noise}, places=places), truth


def test_likewise_finds_what_only_a_place_shows() -> None:
    X, truth = embeddings()

    def found(n_words: int) -> float:
        model = Likewise(n_clusters=3, n_words=n_words, random_state=0)
        return accuracy(truth, model.fit(X, oracle=LabelOracle(truth), n_questions=60).labels_)

    assert found(16) > 0.85
    assert found(0) < 0.7


def test_a_saved_model_reads_places_as_before(tmp_path: Path) -> None:
    X, truth = embeddings()
    model = Likewise(n_clusters=3, n_words=16, random_state=0)
    model.fit(X.take(np.arange(200)), oracle=LabelOracle(truth[:200]), n_questions=40)
    new = X.take(np.arange(200, 240))
    model.save(tmp_path / "m.likewise-model")
    again = Likewise.load(tmp_path / "m.likewise-model")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_plain_vectors_are_not_enough_for_a_model_that_looks_at_places() -> None:
    X, truth = embeddings(60)
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(truth), n_questions=10)
    with pytest.raises(InvalidParameterError, match=r"looks at places.* give pictures, or"):
        model.predict(X.matrix())
