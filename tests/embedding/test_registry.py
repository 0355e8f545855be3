"""Encoders by name."""

import importlib.util
import re
from collections.abc import Callable

import pytest

from likewise.embedding.registry import check_encoder, make_encoder
from likewise.errors import (
    EncoderError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)


def test_the_default_is_the_bundled_one() -> None:
    assert make_encoder().name == make_encoder("bundled").name


@pytest.mark.parametrize("variant", ["lite0", "lite2"])
def test_a_size_may_follow_the_name(variant: str) -> None:
    assert make_encoder(f"efficientnet-{variant}-96").name.startswith(f"efficientnet-{variant}-96")
    assert make_encoder(f"efficientnet-{variant}").name.startswith(f"efficientnet-{variant}-")


def test_the_name_of_an_encoder_creates_it_again() -> None:
    assert make_encoder(make_encoder("bundled").name).name == make_encoder("bundled").name


@pytest.mark.parametrize(
    ("name", "hint"), [("bundeld", "'bundled'"), ("efficientnet-lite1", "'efficientnet-lite")]
)
def test_a_misspelled_name_is_answered_with_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"not a known encoder; did you mean {hint}"):
        make_encoder(name)


@pytest.mark.parametrize("size", [8, 100_000])
def test_a_size_out_of_range_is_rejected(size: int) -> None:
    with pytest.raises(
        InvalidParameterError, match=rf"size must be between 32 and 1024 pixels, got {size}\."
    ):
        make_encoder(f"efficientnet-lite0-{size}")


@pytest.mark.parametrize("name", ["./no-such-model", "hf:./no-such-model"])
def test_paths_and_ids_are_models_of_hugging_face(name: str) -> None:
    with pytest.raises(EncoderError, match=r"The folder \./no-such-model does not exist"):
        make_encoder(name)


@pytest.mark.parametrize("name", ["hf:", "hf: "])
def test_a_missing_id_is_reported_with_an_example(name: str) -> None:
    with pytest.raises(
        EncoderError, match=r"The ID of the model is missing; .* such as hf:facebook/dinov2-small"
    ):
        make_encoder(name)


@pytest.mark.parametrize(
    "name",
    [
        "bundeld",
        "efficientnet-lite0-8",
        "efficientnet-lite2-9999",
        "./absent",
        "hf:./absent",
        "hf:",
    ],
)
def test_check_encoder_raises_the_error_of_make_encoder(name: str) -> None:
    with pytest.raises((UnknownNameError, InvalidParameterError, EncoderError)) as making:
        make_encoder(name)
    with pytest.raises(type(making.value), match=re.escape(str(making.value))):
        check_encoder(name)


@pytest.mark.parametrize("missing", ["torch", "transformers"])
@pytest.mark.parametrize("create", [make_encoder, check_encoder])
def test_a_hub_encoder_without_the_extra_is_reported_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch, missing: str, create: Callable[[str], object]
) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name == missing else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(
        MissingExtraError,
        match=rf"^The encoder 'hf:someone/tiny' needs the package {missing}, which is not "
        r"installed; run `pip install 'likewise\[torch\]'`\.$",
    ):
        create("hf:someone/tiny")
    assert make_encoder("bundled").blocks
