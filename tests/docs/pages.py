"""The documentation as text: pages, links, code blocks and command lines."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {  # made by the build, below docs/
    "guide/examples.md",
    "reference/cli.md",
    "reference/http.md",
    "research/charts.md",
}
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def pages() -> list[Path]:
    """Return every page of the site, and the documents in the root folder."""
    root = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*root, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str, *languages: str) -> list[str]:
    """Return the code blocks of these languages; an empty string means no language."""
    return [code for language, code in _FENCE.findall(text) if language in languages]


def links(text: str) -> list[str]:
    """Return the targets of all links and images outside of code."""
    return _LINK.findall(_INLINE.sub("", _FENCE.sub("", text)))


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each `likewise ...` command line, in blocks and in running text."""
    lines = [line for block in blocks(text, "", "sh", "text") for line in block.splitlines()]
    lines += _INLINE.findall(_FENCE.sub("", text))
    lines += re.findall(r"^    (likewise .*)$", text, re.M)
    for line in lines:
        if line.strip().startswith("likewise ") and "|" not in line and "…" not in line:
            command = re.split(r"\s[>|]\s", line.strip())[0]
            yield shlex.split(command, comments=True)


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a page, as Python-Markdown makes them."""
    text = _FENCE.sub("", path.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    plain = [re.sub(r"[`*]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}
