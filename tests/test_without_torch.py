"""The product runs where torch and the other optional packages are not installed.

A `sitecustomize.py` hides the packages from every process of a test, including the worker process
that the server starts.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image, ImageDraw

HIDDEN = ("torch", "transformers", "accelerate", "kornia", "matplotlib", "pandas", "pyarrow")
HIDE = f"""
import sys
from importlib.machinery import PathFinder

class WithoutOptionalPackages(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {HIDDEN!r}:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [WithoutOptionalPackages if f is PathFinder else f for f in sys.meta_path]
"""
COLOURS = ("crimson", "royalblue", "seagreen")
N_IMAGES, N_ANSWERS = 60, 30


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of processes that cannot import the hidden packages."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    paths = [str(folder), *(path for path in sys.path if path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of circles in three colours; file names begin with the colour's number."""
    folder = tmp_path_factory.mktemp("pictures") / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(N_IMAGES):
        colour = number % len(COLOURS)
        image = Image.fromarray(rng.integers(200, 256, (64, 64, 3), dtype=np.uint8))
        left, top = (int(v) for v in rng.integers(4, 20, 2))
        ImageDraw.Draw(image).ellipse((left, top, left + 36, top + 36), fill=COLOURS[colour])
        image.save(folder / f"{colour}-{number:02}.png")
    return folder


def run(
    environment: dict[str, str], *words: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "likewise", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == code, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    return done


def test_the_packages_are_hidden(environment: dict[str, str]) -> None:
    for package in ("torch", "matplotlib"):
        done = subprocess.run(
            [sys.executable, "-c", f"import {package}"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"No module named '{package}'" in done.stderr


@contextmanager
def serving(environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Yield the address of the page of a new session; stop the server at the end."""
    command = [sys.executable, "-m", "likewise", "start", str(folder), "--by", "colour", "-k", "3"]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = ""
        while "token=" not in address:
            line = process.stdout.readline()
            assert line, process.stderr.read()[-2000:] if process.stderr else ""
            address = next((word for word in line.split() if "token=" in word), "")
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode in (0, 130), errors[-2000:]  # 130: stopped by Ctrl+C


class Client:
    """A client of the HTTP API."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._token = parse_qs(parts.query)["token"][0]

    def __call__(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._base + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read())


def correct_answer(question: dict[str, Any]) -> str:
    """Return the answer that the file names give."""
    first, *others = (name.rsplit("/", 1)[-1][0] for name in question["names"])
    if question["kind"] == "pair":
        return "same" if first == others[0] else "different"
    shown = zip(question["groups"], others, strict=True)
    return next((group for group, other in shown if other == first), "none")


def answer_questions(ask: Client, n_answers: int) -> None:
    for _ in range(n_answers):
        end = time.monotonic() + 60
        while not (questions := ask("/api/questions?n=1")["questions"]):
            assert time.monotonic() < end
            time.sleep(0.1)
        ask("/api/answers", {"question": questions[0], "answer": correct_answer(questions[0])})


def wait_for_training(ask: Client, n_answers: int) -> None:
    end = time.monotonic() + 120
    while ask("/api/status")["n_answers_trained"] < n_answers:
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.mark.slow
def test_a_whole_session_runs_without_optional_packages(
    environment: dict[str, str], photos: Path, tmp_path: Path
) -> None:
    session = photos.with_name("photos.likewise")
    with serving(environment, photos) as address:
        ask = Client(address)
        answer_questions(ask, N_ANSWERS)
        wait_for_training(ask, N_ANSWERS)
    table = tmp_path / "groups.csv"
    run(environment, "export", str(session), "--to", "csv", "-o", str(table))
    rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) == N_IMAGES
    counts = Counter((row[0].rsplit("/", 1)[-1][0], row[1]) for row in rows)
    largest = [max(n for (c, _), n in counts.items() if c == str(i)) for i in range(len(COLOURS))]
    assert sum(largest) >= 0.95 * N_IMAGES
    predicted = tmp_path / "new.csv"
    run(environment, "predict", str(session), str(photos), "-o", str(predicted))
    assert len(predicted.read_text(encoding="utf-8").splitlines()) == N_IMAGES + 1
    answers = run(environment, "answers", str(session)).stdout
    assert len(answers.splitlines()) >= N_ANSWERS


def test_embed_and_demo_run_without_optional_packages(
    environment: dict[str, str], photos: Path, tmp_path: Path
) -> None:
    vectors = tmp_path / "vectors.npy"
    run(environment, "embed", str(photos), "-o", str(vectors))
    assert len(np.load(vectors)) == N_IMAGES
    page = tmp_path / "demo.html"
    run(environment, "demo", "-o", str(page), "--n-images", "128")
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("fit", "PHOTOS", "--method", "pcl", "-k", "3", "-o", "OUT"), "torch"),
        (("bench", "run", "--dataset", "digits", "--by", "digit", "--method", "cc"), "bench"),
        (("embed", "PHOTOS", "--encoder", "hf:facebook/dinov2-small", "-o", "FILE"), "torch"),
    ],
    ids=["fit", "bench-run", "hub-encoder"],
)
def test_a_missing_extra_is_one_line(
    environment: dict[str, str], photos: Path, tmp_path: Path, words: tuple[str, ...], extra: str
) -> None:
    places = {
        "PHOTOS": str(photos),
        "OUT": str(tmp_path / "out"),
        "FILE": str(tmp_path / "out.npy"),
    }
    done = run(environment, *(places.get(word, word) for word in words), code=2)
    lines = [line for line in done.stderr.splitlines() if line.startswith("Error:")]
    assert len(lines) == 1
    assert f"pip install 'likewise[{extra}]'" in done.stderr
