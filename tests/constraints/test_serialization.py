"""Questions and answers as JSON, and back."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.question import RESERVED, Answer, Question
from likewise.constraints.serialization import (
    answer_from_line,
    answer_from_row,
    answer_to_line,
    answer_to_row,
    question_from_json,
    question_to_json,
)
from likewise.errors import AnswersFileError, InvalidParameterError

IDENTITIES = [f"{image:064x}" for image in range(12)]
POSITIONS = {identity: image for image, identity in enumerate(IDENTITIES)}
PAIR = {"kind": "pair", "images": IDENTITIES[:2], "answer": "same"}

keys = st.text(min_size=1).filter(lambda key: key not in RESERVED)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    order = draw(st.permutations(range(12)))
    values = ["cannot_tell", "bad_image"]
    kind = draw(st.sampled_from(["pair", "choice", "label"]))
    if kind == "pair":
        question, values = Question.pair(*order[:2]), [*values, "same", "different"]
    elif kind == "label":
        question, values = Question.label(order[0]), [*values, draw(keys)]
    else:
        groups = tuple(draw(st.lists(keys, min_size=1, max_size=9, unique=True)))
        question = Question.choice(order[0], tuple(order[1 : 1 + len(groups)]), groups)
        values = [*values, "none", "new", *groups]
    return Answer(
        question,
        draw(st.sampled_from(values)),
        who=draw(st.text()),
        criterion=draw(st.text()),
        at=draw(st.text()),
        seconds=draw(st.none() | st.floats(0, 1e6)),
    )


@given(answer=answers())
def test_an_answer_is_equal_after_a_round_trip_through_a_line(answer: Answer) -> None:
    assert (
        answer_from_line(json.loads(json.dumps(answer_to_line(answer, IDENTITIES))), POSITIONS)
        == answer
    )


@given(answer=answers())
def test_an_answer_is_equal_after_a_round_trip_through_a_row(answer: Answer) -> None:
    row = json.loads(json.dumps(answer_to_row(answer)))
    assert answer_from_row(row) == replace(answer, criterion="")


@given(answer=answers())
def test_a_question_is_equal_after_a_round_trip_through_json(answer: Answer) -> None:
    assert question_from_json(json.loads(json.dumps(question_to_json(answer.question)))) == (
        answer.question
    )


def test_a_row_written_by_release_0_1_can_be_read() -> None:
    row = ["choice", [3, 1, 2], ["g1", "g2"], "g2", "ada", "2026-01-02T03:04:05Z", 1.5]
    answer = answer_from_row(row)
    assert answer.question == Question.choice(3, (1, 2), ("g1", "g2"))
    assert (answer.answer, answer.who, answer.seconds) == ("g2", "ada", 1.5)
    assert answer_to_row(answer) == row


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "rank", "images": [1], "groups": []}, "'rank' is not a known kind of question"),
        ({"kind": "grid", "images": [1], "groups": ["a"]}, "A grid question must have one group"),
        ({"kind": "pair", "images": [1], "groups": []}, "A pair question must have 2 images, got"),
        ({"kind": "label", "images": [1, 2], "groups": []}, "A label question must have 1 images"),
        ({"kind": "choice", "images": [1], "groups": []}, "A choice must show 1 to 9 groups"),
        ({"kind": "pair", "images": [1, 1], "groups": []}, "two different images, got image 1"),
    ],
)
def test_an_invalid_question_raises(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        question_from_json(fields)


def test_the_fields_of_each_kind() -> None:
    pair = Answer(Question.pair(1, 0), "same", "ada", "season", "2026-01-02T03:04:05Z", 1.5)
    assert answer_to_line(pair, "abc") == {
        "kind": "pair",
        "images": ["a", "b"],
        "answer": "same",
        "group": None,
        "criterion": "season",
        "who": "ada",
        "at": "2026-01-02T03:04:05Z",
        "seconds": 1.5,
    }
    choice = answer_to_line(Answer(Question.choice(0, (1, 2), ("g1", "g2")), "g2"), "abc")
    assert (choice["answer"], choice["group"], choice["groups"]) == ("g2", "g2", ["g1", "g2"])
    assert answer_to_line(Answer(Question.choice(0, (1,), ("g1",)), "new"), "abc")["group"] is None
    label = answer_to_line(Answer(Question.label(0), "winter"), "abc")
    assert (label["answer"], label["group"], "groups" in label) == ("winter", "winter", False)


def test_a_pair_is_sorted_by_index_in_this_collection() -> None:
    line = {**PAIR, "images": [IDENTITIES[7], IDENTITIES[3]]}
    assert answer_from_line(line, POSITIONS).question.images == (3, 7)


def test_optional_fields_may_be_missing_and_unknown_fields_are_ignored() -> None:
    answer = answer_from_line({**PAIR, "mood": "good", "who": None, "group": None}, POSITIONS)
    assert answer == Answer(Question.pair(0, 1), "same")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], r"A line must be an object like .*, got \[\]"),
        ({**PAIR, "images": [IDENTITIES[0], "beef"]}, "Image beef is not in this collection of 12"),
        ({**PAIR, "kind": "pear"}, "'pear' is not a known kind of question; did you mean 'pair'"),
        ({"images": [], "answer": "same"}, "The field 'kind' is missing"),
        ({"kind": "pair", "answer": "same"}, "The field 'images' is missing"),
        ({"kind": "pair", "images": IDENTITIES[:2]}, "The field 'answer' is missing"),
        ({"kind": "choice", "images": IDENTITIES[:2], "answer": "new"}, "'groups' is missing"),
        ({**PAIR, "kind": 3}, "The field 'kind' must be a string, got 3"),
        ({**PAIR, "answer": True}, "The field 'answer' must be a string, got True"),
        ({**PAIR, "images": "abc"}, "The field 'images' must be a list of strings, got 'abc'"),
        ({**PAIR, "images": [1, 2]}, r"The field 'images' must be a list of strings, got \[1, 2\]"),
        ({**PAIR, "who": 7}, "The field 'who' must be a string, got 7"),
        ({**PAIR, "seconds": "2"}, "The field 'seconds' must be a number >= 0 or null, got '2'"),
        ({**PAIR, "seconds": True}, "The field 'seconds' must be a number >= 0 or null, got True"),
        (
            {**PAIR, "seconds": float("nan")},
            "The field 'seconds' must be a number >= 0 or null, got nan",
        ),
        ({**PAIR, "seconds": -1}, "The field 'seconds' must be a number >= 0 or null, got -1"),
        ({**PAIR, "images": IDENTITIES[:3]}, "A pair question must have 2 images, got 3"),
        (
            {"kind": "choice", "images": IDENTITIES[:2], "groups": ["a", "b"], "answer": "a"},
            "A choice question with 2 groups must have 3 images, got 2",
        ),
        (
            {**PAIR, "images": IDENTITIES[:1] * 2},
            f"must be different, got image {IDENTITIES[0]} twice",
        ),
        (
            {**PAIR, "answer": "perhaps"},
            "The answer to a pair question must be one of .*; got 'perhaps'",
        ),
        (
            {**PAIR, "group": "g1"},
            "'group' must be equal to 'answer' or missing, got 'g1' and 'same'",
        ),
        (
            {"kind": "choice", "images": IDENTITIES[:1], "groups": [], "answer": "none"},
            "A choice must show 1 to 9 groups",
        ),
        (
            {"kind": "label", "images": IDENTITIES[:1], "answer": ""},
            "a name that is not empty and not in .*, got ''",
        ),
    ],
)
def test_an_invalid_line_raises_one_type_of_error_with_the_reason(line: Any, message: str) -> None:
    with pytest.raises(AnswersFileError, match=message):
        answer_from_line(line, POSITIONS)


def test_copies_of_one_image_cannot_be_a_pair() -> None:
    """Copies have the same content hash."""
    with pytest.raises(AnswersFileError, match="must be different, got image abc twice"):
        answer_from_line({**PAIR, "images": ["abc", "abc"]}, {"abc": 0})
