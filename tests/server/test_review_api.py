"""The HTTP API for new groups, label issues, comparison, folders and rescans."""

import io
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.constraints.question import Question, Relation
from likewise.workspace.workspace import Workspace
from tests.server.test_api import answer_pair
from tests.workspace.images import paint_folder


def test_images_become_a_new_group(client: TestClient) -> None:
    reply = client.post("/api/groups", json={"images": [0, 2], "name": "dusk", "who": "ada"})
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert (made["n_accepted"], made["conflicts"]) == (2, [])
    groups = {one["id"]: one for one in client.get("/api/groups").json()["groups"]}
    assert groups[made["id"]]["name"] == "dusk"
    assert {image["id"] for image in groups[made["id"]]["images"]} == {0, 2}
    assert [one["text"] for one in client.get("/api/answers").json()["answers"]] == ["dusk"] * 2


def test_a_new_group_cannot_take_all_images(client: TestClient) -> None:
    reply = client.post("/api/groups", json={"images": list(range(12))})
    assert reply.status_code == 400
    assert "must leave images in the other groups" in reply.json()["message"]


def test_a_label_issue_is_listed_until_it_is_confirmed(
    client: TestClient, workspace: Workspace
) -> None:
    number = answer_pair(client, 0, 2, "same")["id"]
    issues = [{"answer": number, "image": 0, "probability": 0.8, "evidence": [number]}]
    workspace._receive({"event": "trained", "criterion": "colour", "label_issues": issues})
    (issue,) = client.get("/api/label_issues").json()
    assert (issue["answer"]["id"], issue["probability"]) == (number, 0.8)
    assert client.get("/api/status").json()["n_label_issues"] == 1
    assert client.post(f"/api/answers/{number}/confirm").status_code == 204
    assert client.get("/api/label_issues").json() == []
    assert workspace.session.confirmed("colour") == {number: (0,)}
    entries = client.get("/api/answers").json()["answers"]
    assert [one["text"] for one in entries] == ["“same” confirmed", "same"]
    assert client.post("/api/undo").json()["entry"]["id"] == entries[0]["id"]
    assert [one["answer"]["id"] for one in client.get("/api/label_issues").json()] == [number]


def test_the_log_and_the_status_count_the_same_answers(client: TestClient) -> None:
    numbers = [answer_pair(client, 0, i, "same")["id"] for i in (2, 4, 6)]
    client.delete(f"/api/answers/{numbers[0]}")
    client.patch("/api/groups/g1", json={"name": "sunset"})
    log = client.get("/api/answers?limit=1").json()
    assert (log["n"], log["n_active"], log["n_retracted"]) == (4, 2, 1)
    assert log["n_active"] == client.get("/api/status").json()["n_answers"]


def test_a_retracted_answer_is_restored(client: TestClient, workspace: Workspace) -> None:
    number = answer_pair(client, 0, 2, "same")["id"]
    client.delete(f"/api/answers/{number}")
    (retracted,) = client.get("/api/answers").json()["answers"]
    assert retracted["retracted"]
    assert client.delete(f"/api/answers/{retracted['retracted_by']}").status_code == 200
    (restored,) = client.get("/api/answers").json()["answers"]
    assert (restored["retracted"], restored["retracted_by"]) == (False, None)
    assert workspace.session.graph("colour").relation(0, 2) is Relation.SAME


def test_confirming_an_unknown_answer_is_an_error(client: TestClient) -> None:
    reply = client.post("/api/answers/7/confirm")
    assert (reply.status_code, "'colour' is not active" in reply.text) == (400, True)


def test_a_conflict_names_the_answer_that_is_suspected(client: TestClient) -> None:
    answer_pair(client, 0, 10, "same")
    answer_pair(client, 10, 11, "same")  # red and blue: wrong
    conflict = answer_pair(client, 0, 11, "different")["conflict"]
    assert conflict["suspected"] == 2
    assert client.get("/api/status").json()["conflicts"][0]["suspected"] == 2


def test_violated_answers_are_listed(client: TestClient) -> None:
    assert client.get("/api/violations").json() == []
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        answer_pair(client, first, second, "different")
    assert len(client.get("/api/violations").json()) == 1


def test_the_pair_of_the_question_is_not_counted_as_implied(client: TestClient) -> None:
    assert answer_pair(client, 0, 2, "same")["n_implied"] == 0
    assert answer_pair(client, 2, 4, "same")["n_implied"] == 1


def test_two_criteria_are_compared_in_a_table(client: TestClient, workspace: Workspace) -> None:
    table = client.get("/api/compare?first=colour&second=colour&limit=2").json()
    assert [[cell["n"] for cell in row] for row in table["cells"]] == [[6, 0], [0, 6]]
    assert table["cells"][0][0]["images"] == [10, 8]
    assert [one["name"] for one in table["rows"]] == ["group 1", "group 2"]
    assert table["nmi"] == 1
    workspace.add_criterion("mood", 2)
    reply = client.get("/api/compare?second=mood")
    assert (reply.status_code, "'mood' has no groups yet" in reply.text) == (409, True)
    assert client.get("/api/compare?second=unknown").status_code == 404


def test_parquet_and_csv_have_the_same_content(client: TestClient) -> None:
    from pyarrow import parquet

    content = client.get("/api/export?to=parquet").content
    table = parquet.read_table(io.BytesIO(content)).to_pydict()
    lines = client.get("/api/export?to=csv").text.splitlines()
    assert list(table) == lines[0].split(",")
    assert table["path"][0] + f",{table['cluster'][0]},{table['name'][0]}" in lines[1]
    assert len(table["path"]) == 12


@pytest.mark.parametrize("how", ["copy", "symlink", "hardlink"])
def test_images_are_exported_to_folders_beside_the_original_folder(
    client: TestClient, folder: Path, how: str
) -> None:
    places = [client.post("/api/folders", json={"how": how}).json() for _ in range(2)]
    assert [Path(one["folder"]).name for one in places] == [
        "photos by colour",
        "photos by colour 2",
    ]
    made = folder.with_name("photos by colour")
    assert sorted(one.name for one in made.iterdir()) == ["group 1", "group 2"]
    picture = made / "group 1" / "00red.png"
    assert picture.is_symlink() == (how == "symlink")
    assert os.path.samefile(picture, folder / "00red.png") == (how != "copy")
    assert len(list(folder.iterdir())) == 12  # the originals stay


def test_a_request_cannot_choose_the_folder(client: TestClient) -> None:
    reply = client.post("/api/folders", json={"how": "copy", "folder": "/tmp/elsewhere"})
    assert reply.status_code == 422


def test_a_rescan_finds_new_and_missing_images(
    client: TestClient, folder: Path, tmp_path: Path
) -> None:
    (paint_folder(tmp_path / "extra", 13) / "12red.png").rename(folder / "12red.png")
    (folder / "00red.png").unlink()
    found = client.post("/api/rescan").json()
    assert (found["added"], found["missing"]) == (1, 1)
    status = client.get("/api/status").json()
    assert (status["n_images"], status["n_missing"]) == (12, 1)
    assert [one["id"] for one in client.get("/api/groups").json()["new"]] == [12]
    assert client.get("/api/images/12/thumbnail").status_code == 200


def test_a_missing_folder_is_reported_and_answers_are_still_stored(
    client: TestClient, folder: Path
) -> None:
    folder.rename(folder.with_name("away"))
    reply = client.post("/api/rescan")
    assert reply.status_code == 503
    assert "cannot be reached" in reply.json()["message"]
    assert "cannot be reached" in client.get("/api/status").json()["problem"]
    assert client.get("/api/images/0").status_code == 410
    assert answer_pair(client, 0, 2, "same")["accepted"]
    reply = client.post("/api/folders", json={"how": "copy"})
    assert (reply.status_code, "restore it first" in reply.text) == (503, True)
    assert not list(folder.parent.glob("* by colour"))


def test_a_group_may_be_named_like_an_answer(client: TestClient, workspace: Workspace) -> None:
    workspace.criterion("colour").change_group("g1", name="none")
    workspace.criterion("colour").queue.fill([Question.choice(4, (0, 1), ("g1", "g2"))])
    (question,) = client.get("/api/questions").json()["questions"]
    assert [one["name"] for one in question["offered"]] == ["none", "group 2"]
    client.post("/api/answers", json={"question": question, "answer": "g1"})
    assert client.get("/api/status").json()["counts"]["placed"] == 1
    refused = client.post(
        "/api/answers", json={"question": {**question, "groups": ["none", "g2"]}, "answer": "none"}
    )
    assert refused.status_code == 400
    assert "must have different keys" in refused.json()["message"]
