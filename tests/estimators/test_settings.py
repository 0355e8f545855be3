from typing import Any, ClassVar

import pytest

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.kmeans import KMeans
from likewise.estimators.params import (
    NetworkConfig,
    TrainingPlan,
    known_settings,
    parse_settings,
    parse_value,
)
from likewise.estimators.registry import make_method


class Preset:
    """A class with parameters only."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "plan": TrainingPlan(batch_size=128, clip_norm=20.0),
            "backbone": "resnet34",
            "lam": 0.5,
        }
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        extend: bool = False,
        backbone: str | None = None,
        size: str = "own",
        plan: TrainingPlan | None = None,
        architecture: NetworkConfig | None = None,
    ) -> None: ...


def test_a_key_is_looked_up_in_the_constructor_then_the_plan_then_the_network_configuration() -> (
    None
):
    chosen = parse_settings(Preset, None, {"size": "x", "batch_size": "64", "n_hidden": "32"})
    assert chosen["size"] == "x"  # the constructor's own, though Architecture has a size too
    assert chosen["plan"] == TrainingPlan(batch_size=64)
    assert chosen["architecture"] == NetworkConfig(n_hidden=32)


def test_settings_change_single_fields_of_the_presets_plan() -> None:
    chosen = parse_settings(Preset, "paper", {"epochs_per_round": "3", "batch_size": "2"})
    assert chosen["plan"] == TrainingPlan(batch_size=2, clip_norm=20.0, epochs_per_round=3)
    assert chosen["lam"] == 0.5


def test_a_setting_overrides_the_preset() -> None:
    chosen = parse_settings(
        Preset, "paper", {"backbone": "none", "clip_norm": "none", "lam": "1.0"}
    )
    assert chosen["backbone"] is None
    assert chosen["plan"].clip_norm is None
    assert chosen["lam"] == 1.0
    # ... also in the estimator made of it, whose own presets fill whatever is at its default.
    made = make_method("cc", 2, preset="paper", settings={"backbone": "none"})
    assert made.get_params()["backbone"] is None


@pytest.mark.parametrize(
    ("text", "present", "default", "value"),
    [
        ("64", 256, 256, 64),
        ("1e3", 256, 256, 1000),
        ("3e-4", 0.1, 0.1, 3e-4),
        ("1", 0.1, 0.1, 1.0),
        ("True", False, False, True),
        ("false", True, True, False),
        ("none", 20.0, None, None),
        ("none", "two", "two", "none"),
        ("none", None, None, None),
        ("5", None, None, 5),
        ("0.5", None, None, 0.5),
        ("true", None, None, True),
        ("resnet18", None, None, "resnet18"),
    ],
)
def test_a_string_is_converted_to_the_type_of_the_value_it_replaces(
    text: str, present: object, default: object, value: object
) -> None:
    found = parse_value("key", text, present, default=default)
    assert found == value
    assert type(found) is type(value)


def test_a_value_that_is_not_a_string_is_unchanged() -> None:
    assert parse_value("kinds", ("pair",), None, default=None) == ("pair",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": "many"}, r"batch_size must be an integer \(currently 256\), got 'many'"),
        ({"batch_size": "1.5"}, r"batch_size must be an integer .*, got '1.5'"),
        ({"learning_rate": "fast"}, r"learning_rate must be a number .*, got 'fast'"),
        ({"learning_rate": "none"}, r"learning_rate must be a number .*, got 'none'"),
        ({"extend": "maybe"}, "extend must be true or false .*, got 'maybe'"),
        ({"n_clusters": "3"}, "'n_clusters' cannot be set directly; use -k"),
        ({"plan": "x"}, "'plan' cannot be set directly; set one of its fields"),
        ({"batch_size": "0"}, "TrainingPlan: batch_size must be at least 1, got 0"),
    ],
)
def test_an_invalid_value_raises_an_error(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        parse_settings(Preset, None, settings)


@pytest.mark.parametrize(
    ("key", "near"),
    [("temprature", ""), ("batchsize", "batch_size"), ("n_hiden", "n_hidden"), ("lamb", "lam")],
)
def test_an_unknown_key_raises_an_error_with_the_nearest_name(key: str, near: str) -> None:
    hint = f"did you mean '{near}'" if near else "is not a known setting of Preset"
    with pytest.raises(UnknownNameError, match=hint):
        parse_settings(Preset, None, {key: "1"})


def test_a_method_without_a_plan_accepts_no_field_of_one() -> None:
    with pytest.raises(UnknownNameError, match=r"setting of KMeans.*encoder, n_init\."):
        parse_settings(KMeans, None, {"batch_size": "64"})


def test_an_unknown_preset_raises_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="'papre' is not a known preset of CC; did you mean"):
        parse_settings(CC, "papre", {})


def test_known_settings_are_those_that_are_accepted() -> None:
    known = known_settings(CC)
    assert {"heads", "batch_size", "n_hidden", "feature_noise"} <= set(known)
    assert not {"plan", "n_clusters", "random_state", "preset"} & set(known)
