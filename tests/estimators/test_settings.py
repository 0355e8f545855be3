from typing import Any, ClassVar

import pytest
from likewise.estimators.kernel.likewise import Likewise

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.kmeans import KMeans
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.estimators.registry import make_method
from likewise.estimators.settings import known_settings, parse_settings, parse_value


class Preset:
    """A method that is nothing but parameters."""

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


def test_a_key_goes_to_the_constructor_then_to_the_plan_then_to_the_architecture() -> None:
    chosen = parse_settings(Preset, None, {"size": "x", "batch_size": "64", "n_hidden": "32"})
    assert chosen["size"] == "x"  # the constructor's own, though Architecture has a size too
    assert chosen["plan"] == TrainingPlan(batch_size=64)
    assert chosen["architecture"] == NetworkConfig(n_hidden=32)


def test_settings_change_the_presets_plan_and_leave_the_rest_of_it() -> None:
    chosen = parse_settings(Preset, "paper", {"epochs_per_round": "3", "batch_size": "2"})
    assert chosen["plan"] == TrainingPlan(batch_size=2, clip_norm=20.0, epochs_per_round=3)
    assert chosen["lam"] == 0.5


def test_a_setting_can_undo_what_a_preset_sets() -> None:
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
def test_a_word_is_read_as_what_it_replaces(
    text: str, present: object, default: object, value: object
) -> None:
    found = parse_value("key", text, present, default=default)
    assert found == value
    assert type(found) is type(value)


def test_a_value_that_is_no_word_stays_as_it_is() -> None:
    assert parse_value("kinds", ("pair",), None, default=None) == ("pair",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": "many"}, r"batch_size='many' is no whole number \(now 256\)"),
        ({"batch_size": "1.5"}, "batch_size='1.5' is no whole number"),
        ({"learning_rate": "fast"}, "learning_rate='fast' is no number"),
        ({"learning_rate": "none"}, "learning_rate='none' is no number"),
        ({"extend": "maybe"}, "extend='maybe' is no true or false"),
        ({"n_clusters": "3"}, "'n_clusters' is no setting; give -k"),
        ({"plan": "x"}, "'plan' is no setting; give its entries"),
        ({"batch_size": "0"}, "Plan: batch_size=0 must be at least 1"),
    ],
)
def test_a_value_that_cannot_be_is_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        parse_settings(Preset, None, settings)


@pytest.mark.parametrize(
    ("key", "near"),
    [("temprature", ""), ("batchsize", "batch_size"), ("n_hiden", "n_hidden"), ("lamb", "lam")],
)
def test_an_unknown_key_is_corrected_over_all_three(key: str, near: str) -> None:
    hint = f"did you mean '{near}'" if near else "is not a known setting of Preset"
    with pytest.raises(UnknownNameError, match=hint):
        parse_settings(Preset, None, {key: "1"})


def test_a_method_without_a_plan_takes_no_entries_of_one() -> None:
    with pytest.raises(UnknownNameError, match=r"setting of KMeans.*encoder, n_init\."):
        parse_settings(KMeans, None, {"batch_size": "64"})


def test_a_method_that_makes_no_use_of_its_plan_takes_no_entries_of_one() -> None:
    with pytest.raises(UnknownNameError, match=r"'batch_size' .* setting of Likewise.*; choose"):
        parse_settings(Likewise, None, {"batch_size": "64"})
    assert "batch_size" not in known_settings(Likewise)
    assert parse_settings(Likewise, None, {"width": "64"}) == {"width": 64}


def test_an_unknown_preset_is_corrected() -> None:
    with pytest.raises(UnknownNameError, match="'papre' is not a known preset of CC; did you mean"):
        parse_settings(CC, "papre", {})


def test_known_settings_are_those_that_are_taken() -> None:
    known = known_settings(CC)
    assert {"heads", "batch_size", "n_hidden", "feature_noise"} <= set(known)
    assert not {"plan", "n_clusters", "random_state", "preset"} & set(known)
