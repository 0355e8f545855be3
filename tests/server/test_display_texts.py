"""Log entries in plain English, and the digit keys of groups."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.question import Answer, Question
from likewise.server.presenters import entry_text, group_digits
from likewise.session import Session
from tests.workspace.images import make_session, paint_folder

CHOICE = Question.choice(4, (0, 1), ("g1", "like 1"))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with make_session(paint_folder(tmp_path / "photos")) as session:
        yield session


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        (Question.pair(0, 2), "same", "same"),
        (Question.pair(0, 2), "cannot_tell", "can't tell"),
        (Question.pair(0, 2), "bad_image", "bad picture"),
        (CHOICE, "none", "none of these"),
        (CHOICE, "new", "new group"),
        (CHOICE, "g1", "dusk"),
        (CHOICE, "like 1", "like this"),
        (Question.label(3), "noon", "noon"),
    ],
)
def test_answers_have_a_text(session: Session, question: Question, answer: str, text: str) -> None:
    session.make_group("colour", name="dusk")
    session.tell(Answer(question, answer, criterion="colour"))
    (entry,) = session.answers("colour")
    assert entry_text(entry, session.groups("colour")) == text


def test_changes_of_groups_have_a_text(session: Session) -> None:
    first, second = session.make_groups("colour", ["dusk", "dawn"])
    session.change_group("colour", first.key, name="night", colour="#123456")
    session.change_group("colour", second.key, merge_into=first.key)
    number = session.tell(Answer(CHOICE, "g1", criterion="colour")).id
    session.confirm("colour", number, [0])
    groups = session.groups("colour")
    assert [entry_text(entry, groups) for entry, _ in session.entries("colour")] == [
        "group renamed to night",
        "colour of night changed",
        "dawn merged into night",
        "night",
        "“night” confirmed",
    ]


@given(n=st.integers(0, 14), offered=st.sets(st.integers(1, 20), min_size=1, max_size=9))
def test_a_group_has_the_same_digit_in_every_question(n: int, offered: set[int]) -> None:
    known = [f"g{number}" for number in range(1, n + 1)]
    digits = group_digits([f"g{number}" for number in sorted(offered)], known)
    assert sorted(digits) == sorted(f"g{number}" for number in offered)
    assert len(set(digits.values())) == len(offered)
    assert set(digits.values()) <= set(range(1, 10))
    for number in offered:
        if number <= min(n, 9):
            assert digits[f"g{number}"] == number


def test_groups_without_a_number_take_the_next_unused_digits() -> None:
    known = ["g1", "g2", "g3", "g4"]
    assert group_digits(["like 7", "like 9"], known) == {"like 7": 1, "like 9": 2}
    assert group_digits(["g2", "like 7", "like 9"], known) == {"g2": 2, "like 7": 3, "like 9": 4}
