import os
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from likewise.session.export.folders import UniqueNames, safe_name


@given(st.lists(st.text("aAéÉ.(2) ", max_size=4) | st.text(st.characters()), max_size=8))
def test_names_differ_also_on_disks_that_ignore_case(wanted: list[str]) -> None:
    names = UniqueNames()
    given_out = [names.add(name) for name in wanted]
    assert len({name.casefold() for name in given_out}) == len(wanted)


@given(st.text())
def test_every_name_can_be_written(tmp_path_factory: pytest.TempPathFactory, wanted: str) -> None:
    name = safe_name(wanted)
    folder = tmp_path_factory.mktemp("names")
    (folder / name).write_text("")
    assert os.listdir(folder) == [name]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("winter", "winter"),
        ("IMG_0001.JPG", "IMG_0001.JPG"),
        ("Été – 冬.jpg", "Été – 冬.jpg"),
        ("a/b\\c:d", "a_b_c_d"),
        ("..", "_"),
        ("", "_"),
        ("CON", "_CON"),
        ("lpt1.txt", "_lpt1.txt"),
        ("end.", "end"),
    ],
)
def test_names_change_as_little_as_must_be(wanted: str, name: str) -> None:
    assert safe_name(wanted) == name


def test_long_names_are_cut_and_keep_their_ending() -> None:
    name = safe_name("é" * 300 + ".jpg")
    assert name.endswith("é.jpg")
    assert len(os.fsencode(name)) <= 210


def test_names_that_differ_in_case_or_spelling_only_are_one_to_some_disks() -> None:
    names = UniqueNames()
    assert [names.add(name) for name in ("a.jpg", "A.JPG")] == ["a.jpg", "A (2).JPG"]
    assert [names.add(name) for name in ("\u00e9", "e\u0301")] == ["\u00e9", "e\u0301 (2)"]


def test_the_third_of_a_name_is_numbered_three() -> None:
    names = UniqueNames()
    assert [names.add("a.jpg") for _ in range(3)] == ["a.jpg", "a (2).jpg", "a (3).jpg"]
    assert names.add("a (2).jpg") == "a (2) (2).jpg"
    assert Path(names.add("winter")).suffix == ""
