"""Malformed images, hostile sessions and models: nothing crashes, hangs or leaves its folder.

``python -m benchmarks.robustness.fuzz --images 1000 --sessions 200 --models 100 --seed 0``. Each
case is a file of a seeded generator. A case passes if every step ends normally or in an error of
this package, within 5 s of processor time, and nothing outside its folder is opened or changed.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.robustness.guarded import Outcome, Step, run_guarded
from benchmarks.robustness.hostile_files import change_model, change_session
from benchmarks.robustness.malformed_images import malformed_image, seed_images
from benchmarks.synthetic_load_data import keep_vectors, paint
from likewise.cli.main import app
from likewise.constraints.question import Answer, Question
from likewise.embedding.registry import DEFAULT_ENCODER
from likewise.errors import LikewiseError
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kmeans import KMeans
from likewise.estimators.registry import load_method
from likewise.images.decoding import decode, size_of
from likewise.images.files import read_folder
from likewise.server.app import create_app
from likewise.server.launcher import _read_session
from likewise.session.create import repair
from likewise.session.export.xmp import with_keyword
from likewise.session.session import Session
from likewise.workspace.training_job import SessionVectors, TrainingJob
from likewise.workspace.workspace import Workspace

_BY, _GROUPS, _N_IMAGES = "group", 3, 24
_TOKEN = "a-token-for-this-test"
_SECRET = b"this text is outside of the session"
_PATHS = (
    *("status", "groups", "gallery", "map", "answers", "label_issues", "violations", "criteria"),
    *("questions?n=4", "images/0/thumbnail", "images/3", "images/3/info", "images", "compare"),
)
_EXPORTS = ("csv", "folders", "html", "xmp", "labelstudio", "coco", "cvat", "fiftyone", "answers")


@dataclass
class Result:
    """What happened in all cases of one kind."""

    name: str
    n_cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    n_outside: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    defects: list[str] = field(default_factory=list)

    def add(self, case: str, outcome: Outcome) -> None:
        """Count one case."""
        self.n_cases += 1
        self.kinds[outcome.kind] += 1
        self.n_outside += bool(outcome.outside)
        self.seconds = max(self.seconds, outcome.seconds)
        self.megabytes = max(self.megabytes, outcome.megabytes)
        if outcome.is_defect:
            found = "; ".join([*outcome.details, *outcome.outside[:3]])
            self.defects.append(f"{case}: {outcome.kind}: {found}")

    def __str__(self) -> str:
        bad = ", ".join(
            f"{self.kinds[kind]} {kind}" for kind in ("crash", "hang", "traceback", "slow")
        )
        return (
            f"{self.n_cases:,} {self.name}: {self.kinds['ok']} used, {self.kinds['message']} ended "
            f"in a message, {bad}, {self.n_outside} outside of their folder; longest step "
            f"{self.seconds:.1f} s, {self.megabytes:,.0f} MB"
        )


# -- images ---------------------------------------------------------------------------


def fuzz_images(n_cases: int, seed: int) -> Result:
    """Decode malformed images in every way in which files are read."""
    result = Result("malformed images")
    seed_images()
    for number in range(n_cases):
        name, content = malformed_image(random.Random(f"image {seed} {number}"))
        with tempfile.TemporaryDirectory() as folder:
            for count in range(2):
                Image.new("RGB", (16, 16), (100 * count, 0, 0)).save(Path(folder, f"{count}.png"))
            path = Path(folder, f"case.{name}")
            path.write_bytes(content)
            steps: list[Step] = [
                ("decode", partial(decode, path)),
                ("decode bytes", partial(decode, content, at_least=32)),
                ("size", partial(_size_of, content)),
                ("folder", partial(_use_folder, Path(folder))),
            ]
            if name.endswith(("jpg", "png")):
                steps += [("tag", partial(with_keyword, content, "summer", _BY))]
            result.add(f"image {number} ({name})", run_guarded(steps, Path(folder)))
    return result


def _size_of(content: bytes) -> tuple[int, int]:
    return size_of(BytesIO(content))


def _use_folder(folder: Path) -> None:
    images = read_folder(folder)
    for index in range(len(images)):
        images.pixels(index, at_least=64)


# -- sessions -------------------------------------------------------------------------


def fuzz_sessions(n_cases: int, seed: int) -> Result:
    """Open changed sessions, and do with them what a person would do."""
    result = Result("hostile sessions")
    with tempfile.TemporaryDirectory() as directory:
        valid = _valid_session(Path(directory) / "valid")
        for number in range(-1, n_cases):  # the first one is not changed
            folder = Path(directory) / f"case{number}"
            shutil.copytree(valid, folder)
            session, done = folder / "photos.likewise", "unchanged"
            if number >= 0:
                done = change_session(session, random.Random(f"session {seed} {number}"))
            outcome = run_guarded(_session_steps(session), folder, _SECRET)
            if number >= 0:
                result.add(f"session {number} ({done})", outcome)
            elif outcome.kind != "ok" or outcome.is_defect:
                raise LikewiseError(f"an unchanged session must be usable: {outcome}")
            _remove(folder)
    return result


def _valid_session(folder: Path) -> Path:
    """Create images, a session that contains everything, and a secret next to it."""
    paint(folder / "photos", _N_IMAGES, _GROUPS)
    (folder / "secret.txt").write_bytes(_SECRET)
    images = read_folder(folder / "photos")
    with Session.create(folder / "photos.likewise", images) as session:
        session.add_criterion(_BY, _GROUPS)
        session.add_criterion("mood", 2, two_groups=True)
        session.make_groups(_BY, ["one", "two", "three"])
        answers = [Answer(Question.pair(i, i + 1), "cannot_tell", "ada", _BY) for i in range(3)]
        answers += [Answer(Question.label(i), f"g{i % 3 + 1}", "ada", _BY) for i in range(6)]
        answers += [Answer(Question.choice(9, (1, 2), ("g2", "g3")), "g2", "bo", _BY, seconds=1.5)]
        answers += [Answer(Question.grid((10, 11), 2, "g3"), "ticked", "bo", _BY, ticked=(10,))]
        answers += [Answer(Question.pair(0, 1), "same", "bo", "mood")]
        session.tell_all(answers)
        session.undo(_BY, "ada")
        session.change_group(_BY, "g2", name="summer", colour="#00ff00")
        keep_vectors(session.path, session.images.hashes, session.images.names, DEFAULT_ENCODER)
        _train(session)
    return folder


def _session_steps(session: Path) -> list[Step]:
    """Return what is done with a session: page, training, exports, repair."""
    out = session.parent / "out"
    out.mkdir()
    command = partial(_command, cwd=session.parent)
    exports: list[Step] = [
        (
            f"export {to}",
            partial(command, "export", session, "--to", to, "--by", _BY, "-o", out / to),
        )
        for to in _EXPORTS
    ]
    return [
        ("recent", lambda: _read_session(session)),
        ("answers", partial(command, "answers", session, "--by", _BY)),
        ("page", lambda: _use_page(session)),
        ("train", lambda: _open_and_train(session)),
        *exports,
        ("answers --to csv", partial(command, "answers", session, "--to", "csv")),
        ("repair", lambda: repair(session)),
        ("page after repair", lambda: _use_page(session)),
        ("read exports", lambda: b"".join(p.read_bytes() for p in out.rglob("*") if p.is_file())),
    ]


def _command(*words: object, cwd: Path) -> None:
    """Run a command line; an exit code other than 0 and 1 is an error."""
    os.chdir(cwd)
    code = app([str(word) for word in words], standalone_mode=False, prog_name="likewise")
    if code not in (None, 0, 1):
        raise RuntimeError(f"exit code {code}")


def _use_page(path: Path) -> bytes:
    """Request everything that the page requests, and answer a question."""
    from starlette.testclient import TestClient

    received = []
    with Workspace(Session.open(path), has_worker=False) as workspace:
        client = TestClient(create_app(workspace, _TOKEN), base_url="http://127.0.0.1:8000")
        client.headers["Authorization"] = f"Bearer {_TOKEN}"
        for by in (_BY, "mood"):
            for one in _PATHS:
                response = client.get(f"/api/{one}", params={"by": by} if "?" not in one else None)
                received.append(response.content)
                if response.status_code == 500:
                    raise RuntimeError(f"{one}: {response.status_code} {response.text}")
        for question in client.get("/api/questions?n=1").json().get("questions", []):
            body = {"question": question, "answer": "cannot_tell", "who": "eve"}
            for name in ("answers", "undo"):
                response = client.post(f"/api/{name}", json=body if name == "answers" else {})
                received.append(response.content)
                if response.status_code == 500:
                    raise RuntimeError(f"{name}: {response.status_code} {response.text}")
    return b"".join(received)


def _open_and_train(path: Path) -> None:
    with Session.open(path, write=False) as session:
        _train(session)


def _train(session: Session) -> None:
    """Train as the worker does."""
    vectors = SessionVectors.load(session, DEFAULT_ENCODER, lambda message: None)
    for criterion in session.criteria:
        TrainingJob(session, criterion, vectors, lambda message: None).run(criterion)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


# -- models ---------------------------------------------------------------------------


def fuzz_models(n_cases: int, seed: int) -> Result:
    """Load changed models and predict with them."""
    result = Result("hostile models")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 6)).astype(np.float32) + np.arange(60)[:, None] // 20
    with tempfile.TemporaryDirectory() as directory:
        valid = Path(directory) / "valid"
        for name, method in (("kmeans", KMeans), ("likewise", Likewise)):
            model = method(n_clusters=3, random_state=0).fit(rows, ml=[(0, 1)], cl=[(0, 40)])
            model.save(valid / name)
        for number in range(n_cases):
            folder, chance = (
                Path(directory) / f"case{number}",
                random.Random(f"model {seed} {number}"),
            )
            shutil.copytree(valid, folder)
            (folder / "secret.txt").write_bytes(_SECRET)
            model_folder = folder / chance.choice(("kmeans", "likewise"))
            done = change_model(model_folder, chance)
            step: Callable[[], object] = partial(_use_model, model_folder, rows)
            result.add(f"model {number} ({done})", run_guarded([("load", step)], folder))
            _remove(folder)
    return result


def _use_model(folder: Path, rows: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> None:
    model = load_method(folder)
    probabilities = model.predict_proba(rows)
    if not np.isfinite(probabilities).all():
        raise ArithmeticError("the probabilities are not finite")
    model.predict(rows), model.transform(rows)


def fuzz(n_images: int, n_sessions: int, n_models: int, seed: int) -> Iterator[Result]:
    """Yield the result of each kind."""
    yield fuzz_models(n_models, seed)
    yield fuzz_sessions(n_sessions, seed)
    yield fuzz_images(n_images, seed)


def main() -> None:
    """Run the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin, n_defects = time.perf_counter(), 0
    for result in fuzz(given.images, given.sessions, given.models, given.seed):
        lines = [f"[{time.perf_counter() - begin:5.0f} s] {result}", *result.defects]
        sys.stdout.write("\n  ".join(lines) + "\n")
        sys.stdout.flush()
        n_defects += len(result.defects)
    sys.exit(n_defects > 0)


if __name__ == "__main__":
    main()
