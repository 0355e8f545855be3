"""Command lines in the documentation use commands and options that exist."""

from pathlib import Path
from typing import Any

import pytest

from docs.site_tools.reference import cli_commands
from tests.docs.pages import ROOT, commands, pages

COMMANDS = cli_commands()


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the words name, and the words behind its name."""
    name = words[0]
    for n, word in enumerate(words[1:], start=1):
        if f"{name} {word}" not in COMMANDS:
            return COMMANDS[name], words[n:]
        name = f"{name} {word}"
    return COMMANDS[name], []


def _check(words: list[str]) -> None:
    command, rest = _command(words)
    if rest and rest[0].isupper():  # `likewise COMMAND --help`
        return
    options = {name: one for one in command.params for name in (*one.opts, *one.secondary_opts)}
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    n_arguments = 0
    remaining = iter(rest)
    for word in remaining:
        if word == "--help":
            return
        if not word.startswith("-"):
            n_arguments += 1
            continue
        assert word in options, f"{word} is not an option of: {' '.join(words)}"
        if not options[word].is_flag:
            next(remaining, None)
    most = sum(one.nargs if one.nargs > 0 else 1000 for one in arguments)
    assert n_arguments <= most, f"Too many arguments: {' '.join(words)}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_parse(page: Path) -> None:
    for words in commands(page.read_text()):
        _check(words)


def test_command_lines_are_found() -> None:
    found = list(commands((ROOT / "README.md").read_text()))
    assert ["likewise", "ask", "photos.likewise", "--by", "season"] in found


def test_a_wrong_option_is_found() -> None:
    with pytest.raises(AssertionError, match="--colour is not an option"):
        _check(["likewise", "start", "photos/", "--colour"])
    with pytest.raises(AssertionError, match="Too many arguments"):
        _check(["likewise", "start", "photos/", "more/"])
