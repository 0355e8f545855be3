"""Every key a docstring cites stands in the bibliography."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_cited_key_is_in_the_bibliography() -> None:
    bibliography = (ROOT / "docs/research/bibliography.md").read_text()
    listed = re.findall(r"^- \*\*\[(\w+)\]\*\*", bibliography, re.M)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for key in re.findall(r"\[([A-Z]+)\]_", path.read_text()):
            assert key in listed, f"{path.name} cites [{key}]"
