"""The widget without a browser: messages, answers, training, undo, errors; HTML of models."""

import base64
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from likewise import Likewise
from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.estimators.kmeans import KMeans
from likewise.notebook.display import summary_html

pytest.importorskip("anywidget", reason="anywidget is not installed")
from likewise.notebook.widget import AskWidget

IMAGES = np.zeros((12, 20, 30, 3), np.uint8)
IMAGES[:6, ..., 0] = IMAGES[6:, ..., 2] = 200
IMAGES += np.random.default_rng(0).integers(0, 40, IMAGES.shape).astype(np.uint8)


def mean_colour(images: list[Any]) -> Any:
    return np.array([np.asarray(image).mean((0, 1)) for image in images])


@pytest.fixture
def model() -> Likewise:
    return Likewise(2, kinds="pair,choice", encoder=mean_colour, random_state=0).start(IMAGES)


def answer(widget: AskWidget, text: str, **more: Any) -> None:
    widget._receive(widget, {"id": widget.question["id"], "answer": text, **more}, [])


def right_answer(question: Mapping[str, Any]) -> str:
    first, *others = (image["id"] < 6 for image in question["images"])
    if question["kind"] == "pair":
        return "same" if first == others[0] else "different"
    groups = question["groups"]
    return next((g for g, one in zip(groups, others, strict=True) if one == first), "none")


def test_a_question_has_its_pictures(model: Likewise) -> None:
    question = model.ask_widget(by="colour").question
    assert question["kind"] in ("pair", "choice")
    data = question["images"][0]["src"].removeprefix("data:image/webp;base64,")
    assert base64.b64decode(data)[8:12] == b"WEBP"


def test_answers_train_the_model(model: Likewise) -> None:
    widget = model.ask_widget(train_after=2)
    before = len(model.history_), model.probabilities_.copy()
    for _ in range(4):
        answer(widget, right_answer(widget.question))
    assert model.constraints_.n_answers == widget.status["n_answers"] == 4
    assert not np.array_equal(before[1], model.probabilities_)
    assert len(set(model.labels_[:6])) == len(set(model.labels_[6:])) == 1


def test_an_answer_counts_once(model: Likewise) -> None:
    widget = model.ask_widget()
    message = {"id": widget.question["id"], "answer": right_answer(widget.question)}
    widget._receive(widget, message, [])
    widget._receive(widget, message, [])  # a double click
    assert model.constraints_.n_answers == 1


def test_undo_shows_the_question_again(model: Likewise) -> None:
    widget = model.ask_widget()
    first = widget.question
    answer(widget, right_answer(first))
    widget._receive(widget, {"undo": True}, [])
    assert widget.question == first
    assert not model.constraints_.active_answers
    widget._receive(widget, {"undo": True}, [])
    assert widget.status["n_answers"] == 0


def test_an_invalid_answer_is_shown_and_not_raised(model: Likewise) -> None:
    widget = model.ask_widget()
    asked = widget.question
    answer(widget, "perhaps")
    assert "must be one of" in widget.status["message"]
    assert widget.question == asked
    assert model.constraints_.n_answers == 0


def test_a_grid_and_a_label_are_shown(model: Likewise) -> None:
    widget = model.ask_widget()
    widget._show(Question.grid((1, 2, 7), 0, "g1"))
    answer(widget, "ticked", ticked=[7])
    assert model.constraints_.relation(0, 1) == 1
    assert model.constraints_.relation(0, 7) == -1
    widget._show(Question.label(3))
    answer(widget, "warm")
    assert model.constraints_.n_answers == 2


def test_when_no_questions_are_left_it_says_so() -> None:
    model = Likewise(2, kinds="pair,choice", encoder=mean_colour, random_state=0)
    widget = model.start(IMAGES[[0, 7]]).ask_widget()
    while widget.question:
        answer(widget, "different")
    assert widget.status["message"] == "No questions left."


def test_models_without_pictures_or_questions_are_refused(model: Likewise) -> None:
    with pytest.raises(InvalidParameterError, match=r"Start the model .* model.start\(X\)"):
        Likewise().ask_widget()
    vectors = Likewise(2).start(IMAGES.mean((1, 2)))
    with pytest.raises(InvalidParameterError, match="started with vectors; give the images"):
        vectors.ask_widget()
    assert vectors.ask_widget(IMAGES).question
    with pytest.raises(InvalidParameterError, match="each of the 12 of the model, got 3"):
        vectors.ask_widget(IMAGES[:3])
    with pytest.raises(InvalidParameterError, match="KMeans asks no questions"):
        KMeans(2).start(IMAGES.mean((1, 2))).ask_widget(IMAGES)
    with pytest.raises(InvalidParameterError, match="train_after must be an integer >= 1, got 0"):
        model.ask_widget(train_after=0)


def test_the_html_of_a_model_has_its_groups() -> None:
    plain: Any = Likewise(2, encoder=mean_colour, random_state=0)
    assert "surest" not in plain._repr_mimebundle_()["text/html"]
    page = plain.fit(IMAGES)._repr_mimebundle_()["text/html"]
    assert "n_components" in page  # scikit-learn's table of parameters
    assert "12 images in 2 groups; 0 answers; estimated accuracy" in page
    assert page.count("data:image/webp;base64,") == 12
    assert re.search(r"<td>6</td>", page)
    vectors = summary_html(Likewise(2, random_state=0).fit(IMAGES.mean((1, 2))))
    assert "<img" not in vectors
