"""Encoders by name."""

import re
import subprocess
import sys

import pytest

from likewise.embedding.registry import check_encoder, make_encoder
from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError


def test_the_default_is_the_bundled_one() -> None:
    assert make_encoder().name == make_encoder("bundled").name


@pytest.mark.parametrize("variant", ["lite0", "lite2"])
def test_a_size_may_follow_the_name(variant: str) -> None:
    assert make_encoder(f"efficientnet-{variant}-96").name.startswith(f"efficientnet-{variant}-96")
    assert make_encoder(f"efficientnet-{variant}").name.startswith(f"efficientnet-{variant}-")


def test_every_encoders_own_name_makes_it_again() -> None:
    assert make_encoder(make_encoder("bundled").name).name == make_encoder("bundled").name


@pytest.mark.parametrize(
    ("name", "hint"), [("bundeld", "'bundled'"), ("efficientnet-lite1", "'efficientnet-lite")]
)
def test_a_slip_of_the_pen_is_answered_with_a_guess(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"not a known encoder; did you mean {hint}"):
        make_encoder(name)


@pytest.mark.parametrize("size", [8, 100_000])
def test_a_size_that_cannot_be_is_refused(size: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"size={size} "):
        make_encoder(f"efficientnet-lite0-{size}")


@pytest.mark.parametrize("name", ["./no-such-model", "hf:./no-such-model"])
def test_paths_and_ids_go_to_hugging_face(name: str) -> None:
    with pytest.raises(EncoderError, match=r"The folder \./no-such-model does not exist"):
        make_encoder(name)


@pytest.mark.parametrize("name", ["hf:", "hf: "])
def test_an_id_that_is_missing_is_said_with_an_example(name: str) -> None:
    with pytest.raises(
        EncoderError, match=r"The id of the model is missing; .* such as hf:facebook/dinov2-small"
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
def test_the_quick_check_says_what_making_it_would(name: str) -> None:
    with pytest.raises((UnknownNameError, InvalidParameterError, EncoderError)) as making:
        make_encoder(name)
    with pytest.raises(type(making.value), match=re.escape(str(making.value))):
        check_encoder(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bundled", "efficientnet-lite0"])
def test_the_quick_check_of_a_bundled_encoder_does_not_wait_for_torch(name: str) -> None:
    code = f"import likewise.embedding.registry as r; r.check_encoder({name!r})"
    code += "; import sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_importing_the_registry_does_not_wait_for_torch() -> None:
    code = "import sys, likewise.embedding.registry; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
