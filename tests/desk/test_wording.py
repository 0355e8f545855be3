"""What was said, as the page and the terminal word it."""

import pytest

from likewise.constraints.question import Answer, Question
from likewise.desk.wording import says
from likewise.session import Session

CHOICE = Question.choice(4, (0, 1), ("g1", "like 1"))


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        (Question.pair(0, 2), "same", "same"),
        (Question.pair(0, 2), "cannot_tell", "can't tell"),
        (Question.pair(0, 2), "bad_image", "bad picture"),
        (CHOICE, "none", "none of these"),
        (CHOICE, "new", "another group"),
        (CHOICE, "g1", "dusk"),
        (CHOICE, "like 1", "like this"),
        (Question.label(3), "noon", "noon"),
    ],
)
def test_answers_are_worded_for_people(
    session: Session, question: Question, answer: str, words: str
) -> None:
    session.make_group("colour", name="dusk")
    session.tell(Answer(question, answer, orientation="colour"))
    (entry,) = session.answers("colour")
    assert says(entry, session.groups("colour")) == words


def test_changes_of_groups_are_worded_too(session: Session) -> None:
    first, second = session.make_groups("colour", ["dusk", "dawn"])
    session.change_group("colour", first.key, name="night", colour="#123456")
    session.change_group("colour", second.key, merge_into=first.key)
    number = session.tell(Answer(CHOICE, "g1", orientation="colour")).id
    session.stand_by("colour", number, [0])
    groups = session.groups("colour")
    assert [says(entry, groups) for entry, _ in session.entries("colour")] == [
        "a group is called night",
        "night has another colour",
        "dawn and night are one",
        "night",
        "“night” is right",
    ]
