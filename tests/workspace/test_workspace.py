import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from likewise.constraints.question import Question
from likewise.constraints.serialization import question_to_json
from likewise.workspace.worker import WorkerEnd
from likewise.workspace.workspace import Workspace


def test_listeners_receive_events_until_they_unsubscribe(workspace: Workspace) -> None:
    published: list[str] = []
    unsubscribe = workspace.events.subscribe(lambda message: published.append(message["event"]))
    criterion = workspace.criterion("colour")
    criterion.answer(Question.pair(0, 2), "same")
    unsubscribe()
    unsubscribe()
    criterion.answer(Question.pair(0, 4), "same")
    assert published == ["answers"]


def test_the_empty_name_is_the_oldest_criterion(workspace: Workspace) -> None:
    workspace.add_criterion("mood", None)
    assert workspace.criterion() is workspace.criterion("colour")


class Trained:
    """In place of the worker: the time of each request to train."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def send(self, message: dict[str, Any]) -> None:
        self.at.append(time.monotonic())

    def stop(self) -> None:
        pass


def test_training_starts_a_while_after_the_last_of_a_few_answers(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise.workspace.workspace._TRAIN_IDLE_SECONDS", 1.0)
    criterion = workspace.criterion("colour")
    worker = workspace._worker = Trained()  # type: ignore[assignment]
    started: list[threading.Timer] = []
    start = threading.Timer.start

    def count(timer: threading.Timer) -> None:
        started.append(timer)
        start(timer)

    monkeypatch.setattr(threading.Timer, "start", count)
    for other in (1, 2, 3):
        criterion.answer(Question.pair(0, other), "same")
        time.sleep(0.1)
    assert len(started) == 1  # a thread for each answer would take as long as its sync
    last = time.monotonic() - 0.1
    while not worker.at and time.monotonic() < last + 5:
        time.sleep(0.01)
    time.sleep(1.2)
    assert len(worker.at) == 1
    assert worker.at[0] - last > 0.9


def test_training_starts_at_once_after_five_answers(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    worker = workspace._worker = Trained()  # type: ignore[assignment]
    for other in range(1, 7):
        criterion.answer(Question.pair(0, other), "same")
    assert len(worker.at) == 1


def test_the_exit_of_the_worker_is_a_problem_until_it_is_ready_again(workspace: Workspace) -> None:
    workspace._receive(WorkerEnd("it was killed", was_ready=False).message(2))
    expected = (
        "The training process ended (it was killed) and is restarted in 2 s; all answers are "
        "saved. If this message persists, close other programs, or group fewer images at a time."
    )
    assert (workspace.problem or "", workspace.n_worker_exits) == (expected, 1)
    workspace._receive({"event": "ready"})
    assert (workspace.problem or "", workspace.n_worker_exits) == ("", 0)


def test_a_failed_training_is_a_problem_until_a_training_succeeds(workspace: Workspace) -> None:
    workspace._receive(WorkerEnd("ValueError: no rows", was_ready=True).message(2))
    workspace._receive({"event": "ready"})
    assert "(ValueError: no rows)" in (workspace.problem or "")
    assert "start it again; if that does not help, report the error" in (workspace.problem or "")
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 0})
    assert workspace.problem is None


def test_a_problem_of_the_worker_ends_the_wait_for_it(workspace: Workspace) -> None:
    workspace._receive({"event": "problem", "message": "No such encoder."})
    assert workspace.is_ready.is_set()
    assert workspace.problem == "No such encoder."
    assert workspace.worker_state["event"] == "problem"


def test_skipped_images_are_collected_and_not_published(workspace: Workspace) -> None:
    published: list[dict[str, Any]] = []
    workspace.events.subscribe(published.append)
    workspace._receive({"event": "skipped", "name": "a.png", "reason": "is damaged"})
    assert [one["name"] for one in workspace.skipped_images] == ["a.png"]
    assert (published, workspace.worker_state) == ([], {"event": "starting"})


@pytest.mark.parametrize("n_invalid", [0, 1])
def test_questions_of_the_worker_fill_the_queue_without_invalid_ones(
    workspace: Workspace, n_invalid: int
) -> None:
    pairs = [Question.pair(0, 2), Question.pair(0, 4)]
    lines = [question_to_json(pair) for pair in pairs]
    lines += n_invalid * [{"kind": "pair", "images": [3, 3], "groups": []}]
    workspace._receive({"event": "questions", "criterion": "colour", "questions": lines})
    assert len(workspace.criterion("colour").queue) == 2
    assert workspace.criterion("colour").questions(2) == pairs


def test_the_modules_of_the_server_process_import_neither_torch_nor_scikit_learn() -> None:
    code = (
        "import sys\n"
        "import likewise.workspace.workspace\n"
        "sys.exit(' '.join({'torch', 'sklearn', 'onnxruntime'} & set(sys.modules)) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
