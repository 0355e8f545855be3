import pytest

from likewise.encoders.registry import make_encoder
from likewise.errors import InvalidParameterError
from likewise.estimators.params import DEFAULT_BACKBONE
from likewise.estimators.registry import from_scratch, make_method, with_encoder


def test_an_encoder_replaces_the_backbone_of_a_preset() -> None:
    model = with_encoder(make_method("cc", 2, preset="paper"), "bundled")
    assert model.get_params()["backbone"] is None


def test_the_bundled_encoder_is_stored_by_its_full_name() -> None:
    name = with_encoder(make_method("cc", 2), "bundled").get_params()["encoder"]
    assert name != "bundled"
    assert make_encoder(name).name == make_encoder("bundled").name == name
    assert (
        with_encoder(make_method("cc", 2), "hf:some/model").get_params()["encoder"]
        == "hf:some/model"
    )


def test_from_scratch_trains_the_backbone_of_the_preset_or_a_small_one() -> None:
    assert from_scratch(make_method("cc", 2, preset="paper")).get_params()["backbone"] == "resnet34"
    assert from_scratch(make_method("cc", 2)).get_params()["backbone"] == DEFAULT_BACKBONE


def test_a_method_without_a_network_cannot_be_trained_on_images() -> None:
    with pytest.raises(InvalidParameterError, match="KMeans works on vectors and cannot be tr"):
        from_scratch(make_method("kmeans", 2))
