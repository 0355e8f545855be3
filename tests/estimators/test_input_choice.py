import pytest

from likewise.encoders.registry import make_encoder
from likewise.errors import InvalidParameterError
from likewise.estimators.params import DEFAULT_BACKBONE
from likewise.estimators.registry import from_scratch, make_method, with_encoder


def test_on_vectors_no_preset_brings_a_network() -> None:
    model = with_encoder(make_method("cc", 2, preset="paper"), "bundled")
    assert model.get_params()["backbone"] is None


def test_a_model_remembers_which_encoder_was_the_bundled_one() -> None:
    name = with_encoder(make_method("cc", 2), "bundled").get_params()["encoder"]
    assert name != "bundled"
    assert make_encoder(name).name == make_encoder("bundled").name == name
    assert (
        with_encoder(make_method("cc", 2), "hf:some/model").get_params()["encoder"]
        == "hf:some/model"
    )


def test_on_pictures_the_presets_network_is_trained_or_a_small_one() -> None:
    assert from_scratch(make_method("cc", 2, preset="paper")).get_params()["backbone"] == "resnet34"
    assert from_scratch(make_method("cc", 2)).get_params()["backbone"] == DEFAULT_BACKBONE


def test_a_method_of_vectors_refuses_pictures() -> None:
    with pytest.raises(InvalidParameterError, match="KMeans works on vectors and trains no netw"):
        from_scratch(make_method("kmeans", 2))
