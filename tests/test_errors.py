"""What errors say, and as what else they can be caught."""

import pytest

from likewise import errors
from likewise.errors import AnswersEndedError, LikewiseError, UnknownNameError


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    error = UnknownNameError("method", "occ2", ["pcl", "occ", "cc"])
    assert str(error) == (
        "'occ2' is not a known method; did you mean 'occ'? Choose one of: cc, occ, pcl."
    )
    assert (error.name, error.known) == ("occ2", ["cc", "occ", "pcl"])
    assert "did you mean 'occ'" in str(UnknownNameError("method", "ocxx", ["pcl", "occ"]))


def test_the_error_for_an_unknown_name_lists_all_names() -> None:
    error = UnknownNameError("method", "zzz", ["occ", "cc"])
    assert str(error) == "'zzz' is not a known method; choose one of: cc, occ."
    none = UnknownNameError("preset of DCC", "small", [])
    assert str(none) == "'small' is not a known preset of DCC; there is none: leave it out."


def test_answers_that_ended_early_are_kept_in_the_error() -> None:
    error = AnswersEndedError(("same", "different"), 5)
    assert error.answers == ["same", "different"]
    assert str(error).startswith("The answers ended after 2 of 5 questions; they are stored")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("InvalidParameterError", ValueError),
        ("UnknownNameError", ValueError),
        ("CollectionError", ValueError),
        ("ImageError", OSError),
        ("AnswersFileError", ValueError),
        ("SessionBusyError", OSError),
        ("NewerSessionError", OSError),
        ("ModelFileError", ValueError),
        ("SweepFileError", ValueError),
        ("ResultsFileError", ValueError),
        ("UnansweredError", LookupError),
        ("AnswersEndedError", EOFError),
        ("OutputError", OSError),
        ("LikewiseWarning", UserWarning),
    ],
)
def test_an_error_can_be_caught_as_the_kind_python_has_for_it(
    name: str, kind: type[Exception]
) -> None:
    assert issubclass(getattr(errors, name), kind)


def test_all_errors_have_one_base_class() -> None:
    ours = [e for n, e in vars(errors).items() if n.endswith("Error") and isinstance(e, type)]
    assert len(ours) > 15
    assert all(issubclass(error, LikewiseError) for error in ours)
