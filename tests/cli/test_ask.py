"""The questions of `likewise ask`, without a worker process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from likewise.cli.ask import _ask_questions, _UndoRequest
from likewise.constraints.question import Question
from likewise.oracles.terminal import TerminalOracle
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    session = make_session(paint_folder(tmp_path / "images"))
    save_half_results(session)
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


def shown_while(workspace: Workspace, keys: str) -> list[Question]:
    """Return the questions shown to a person who presses these keys."""
    seen: list[Question] = []
    pressed = iter(keys)

    def read(_: str) -> str:
        key = next(pressed)
        if key == "u":
            raise _UndoRequest
        return key

    oracle = TerminalOracle("colour", read=read, write=lambda _: None, who="ada")
    _ask_questions(workspace, workspace.criterion("colour"), oracle, None, cast(Any, seen.append))
    return seen


def test_undo_repeats_the_question_and_removes_the_new_group(workspace: Workspace) -> None:
    waiting = [Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5)]
    workspace.criterion("colour").queue.fill(waiting)
    seen = shown_while(workspace, "+u1q")
    assert [one.images for one in seen] == [(0, 2, 3), (4, 2, 3, 0), (0, 2, 3), (4, 2, 3)]
    (entry,) = workspace.session.answers("colour")
    assert (entry.answer, entry.who) == ("g1", "ada")


def test_repeated_undo_goes_back_one_question_at_a_time(workspace: Workspace) -> None:
    workspace.criterion("colour").queue.fill([Question.pair(0, i) for i in (1, 2, 3)])
    seen = shown_while(workspace, "  uu  q")
    assert [one.images[1] for one in seen] == [1, 2, 3, 2, 1, 2, 3]


def test_a_change_that_is_not_an_answer_is_undone_without_a_question(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    criterion.queue.fill([Question.pair(0, i) for i in (1, 2)])
    criterion.change_group("g1", name="ember", who="ada")
    assert [one.images for one in shown_while(workspace, "uq")] == [(0, 1), (0, 1)]
    assert criterion.status.groups.name("g1") == "group 1"
