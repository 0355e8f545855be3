"""Python code in the documentation compiles, imports what exists, and the README's runs."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.docs.pages import ROOT, blocks, pages

_OPTIONAL = {"transformers", "httpx"}


def _python_blocks() -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}-{number}", code)
        for page in pages()
        for number, code in enumerate(blocks(page.read_text(), "python"))
    ]


@pytest.mark.parametrize("code", [code for _, code in _python_blocks()])
def test_snippets_compile_and_import_existing_names(code: str) -> None:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module not in _OPTIONAL:
            module = import_module(str(node.module))
            for name in node.names:
                assert hasattr(module, name.name), f"{node.module} has no {name.name}."


def _paint(folder: Path, n_images: int) -> list[str]:
    """Write small red and blue images, and return their colours in order of their names."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    colours = ["red" if number % 2 else "blue" for number in range(n_images)]
    for number, colour in enumerate(colours):
        pixels = rng.integers(0, 60, (32, 32, 3), dtype=np.uint8)
        pixels[..., 0 if colour == "red" else 2] += 180
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return colours


@pytest.mark.slow
def test_the_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    labels = _paint(tmp_path / "photos", 24)
    _paint(tmp_path / "new", 4)
    names: dict[str, Any] = {"labels": labels, "my_answer": _answer}
    (code,) = blocks((ROOT / "README.md").read_text(), "python")
    code = code.replace("n_clusters=4", "n_clusters=2").replace("n_questions=100", "n_questions=6")
    exec(compile(code, "README.md", "exec"), names)
    assert (tmp_path / "m.likewise-model").is_dir()
    assert len(names["model"].labels_) == 24


def _answer(question: Any) -> str:
    return str(question.groups[0]) if question.kind == "choice" else "cannot_tell"
