"""A scripted person works with the real server: ``python -m benchmarks.scripted_person faces``.

``faces``: 300 painted portraits of 20 people, with and without the number of groups. ``job``: 800
pictures in 4 groups, questions and then checks of the least sure pictures. The person knows the
right group of every picture from its file name, and takes the time of DESIGN.md, section 4.
"""

import argparse
import csv
import io
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.load_test import ApiClient
from benchmarks.painted_faces import paint_faces
from benchmarks.speed_page import started
from benchmarks.synthetic_load_data import group_of
from likewise.metrics import accuracy
from likewise_bench.datasets.synthetic import make_scenes

_GOAL = 0.97
_PAGE = 8  # groups that key 0 shows at a time
_GRID = 24  # pictures of one check
_POLL = 0.05  # seconds
_PLACE_SECONDS = 2.0  # to choose the group of one picture that does not belong


@dataclass
class ScriptedPerson:
    """Answers the questions of one criterion by the names of the files.

    Parameters
    ----------
    call : ApiClient
    slowness : float
        Of the machine: the person waits this many times longer for a training.
    seconds : float
        Time spent so far.
    n_answers : int
    kinds : Counter
        The number of answers of each kind.
    most_none : int
        The largest number of choices in a row without the right group among those shown first.
    """

    call: ApiClient
    slowness: float = 1.0
    seconds: float = 0.0
    n_answers: int = 0
    kinds: "Counter[str]" = field(default_factory=Counter)
    most_none: int = 0
    _n_none: int = 0

    def answer_one(self) -> bool:
        """Answer the next question; return False if there is none."""
        questions = self.call("GET", "/api/questions?n=1&client=person")["questions"]
        if not questions:
            return False
        question = questions[0]
        if question["kind"] == "pair":
            first, second = map(group_of, question["names"])
            self._n_none = 0
            self._send(question, "same" if first == second else "different", [], 2.0)
        elif question["kind"] == "grid":
            shown = self._images([question["representative"]])[0]["name"]
            asked = zip(question["images"], question["names"], strict=True)
            ticked = [image for image, name in asked if group_of(name) != group_of(shown)]
            self._n_none = 0
            seconds = grid_seconds(len(question["images"]), len(ticked))
            self._send(question, "ticked", ticked, seconds)
        else:
            self._choose(question)
        return True

    def _choose(self, question: dict[str, Any]) -> None:
        """Choose the right group of those shown, else look at the others as key 0 shows them."""
        image, *others = question["images"]
        wanted, *names = (group_of(name) for name in question["names"])
        groups = [*zip(question["groups"], others, names, strict=True)]
        seconds = 1.5 + 0.2 * len(groups)
        chosen = next((place for place, one in enumerate(groups) if one[2] == wanted), None)
        more = question["more"]
        self._n_none = self._n_none + 1 if chosen is None else 0
        self.most_none = max(self.most_none, self._n_none)
        while chosen is None and more:
            part, more = more[:_PAGE], more[_PAGE:]
            about = self._images([one["representative"] for one in part])
            groups = [
                (a["id"], b["id"], group_of(b["name"])) for a, b in zip(part, about, strict=True)
            ]
            seconds += 0.2 * len(part)
            chosen = next((place for place, one in enumerate(groups) if one[2] == wanted), None)
            images = [image, *(one[1] for one in groups)]
            question = {"kind": "choice", "images": images, "groups": [one[0] for one in groups]}
        if chosen is not None:
            self._send(question, groups[chosen][0], [], seconds)
        elif "names" in question:  # all groups are shown: none of these
            self._send(question, "none", [], seconds)
        else:
            self.call("POST", "/api/groups", {"images": [image]})
            self._spend(seconds + _PLACE_SECONDS, "new group")

    def check_group(self, section: dict[str, Any]) -> bool:
        """Tick what does not belong among the least sure of a group; False if all is placed."""
        ids = section["images"]
        about = self._images(ids[: 2 * _GRID])
        asked = [one for one in about if not one["placed"]][:_GRID]
        if not asked:
            return False
        wanted = self._main_group(ids)
        ticked = [one["id"] for one in asked if group_of(one["name"]) != wanted]
        question = {
            "kind": "grid",
            "images": [one["id"] for one in asked],
            "groups": [section["id"]],
            "representative": None,
        }
        self._send(question, "ticked", ticked, grid_seconds(len(asked), len(ticked)))
        return True

    def place(self, image: int, group: str) -> None:
        """Move one picture to its group."""
        self.call("POST", "/api/moves", {"images": [image], "group": group})
        self._spend(_PLACE_SECONDS, "move")

    def accuracy(self) -> float:
        """Return the accuracy of the exported table."""
        rows = self.export()
        truth, found = zip(*((group_of(r["path"]), r["cluster"]) for r in rows), strict=True)
        return accuracy(truth, found)

    def export(self) -> list[dict[str, str]]:
        """Return the rows of the exported table."""
        return list(csv.DictReader(io.StringIO(self.call.text("/api/export?to=csv"))))

    def _main_group(self, ids: Sequence[int]) -> str:
        """Return what the person thinks a group is: what most of its surest pictures show."""
        names = [one["name"] for one in self._images(ids[-50:])]
        return Counter(map(group_of, names)).most_common(1)[0][0]

    def _images(self, ids: Sequence[int]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", f"/api/images?ids={','.join(map(str, ids))}")
        return found

    def _send(
        self, question: dict[str, Any], answer: str, ticked: Sequence[int], seconds: float
    ) -> None:
        body = {"question": question, "answer": answer, "seconds": seconds, "client": "person"}
        self.call("POST", "/api/answers", {**body, "ticked": list(ticked)})
        self._spend(seconds, question["kind"])

    def _spend(self, seconds: float, kind: str) -> None:
        """Wait until the training has all answers, at most as long as a person would take."""
        self.seconds += seconds
        self.n_answers += 1
        self.kinds[kind] += 1
        end = time.monotonic() + self.slowness * seconds
        while time.monotonic() < end:
            status = self.call("GET", "/api/status")
            if status["n_answers_trained"] == status["n_answers"]:
                return
            time.sleep(_POLL)


def grid_seconds(n_images: int, n_ticked: int) -> float:
    """Return the time that a person takes for a grid.

    Examples
    --------
    >>> grid_seconds(3, 1)
    2.9
    """
    return round(1.5 + 0.3 * n_images + 0.5 * n_ticked, 6)


def faces(
    n_people: int, n_images: int, n_answers: int, seed: int, slowness: float = 1
) -> Iterator[str]:
    """Yield rows: the accuracy with and without the number of groups."""
    reached = {}
    for k in (None, n_people):
        with tempfile.TemporaryDirectory(prefix="likewise-faces-") as directory:
            folder = Path(directory) / "portraits"
            paint_faces(folder, n_images, n_people, seed)
            with started(folder, "person", k) as address:
                person = ScriptedPerson(ApiClient(address), slowness)
                while person.n_answers < n_answers and person.answer_one():
                    pass
                settle(person)
                reached[k] = person.accuracy()
                n_groups = person.call("GET", "/api/status")["n_groups"]
        yield (
            f"number of groups {'not given' if k is None else 'given'}: accuracy {reached[k]:.3f} "
            f"after {person.n_answers} answers ({dict(person.kinds)}), {n_groups} groups, at most "
            f"{person.most_none} choices in a row without the right group"
        )
    share = reached[None] / reached[n_people]
    yield f"without the number: {share:.3f} of with it, {'ok' if share >= 0.95 else 'TOO LOW'}"


def job(
    source: Path | None, by: str, seed: int, seconds: float, slowness: float = 1
) -> Iterator[str]:
    """Yield rows: how the accuracy grows with the person's time, and when the goal is reached."""
    with tempfile.TemporaryDirectory(prefix="likewise-job-") as directory:
        folder = Path(directory) / "photos"
        write_scenes(folder, 800, by, seed) if source is None else copy_labeled(source, by, folder)
        with started(folder, by, None) as address:
            person = ScriptedPerson(ApiClient(address), slowness)
            reached = None
            for row in work(person, seconds):
                accuracy = person.accuracy()
                if reached is None and accuracy >= _GOAL:
                    reached = person.seconds
                yield f"{person.seconds:5.0f} s: {accuracy:.3f} {row}"
            settle(person)
            accuracy = person.accuracy()
            yield f"{person.seconds:5.0f} s: {accuracy:.3f} at the end; {dict(person.kinds)}"
            yield f"{_GOAL:.0%} reached after " + ("-" if reached is None else f"{reached:.0f} s")


def work(person: ScriptedPerson, seconds: float) -> Iterator[str]:
    """Answer questions until the goal is near, then check groups; yield the page's figure."""
    while person.seconds < seconds:
        status = person.call("GET", "/api/status")
        accuracy = status["accuracy"] or {"estimate": 0, "low": 0, "high": 1}
        shown = (
            f"shown {accuracy['estimate']:.2f} ({accuracy['low']:.2f} to {accuracy['high']:.2f})"
        )
        if accuracy["estimate"] < CHECK_FROM or accuracy["low"] < CHECK_FROM_LOW:
            for _ in range(5):
                if not person.answer_one():
                    break
            yield shown
            continue
        sections = person.call("GET", "/api/gallery?order=unsure")["sections"]
        checked = [person.check_group(one) for one in sections if one["kind"] == "group"]
        if not any(checked):
            break
        yield shown + ", checked"


CHECK_FROM, CHECK_FROM_LOW = 0.9, 0.7  # the shown accuracy from which the person checks groups


def settle(person: ScriptedPerson) -> None:
    """Wait until all answers are trained."""
    for _ in range(2400):
        status = person.call("GET", "/api/status")
        if status["n_answers_trained"] == status["n_answers"]:
            return
        time.sleep(_POLL)


def write_scenes(folder: Path, n_images: int, by: str, seed: int) -> None:
    """Write generated scenes; their names begin with the value of the criterion."""
    images, labels = make_scenes(n_images, seed=seed)
    folder.mkdir()
    for number, pixels in enumerate(images):
        scene = Image.fromarray(pixels).resize((192, 192), Image.Resampling.BICUBIC)
        scene.save(folder / f"{labels[by][number]}-{number:04}.png")


def copy_labeled(source: Path, by: str, folder: Path, n_images: int = 800) -> None:
    """Copy images of a folder with ``labels.csv``; their names begin with their label."""
    with open(source / "labels.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = next(iter(rows[0]))
    folder.mkdir()
    chosen = np.random.default_rng(0).permutation(len(rows))[:n_images]
    for number in chosen.tolist():
        place = source / "images" / rows[number][first]
        label = rows[number][by].replace("-", " ")
        (folder / f"{label}-{number:04}{place.suffix}").write_bytes(place.read_bytes())


def main() -> None:
    """Run with the parameters of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["faces", "job"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--images", type=Path, help="A folder with images/ and labels.csv.")
    parser.add_argument("--by", default="shape")
    parser.add_argument("--slow", type=float, default=1, help="Slowness of a loaded machine.")
    given = parser.parse_args()
    began = time.perf_counter()
    if given.what == "faces":
        rows = faces(given.people, 15 * given.people, given.answers, given.seed, given.slow)
    else:
        rows = job(given.images, given.by, given.seed, given.seconds, given.slow)
    for row in rows:
        sys.stdout.write(f"[{time.perf_counter() - began:5.1f}] {row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
