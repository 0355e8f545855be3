"""The HTTP API as a client program uses it: questions, answers, groups, exports."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.workspace.images import right_answer


def pair(first: int, second: int) -> dict[str, Any]:
    return {"kind": "pair", "images": [first, second]}


def answer_pair(client: TestClient, first: int, second: int, word: str, /, **more: Any) -> Any:
    response = client.post(
        "/api/answers", json={"question": pair(first, second), "answer": word, **more}
    )
    assert response.status_code == 201, response.text
    return response.json()


def test_a_program_groups_all_images_with_the_api_alone(
    client: TestClient, workspace: Workspace
) -> None:
    n = 0
    while questions := client.get("/api/questions?n=3").json()["questions"]:
        asked = questions[0]
        question = Question.build(asked["kind"], tuple(asked["images"]), tuple(asked["groups"]))
        word = right_answer(workspace.session, question)
        reply = client.post("/api/answers", json={"question": questions[0], "answer": word})
        assert reply.status_code == 201
        n += 1
    assert 11 <= n <= 66
    rows = list(csv.DictReader(io.StringIO(client.get("/api/export?to=csv").text)))
    assert {(row["path"][2:-4], row["name"]) for row in rows} == {
        ("red", "group 1"),
        ("blue", "group 2"),
    }


def test_an_answer_returns_its_implied_relations_and_the_next_questions(client: TestClient) -> None:
    assert answer_pair(client, 0, 2, "same")["n_relations"] == 1
    reply = answer_pair(client, 2, 4, "same", client="tab", seconds=0.5)
    assert (reply["accepted"], reply["n_relations"]) == (True, 2)
    assert len(reply["questions"]) == 4
    assert client.get("/api/questions?n=4&client=tab").json()["questions"] == reply["questions"]


def test_two_clients_get_different_questions(client: TestClient) -> None:
    both = [
        {
            tuple(one["images"])
            for one in client.get(f"/api/questions?n=5&client={who}").json()["questions"]
        }
        for who in ("ada", "bob")
    ]
    assert len(both[0]) == len(both[1]) == 5
    assert not both[0] & both[1]


def test_a_conflict_is_kept_and_returned_with_its_proof(client: TestClient) -> None:
    answer_pair(client, 0, 2, "same")
    answer_pair(client, 2, 4, "same")
    reply = answer_pair(client, 0, 4, "different")
    assert reply["accepted"] is False
    assert [entry["id"] for entry in reply["conflict"]["against"]] == [1, 2]
    assert sorted(reply["conflict"]["images"]) == [0, 2, 4]
    assert client.get("/api/status").json()["conflicts"] == [reply["conflict"]]
    assert client.delete("/api/answers/1").json()["retracted"] is True
    assert client.get("/api/status").json()["conflicts"] == []


def test_undo_returns_the_question_and_then_null(client: TestClient) -> None:
    answer_pair(client, 0, 2, "same")
    undone = client.post("/api/undo", json={}).json()
    assert (undone["entry"]["answer"], undone["question"]["images"]) == ("same", [0, 2])
    assert client.post("/api/undo").json() == {"entry": None, "question": None}


def test_the_log_is_searched_and_any_answer_retracted(client: TestClient) -> None:
    answer_pair(client, 0, 2, "same", who="ada")
    answer_pair(client, 1, 2, "different", who="bob")
    assert client.get("/api/answers").json()["n"] == 2
    (found,) = client.get("/api/answers?search=ada same").json()["answers"]
    assert found["names"] == ["00red.png", "02red.png"]
    client.delete(f"/api/answers/{found['id']}")
    (found,) = client.get("/api/answers?search=ada").json()["answers"]
    assert found["retracted"] is True
    again = client.delete(f"/api/answers/{found['id']}")
    assert (again.status_code, again.json()["error"]) == (400, "InvalidParameterError")
    assert "is already retracted by entry" in again.json()["message"]


def test_groups_are_listed_renamed_and_recoloured(client: TestClient) -> None:
    changed = client.patch("/api/groups/g1", json={"name": "sunset", "colour": "#aa2200"})
    assert changed.status_code == 200
    found = client.get("/api/groups?limit=2").json()
    assert [(one["name"], one["n_images"]) for one in found["groups"]] == [
        ("sunset", 6),
        ("group 2", 6),
    ]
    assert found["groups"][0]["colour"] == "#aa2200"
    assert [one["name"] for one in found["groups"][0]["images"]] == ["10red.png", "08red.png"]
    assert found["n_unsure"] == 2
    more = client.get("/api/groups/g1?offset=4").json()
    assert [one["id"] for one in more["images"]] == [2, 0]


def test_merging_groups_starts_training_and_renaming_does_not(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.criterion("colour")  # is trained once when it starts
    trained: list[str] = []
    monkeypatch.setattr(workspace, "_train", trained.append)
    client.patch("/api/groups/g2", json={"name": "sea"})
    assert trained == []
    client.patch("/api/groups/g2", json={"merge_into": "g1"})
    assert trained == ["colour"]


def test_images_are_moved_to_another_group(client: TestClient) -> None:
    reply = client.post("/api/moves", json={"images": [0, 2], "group": "g2"})
    assert (reply.status_code, reply.json()["n_accepted"]) == (201, 2)
    groups = client.get("/api/groups").json()["groups"]
    assert {0, 2} <= {one["id"] for one in groups[1]["images"]}
    assert client.get("/api/answers").json()["answers"][0]["text"] == "group 2"


def test_an_action_is_undone_by_one_of_its_entries(client: TestClient) -> None:
    answer_pair(client, 0, 2, "same")
    moved = client.post("/api/moves", json={"images": [0, 1], "group": "g2"}).json()
    assert moved["conflicts"] == []
    answer_pair(client, 3, 5, "same")
    undone = client.post("/api/undo", json={"entry": moved["entry"]})
    assert undone.status_code == 200, undone.text
    texts = [
        one["text"] for one in client.get("/api/answers").json()["answers"] if not one["retracted"]
    ]
    assert texts == ["same", "same"]  # the move is undone, and what it had retracted is back
    again = client.post("/api/undo", json={"entry": moved["entry"]})
    assert again.status_code == 400
    assert "already undone" in again.json()["message"]


def test_a_change_of_a_group_is_undone_by_its_entry(client: TestClient) -> None:
    changed = client.patch("/api/groups/g2", json={"name": "sea"}).json()
    client.post("/api/undo", json={"entry": changed["entry"]})
    assert [one["name"] for one in client.get("/api/groups").json()["groups"]][1] == "group 2"


def test_criteria_are_added_and_independent(client: TestClient) -> None:
    made = client.post("/api/criteria", json={"name": "mood", "n_clusters": 2})
    assert made.status_code == 201
    answer_pair(client, 0, 1, "same", criterion="mood")
    known = client.get("/api/criteria").json()
    assert [(one["name"], one["n_answers"]) for one in known] == [("colour", 0), ("mood", 1)]
    assert client.get("/api/groups?by=mood").json()["groups"] == []
    assert client.get("/api/map?by=mood").json()["ids"] == []
    unknown = client.get("/api/status?by=moods")
    assert unknown.status_code == 404
    assert "did you mean 'mood'" in unknown.json()["message"]


@pytest.mark.parametrize("to", ["csv", "html", "labelstudio", "fiftyone", "answers"])
def test_every_export_is_a_file_download(client: TestClient, to: str) -> None:
    answer_pair(client, 0, 2, "same")
    response = client.get(f"/api/export?to={to}")
    assert response.status_code == 200
    assert response.headers["content-disposition"].startswith(
        "attachment; filename*=UTF-8''colour."
    )
    assert len(response.content) > 50


def test_only_chosen_groups_are_exported(client: TestClient, folder: Path) -> None:
    client.patch("/api/groups/g2", json={"name": "Blue, <b>sky</b>"})
    for chosen in ("g2", "Blue, <b>sky</b>"):
        text = client.get("/api/export", params={"to": "csv", "group": chosen}).text
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {row["path"] for row in rows} == {f"{i:02}blue.png" for i in range(1, 12, 2)}
    both = client.get("/api/export", params={"to": "csv", "group": ["g1", "g2"]}).text
    assert len(list(csv.DictReader(io.StringIO(both)))) == 12
    reply = client.post("/api/folders", json={"groups": ["g1"]}).json()
    assert [one.name for one in Path(reply["folder"]).iterdir()] == ["group 1"]
    unknown = client.get("/api/export", params={"to": "csv", "group": "g9"})
    assert unknown.status_code == 404
    assert "g9" in unknown.json()["message"]


def test_label_studio_export_has_groups_and_pairs_as_choices(
    client: TestClient, folder: Path
) -> None:
    answer_pair(client, 0, 2, "same")
    tasks = json.loads(client.get("/api/export?to=labelstudio").text)
    assert len(tasks) == 13
    assert tasks[0]["predictions"][0]["result"][0]["value"] == {"choices": ["group 1"]}
    assert tasks[-1]["annotations"][0]["result"][0]["value"] == {"choices": ["same"]}
    keys = {"kind", "image", "first", "second", "path"}
    assert all(
        task["data"].keys() == keys for task in tasks
    )  # Label Studio rejects the import otherwise
    assert tasks[-1]["data"]["second"] == f"/data/local-files/?d={folder.name}/02red.png"


def test_exported_paths_are_quoted(client: TestClient, folder: Path) -> None:
    (folder / "00red.png").rename(folder / "a & b #1.x.png")
    client.post("/api/rescan")
    tasks = json.loads(client.get("/api/export?to=labelstudio").text)
    assert (
        tasks[0]["data"]["image"] == f"/data/local-files/?d={folder.name}/a%20%26%20b%20%231.x.png"
    )
    labels = json.loads(client.get("/api/export?to=fiftyone").text)["labels"]
    assert {str(folder / "a & b #1.x.png"), str(folder / "01blue.png")} <= labels.keys()


def test_the_map_lists_the_groups_before_it_has_points(client: TestClient) -> None:
    assert client.get("/api/map").json()["groups"] == ["g1", "g2"]


def test_images_are_webp_and_a_missing_file_is_an_error(client: TestClient, folder: Path) -> None:
    for path in ("/api/images/0", "/api/images/0/thumbnail"):
        assert client.get(path).headers["content-type"] == "image/webp"
    (folder / "03blue.png").unlink()
    gone = client.get("/api/images/3")
    assert (gone.status_code, gone.json()["error"]) == (410, "ImageError")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"question": {"kind": "pair", "images": [0]}, "answer": "same"}',
        b'{"question": {"kind": "pair", "images": [0, 0]}, "answer": "same"}',
        b'{"question": {"kind": "pair", "images": [0, 99]}, "answer": "same"}',
        b'{"question": {"kind": "pair", "images": [0, 1]}, "answer": "perhaps"}',
        b'{"question": {"kind": "pair", "images": [0, 1]}, "answer": "same", "seconds": 1e999}',
        b'{"question": {"kind": "pair", "images": [0, 1]}, "answer": "same", "who": "\\ud800"}',
        b'{"question": {"kind": "choice", "images": [0], "groups": []}, "answer": "new"}',
        b"\xff\xfe",
    ],
)
def test_a_malformed_answer_is_an_error_with_a_message_and_not_stored(
    client: TestClient, workspace: Workspace, body: bytes
) -> None:
    response = client.post(
        "/api/answers", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code in (400, 422)
    assert set(response.json()) == {"error", "message"}
    assert workspace.session.answers("colour") == []


@pytest.mark.parametrize(
    ("kind", "images", "message"),
    [
        ("pair", [0, 1, 2], "A pair question must have 2 images, got 3"),
        ("label", [0, 1], "A label question must have 1 image"),
    ],
)
def test_a_question_with_too_many_images_is_an_error(
    client: TestClient, kind: str, images: list[int], message: str
) -> None:
    question = {"kind": kind, "images": images, "groups": ["g1", "g2"][: len(images) - 1]}
    reply = client.post("/api/answers", json={"question": question, "answer": "cannot_tell"})
    assert (reply.status_code, message in reply.json()["message"]) == (400, True)


def test_all_paths_of_the_design_are_in_openapi(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    expected = {
        *("/api/questions", "/api/answers", "/api/undo", "/api/answers/{id}"),
        *("/api/groups", "/api/groups/{id}", "/api/map", "/api/images/{id}"),
        *("/api/images/{id}/thumbnail", "/api/criteria", "/api/export"),
        *("/api/status", "/api/events"),
    }
    assert expected <= set(paths)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/api/orientations", 404, "There is no path '/api/orientations'"),
        ("/api/suspects", 404, "all paths are in /openapi.json"),
        ("/api/questions?orientation=colour", 422, "query.orientation: Unknown parameter"),
        ("/api/status?token=x", 422, "known are: by"),
    ],
)
def test_an_unknown_path_or_parameter_is_an_error(
    client: TestClient, path: str, status: int, message: str
) -> None:
    reply = client.get(path)
    assert (reply.status_code, message in reply.json()["message"]) == (status, True)


def test_an_unknown_field_is_an_error(client: TestClient) -> None:
    body = {"question": pair(0, 1), "answer": "same", "orientation": "colour"}
    reply = client.post("/api/answers", json=body)
    assert (reply.status_code, "body.orientation" in reply.json()["message"]) == (422, True)


def test_the_server_process_imports_neither_torch_nor_scikit_learn() -> None:
    code = (
        "import sys\n"
        "import likewise.server.app, likewise.server.serve, likewise.cli.start\n"
        "sys.exit(' '.join({'torch', 'sklearn', 'faiss', 'transformers'} & set(sys.modules)) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def answer_grid(client: TestClient, question: dict[str, Any], ticked: list[int]) -> Any:
    body = {"question": question, "answer": "ticked", "ticked": ticked}
    response = client.post("/api/answers", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def test_a_grid_is_asked_and_sent_back_unchanged(client: TestClient, workspace: Workspace) -> None:
    workspace.criterion("").queue.fill([Question.grid((4, 6, 3, 8), 2, "group 1")])
    (asked,) = client.get("/api/questions").json()["questions"]
    assert (asked["kind"], asked["images"], asked["representative"]) == ("grid", [4, 6, 3, 8], 2)
    (group,) = asked["offered"]
    assert [group["id"]] == asked["groups"]
    assert group["representative"] == 2
    reply = answer_grid(client, asked, [3])
    assert (reply["accepted"], reply["n_relations"]) == (True, 10)
    entry = client.get("/api/answers").json()["answers"][0]
    assert (entry["images"], entry["ticked"]) == ([4, 6, 3, 8, 2], [3])
    assert entry["text"] == f"1 of 4 not {group['name']}"
    undone = client.post("/api/undo").json()
    assert undone["question"]["images"] == [4, 6, 3, 8]


def test_a_client_makes_a_grid_of_a_group_without_a_representative(client: TestClient) -> None:
    group = client.get("/api/groups").json()["groups"][0]
    images = [image["id"] for image in group["images"]]
    reply = answer_grid(client, {"kind": "grid", "images": images, "groups": [group["id"]]}, [])
    assert reply["accepted"]
    assert reply["n_relations"] == len(images) * (len(images) - 1) // 2
    group = client.get("/api/groups").json()["groups"][0]
    refused = client.post(
        "/api/answers",
        json={
            "question": {"kind": "grid", "images": images, "groups": [group["id"]]},
            "answer": "ticked",
            "ticked": images,
        },
    )
    assert refused.status_code == 400
    assert "must have an image that belongs to it" in refused.json()["message"]


def test_a_partial_conflict_of_a_grid_lists_the_images_concerned(client: TestClient) -> None:
    answer_pair(client, 0, 2, "different")
    grid = {"kind": "grid", "images": [2, 4, 6], "groups": ["g1"], "representative": 0}
    reply = answer_grid(client, grid, [])
    assert not reply["accepted"]
    assert sorted(reply["conflict"]["images"]) == [0, 2]
    assert answer_pair(client, 4, 6, "same")["n_relations"] == 0  # known
