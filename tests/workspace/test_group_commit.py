import threading
import time

import pytest

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.workspace.criterion import GroupCommit
from likewise.workspace.workspace import Workspace


def call_in_threads(commit: GroupCommit[int, int], items: list[int]) -> list[object]:
    """Call with each item in its own thread; return the results and error messages."""
    results: list[object] = [None] * len(items)

    def run(index: int) -> None:
        try:
            results[index] = commit(items[index])
        except InvalidParameterError as error:
            results[index] = str(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(items))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def test_items_that_arrive_during_a_write_are_written_together() -> None:
    batches: list[list[int]] = []

    def write_slowly(items: list[int]) -> list[int]:
        batches.append(items)
        time.sleep(0.1)
        return [2 * item for item in items]

    commit = GroupCommit(write_slowly)
    assert call_in_threads(commit, list(range(1, 9))) == [2 * i for i in range(1, 9)]
    assert sorted(item for batch in batches for item in batch) == list(range(1, 9))
    assert len(batches) < 8


def test_an_invalid_item_fails_alone_and_the_others_are_written_once() -> None:
    written: list[int] = []

    def write(items: list[int]) -> list[int]:
        time.sleep(0.05)
        if 3 in items:
            raise InvalidParameterError("3 is invalid.")
        written.extend(items)
        return items

    assert call_in_threads(GroupCommit(write), [1, 2, 3, 4, 5]) == [1, 2, "3 is invalid.", 4, 5]
    assert sorted(written) == [1, 2, 4, 5]


def test_simultaneous_answers_are_all_saved_and_each_gets_its_own_id(workspace: Workspace) -> None:
    ids: list[int] = []

    def give(other: int) -> None:
        criterion = workspace.criterion("colour")
        outcome = criterion.answer(Question.pair(0, other), "cannot_tell", f"p{other}")
        ids.append(outcome.result.id)

    threads = [threading.Thread(target=give, args=(other,)) for other in range(1, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    saved = workspace.session.answers("colour")
    assert sorted(ids) == [entry.id for entry in saved] == list(range(1, 12))
    assert workspace.criterion("colour").status.n_answers == 11


def test_an_invalid_answer_does_not_prevent_the_next_one(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    with pytest.raises(InvalidParameterError, match="Image 99 is not in this session"):
        criterion.answer(Question.pair(0, 99), "same")
    assert criterion.answer(Question.pair(0, 2), "same").result.id == 1
