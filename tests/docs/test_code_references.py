"""Modules, folders and names that the documentation mentions exist."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

# The changelog and the results of earlier releases name what no longer exists.
_HISTORY = {"CHANGELOG.md", "likewise_experiments.md"}
_BASES = (ROOT, ROOT / "src", ROOT / "src" / "likewise", ROOT / "docs")
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|toml))(?:: ([\w, .]+))?`")
_NAMED = [page for page in pages() if page.name not in _HISTORY]


def _find(path: str, page: Path) -> Path | None:
    """Return the file that a path in the documentation means; short names need their folder."""
    bases = (*_BASES, ROOT / "examples", ROOT / "benchmarks", ROOT / "research" / "theorems")
    siblings = [ROOT / "src" / "likewise" / "estimators", *(ROOT / "src" / "likewise").iterdir()]
    found = [base / path for base in (*bases, *siblings) if (base / path).is_file()]
    if not found and "/" not in path:
        found = sorted((ROOT / "src").rglob(path))
    return found[0] if found else None


@pytest.mark.parametrize("page", _NAMED, ids=lambda page: str(page.relative_to(ROOT)))
def test_mentioned_modules_and_names_exist(page: Path) -> None:
    for path, names in _FILE.findall(page.read_text()):
        if path in {"truth.csv", "x.py"}:
            continue
        file = _find(path, page)
        assert file is not None, f"{page.name} mentions {path}, which does not exist."
        for name in re.findall(r"\w+", names):
            defined = re.search(rf"^\s*(class|def) {name}\b|^{name}\b.*=", file.read_text(), re.M)
            assert defined, f"{page.name}: {path} does not define {name}."


@pytest.mark.parametrize("page", _NAMED, ids=lambda page: str(page.relative_to(ROOT)))
def test_mentioned_tests_exist(page: Path) -> None:
    for path in re.findall(r"`(tests/[\w/.]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} mentions {path}, which does not exist."
