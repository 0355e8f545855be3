"""Answers of several people at a time: one write for all who wait, nobody pays for another."""

import threading
import time

import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError
from likewise.workspace.group_commit import GroupCommit
from likewise.workspace.workspace import Workspace


def in_threads(call: GroupCommit[int, int], items: list[int]) -> list[object]:
    """Call with each item in a thread of its own; return results, errors among them."""
    results: list[object] = [None] * len(items)

    def run(place: int) -> None:
        try:
            results[place] = call(items[place])
        except InvalidParameterError as error:
            results[place] = str(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(items))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def test_who_waits_while_others_are_served_is_served_in_one_go() -> None:
    batches: list[list[int]] = []

    def slowly(items: list[int]) -> list[int]:
        batches.append(items)
        time.sleep(0.1)
        return [2 * item for item in items]

    assert in_threads(GroupCommit(slowly), list(range(1, 9))) == [2 * i for i in range(1, 9)]
    assert sorted(item for batch in batches for item in batch) == list(range(1, 9))
    assert len(batches) < 8


def test_a_bad_one_is_refused_alone_and_the_others_are_done_once() -> None:
    done: list[int] = []

    def work(items: list[int]) -> list[int]:
        time.sleep(0.05)
        if 3 in items:
            raise InvalidParameterError("3 is not wanted.")
        done.extend(items)
        return items

    assert in_threads(GroupCommit(work), [1, 2, 3, 4, 5]) == [1, 2, "3 is not wanted.", 4, 5]
    assert sorted(done) == [1, 2, 4, 5]


def test_answers_given_at_once_are_all_kept_and_each_gets_its_own_number(
    workspace: Workspace,
) -> None:
    numbers: list[int] = []

    def give(other: int) -> None:
        reply = workspace.criterion("colour").answer(
            Question.pair(0, other), "cannot_tell", f"p{other}"
        )
        numbers.append(reply.result.id)

    threads = [threading.Thread(target=give, args=(other,)) for other in range(1, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    kept = workspace.session.answers("colour")
    assert sorted(numbers) == [entry.id for entry in kept] == list(range(1, 12))
    assert sum(workspace.criterion("colour").status.counts().values()) == 11


def test_one_answer_twice_in_one_go_is_one_answer(workspace: Workspace) -> None:
    answer = Answer(Question.pair(0, 2), "same", who="ada", criterion="colour")
    first, again = workspace.criterion("colour")._take_in([(answer, (1, "ada"))] * 2)
    assert first.result.id == again.result.id == 1
    assert len(workspace.session.answers("colour")) == 1
    assert first.questions  # the next one came with the reply


def test_a_bad_answer_beside_a_good_one_leaves_the_good_one(workspace: Workspace) -> None:
    with pytest.raises(InvalidParameterError, match="Image 99 is not in this session"):
        workspace.criterion("colour").answer(Question.pair(0, 99), "same")
    assert workspace.criterion("colour").answer(Question.pair(0, 2), "same").result.id == 1
