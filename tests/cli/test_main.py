"""The command line as a whole: help, exit codes, errors and notes."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from likewise import __version__
from likewise.cli.main import app
from likewise.errors import InvalidParameterError, LikewiseWarning
from tests.cli.conftest import Run, done

LARGE = ("torch", "sklearn", "pandas", "transformers", "numpy", "scipy", "PIL", "rich")


def _commands(command: Any, name: str = "likewise") -> Iterator[tuple[str, Any]]:
    yield name, command
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for word in command.list_commands(context):
            yield from _commands(command.get_command(context, word), f"{name} {word}")


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    text = COMMANDS[name].help or COMMANDS[name].callback.__doc__
    assert "Example:" in text
    assert name in text.split("Example:")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help_or_lists_its_values(name: str) -> None:
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None) or "|" in (parameter.metavar or "")


def test_all_documented_commands_exist() -> None:
    names = {name.removeprefix("likewise").strip() for name in COMMANDS}
    assert names >= {
        *("", "start", "ask", "demo", "fit", "predict", "export", "answers", "embed"),
        *("bench", "bench list", "bench run"),
    }


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["bench", "run", "--help"]])
def test_help_imports_no_large_package(arguments: list[str]) -> None:
    code = (
        "import sys; from likewise.cli.main import app\n"
        f"try: app({arguments!r})\n"
        "except SystemExit: pass\n"
        f"sys.exit(' '.join(sorted(set({LARGE!r}) & set(sys.modules))) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Usage:" in ended.stdout


@pytest.mark.slow
def test_help_takes_at_most_three_times_as_long_as_typer() -> None:
    def seconds(*arguments: str) -> float:
        spent = []
        for _ in range(4):
            begin = time.perf_counter()
            subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
            spent.append(time.perf_counter() - begin)
        return min(spent)

    ours = seconds("-c", "from likewise.cli.main import run; run()", "--help")
    assert ours < 3 * seconds("-c", "import typer")


def test_the_version_is_printed(run: Run) -> None:
    assert done(run("--version")).stdout == f"likewise {__version__}\n"


def _fails(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make `likewise bench list` raise."""

    def known() -> None:
        raise error

    monkeypatch.setattr("likewise_bench.cli.tables._known", known)


def test_an_error_of_this_package_is_one_line_on_stderr(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fails(monkeypatch, InvalidParameterError("n must be >= 4, got 3."))
    result = run("bench", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: n must be >= 4, got 3.\n"


def test_any_other_error_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _fails(monkeypatch, ZeroDivisionError("ours"))
    assert isinstance(run("bench", "list").exception, ZeroDivisionError)


def test_ctrl_c_prints_what_is_saved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _fails(monkeypatch, KeyboardInterrupt())
    result = run("bench", "list")
    assert result.exit_code == 130
    assert "Stopped. Answers and embeddings so far are saved" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fits"], "No such command 'fits'"),
        (["fit"], "Missing argument 'FOLDER'"),
        (["fit", ".", "-k", "many"], "Invalid value for '-k'"),
        (["fit", ".", "-k", "1"], "Invalid value for '-k'"),
        (["bench", "run", "--nois", "3"], "No such option: --nois"),
    ],
)
def test_wrong_usage_has_exit_code_2(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_warnings_of_this_package_are_notes_and_others_remain_warnings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known() -> dict[str, Any]:
        warnings.warn("3 images are odd.", LikewiseWarning, stacklevel=2)
        warnings.warn("This goes away.", FutureWarning, stacklevel=2)
        nothing: dict[str, Any] = {"methods": {}, "strategies": [], "encoders": []}
        return {"datasets": {"x": "y"}, "criteria": {"x": []}, **nothing}

    monkeypatch.setattr("likewise_bench.cli.tables._known", known)
    with pytest.warns(FutureWarning, match="This goes away") as others:
        assert done(run("bench", "list")).stderr == "Note: 3 images are odd.\n"
    assert len(others) == 1


def test_a_closed_pipe_is_not_an_error() -> None:
    code = (
        "import likewise_bench.cli.tables as b; from likewise.cli.main import run\n"
        "d = dict(datasets={'x': 'y'}, criteria={'x': []}, methods={}, strategies=[])\n"
        "b._known = lambda: dict(**d, encoders=[])\n"
        "run()"
    )
    command = [sys.executable, "-c", code, "bench", "list"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
