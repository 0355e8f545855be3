from collections.abc import Iterator

import pytest

from likewise.constraints.question import Question
from likewise.errors import AnswersEndedError
from likewise.oracles.terminal import TerminalOracle

NAMES = ["beach.jpg", "snow.jpg", "leaves.jpg", "sledge.jpg"]
PAIR, OTHER = Question.pair(0, 1), Question.pair(2, 3)
CHOICE = Question.choice(3, (0, 1), ("summer", "winter"))
LABEL = Question.label(2)


class Terminal:
    """A terminal at which the given lines are typed."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(lines)
        self.shown: list[str] = []
        self.prompts: list[str] = []
        self.now = 100.0
        self.oracle = TerminalOracle(
            "season",
            NAMES.__getitem__,
            read=self.read,
            write=self.shown.append,
            who="Ann",
            clock=lambda: self.now,
        )

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        self.now += 1.5
        line = next(self.lines, None)
        if line is None:
            raise EOFError
        return line

    def said(self, *questions: Question) -> list[str]:
        return [answer.answer for answer in self.oracle.answer(questions)]


def test_the_question_names_the_criterion_and_the_files() -> None:
    terminal = Terminal("s")
    terminal.said(PAIR)
    assert terminal.shown == ["Same season?  beach.jpg  |  snow.jpg"]
    assert terminal.prompts == [
        "s same · d different · space can't tell · x bad image · u undo · q stop > "
    ]


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("s", "same"),
        ("S\n", "same"),
        (" d ", "different"),
        (" ", "cannot_tell"),
        ("  \n", "cannot_tell"),
        ("x", "bad_image"),
    ],
)
def test_one_key_answers_a_pair(key: str, answer: str) -> None:
    assert Terminal(key).said(PAIR) == [answer]


@pytest.mark.parametrize(
    ("key", "answer"),
    [("1", "summer"), ("2", "winter"), ("N", "none"), ("+", "new"), (" ", "cannot_tell")],
)
def test_digits_choose_a_group(key: str, answer: str) -> None:
    terminal = Terminal(key)
    assert terminal.said(CHOICE) == [answer]
    assert terminal.shown == [
        "Which season?  sledge.jpg",
        "  1  summer, like beach.jpg",
        "  2  winter, like snow.jpg",
    ]
    assert terminal.prompts[0].startswith("1-2 · n none of these · + a new one · space")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("late autumn ", "late autumn"),
        ("x", "x"),
        ("undo", "undo"),
        (" ", "cannot_tell"),
        (":x", "bad_image"),
    ],
)
def test_a_label_is_typed_and_commands_have_a_colon(line: str, answer: str) -> None:
    assert Terminal(line).said(LABEL) == [answer]


def test_a_key_without_meaning_is_explained_and_asked_again() -> None:
    terminal = Terminal("y", "", "3", "s")
    assert terminal.said(PAIR) == ["same"]
    assert terminal.shown[1:] == [
        f"{key!r} is not an answer: s same · d different · space can't tell · x bad image · "
        "u undo · q stop."
        for key in ("y", "", "3")
    ]


def test_a_reserved_word_is_not_a_label() -> None:
    terminal = Terminal("none", "spring")
    assert terminal.said(LABEL) == ["spring"]
    assert terminal.shown[1].startswith("'none' cannot name a group; type its name · space")


def test_groups_are_shown_by_name_and_answered_by_key() -> None:
    terminal = Terminal("2")
    named = {"summer": "warm", "winter": "cold"}
    oracle = TerminalOracle(
        "season", called=named.__getitem__, read=terminal.read, write=terminal.shown.append
    )
    assert oracle.answer([CHOICE])[0].answer == "winter"
    assert terminal.shown[1:] == ["  1  warm, like 0", "  2  cold, like 1"]


def test_undo_returns_to_the_previous_question() -> None:
    terminal = Terminal("s", "u", "d", "s")
    assert terminal.said(PAIR, OTHER) == ["different", "same"]
    assert [text.split()[2] for text in terminal.shown] == [
        "beach.jpg",
        "leaves.jpg",
        "beach.jpg",
        "leaves.jpg",
    ]


def test_undo_at_the_first_question_says_that_there_is_nothing() -> None:
    terminal = Terminal("u", "s")
    assert terminal.said(PAIR) == ["same"]
    assert "There is no answer to undo." in terminal.shown


@pytest.mark.parametrize("end", [("s", "q"), ("s",)])  # the key, and the end of the input
def test_stopping_keeps_what_was_answered(end: tuple[str, ...]) -> None:
    with pytest.raises(AnswersEndedError, match="ended after 1 of 3 questions") as caught:
        Terminal(*end).said(PAIR, OTHER, LABEL)
    assert [answer.answer for answer in caught.value.answers] == ["same"]


def test_who_what_when_and_how_long_are_noted() -> None:
    terminal = Terminal("y", "s")
    (answer,) = terminal.oracle.answer([PAIR])
    assert (answer.who, answer.criterion, answer.seconds) == ("Ann", "season", 3.0)
    assert answer.at.endswith("+00:00")


def test_by_default_it_writes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalOracle("mood", read=lambda _: "s").answer([Question.pair(3, 7)])
    assert capsys.readouterr().out == "Same mood?  3  |  7\n"


GRID = Question.grid((1, 2, 3), 0, "summer")


@pytest.mark.parametrize(
    ("line", "answer", "ticked"),
    [
        ("", "ticked", ()),
        ("2", "ticked", (2,)),
        ("1 3", "ticked", (1, 3)),
        ("3, 1\n", "ticked", (3, 1)),
        ("x 2", "bad_image", (2,)),
        (" ", "cannot_tell", ()),
    ],
)
def test_the_images_that_are_not_in_the_group_are_typed_as_numbers(
    line: str, answer: str, ticked: tuple[int, ...]
) -> None:
    terminal = Terminal(line)
    (given,) = terminal.oracle.answer([GRID])
    assert (given.answer, given.ticked) == (answer, ticked)
    assert terminal.shown == [
        "Which are not summer, like beach.jpg?",
        "  1  snow.jpg",
        "  2  leaves.jpg",
        "  3  sledge.jpg",
    ]


def test_a_number_that_is_not_shown_is_asked_again() -> None:
    terminal = Terminal("4", "x", "1 1")
    (given,) = terminal.oracle.answer([GRID])
    assert given.ticked == (1,)
    assert terminal.shown[-2:] == [
        "'4' is not an answer: numbers of those that are not, Enter if all are · space can't tell "
        "· x 3 5 bad images · u undo · q stop.",
        "'x' is not an answer: numbers of those that are not, Enter if all are · space can't tell "
        "· x 3 5 bad images · u undo · q stop.",
    ]
