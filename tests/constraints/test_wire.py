"""One answer, one line of JSON, and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.question import RESERVED, Answer, Question
from likewise.constraints.serialization import answer_from_line, answer_to_line
from likewise.errors import AnswersFileError

IDENTITIES = [f"{image:064x}" for image in range(12)]
POSITIONS = {identity: image for image, identity in enumerate(IDENTITIES)}
PAIR = {"kind": "pair", "images": IDENTITIES[:2], "answer": "same"}

keys = st.text(min_size=1).filter(lambda key: key not in RESERVED)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    order = draw(st.permutations(range(12)))
    words = ["cannot_tell", "bad_image"]
    kind = draw(st.sampled_from(["pair", "choice", "label"]))
    if kind == "pair":
        question, words = Question.pair(*order[:2]), [*words, "same", "different"]
    elif kind == "label":
        question, words = Question.label(order[0]), [*words, draw(keys)]
    else:
        groups = tuple(draw(st.lists(keys, min_size=1, max_size=9, unique=True)))
        question = Question.choice(order[0], tuple(order[1 : 1 + len(groups)]), groups)
        words = [*words, "none", "new", *groups]
    return Answer(
        question,
        draw(st.sampled_from(words)),
        who=draw(st.text()),
        criterion=draw(st.text()),
        at=draw(st.text()),
        seconds=draw(st.none() | st.floats(0, 1e6)),
    )


@given(answer=answers())
def test_a_line_comes_back_as_the_answer_it_was(answer: Answer) -> None:
    assert (
        answer_from_line(json.loads(json.dumps(answer_to_line(answer, IDENTITIES))), POSITIONS)
        == answer
    )


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


def test_a_pair_is_sorted_by_position_in_this_collection() -> None:
    line = {**PAIR, "images": [IDENTITIES[7], IDENTITIES[3]]}
    assert answer_from_line(line, POSITIONS).question.images == (3, 7)


def test_what_may_be_missing_is_empty_and_what_is_unknown_is_passed_over() -> None:
    answer = answer_from_line({**PAIR, "mood": "good", "who": None, "group": None}, POSITIONS)
    assert answer == Answer(Question.pair(0, 1), "same")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ([], r"\[\] is not an answer; a line is an object like"),
        ({**PAIR, "images": [IDENTITIES[0], "beef"]}, "Image beef is not in this collection of 12"),
        ({**PAIR, "kind": "pear"}, "'pear' is not a known kind of question; did you mean 'pair'"),
        ({"images": [], "answer": "same"}, "The field 'kind' is missing"),
        ({"kind": "pair", "answer": "same"}, "The field 'images' is missing"),
        ({"kind": "pair", "images": IDENTITIES[:2]}, "The field 'answer' is missing"),
        ({"kind": "choice", "images": IDENTITIES[:2], "answer": "new"}, "'groups' is missing"),
        ({**PAIR, "kind": 3}, "The field 'kind' is 3; it must be text"),
        ({**PAIR, "answer": True}, "The field 'answer' is True; it must be text"),
        ({**PAIR, "images": "abc"}, "The field 'images' is 'abc'; it must be a list of texts"),
        ({**PAIR, "images": [1, 2]}, r"The field 'images' is \[1, 2\]; it must be a list of texts"),
        ({**PAIR, "who": 7}, "The field 'who' is 7; it must be text"),
        ({**PAIR, "seconds": "2"}, "The field 'seconds' is '2'; it must be a number of seconds"),
        ({**PAIR, "seconds": True}, "The field 'seconds' is True; it must be a number of seconds"),
        ({**PAIR, "seconds": float("nan")}, "The field 'seconds' is nan; it must be a number"),
        ({**PAIR, "seconds": -1}, "The field 'seconds' is -1; it must be a number of seconds from"),
        ({**PAIR, "images": IDENTITIES[:3]}, "'images' holds 3 images; a pair question has 2"),
        (
            {"kind": "choice", "images": IDENTITIES[:2], "groups": ["a", "b"], "answer": "a"},
            "'images' holds 2 images; a choice question with 2 groups has 3",
        ),
        ({**PAIR, "images": IDENTITIES[:1] * 2}, f"Image {IDENTITIES[0]} was paired with itself"),
        ({**PAIR, "answer": "perhaps"}, "'perhaps' does not answer a pair question; choose one of"),
        ({**PAIR, "group": "g1"}, "'group' is 'g1' but 'answer' is 'same'"),
        (
            {"kind": "choice", "images": IDENTITIES[:1], "groups": [], "answer": "none"},
            "A choice shows 1 to 9 groups",
        ),
        ({"kind": "label", "images": IDENTITIES[:1], "answer": ""}, "'' cannot name a group"),
    ],
)
def test_a_bad_line_is_refused_by_one_error_that_names_the_trouble(line: Any, words: str) -> None:
    with pytest.raises(AnswersFileError, match=words):
        answer_from_line(line, POSITIONS)


def test_two_places_of_one_content_are_one_image() -> None:
    """An answer about two copies of one picture says nothing and is refused by name."""
    with pytest.raises(AnswersFileError, match="Image abc was paired with itself"):
        answer_from_line({**PAIR, "images": ["abc", "abc"]}, {"abc": 0})
