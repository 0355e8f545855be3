"""The promised paths, as a program of one's own would use them."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from likewise.workspace.workspace import Workspace
from tests.workspace.images import right_answer


def pair(first: int, second: int) -> dict[str, Any]:
    return {"kind": "pair", "images": [first, second]}


def give(client: TestClient, first: int, second: int, word: str, /, **more: Any) -> Any:
    response = client.post(
        "/api/answers", json={"question": pair(first, second), "answer": word, **more}
    )
    assert response.status_code == 201, response.text
    return response.json()


def test_a_bot_sorts_everything_with_nothing_but_the_api(
    client: TestClient, workspace: Workspace
) -> None:
    n = 0
    while questions := client.get("/api/questions?n=3").json()["questions"]:
        from likewise.server.shapes import QuestionIn

        word = right_answer(workspace.session, QuestionIn(**questions[0]).to_question())
        reply = client.post("/api/answers", json={"question": questions[0], "answer": word})
        assert reply.status_code == 201
        n += 1
    assert 11 <= n <= 66
    rows = list(csv.DictReader(io.StringIO(client.get("/api/export?to=csv").text)))
    assert {(row["path"][2:-4], row["name"]) for row in rows} == {
        ("red", "group 1"),
        ("blue", "group 2"),
    }


def test_an_answer_says_what_it_settled_and_brings_the_next_questions(client: TestClient) -> None:
    assert give(client, 0, 2, "same")["n_settled"] == 1
    reply = give(client, 2, 4, "same", client="tab", seconds=0.5)
    assert (reply["taken"], reply["n_settled"], reply["guessed"]) == (True, 2, True)
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


def test_a_contradiction_is_kept_and_shown_with_its_cycle(client: TestClient) -> None:
    give(client, 0, 2, "same")
    give(client, 2, 4, "same")
    reply = give(client, 0, 4, "different")
    assert reply["taken"] is False
    assert [entry["id"] for entry in reply["conflict"]["against"]] == [1, 2]
    assert sorted(reply["conflict"]["images"]) == [0, 2, 4]
    assert client.get("/api/status").json()["conflicts"] == [reply["conflict"]]
    assert client.delete("/api/answers/1").json()["stands"] is False
    assert client.get("/api/status").json()["conflicts"] == []


def test_undo_gives_the_question_back_and_ends_quietly(client: TestClient) -> None:
    give(client, 0, 2, "same")
    taken = client.post("/api/undo", json={}).json()
    assert (taken["entry"]["answer"], taken["question"]["images"]) == ("same", [0, 2])
    assert client.post("/api/undo").json() == {"entry": None, "question": None}


def test_the_log_is_searched_and_any_answer_taken_back(client: TestClient) -> None:
    give(client, 0, 2, "same", who="ada")
    give(client, 1, 2, "different", who="bob")
    assert client.get("/api/answers").json()["n"] == 2
    (found,) = client.get("/api/answers?search=ada same").json()["answers"]
    assert found["names"] == ["00red.png", "02red.png"]
    client.delete(f"/api/answers/{found['id']}")
    (found,) = client.get("/api/answers?search=ada").json()["answers"]
    assert found["stands"] is False
    again = client.delete(f"/api/answers/{found['id']}")
    assert (again.status_code, again.json()["error"]) == (400, "InvalidParameterError")
    assert "is already retracted by entry" in again.json()["message"]


def test_groups_are_shown_renamed_and_coloured(client: TestClient) -> None:
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


def test_groups_that_become_one_are_learned_anew_and_a_new_name_is_not(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.criterion("colour")  # which is learned once, when it begins
    trained: list[str] = []
    monkeypatch.setattr(workspace, "_train", trained.append)
    client.patch("/api/groups/g2", json={"name": "sea"})
    assert trained == []
    client.patch("/api/groups/g2", json={"merge_into": "g1"})
    assert trained == ["colour"]


def test_pictures_are_moved_by_hand(client: TestClient) -> None:
    reply = client.post("/api/moves", json={"images": [0, 2], "group": "g2"})
    assert (reply.status_code, reply.json()["n_taken"]) == (201, 2)
    groups = client.get("/api/groups").json()["groups"]
    assert {0, 2} <= {one["id"] for one in groups[1]["images"]}
    assert client.get("/api/answers").json()["answers"][0]["says"] == "group 2"


def test_orientations_are_added_and_kept_apart(client: TestClient) -> None:
    made = client.post("/api/orientations", json={"name": "mood", "n_clusters": 2})
    assert made.status_code == 201
    give(client, 0, 1, "same", orientation="mood")
    known = client.get("/api/orientations").json()
    assert [(one["name"], one["n_answers"]) for one in known] == [("colour", 0), ("mood", 1)]
    assert client.get("/api/groups?orientation=mood").json()["groups"] == []
    assert client.get("/api/map?orientation=mood").json()["ids"] == []
    unknown = client.get("/api/status?orientation=moods")
    assert unknown.status_code == 404
    assert "did you mean 'mood'" in unknown.json()["message"]


@pytest.mark.parametrize("to", ["csv", "html", "labelstudio", "fiftyone", "answers"])
def test_every_export_is_a_file_to_save(client: TestClient, to: str) -> None:
    give(client, 0, 2, "same")
    response = client.get(f"/api/export?to={to}")
    assert response.status_code == 200
    assert response.headers["content-disposition"].startswith(
        "attachment; filename*=UTF-8''colour."
    )
    assert len(response.content) > 50


def test_label_studio_gets_groups_and_pairs_as_choices(client: TestClient) -> None:
    give(client, 0, 2, "same")
    tasks = json.loads(client.get("/api/export?to=labelstudio").text)
    assert len(tasks) == 13
    assert tasks[0]["predictions"][0]["result"][0]["value"] == {"choices": ["group 1"]}
    assert tasks[-1]["annotations"][0]["result"][0]["value"] == {"choices": ["same"]}
    keys = {"kind", "image", "first", "second", "path"}
    assert all(task["data"].keys() == keys for task in tasks)  # else not one of them is let in
    assert tasks[-1]["data"]["second"] == "/data/local-files/?d=02red.png"


def test_other_programs_find_files_whatever_they_are_called(
    client: TestClient, folder: Path
) -> None:
    (folder / "00red.png").rename(folder / "a & b #1.x.png")
    client.post("/api/rescan")
    tasks = json.loads(client.get("/api/export?to=labelstudio").text)
    assert tasks[0]["data"]["image"] == "/data/local-files/?d=a%20%26%20b%20%231.x.png"
    labels = json.loads(client.get("/api/export?to=fiftyone").text)["labels"]
    assert {"a & b #1.x", "01blue"} <= labels.keys()  # FiftyOne looks for names without endings


def test_the_map_is_empty_before_there_is_one(client: TestClient) -> None:
    assert client.get("/api/map").json()["groups"] == ["g1", "g2"]


def test_pictures_come_as_webp_and_a_lost_one_is_said_so(client: TestClient, folder: Path) -> None:
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
def test_a_malformed_answer_is_refused_in_words_and_nothing_is_written(
    client: TestClient, workspace: Workspace, body: bytes
) -> None:
    response = client.post(
        "/api/answers", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code in (400, 422)
    assert set(response.json()) == {"error", "message"}
    assert workspace.session.answers("colour") == []


@pytest.mark.parametrize(
    ("kind", "images", "said"),
    [
        ("pair", [0, 1, 2], "A pair is about 2 images, and 3 came"),
        ("label", [0, 1], "A label is about 1 image, and 2 came"),
    ],
)
def test_a_question_about_too_many_images_is_refused_as_what_it_is(
    client: TestClient, kind: str, images: list[int], said: str
) -> None:
    question = {"kind": kind, "images": images, "groups": ["g1", "g2"][: len(images) - 1]}
    reply = client.post("/api/answers", json={"question": question, "answer": "cannot_tell"})
    assert (reply.status_code, said in reply.json()["message"]) == (400, True)


def test_the_promised_paths_are_documented(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    promised = {
        *("/api/questions", "/api/answers", "/api/undo", "/api/answers/{number}"),
        *("/api/groups", "/api/groups/{key}", "/api/map", "/api/images/{number}"),
        *("/api/images/{number}/thumbnail", "/api/orientations", "/api/export"),
        *("/api/status", "/api/events"),
    }
    assert promised <= set(paths)


def test_the_serving_process_imports_no_torch() -> None:
    code = (
        "import sys\n"
        "import likewise.server.app, likewise.server.serve, likewise.cli.start\n"
        "sys.exit(' '.join({'torch', 'sklearn', 'faiss', 'transformers'} & set(sys.modules)) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
