"""The documentation uses the terms of the field and not those of release 0.1."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

# The changelog maps old names to new ones; results and experiments quote settings of 0.1.
_QUOTES = {"CHANGELOG.md", "results.md", "likewise_experiments.md"}
_OLD = re.compile(
    r"\b(desk|pupil|facets?|rivals?|slips?|foretold|honou?rs?|set aside|take back|taken back|"
    r"suspects?|nobody|somebody|so many|in words|goes on|stands for|of one's own)\b",
    re.I,
)
_PAGES = [page for page in pages() if page.name not in _QUOTES]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_old_terms_are_not_used(page: Path) -> None:
    for line in page.read_text().splitlines():
        found = _OLD.search(line)
        assert found is None, f"{found.group()!r} in: {line}" if found else ""
        if "0.1" not in line and "--orientation" not in line:
            assert "orientation" not in line.lower(), line
