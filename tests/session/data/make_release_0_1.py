"""Make the session folder of release 0.1 that `test_release_0_1.py` migrates.

Kept for the record; it runs with the code of release 0.1 only:

    PYTHONPATH=OLD/src python make_release_0_1.py OUTPUT_FOLDER
"""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from likewise.constraints.question import Answer, Question
from likewise.workspace.workspace import Workspace
from likewise.images.folder import read_folder
from likewise.session import Session, answer_lines, assignments, load_results

COLORS = ("crimson", "royalblue")


def draw_pictures(folder: Path) -> None:
    """Write 20 PNG files: red and blue circles and squares on noisy backgrounds."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(20):
        picture = Image.fromarray(rng.integers(200, 256, (48, 48, 3), dtype=np.uint8) // 16 * 16)
        draw, left, top = ImageDraw.Draw(picture), *(int(v) for v in rng.integers(4, 16, 2))
        shape = draw.ellipse if i // 2 % 2 else draw.rectangle
        shape((left, top, left + 26, top + 26), fill=COLORS[i % 2])
        picture.save(folder / f"{i:02}.png", optimize=True)


def wait_for(desk: Workspace, by: str, n_answers: int) -> None:
    """Return after the training process has saved results for `n_answers` answers."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        results = load_results(desk.session, by)
        if results is not None and results.n_answers >= n_answers:
            return
        time.sleep(0.5)
    raise SystemExit(f"No results of {by} for {n_answers} answers: {desk.state}, {desk.trouble}")


def tell_color(session: Session) -> None:
    """Answer by color: pairs, a conflict, a retraction, and a retraction of a retraction."""

    def pair(i: int, j: int, answer: str, who: str = "ann") -> int:
        told = session.tell(
            Answer(Question.pair(i, j), answer, who=who, orientation="color", seconds=1.5)
        )
        return told.id

    for i in range(2, 12, 2):
        pair(0, i, "same")
        pair(1, i + 1, "same", "bob")
    pair(0, 1, "different")
    pair(2, 4, "different", "bob")  # a conflict: both are the same as 0
    pair(12, 13, "cannot_tell")
    pair(14, 15, "bad_image")
    session.take_back(pair(6, 16, "different"), "ann")  # a retraction
    kept = pair(8, 18, "same")
    session.take_back(kept, "ann")
    last = max(number for number, _ in ((e.id, s) for e, s in session.entries("color")))
    session.take_back(last, "ann")  # restores the answer
    pair(3, 5, "same")
    session.undo("color", "ann")


def tell_shape(session: Session) -> None:
    """Answer by shape: labels, choices, a new group, names, colours and a merge of groups."""

    def say(question: Question, answer: str) -> int:
        return session.tell(Answer(question, answer, who="ann", orientation="shape")).id

    squares, circles, rings = session.make_groups("shape", ["squares", "circles", "rings"])
    say(Question.label(0), squares.key)
    say(Question.label(2), circles.key)
    shown = (squares.key, circles.key)
    for i in (4, 5, 8, 9):
        say(Question.choice(i, (0, 2), shown), squares.key)
    for i in (6, 7, 10):
        say(Question.choice(i, (0, 2), shown), circles.key)
    say(Question.choice(11, (0, 2), shown), "new")
    say(Question.choice(12, (0, 2), shown), "none")
    say(Question.choice(13, (0, 2), shown), "cannot_tell")
    doubted = say(Question.label(14), "discs")  # a label that makes its own group
    say(Question.label(15), rings.key)
    say(Question.label(16), "bad_image")
    session.change_group("shape", squares.key, name="Boxes", who="ann")
    session.change_group("shape", circles.key, colour="#123456", who="bob")
    session.change_group("shape", rings.key, merge_into="discs", who="ann")
    session.stand_by("shape", doubted, [14, 15], "ann")


def expected(session: Session) -> dict[str, Any]:
    """Return what release 0.1 reads from the session."""
    names, result = session.images.names, {}
    for one in session.orientations:
        graph, by = session.graph(one.name), one.name
        found = load_results(session, by)
        result[by] = {
            "n_clusters": one.n_clusters,
            "two_groups": one.two_groups,
            "folder": one.folder,
            "answers": [json.loads(line) for line in answer_lines(session, by)],
            "entries": [[entry.id, entry.kind, stands] for entry, stands in session.entries(by)],
            "conflicts": {
                str(number): [str(fact) for fact in proof]
                for number, proof in graph.set_aside.items()
            },
            "bad_images": sorted(graph.bad_images),
            "must_link_groups": graph.groups().tolist(),
            "cannot_links": sorted(graph.apart().tolist()),
            "groups": [
                [group.key, group.name, group.colour, group.merged_into]
                for group in session.groups(by).all()
            ],
            "confirmed": {str(n): list(images) for n, images in session.stood_by(by).items()},
            "keys": list(found.keys) if found else [],
            "labels": found.labels.tolist() if found else [],
            "assignments": [
                [row.path, row.cluster, row.name, round(row.confidence, 4), row.answered]
                for row in assignments(session, by)
            ],
        }
    return {"names": names, "criteria": result}


def main(output: Path) -> None:
    """Write the pictures, the session and what release 0.1 reads from it."""
    pictures, path = output / "pictures", output / "release_0_1.likewise"
    draw_pictures(pictures)
    session = Session.create(path, read_folder(pictures))
    session.add_orientation("color", 2, two_groups=True)
    session.add_orientation("shape")
    tell_color(session)
    tell_shape(session)
    with Workspace(session) as desk:
        desk.sorting("color")
        desk.sorting("shape")
        for by in ("color", "shape"):
            wait_for(desk, by, session.graph(by).n_answers)
        time.sleep(2)
    with Session.open(path, write=False) as session:
        text = json.dumps(expected(session), indent=1)
    (output / "expected.json").write_text(text + "\n", encoding="utf-8")
    for folder in ("thumbnails", "embeddings"):  # derived from the pictures
        shutil.rmtree(path / folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
