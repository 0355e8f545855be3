"""ONNX Runtime and plain torch return the same vectors, image by image."""

import numpy as np
import pytest

from likewise.embedding.bundled.encoder import InferenceNetwork, load_inference_network
from likewise.embedding.embeddings import n_threads
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from tests.embedding.torch_reference import reference_blocks


@pytest.fixture(scope="module")
def network() -> InferenceNetwork:
    return load_inference_network("lite0")


@pytest.fixture
def squares(images: list[Pixels]) -> Pixels:
    return np.stack([resize(image, 70) for image in images])  # odd sides after each halving


def test_blocks_agree_with_the_torch_reference(network: InferenceNetwork, squares: Pixels) -> None:
    ours, reference = network(squares), reference_blocks("lite0", squares)
    assert ours.keys() == {*reference, "parts"}
    for block, expected in reference.items():
        np.testing.assert_allclose(ours[block], expected, rtol=1e-3, atol=1e-3)
        assert ours[block].dtype == np.float32
        x, y = ours[block].astype(np.float64), expected.astype(np.float64)
        cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
        assert cosine.min() >= 0.9999


def test_an_image_gets_the_same_vector_in_any_batch(
    network: InferenceNetwork, squares: Pixels
) -> None:
    together = network(np.concatenate([squares] * 3))
    for i in range(len(squares)):
        alone = network(squares[i : i + 1])
        for block, vectors in together.items():
            np.testing.assert_array_equal(vectors[i], alone[block][0])


def test_the_network_is_built_once_per_process() -> None:
    assert load_inference_network("lite0") is load_inference_network("lite0")


@pytest.mark.parametrize(("value", "n"), [("1", 1), ("3", 3), ("2,1", 2)])
def test_omp_num_threads_sets_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, value: str, n: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert n_threads() == n


@pytest.mark.parametrize("value", ["", "0", "-1", "many"])
def test_without_a_valid_setting_all_cores_are_used(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert n_threads() >= 1
