"""The figures of the code, measured on a small source tree and on this one."""

import ast
import json
import sys
from pathlib import Path

import pytest

from benchmarks import code_figures
from benchmarks.code_figures import (
    Figures,
    closure_of,
    largest_folder,
    length_of,
    long_functions,
    main,
    measure,
    modules_of,
    old_terms,
    report,
)

SRC = Path(__file__).parents[2] / "src"


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A package of five modules; `a` needs `b` and `c`, and `d` only for type checkers."""
    package = tmp_path / "likewise"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").write_text("__all__ = []\n")
    (package / "sub" / "__init__.py").write_text("")
    (package / "a.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from likewise import b\n"
        "if TYPE_CHECKING:\n"
        "    from likewise.sub.d import D\n"
        "def f():\n"
        "    import likewise.sub.c\n"
    )
    (package / "b.py").write_text("import numpy\n")
    (package / "sub" / "c.py").write_text("from likewise.b import numpy\n# put on the desk\n")
    (package / "sub" / "d.py").write_text(
        "def long():\n" + '    """One.\n\n    Two.\n    """\n' + "    pass\n" * 50
    )
    return tmp_path


def test_the_import_closure_includes_functions_but_not_type_checking(src: Path) -> None:
    modules = modules_of(src)
    assert closure_of("likewise.a", modules) == {"likewise.a", "likewise.b", "likewise.sub.c"}
    assert closure_of("likewise.a", modules, in_functions=False) == {"likewise.a", "likewise.b"}
    assert closure_of("likewise.b", modules) == {"likewise.b"}


def test_the_largest_folder_is_counted_without_subfolders(src: Path) -> None:
    assert largest_folder(src) == ("likewise", 2)


def test_a_long_function_is_counted_without_its_docstring(src: Path) -> None:
    path = src / "likewise" / "sub" / "d.py"
    assert long_functions(path, src) == ["likewise/sub/d.py:1 long (51)"]
    (function,) = ast.parse("def f():\n    return 1\n").body
    assert isinstance(function, ast.FunctionDef)
    assert length_of(function) == 2


def test_old_terms_are_found_unless_the_line_is_about_release_0_1(src: Path) -> None:
    (found,) = old_terms(src)
    assert found == ("desks?", "likewise/sub/c.py:2 # put on the desk")
    (src / "likewise" / "sub" / "c.py").write_text("# release 0.1 had a desk\n")
    assert list(old_terms(src)) == []


def test_all_figures_are_measured_and_printed(
    src: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code_figures, "_run", lambda *_: '{"PCL": 1}')
    figures = measure(src)
    assert (figures.files, figures.lines["likewise"]) == ({"likewise": 6}, 65)
    assert report(figures).splitlines()[0] == (
        "likewise: 6 files, 65 lines, median 2, 6 below 60 lines"
    )
    monkeypatch.setattr(sys, "argv", ["code_figures", "--src", str(src), "--json"])
    main()
    assert json.loads(capsys.readouterr().out)["ancestors"] == {"PCL": 1}


def test_a_report_without_findings() -> None:
    lines = report(Figures(ancestors={"PCL": 1}, largest_folder=("likewise", 3))).splitlines()
    assert lines[-2:] == ["functions over 50 lines: 0", "lines with old terms: 0"]


@pytest.mark.slow
def test_the_request_and_the_estimators_of_this_tree_are_measured() -> None:
    crossed = json.loads(code_figures._run(SRC, code_figures._REQUEST))
    assert "likewise/constraints/graph.py" in crossed
    assert "likewise/server/routes/answers.py" in crossed
    ancestors = json.loads(code_figures._run(SRC, code_figures._ANCESTORS))
    assert {"CC", "OCC", "PCL", "DSAC", "Likewise"} <= set(ancestors)
