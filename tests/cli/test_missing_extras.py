"""Commands without the packages of the extras: they work, or name the extra in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.images.files import read_folder
from likewise.session import Session

TORCH = ("torch", "transformers", "accelerate", "kornia")
BENCH = ("matplotlib", "pandas", "pyarrow", *TORCH)
CODE = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
from likewise.cli.main import run
run()
"""


def run_without(
    packages: tuple[str, ...], *arguments: object
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process where some packages cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", CODE.format(blocked=set(packages)), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def session(photos: Path) -> Path:
    """A session of the photos with answers for the criterion colour."""
    path = photos.with_name("photos.likewise")
    collection = read_folder(photos)
    with Session.create(path, collection) as opened:
        opened.add_criterion("colour", 3)
        for image in (0, 1, 8, 9, 16, 17):
            colour = collection.name(image).rpartition("/")[2].rstrip("0123456789.png")
            opened.tell(Answer(Question.label(image), colour, criterion="colour"))
    return path


@pytest.mark.parametrize(
    "arguments", [("--help",), ("start", "--help"), ("bench", "--help"), ("demo", "--help")]
)
def test_help_needs_no_extra(arguments: tuple[str, ...]) -> None:
    ended = run_without(BENCH, *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("fit", "photos", "-k", "3", "--method", "cc"), "torch"),
        (("bench", "plot", "answers", "rows.jsonl", "-o", "curves.png"), "bench"),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(
    photos: Path, arguments: tuple[str, ...], extra: str
) -> None:
    Path("rows.jsonl").write_text("")
    ended = run_without(BENCH, *arguments)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("Error: ")
    assert line.endswith(f"run `pip install 'likewise[{extra}]'`.")


@pytest.mark.parametrize(
    "arguments",
    [
        ("answers", "photos.likewise"),
        ("export", "photos.likewise", "--to", "answers", "-o", "answers.jsonl"),
        ("embed", "photos", "-o", "rows.npy"),
        ("fit", "photos", "-k", "3", "--by", "colour"),
        ("predict", "photos.likewise", "photos", "--by", "colour"),
    ],
)
def test_a_command_of_the_product_needs_no_extra(session: Path, arguments: tuple[str, ...]) -> None:
    ended = run_without(BENCH, *arguments)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("module", ["start", "ask"])
def test_the_modules_of_an_interactive_command_need_no_extra(module: str) -> None:
    """Everything that `start` and `ask` import before the page is served."""
    imports = (
        f"likewise.cli.{module}",
        "likewise.oracles.terminal",
        "likewise.server.app",
        "likewise.server.serve",
    )
    code = CODE.format(blocked=set(BENCH)).partition("from likewise")[0] + "".join(
        f"import {name}\n" for name in imports
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
