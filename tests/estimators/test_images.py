"""Estimators fitted to images: names of labels, unreadable files, cached embeddings."""

from pathlib import Path

import numpy as np
import pytest
from torch import nn

from likewise import Likewise
from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.torch_encoder import module_encoder
from likewise.errors import CollectionError, InvalidParameterError, LikewiseWarning
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.pcl import PCL
from likewise.estimators.kmeans import KMeans
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.images.files import read_folder
from tests.estimators.deep.batches import learner_of
from tests.workspace.images import paint_folder


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    return paint_folder(tmp_path / "photos")


def test_every_label_has_the_name_of_its_image(photos: Path, tmp_path: Path) -> None:
    model = KMeans(n_clusters=2, random_state=0).fit(photos)
    assert model.image_names_ == sorted(path.name for path in photos.iterdir())
    reds = {
        "red" in name
        for name, label in zip(model.image_names_, model.labels_, strict=True)
        if label == 0
    }
    assert len(reds) == 1
    model.save(tmp_path / "m.likewise-model")
    assert KMeans.load(tmp_path / "m.likewise-model").image_names_ == model.image_names_
    model.predict(photos.parent / "photos")
    model.fit(np.eye(4, dtype=np.float32))
    assert not hasattr(model, "image_names_")


@pytest.mark.parametrize("backbone", [None, "resnet18:width=4"])
def test_an_unreadable_image_is_skipped_with_a_warning(photos: Path, backbone: str | None) -> None:
    (photos / "03blue.png").write_bytes(b"no picture")
    method = CC(n_clusters=2, backbone=backbone, plan=TrainingPlan(n_rounds=1, epochs_per_round=1))
    with pytest.warns(LikewiseWarning, match="03blue.png"):
        method.fit(photos)
    assert "03blue.png" not in method.image_names_
    assert len(method.labels_) == len(method.image_names_) == 11
    KMeans(n_clusters=2).fit(read_folder(photos))  # who read it knows what was left out


def test_images_are_embedded_once(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Likewise(n_clusters=2, random_state=0).fit(photos)
    monkeypatch.setattr(BundledEncoder, "encode", lambda *_: pytest.fail("embedded again"))
    again = Likewise(n_clusters=2, random_state=0).fit(photos)
    np.testing.assert_array_equal(first.probabilities_, again.probabilities_)


def test_embeddings_of_encoder_objects_are_not_cached(photos: Path, tmp_path: Path) -> None:
    one, other = (
        module_encoder(
            nn.Sequential(nn.AdaptiveAvgPool2d(side), nn.Flatten()), name="mine", size=32
        )
        for side in (1, 2)
    )
    widths = {KMeans(n_clusters=2, encoder=e).fit(photos).n_features_in_ for e in (one, other)}
    assert widths == {3, 12}
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_ignored(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(photos / "00red.png" / "cache"))
    assert len(KMeans(n_clusters=2).fit(photos).labels_) == 12


SMALL = NetworkConfig(size=16, n_hidden=16, n_projection=8)
ONE = TrainingPlan(n_rounds=1, epochs_per_round=1, batch_size=6)


def test_a_deep_method_trains_its_default_backbone_on_images(photos: Path) -> None:
    model = PCL(n_clusters=2, architecture=SMALL, plan=ONE, random_state=0).fit(photos)
    assert model._data.n_columns is None
    assert sum(isinstance(m, nn.Conv2d) for m in learner_of(model).network.modules()) == 20
    assert model.predict(photos).shape == (12,)


def test_a_deep_method_embeds_images_if_an_encoder_is_given(photos: Path) -> None:
    model = CC(n_clusters=2, encoder="bundled", architecture=SMALL, plan=ONE).fit(photos)
    assert model._data.n_columns is not None
    assert model.predict(photos).shape == (12,)


def test_a_deep_method_trains_on_given_vectors() -> None:
    X = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    model = CC(n_clusters=2, architecture=SMALL, plan=ONE).fit(X)
    assert model.n_features_in_ == 5


def test_images_cannot_be_predicted_by_a_model_of_vectors_nor_the_reverse(photos: Path) -> None:
    X = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    of_vectors = CC(n_clusters=2, architecture=SMALL, plan=ONE).fit(X)
    with pytest.raises(InvalidParameterError, match=r"fitted to vectors, got images; .*encoder="):
        of_vectors.predict(photos)
    of_images = CC(n_clusters=2, architecture=SMALL, plan=ONE).fit(photos)
    with pytest.raises(InvalidParameterError, match="fitted to images, got vectors; give images"):
        of_images.predict(X)


def test_an_empty_list_is_refused_as_such() -> None:
    with pytest.raises(CollectionError, match="list of images is empty; give at least one"):
        Likewise(n_clusters=2).fit([])
