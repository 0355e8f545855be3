from importlib import import_module
from typing import Any

import numpy as np
import pytest

from likewise.constraints.assignment import constrained_labels
from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.session import save_results
from likewise.types import Indexes
from likewise.workspace.gallery import compare
from likewise.workspace.workspace import Workspace


def test_members_are_sorted_by_confidence_and_unsure_images_are_listed(
    trained_workspace: Workspace,
) -> None:
    gallery = trained_workspace.criterion("colour").status.gallery()
    assert gallery.members["g1"].tolist() == [10, 8, 6, 4, 2, 0]
    assert gallery.unsure.tolist() == [0, 1]
    assert [group.name for group in gallery.groups] == ["group 1", "group 2"]


def test_labels_are_computed_again_only_after_a_change_of_the_constraints(
    trained_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def count(*arguments: Any) -> Indexes:
        calls.append(arguments)
        return constrained_labels(*arguments)

    module = import_module("likewise.session.assignments")  # a function has the same name
    monkeypatch.setattr(module, "constrained_labels", count)
    criterion = trained_workspace.criterion("colour")
    before = criterion.status.gallery()  # by the labels that were saved with the results
    assert calls == []
    criterion.answer(Question.pair(0, 3), "same")
    gallery = criterion.status.gallery()
    assert gallery.group_of[0] == gallery.group_of[3]
    assert len(calls) == 1
    criterion.undo()
    np.testing.assert_array_equal(criterion.status.gallery().group_of, before.group_of)
    assert len(calls) == 2


def test_an_image_is_described_and_unknown_ones_are_refused(trained_workspace: Workspace) -> None:
    gallery = trained_workspace.criterion("colour").status.gallery()
    image = gallery.image(10)
    assert (image.id, image.name, image.confidence) == (10, "10red.png", 0.85)
    for position in (-1, 12):
        with pytest.raises(InvalidParameterError, match=rf"Image {position} is not in this"):
            gallery.image(position)


def test_two_criteria_are_compared(trained_workspace: Workspace) -> None:
    session = trained_workspace.session
    session.add_criterion("halves", 2)
    probabilities = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(session, "halves", probabilities, keys=("g1", "g2"), n_answers=1)
    colour, halves = (
        trained_workspace.criterion(name).status.gallery() for name in ("colour", "halves")
    )
    comparison = compare(colour, halves, n_shown=2)
    assert comparison.counts.tolist() == [[3, 3], [3, 3]]
    assert comparison.images[0][1].tolist() == [10, 8]  # red, second half, most confident first
    assert (round(comparison.nmi, 6), comparison.n_images) == (0, 12)
    assert compare(colour, colour).ari == pytest.approx(1)
