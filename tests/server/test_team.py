"""Several people on one session: links with names and roles, repeated questions, agreement."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.files import read_folder
from likewise.server.app import create_app
from likewise.server.security import AccessTokens, Person
from likewise.session import Session
from likewise.session.import_answers import export_answers, import_answers
from likewise.workspace.team import OVERLAP, Agreement, agreement
from likewise.workspace.workspace import Workspace
from tests.server.conftest import TOKEN
from tests.workspace.images import right_answer

PEOPLE = (Person("Anna", "answer"), Person("Ben", "review"), Person("Eva", "admin"))
Clients = dict[str, TestClient]


@pytest.fixture
def clients(workspace: Workspace) -> Clients:
    """A client for each person, who opened their link."""
    app = create_app(workspace, TOKEN, people=PEOPLE)
    found = {}
    for token, person in app.state.tokens.people.items():
        client = TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
        assert client.get(f"/?token={token}").status_code == 200  # sets the cookie
        found[person.name] = client
    return found


def answer_of(workspace: Workspace, question: dict[str, Any]) -> dict[str, Any]:
    images = tuple(question["images"])
    asked = Question.build(question["kind"], images, tuple(question["groups"]))
    return {"question": question, "answer": right_answer(workspace.session, asked)}


def answered(workspace: Workspace, client: TestClient, n: int, **more: Any) -> None:
    for _ in range(n):
        (question,) = client.get("/api/questions?n=1").json()["questions"]
        reply = client.post("/api/answers", json={**answer_of(workspace, question), **more})
        assert reply.status_code == 201, reply.text


def test_answers_have_the_name_of_the_link_whatever_the_request_says(
    workspace: Workspace, clients: Clients
) -> None:
    answered(workspace, clients["Anna"], 2, who="Eva")
    answered(workspace, clients["Ben"], 1)
    names = [entry.who for entry in workspace.session.answers("colour")]
    assert names == ["Anna", "Anna", "Ben"]
    access = clients["Anna"].get("/api/access").json()
    assert (access["person"], access["role"]) == ("Anna", "answer")
    assert (access["url"], access["viewer_url"]) == (None, None)  # no link with other rights


Request = Callable[[TestClient], Any]
REVIEW: dict[str, Request] = {
    "retract": lambda c: c.delete("/api/answers/1"),
    "confirm": lambda c: c.post("/api/answers/1/confirm"),
    "move": lambda c: c.post("/api/moves", json={"images": [0], "group": "g"}),
    "new group": lambda c: c.post("/api/groups", json={"images": [0]}),
    "rename": lambda c: c.patch("/api/groups/g", json={"name": "x"}),
}
ADMIN: dict[str, Request] = {
    "criterion": lambda c: c.post("/api/criteria", json={"name": "mood"}),
    "change": lambda c: c.patch("/api/criteria", json={"n_clusters": 3}),
    "rescan": lambda c: c.post("/api/rescan"),
    "start page": lambda c: c.get("/start"),
    "folders": lambda c: c.get("/api/folders"),
    "open": lambda c: c.post("/api/open", json={"folder": "/"}),
    "export": lambda c: c.post("/api/folders", json={}),
}


@pytest.mark.parametrize("what", [*REVIEW, *ADMIN])
def test_each_role_has_its_permissions(workspace: Workspace, clients: Clients, what: str) -> None:
    answered(workspace, clients["Anna"], 1)
    allowed = {"Anna": False, "Ben": what in REVIEW, "Eva": True}
    for name, may in allowed.items():
        reply = {**REVIEW, **ADMIN}[what](clients[name])
        assert (reply.status_code != 403 or reply.json()["error"] != "RoleError") == may
        if not may:
            assert "Ask the person who runs the session" in reply.json()["message"]


def test_everyone_may_look(clients: Clients) -> None:
    for client in clients.values():
        for path in ("questions", "answers", "groups", "status", "agreement", "criteria"):
            assert client.get(f"/api/{path}").status_code == 200


def test_people_with_the_role_answer_undo_their_own_answers_only(
    workspace: Workspace, clients: Clients
) -> None:
    answered(workspace, clients["Ben"], 1)
    answered(workspace, clients["Anna"], 1)
    anna, ben = clients["Anna"], clients["Ben"]
    by = {entry.who: entry.id for entry in workspace.session.answers("colour")}
    reply = anna.post("/api/undo", json={"entry": by["Ben"]})
    assert reply.status_code == 403
    assert "own answers only" in reply.json()["message"]
    assert anna.post("/api/undo", json={"who": "Ben"}).json()["entry"]["id"] == by["Anna"]
    assert anna.post("/api/undo").json()["entry"] is None
    assert ben.post("/api/undo", json={"entry": by["Ben"]}).json()["entry"]["id"] == by["Ben"]


def test_an_invalid_token_opens_nothing(workspace: Workspace) -> None:
    app = create_app(workspace, TOKEN, people=PEOPLE)
    client = TestClient(app, base_url="http://127.0.0.1:8000")
    other = next(iter(AccessTokens("another token", people=PEOPLE).people))
    assert client.get(f"/?token={other}").status_code == 401
    assert client.get("/api/status").status_code == 401
    forged = AccessTokens(TOKEN, people=[Person("Anna", "admin")])
    assert next(iter(forged.people)) not in app.state.tokens.people  # the role is part of it


def test_one_question_in_eight_is_one_that_another_person_answered(
    workspace: Workspace, clients: Clients
) -> None:
    session = workspace.session
    for i in range(2, 8, 2):
        session.tell(_pair(session, 0, i, "Ben"))
    answered(workspace, clients["Anna"], 1)
    said = {tuple(sorted(one.question.images[:2])) for one in _answers(session, "Ben")}
    asked = []
    for _ in range(OVERLAP + 1):
        questions = clients["Anna"].get("/api/questions?n=1").json()["questions"]
        if not questions:
            break
        asked.append(tuple(sorted(questions[0]["images"][:2])))
        again = clients["Anna"].get("/api/questions?n=1").json()["questions"]
        if asked[-1] in said:
            assert again[0]["images"] == questions[0]["images"]  # until it is answered
        clients["Anna"].post("/api/answers", json=answer_of(workspace, questions[0]))
    assert sum(pair in said for pair in asked) == 1


def _pair(session: Session, i: int, j: int, who: str, *, wrong: bool = False) -> Any:
    from likewise.constraints.question import Answer

    question = Question.pair(i, j)
    right = right_answer(session, question)
    answer = {"same": "different", "different": "same"}[right] if wrong else right
    return Answer(question, answer, who, "colour")


def _answers(session: Session, who: str) -> list[Any]:
    return [one for one in session.graph("colour").answers.values() if one.who == who]


def test_agreement_counts_pairs_that_both_know(workspace: Workspace) -> None:
    session = workspace.session
    assert agreement(session, "colour") == []
    session.tell(_pair(session, 0, 2, "Anna"))
    session.tell(_pair(session, 2, 4, "Anna"))
    session.tell(_pair(session, 0, 1, "Anna"))
    session.tell(_pair(session, 0, 4, "Ben"))  # follows from two answers of Anna
    session.tell(_pair(session, 0, 1, "Ben", wrong=True))  # a conflict, which counts
    session.tell(_pair(session, 6, 8, "Ben"))  # Anna knows nothing about it
    session.tell(_pair(session, 0, 1, ""))  # without a name
    assert len(session.graph("colour").conflicts) == 1
    (found,) = agreement(session, "colour")
    assert (found.first, found.second, found.n_pairs, found.n_equal) == ("Anna", "Ben", 2, 1)
    session.tell(_pair(session, 0, 3, "Anna"))
    session.tell(_pair(session, 0, 3, "Ben"))
    (found,) = agreement(session, "colour")
    # Anna: same, different, different. Ben: same, same, different. By chance 1/3 2/3 + 2/3 1/3.
    assert found == Agreement("Anna", "Ben", 3, 2, round((2 / 3 - 4 / 9) / (1 - 4 / 9), 4))


def test_answer_files_of_several_people_are_merged_with_their_names(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    """Each answered a copy of the session; the second file has the answers of the first, too."""
    session = workspace.session
    session.tell(_pair(session, 0, 2, "Anna"))
    export_answers(session, tmp_path / "anna.jsonl")
    session.tell(_pair(session, 0, 2, "Ben"))
    session.tell(_pair(session, 0, 1, "Ben"))
    export_answers(session, tmp_path / "ben.jsonl")
    with Session.create(tmp_path / "merged.likewise", read_folder(folder)) as merged:
        merged.add_criterion("colour", 2)
        assert import_answers(merged, tmp_path / "anna.jsonl").n_imported == 1
        second = import_answers(merged, tmp_path / "ben.jsonl")
        assert (second.n_imported, second.n_duplicates) == (2, 1)
        assert [entry.who for entry in merged.answers("colour")] == ["Anna", "Ben", "Ben"]
        assert [(one.n_pairs, one.n_equal) for one in agreement(merged, "colour")] == [(1, 1)]


def test_invalid_people() -> None:
    assert Person.parse(" Anna ") == Person("Anna", "answer")
    with pytest.raises(UnknownNameError, match="'boss' is not a known role"):
        Person.parse("Anna=boss")
    for text in ("", "=admin", "a\nb=admin", "x" * 101):
        with pytest.raises(InvalidParameterError, match="--person must be NAME=ROLE"):
            Person.parse(text)
