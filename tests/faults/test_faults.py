"""The planting of faults: what is planted, which tests are run, and what is reported."""

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.faults.marking import marked
from tests.faults.planting import faults_in, plant

SOURCE = '''
"""Words are no logic: 1 < 2."""
LIMIT: int = 3

def clip(x: float, low: float = -1.0) -> float:
    """Return at most three."""
    if x < low and not x == LIMIT:
        raise ValueError(f"{x + 1} is too small: {low}")
    seen.append(x)  # é
    return cut(x, LIMIT, key=abs)
'''


def test_each_logical_part_gets_its_fault_and_messages_and_types_none(tmp_path: Path) -> None:
    (tmp_path / "clip.py").write_text(SOURCE)
    faults = faults_in(Path("clip.py"), tmp_path)
    assert [(f.kind, f.before, f.after) for f in faults] == [
        ("constant", "3", "(4)"),
        ("sign", "-1.0", "(1.0)"),
        ("constant", "1.0", "(2.5)"),
        ("operator", "x < low and (not x == LIMIT)", "(x < low or not x == LIMIT)"),
        ("operator", "x < low", "(x <= low)"),
        ("sign", "not x == LIMIT", "(x == LIMIT)"),
        ("operator", "x == LIMIT", "(x != LIMIT)"),
        (
            "dropped",
            "raise ValueError(f'{x + 1} is too small: {low}')",
            "pass",
        ),
        ("dropped", "seen.append(x)", "pass"),
        ("returns nothing", "return cut(x, LIMIT, key=abs)", "return None"),
        ("arguments", "cut(x, LIMIT, key=abs)", "(cut(LIMIT, x, key=abs))"),
        ("keyword", "cut(x, LIMIT, key=abs)", "(cut(x, LIMIT))"),
    ]
    assert [f.in_function for f in faults] == [False] * 3 + [True] * 9
    for fault in faults:
        assert len(ast.parse(plant(SOURCE.encode(), [fault])).body) == 3


def test_faults_that_do_not_overlap_are_planted_together(tmp_path: Path) -> None:
    (tmp_path / "clip.py").write_text(SOURCE)
    faults = {fault.after: fault for fault in faults_in(Path("clip.py"), tmp_path)}
    less, both, nothing = (
        faults["(x <= low)"],
        faults["(x < low or not x == LIMIT)"],
        faults["pass"],
    )
    assert both.overlaps(less)
    assert not nothing.overlaps(less)
    text = plant(SOURCE.encode(), [nothing, less]).decode()
    assert text == SOURCE.replace("x < low", "(x <= low)").replace("seen.append(x)", "pass")


MARKED = '''
"""A file."""
from __future__ import annotations

def sign(x):
    """Say it in words."""
    if x > 0:
        return "up"
    elif x < 0:
        return "down"
    try:
        return {}[x]
    except KeyError:
        pass
    return "level"
'''


def test_a_marked_file_does_the_same_and_says_which_lines_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[str, int]] = []
    hits = ModuleType("faults_hits")
    vars(hits)["hit"] = lambda path, line: ran.append((path, line))
    monkeypatch.setitem(sys.modules, "faults_hits", hits)
    names: dict[str, Any] = {}
    exec(marked(MARKED.strip().encode(), "sign.py"), names)
    assert (names["__doc__"], names["sign"].__doc__) == ("A file.", "Say it in words.")
    assert names["sign"](-2) == "down"
    assert ran == [("sign.py", 6), ("sign.py", 8), ("sign.py", 9)]
    ran.clear()
    assert names["sign"](0) == "level"
    assert [line for _, line in ran] == [6, 8, 10, 11, 13, 14]


ROOM = """
def double(x):
    return 2 * x

def forgotten(x):
    return x + 1
"""
TESTS = """
from likewise.sums import forgotten, double

def test_bites(): assert double(4) == 8
def test_sleeps(): assert forgotten(1) is not False
def test_cannot_fail(): pass
"""
RUN = """
import sys
from pathlib import Path
from tests.faults.campaign import Campaign
from tests.faults.trial import Copy

campaign = Campaign(Copy(Path(sys.argv[1]), Path(sys.argv[2]), "sums"), print)
campaign.sample(99, seed=0)
campaign.chase(9, seed=0)
print(campaign.report.never_failed)
"""


def test_a_fault_nobody_notices_and_a_test_that_cannot_fail_are_named(tmp_path: Path) -> None:
    tree = tmp_path / "project"
    for path, text in {
        "src/likewise/__init__.py": "",
        "src/likewise/sums/__init__.py": ROOM,
        "tests/sums/test_sums.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts='--import-mode=importlib'",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(textwrap.dedent(text))
    copy = tmp_path / "copy"
    copy.mkdir()
    command = [sys.executable, "-c", RUN, str(tree), str(copy)]
    bare = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # quicker to start
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=bare)
    sums = "src/likewise/sums/__init__.py"
    assert sorted(done.stdout.splitlines()) == [
        "['tests/sums/test_sums.py::test_cannot_fail', 'tests/sums/test_sums.py::test_sleeps']",
        f"survivor  {sums}:6  constant: 1  ->  (2)",
        f"survivor  {sums}:6  operator: x + 1  ->  (x - 1)",
        f"survivor  {sums}:6  returns nothing: return x + 1  ->  return None",
    ]
    assert (copy / "project" / sums).read_text() == textwrap.dedent(ROOM)
