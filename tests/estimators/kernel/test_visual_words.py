"""Visual words: equal to a loop over patches, independent of other images, and useful."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from likewise import LabelOracle, Likewise
from likewise.embedding.embeddings import Embeddings, LocalFeatures, quantize
from likewise.errors import InvalidParameterError
from likewise.estimators.kernel.features import VisualWords
from likewise.metrics import accuracy
from likewise.random_streams import stream

Floats = npt.NDArray[np.float32]
N_PATCHES, DEPTH = 12, 4


def as_patches(vectors: Floats) -> LocalFeatures:
    rows = quantize(vectors.reshape(len(vectors), -1))
    return LocalFeatures(rows, {"parts": vectors.shape[1:]}, np.arange(len(vectors)))


def with_a_symbol(n: int, seed: int = 0) -> tuple[LocalFeatures, npt.NDArray[np.intp]]:
    """Return images of noise with one patch, at a random position, that shows their group."""
    rng = stream(seed, "symbols")
    truth = rng.integers(0, 3, n)
    symbols = 6 * np.eye(DEPTH)[:3]
    vectors = rng.normal(size=(n, N_PATCHES, DEPTH))
    vectors[np.arange(n), rng.integers(0, N_PATCHES, n)] = symbols[truth]
    return as_patches(vectors.astype(np.float32)), truth


def test_histograms_equal_a_loop_over_patches_and_words() -> None:
    patches, _ = with_a_symbol(40)
    visual_words = VisualWords(5, seed=0).fit(patches)
    found = visual_words.transform(patches)["visual words of parts"]
    a = {name: array.astype(float) for name, array in visual_words.state.items()}
    words, mean_distance = a["parts.codebook"], float(a["parts.mean_distance"])
    assert words.shape == (5, DEPTH)
    for image in range(3):
        expected = np.zeros(5)
        for patch in patches.read("parts", slice(image, image + 1))[0]:
            x = (patch - a["parts.mean"]) * a["parts.scale"]
            near = [np.exp(-((x - word) ** 2).sum() / (0.1 * mean_distance)) for word in words]
            expected += np.array(near) / sum(near) / N_PATCHES
        np.testing.assert_allclose(found[image], expected, atol=1e-4)


def test_a_small_collection_is_standardised_by_all_its_patches() -> None:
    vectors = stream(0, "scales").normal(1.0, [0.1, 1.0, 2.0, 0.0], (40, N_PATCHES, DEPTH))
    patches = as_patches(vectors.astype(np.float32))
    arrays = VisualWords(5, seed=0).fit(patches).state
    kept = patches.read("parts", slice(0, 40)).reshape(-1, DEPTH)
    np.testing.assert_allclose(arrays["parts.mean"], kept.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(arrays["parts.scale"][:3], 1 / kept.std(axis=0)[:3], rtol=1e-4)
    assert arrays["parts.scale"][3] == 0  # constant
    rows = (kept - arrays["parts.mean"]) * arrays["parts.scale"]
    away = ((rows[:, None] - arrays["parts.codebook"][None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(arrays["parts.mean_distance"], away.min(axis=1).mean(), rtol=1e-3)
    assert away.min(axis=1).mean() < 0.8 * (rows**2).sum(axis=1).mean()  # the words fit the rows


def test_a_histogram_does_not_depend_on_the_other_images() -> None:
    patches, _ = with_a_symbol(300)
    visual_words = VisualWords(8, seed=0).fit(patches)
    together = visual_words.transform(patches)["visual words of parts"]
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-5)
    for image in (0, 130, 299):
        alone = visual_words.transform(patches.take(np.array([image])))["visual words of parts"]
        np.testing.assert_allclose(alone[0], together[image], atol=1e-6)


def test_the_same_seed_gives_the_same_words() -> None:
    patches, _ = with_a_symbol(60)
    one, again, other = (VisualWords(6, seed=s).fit(patches).transform(patches) for s in (1, 1, 2))
    np.testing.assert_array_equal(one["visual words of parts"], again["visual words of parts"])
    assert np.abs(one["visual words of parts"] - other["visual words of parts"]).max() > 1e-3


@pytest.mark.parametrize("n_words", [0, 16])
def test_there_are_no_words_without_patches_or_for_equal_patches(n_words: int) -> None:
    alike = as_patches(np.ones((9, N_PATCHES, DEPTH), np.float32))
    for patches in (None, alike):
        assert VisualWords(n_words, seed=0).fit(patches).transform(patches) == {}


def test_zero_words_turn_visual_words_off() -> None:
    patches, _ = with_a_symbol(30)
    assert VisualWords(0, seed=0).fit(patches).transform(patches) == {}


def test_few_different_patches_give_few_words() -> None:
    vectors = stream(0, "three").integers(0, 2, (20, N_PATCHES, 2)).astype(np.float32)
    visual_words = VisualWords(64, seed=0).fit(as_patches(vectors))
    assert visual_words.transform(as_patches(vectors))["visual words of parts"].shape == (
        20,
        2,
    )  # four vectors, two words


@pytest.mark.parametrize("n_words", [1, -3])
def test_an_invalid_number_of_words_is_refused(n_words: int) -> None:
    with pytest.raises(InvalidParameterError, match=rf"0 \(off\) or at least 2, got {n_words}"):
        VisualWords(n_words, seed=0)


def embeddings(n: int = 240) -> tuple[Embeddings, npt.NDArray[np.intp]]:
    patches, truth = with_a_symbol(n)
    noise = stream(1, "noise").normal(size=(n, 10)).astype(np.float32)
    return Embeddings({"last": noise}, local_features=patches), truth


def test_likewise_finds_what_only_one_patch_shows() -> None:
    X, truth = embeddings()

    def found(n_words: int) -> float:
        model = Likewise(n_clusters=3, n_visual_words=n_words, random_state=0)
        return accuracy(truth, model.fit(X, oracle=LabelOracle(truth), n_questions=60).labels_)

    assert found(16) > 0.85
    assert found(0) < 0.7


def test_a_loaded_model_uses_the_same_visual_words(tmp_path: Path) -> None:
    X, truth = embeddings()
    model = Likewise(n_clusters=3, n_visual_words=16, random_state=0)
    model.fit(X.take(np.arange(200)), oracle=LabelOracle(truth[:200]), n_questions=40)
    new = X.take(np.arange(200, 240))
    model.save(tmp_path / "m.likewise-model")
    again = Likewise.load(tmp_path / "m.likewise-model")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_a_model_with_visual_words_refuses_plain_vectors() -> None:
    X, truth = embeddings(60)
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(truth), n_questions=10)
    with pytest.raises(
        InvalidParameterError, match=r"trained on images with patch vectors.* pass images, or"
    ):
        model.predict(X.matrix())
