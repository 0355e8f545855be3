"""Texts of the page: every text has a translation with the same placeholders."""

import re
from importlib.resources import files

import pytest

from likewise.server import presenters

PAGE = files("likewise.server").joinpath("page")
SCRIPTS = {entry.name: entry.read_text() for entry in PAGE.iterdir() if entry.name.endswith(".js")}
STRING = r'"((?:[^"\\]|\\.)*)"'
TABLE = {
    key: (german, chinese)
    for key, german, chinese in re.findall(
        rf"^  {STRING}: \[{STRING}, {STRING}\],$", SCRIPTS["texts_table.js"], re.MULTILINE
    )
}
NO_TEXTS = {  # keys, headers, and names of formats
    *("Enter", "Escape", "Arrow", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"),
    *("Esc", "Shift+→", "Ctrl+A", "Ctrl+Z", "Content-Type"),
    *("Label Studio (JSON)", "FiftyOne (labels.json)"),
}
PLACEHOLDER = re.compile(r"\{\w+\}")


def test_the_table_has_one_row_a_line() -> None:
    rows = [line for line in SCRIPTS["texts_table.js"].splitlines() if line.startswith('  "')]
    assert len(rows) == len(TABLE) > 20


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - {"texts_table.js", "texts.js"}))
def test_every_text_is_translated(name: str) -> None:
    script = re.sub(r"^\s*//.*", "", SCRIPTS[name], flags=re.MULTILINE)
    texts = re.findall(rf"\b(?:t|parts)\(\s*{STRING}", script)
    for noun in re.findall(rf"\bcount\([^;]*?,\s*{STRING},?\s*\)", script):
        texts += [f"{{n}} {noun}", f"{{n}} {noun}s"]
    assert [text for text in texts if text not in TABLE] == []


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - {"texts_table.js", "texts.js"}))
def test_every_text_of_a_script_is_in_the_table_of_translations(name: str) -> None:
    script = re.sub(r"^\s*//.*|\s//[^\"]*$", "", SCRIPTS[name], flags=re.MULTILINE)
    texts = re.findall(r'"([A-Z][a-z]+[^"]*)"', script)
    assert [text for text in texts if text not in TABLE and text not in NO_TEXTS] == []


@pytest.mark.parametrize("page", ["index.html", "start.html"])
def test_the_texts_of_the_frame_are_translated(page: str) -> None:
    html = PAGE.joinpath(page).read_text()
    texts = re.findall(r"data-t>([^<]+)<", html) + re.findall(
        r'(?:aria-label|title)="([^"]+)"', html
    )
    assert len(texts) > 3
    assert [text for text in texts if text not in TABLE] == []


@pytest.mark.parametrize("column", [0, 1], ids=["German", "Chinese"])
def test_translations_have_the_same_placeholders(column: int) -> None:
    different = {
        key: row[column]
        for key, row in TABLE.items()
        if sorted(PLACEHOLDER.findall(key)) != sorted(PLACEHOLDER.findall(row[column]))
    }
    assert different == {}


def test_the_texts_of_log_entries_are_translated() -> None:
    script = files("likewise.server").joinpath("presenters.py").read_text()
    entry = script[script.index("def entry_template") : script.index("def entry_text")]
    texts = {
        text
        for text in re.findall(r'"([^"]*)"', entry)
        if " " in text and "{" in text and not text.startswith("”")
    }
    assert len(texts) == 6
    assert texts <= set(TABLE)
    assert set(presenters._ANSWER_TEXTS.values()) <= set(TABLE)
