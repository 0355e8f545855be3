"""Links of the documentation lead to pages, headings and files that exist."""

from pathlib import Path

import pytest

from tests.docs.pages import GENERATED, ROOT, anchors, links, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_existing_files_and_headings(page: Path) -> None:
    for link in links(page.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target in {ROOT / "docs" / name for name in GENERATED}:
            continue
        assert target.exists(), f"{page.name} links to {link}, which does not exist."
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {link}: no such heading."


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    config = (ROOT / "mkdocs.yml").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = str(page.relative_to(ROOT / "docs"))
        assert f"- {name}\n" in config, f"Add {name} to nav in mkdocs.yml."


def test_the_navigation_lists_only_existing_pages() -> None:
    config = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    names = [line.rpartition("- ")[2] for line in config.splitlines() if line.endswith(".md")]
    for name in names:
        assert name in GENERATED or (ROOT / "docs" / name).exists(), f"{name} does not exist."


@pytest.mark.parametrize("name", ["cc", "occ", "pcl", "dsac", "likewise"])
def test_a_method_page_has_a_diagram_and_at_most_150_lines(name: str) -> None:
    text = (ROOT / "docs" / "methods" / f"{name}.md").read_text()
    assert "```mermaid" in text
    assert len(text.splitlines()) <= 150
