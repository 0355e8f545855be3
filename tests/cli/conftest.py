import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner, Result

from likewise.cli.main import app
from likewise.random_streams import stream

Run = Callable[..., Result]
COLOURS = {"red": (200, 40, 40), "green": (40, 180, 60), "blue": (40, 60, 210)}


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A separate cache and working directory for every test, and one thread."""
    torch.set_num_threads(1)
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with threadpool_limits(1):
        yield


@pytest.fixture
def run() -> Run:
    """The command line: ``run("fit", folder, "-k", 2)``."""

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


def done(result: Result) -> Result:
    """Return a result that must be a success."""
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result


def error_of(run: Run, *arguments: object) -> str:
    """Return the error message of a command that must fail, with nothing on stdout."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.exception
    assert "Error: " in result.stderr, result.exception
    line = result.stderr[result.stderr.index("Error: ") :]
    assert "Traceback" not in line
    return line


def json_of(result: Result) -> Any:
    """Return the JSON object on stdout, where nothing else may be."""
    return json.loads(done(result).stdout)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twenty-four small images in three plain colours, eight of each, in two folders."""
    folder = tmp_path / "photos"
    for number in range(24):
        name = list(COLOURS)[number % 3]
        place = folder / ("old" if number < 12 else "new")
        place.mkdir(parents=True, exist_ok=True)
        paint(name, number).save(place / f"{name}{number:02}.png")
    return folder


def paint(name: str, number: int) -> Image.Image:
    """Return an image of one colour with noise."""
    grain = stream(number, "grain").normal(0, 12, (40, 40, 3))
    return Image.fromarray(np.clip(np.array(COLOURS[name]) + grain, 0, 255).astype(np.uint8))


def colour_of(name: str) -> str:
    """Return the colour of an image of `photos` according to its name."""
    return Path(name).stem.rstrip("0123456789")
