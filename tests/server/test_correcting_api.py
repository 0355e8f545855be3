"""Splitting off, second looks, comparison, folders and the folder again, over the wire."""

import io
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.constraints.question import Question, Relation
from likewise.workspace.workspace import Workspace
from tests.server.test_api import give
from tests.workspace.images import paint_folder


def test_pictures_are_split_off_into_a_group_of_their_own(client: TestClient) -> None:
    reply = client.post("/api/groups", json={"images": [0, 2], "name": "dusk", "who": "ada"})
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert (made["n_taken"], made["conflicts"]) == (2, [])
    groups = {one["key"]: one for one in client.get("/api/groups").json()["groups"]}
    assert groups[made["key"]]["name"] == "dusk"
    assert {image["id"] for image in groups[made["key"]]["images"]} == {0, 2}
    assert [one["says"] for one in client.get("/api/answers").json()["answers"]] == ["dusk"] * 2


def test_everything_cannot_be_split_off(client: TestClient) -> None:
    reply = client.post("/api/groups", json={"images": list(range(12))})
    assert reply.status_code == 400
    assert "must leave images" in reply.json()["message"]


def test_a_doubtful_answer_is_offered_again_until_somebody_stands_by_it(
    client: TestClient, workspace: Workspace
) -> None:
    number = give(client, 0, 2, "same")["id"]
    suspects = [{"answer": number, "image": 0, "probability": 0.8, "evidence": [number]}]
    workspace._receive({"event": "trained", "criterion": "colour", "label_issues": suspects})
    (doubt,) = client.get("/api/suspects").json()
    assert (doubt["answer"]["id"], doubt["surprise"]) == (number, 0.8)
    assert client.get("/api/status").json()["n_doubts"] == 1
    assert client.post(f"/api/suspects/{number}").status_code == 204
    assert client.get("/api/suspects").json() == []
    assert workspace.session.confirmed("colour") == {number: (0,)}  # for the trainer
    said = client.get("/api/answers").json()["answers"]
    assert [one["says"] for one in said] == ["“same” is right", "same"]
    assert client.post("/api/undo").json()["entry"]["id"] == said[0]["id"]
    assert [one["answer"]["id"] for one in client.get("/api/suspects").json()] == [number]


def test_the_log_counts_answers_as_the_status_does(client: TestClient) -> None:
    numbers = [give(client, 0, i, "same")["id"] for i in (2, 4, 6)]
    client.delete(f"/api/answers/{numbers[0]}")
    client.patch("/api/groups/g1", json={"name": "sunset"})
    log = client.get("/api/answers?limit=1").json()
    assert (log["n"], log["n_standing"], log["n_taken_back"]) == (4, 2, 1)
    assert log["n_standing"] == client.get("/api/status").json()["n_answers"]


def test_what_was_taken_back_is_brought_back(client: TestClient, workspace: Workspace) -> None:
    number = give(client, 0, 2, "same")["id"]
    client.delete(f"/api/answers/{number}")
    (fallen,) = client.get("/api/answers").json()["answers"]
    assert not fallen["stands"]
    assert client.delete(f"/api/answers/{fallen['taken_back_by']}").status_code == 200
    (again,) = client.get("/api/answers").json()["answers"]
    assert (again["stands"], again["taken_back_by"]) == (True, None)
    assert workspace.session.graph("colour").relation(0, 2) is Relation.SAME


def test_standing_by_what_nobody_said_is_refused(client: TestClient) -> None:
    reply = client.post("/api/suspects/7")
    assert (reply.status_code, "answer 7 of criterion" in reply.text) == (400, True)


def test_a_contradiction_names_the_likely_slip(client: TestClient) -> None:
    give(client, 0, 10, "same")
    give(client, 10, 11, "same")  # which are red and blue
    conflict = give(client, 0, 11, "different")["conflict"]
    assert conflict["likely"] == 2
    assert client.get("/api/status").json()["conflicts"][0]["likely"] == 2


def test_answers_without_a_place_are_listed(client: TestClient) -> None:
    assert client.get("/api/violations").json() == []
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        give(client, first, second, "different")
    assert len(client.get("/api/violations").json()) == 1


def test_what_was_asked_is_not_counted_as_settled_besides(client: TestClient) -> None:
    assert give(client, 0, 2, "same")["n_also"] == 0
    assert give(client, 2, 4, "same")["n_also"] == 1


def test_two_orientations_are_compared_in_a_table(client: TestClient, workspace: Workspace) -> None:
    table = client.get("/api/compare?first=colour&second=colour&limit=2").json()
    assert [[cell["n"] for cell in row] for row in table["cells"]] == [[6, 0], [0, 6]]
    assert table["cells"][0][0]["images"] == [10, 8]
    assert [one["name"] for one in table["rows"]] == ["group 1", "group 2"]
    assert table["nmi"] == 1
    workspace.add_criterion("mood", 2)
    reply = client.get("/api/compare?second=mood")
    assert (reply.status_code, "has no groups yet" in reply.text) == (503, True)
    assert client.get("/api/compare?second=nobody").status_code == 404


def test_a_parquet_table_says_what_the_csv_says(client: TestClient) -> None:
    from pyarrow import parquet

    content = client.get("/api/export?to=parquet").content
    table = parquet.read_table(io.BytesIO(content)).to_pydict()
    lines = client.get("/api/export?to=csv").text.splitlines()
    assert list(table) == lines[0].split(",")
    assert table["path"][0] + f",{table['cluster'][0]},{table['name'][0]}" in lines[1]
    assert len(table["path"]) == 12


@pytest.mark.parametrize("how", ["copy", "symlink", "hardlink"])
def test_pictures_are_sorted_into_folders_beside_theirs(
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
    assert len(list(folder.iterdir())) == 12  # nothing moved


def test_folders_go_nowhere_else(client: TestClient) -> None:
    reply = client.post("/api/folders", json={"how": "copy", "folder": "/tmp/elsewhere"})
    assert reply.status_code == 422


def test_the_folder_is_looked_at_again(client: TestClient, folder: Path, tmp_path: Path) -> None:
    (paint_folder(tmp_path / "extra", 13) / "12red.png").rename(folder / "12red.png")
    (folder / "00red.png").unlink()
    found = client.post("/api/rescan").json()
    assert (found["added"], found["missing"]) == (1, 1)
    status = client.get("/api/status").json()
    assert (status["n_images"], status["missing"]) == (12, 1)
    assert [one["id"] for one in client.get("/api/groups").json()["fresh"]] == [12]
    assert client.get("/api/images/12/thumbnail").status_code == 200


def test_a_folder_that_is_gone_is_said_so_and_answers_are_still_taken(
    client: TestClient, folder: Path
) -> None:
    folder.rename(folder.with_name("away"))
    reply = client.post("/api/rescan")
    assert reply.status_code == 503
    assert "cannot be reached" in reply.json()["message"]
    assert "cannot be reached" in client.get("/api/status").json()["trouble"]
    assert client.get("/api/images/0").status_code == 410
    assert give(client, 0, 2, "same")["taken"]
    reply = client.post("/api/folders", json={"how": "copy"})
    assert (reply.status_code, "bring it back first" in reply.text) == (503, True)
    assert not list(folder.parent.glob("* by colour"))


def test_a_group_may_be_called_by_a_word_that_means_something(
    client: TestClient, workspace: Workspace
) -> None:
    workspace.criterion("colour").change_group("g1", name="none")
    workspace.criterion("colour").queue.fill([Question.choice(4, (0, 1), ("g1", "g2"))])
    (question,) = client.get("/api/questions").json()["questions"]
    assert [one["name"] for one in question["shown"]] == ["none", "group 2"]
    client.post("/api/answers", json={"question": question, "answer": "g1"})
    assert client.get("/api/status").json()["tally"]["placed"] == 1
    refused = client.post(
        "/api/answers", json={"question": {**question, "groups": ["none", "g2"]}, "answer": "none"}
    )
    assert refused.status_code == 400
    assert "cannot be answered" in refused.json()["message"]
