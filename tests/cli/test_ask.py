"""The conversation of `likewise ask`, without a trainer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from likewise.cli.ask import _converse, _Undo
from likewise.constraints.question import Question
from likewise.oracles.terminal import TerminalOracle
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Workspace]:
    session = make_session(paint_folder(tmp_path / "pictures"))
    save_half_results(session)
    with Workspace(session, has_worker=False) as desk:
        yield desk


def shown_while(desk: Workspace, keys: str) -> list[Question]:
    """Return the questions that a person saw who pressed these keys."""
    seen: list[Question] = []
    pressed = iter(keys)

    def read(_: str) -> str:
        key = next(pressed)
        if key == "u":
            raise _Undo
        return key

    oracle = TerminalOracle("colour", read=read, write=lambda _: None, who="ada")
    _converse(desk, desk.criterion("colour"), oracle, None, cast(Any, seen.append))
    return seen


def test_undo_asks_the_same_question_again_and_the_new_group_is_gone(desk: Workspace) -> None:
    waiting = [Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5)]
    desk.criterion("colour").queue.fill(waiting)
    seen = shown_while(desk, "+u1q")
    assert [one.images for one in seen] == [(0, 2, 3), (4, 2, 3, 0), (0, 2, 3), (4, 2, 3)]
    (entry,) = desk.session.answers("colour")
    assert (entry.answer, entry.who) == ("g1", "ada")


def test_undo_again_and_again_goes_back_question_by_question(desk: Workspace) -> None:
    desk.criterion("colour").queue.fill([Question.pair(0, i) for i in (1, 2, 3)])
    seen = shown_while(desk, "  uu  q")
    assert [one.images[1] for one in seen] == [1, 2, 3, 2, 1, 2, 3]


def test_what_is_no_answer_is_taken_back_without_a_question(desk: Workspace) -> None:
    sorting = desk.criterion("colour")
    sorting.queue.fill([Question.pair(0, i) for i in (1, 2)])
    sorting.change_group("g1", name="ember", who="ada")
    assert [one.images for one in shown_while(desk, "uq")] == [(0, 1), (0, 1)]
    assert sorting.status.groups.name("g1") == "group 1"
