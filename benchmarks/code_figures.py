"""Figures of the code: size, nesting, imports, request path, long functions, old terms.

Usage: python -m benchmarks.code_figures [--src PATH] [--json] [--list]

It works on any source tree with the package `likewise`, also on that of release 0.1.
"""

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

MAX_FUNCTION = 50  # lines
ENTRIES = {  # what a reader may have to open: new name, name in release 0.1
    "likewise.estimators.deep.pcl": "likewise.estimators.deep.pcl",
    "likewise.estimators.kernel.likewise": "likewise.estimators.kernel.likewise",
    "likewise.server.app": "likewise.server.app",
    "likewise.queries.uncertainty": "likewise.queries.uncertainty",
}
OLD_TERMS = (
    r"orientations?",
    r"desks?",
    r"pupils?",
    r"trainers?",
    r"tak(?:e|es|en|ing) back|took back",
    r"set(?:s|ting)? aside|set_aside|asides",
    r"honou?r(?:s|ed|ing)?",
    r"facets?",
    r"in_company|in company",
    r"targeted_learner|take_aim",
    r"foret(?:old|ell|elling)",
    r"interview",
    r"phrasing",
    r"lessons?",
    r"student_t",
    r"shelf|row_file",
    r"ledger|sieve",
    r"contestants?|crowd",
    r"rivals?",
    r"doors?",
    r"slips?",
    r"is no [a-z]",
    r"nobody|somebody",
    r"stands? for",
    r"go(?:es)? on",
    r"so many",
    r"in words(?!\.)",  # `words` also names local variables
)
#: Lines with a term that is right there, each for the reason given.
OTHER_MEANINGS = re.compile(
    "|".join(
        (
            r"EXIF|exif|_ORIENTATION\b|_orientation\(",  # the orientation tag of a photo
            r"--orientation",  # alias of --by in `likewise bench run`
            r"[\"'](?:orientation|facets|lesson|facet_dropout)[\"']",  # keys in files of 0.1
            r"so many small",  # "therefore many"
            r"for word in words",  # a loop
        )
    )
)
MIGRATIONS = ("release_0_1", "schema")  # modules that read what release 0.1 wrote
COMPATIBLE = re.compile(r"0\.1|release_0_1|alias|renamed", re.IGNORECASE)  # reads what 0.1 wrote


@dataclass
class Figures:
    """All figures of one source tree.

    Parameters
    ----------
    files, lines, median_lines, files_below_60 : dict of str to number
        For each import package, without empty files for the median.
    largest_folder : tuple of str and int
        The folder with the most modules, and their number.
    modules_behind : dict of str to tuple of int
        Own modules in the import closure of an entry, those of them that are
        imported at once and not inside a function, and the lines of all.
    long_functions : list of str
        Functions of more than `MAX_FUNCTION` lines, without the docstring.
    old_terms : dict of str to int
        Lines with a term of release 0.1.
    ancestors : dict of str to int
        Own base classes of each public estimator, direct and indirect.
    request_files : list of str
        Own files in which a function is called during one ``POST /api/answers``.
    """

    files: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    median_lines: dict[str, float] = field(default_factory=dict)
    files_below_60: dict[str, int] = field(default_factory=dict)
    largest_folder: tuple[str, int] = ("", 0)
    modules_behind: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    long_functions: list[str] = field(default_factory=list)
    old_terms: dict[str, int] = field(default_factory=dict)
    ancestors: dict[str, int] = field(default_factory=dict)
    request_files: list[str] = field(default_factory=list)


def measure(src: Path) -> Figures:
    """Return the figures of the source tree `src`."""
    figures, modules = Figures(), modules_of(src)
    for package in sorted({name.partition(".")[0] for name in modules}):
        own = [path for name, path in modules.items() if name.partition(".")[0] == package]
        lengths = [n_lines(path) for path in own]
        figures.files[package], figures.lines[package] = len(own), sum(lengths)
        figures.median_lines[package] = statistics.median(filter(None, lengths))
        figures.files_below_60[package] = sum(length < 60 for length in lengths)
    figures.largest_folder = largest_folder(src)
    for entry, old_entry in ENTRIES.items():
        found = entry if entry in modules else old_entry
        if found in modules:
            behind = closure_of(found, modules) - {found}
            at_once = closure_of(found, modules, in_functions=False) - {found}
            lines = sum(n_lines(modules[name]) for name in behind)
            figures.modules_behind[found] = len(behind), len(at_once), lines
    figures.long_functions = [f for path in modules.values() for f in long_functions(path, src)]
    figures.old_terms = dict(Counter(term for term, _ in old_terms(src)))
    figures.ancestors = json.loads(_run(src, _ANCESTORS))
    figures.request_files = json.loads(_run(src, _REQUEST))
    return figures


def modules_of(src: Path) -> dict[str, Path]:
    """Return the path of every module below `src` by its dotted name."""
    found = {}
    for path in sorted(src.rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def n_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def largest_folder(src: Path) -> tuple[str, int]:
    """Return the folder with the most modules directly in it."""
    sizes = Counter(path.parent for path in src.rglob("*.py") if path.name != "__init__.py")
    folder, size = min(sizes.items(), key=lambda item: (-item[1], item[0]))
    return folder.relative_to(src).as_posix(), size


def closure_of(entry: str, modules: dict[str, Path], *, in_functions: bool = True) -> set[str]:
    """Return the own modules that an entry imports, directly and indirectly, and the entry.

    Imports for type checkers only do not count.
    """
    seen, waiting = set[str](), [entry]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            tree = ast.parse(modules[name].read_text(encoding="utf-8"))
            waiting += imported_modules(tree, modules, in_functions=in_functions)
    return seen


def imported_modules(
    tree: ast.AST, modules: dict[str, Path], *, in_functions: bool
) -> Iterator[str]:
    """Yield the own modules that the statements of a syntax tree import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not in_functions:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                name if name in modules else node.module
                for name in names
                if name in modules or node.module in modules
            )
        yield from imported_modules(node, modules, in_functions=in_functions)


def long_functions(path: Path, src: Path) -> list[str]:
    """Return the functions of a file that have more than `MAX_FUNCTION` lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    sized = ((function, length_of(function)) for function in functions)
    place = path.relative_to(src).as_posix()
    return [f"{place}:{f.lineno} {f.name} ({n})" for f, n in sized if n > MAX_FUNCTION]


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return length
    docstring = function.body[0]
    return length - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def old_terms(src: Path) -> Iterator[tuple[str, str]]:
    """Yield each line with a term of release 0.1: the term and the place."""
    wanted = {term: re.compile(rf"(?<![A-Za-z])(?:{term})(?![A-Za-z])", re.I) for term in OLD_TERMS}
    for path in sorted(p for end in ("py", "js", "html") for p in src.rglob(f"*.{end}")):
        if path.stem in MIGRATIONS:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not COMPATIBLE.search(line) and not OTHER_MEANINGS.search(line):
                for term, pattern in wanted.items():
                    if pattern.search(line):
                        yield term, f"{path.relative_to(src).as_posix()}:{number} {line.strip()}"


def report(figures: Figures) -> str:
    """Return the figures as lines of text."""
    lines = [
        f"{package}: {figures.files[package]} files, {figures.lines[package]:,} lines, median "
        f"{figures.median_lines[package]:.0f}, {figures.files_below_60[package]} below 60 lines"
        for package in figures.files
    ]
    folder, size = figures.largest_folder
    lines.append(f"largest folder: {folder}, {size} modules")
    for entry, (count, at_once, total) in figures.modules_behind.items():
        lines.append(
            f"own modules behind {entry}: {count} ({total:,} lines), {at_once} imported at once"
        )
    most = max(figures.ancestors.values(), default=0)
    names = [name for name, count in figures.ancestors.items() if count == most]
    lines.append(f"own ancestors of public estimators: at most {most} ({', '.join(names[:5])})")
    lines.append(f"own files crossed by one POST /api/answers: {len(figures.request_files)}")
    lines.append(f"functions over {MAX_FUNCTION} lines: {len(figures.long_functions)}")
    hits = ", ".join(f"{term} {count}" for term, count in figures.old_terms.items())
    lines.append(
        f"lines with old terms: {sum(figures.old_terms.values())}" + f" ({hits})" * bool(hits)
    )
    return "\n".join(lines)


def main() -> None:
    """Print the figures of a source tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = Path(__file__).parents[1] / "src"
    parser.add_argument("--src", type=Path, default=default, help="source tree")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="list files, functions and lines too")
    arguments = parser.parse_args()
    src = arguments.src.resolve()
    figures = measure(src)
    print(json.dumps(asdict(figures)) if arguments.json else report(figures))
    if arguments.list:
        for line in (*figures.request_files, *figures.long_functions):
            print(" ", line)
        for term, place in old_terms(src):
            print(" ", term, place)


def _run(src: Path, code: str) -> str:
    """Return the last line that a program prints which imports from `src`."""
    path = os.pathsep.join([str(src), *sys.path[1:]])
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(src)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"The program on {src} failed:\n{ended.stderr}")
    return ended.stdout.splitlines()[-1]


_ANCESTORS = """
import inspect, json, likewise
public = [getattr(likewise, name) for name in likewise.__all__]
counts = {
    one.__name__: sum(base.__module__.startswith("likewise") for base in one.__mro__[1:])
    for one in public if inspect.isclass(one) and hasattr(one, "fit")
}
print(json.dumps(counts))
"""

_REQUEST = """
import json, sys, tempfile, threading
from pathlib import Path
import numpy as np
from PIL import Image
from starlette.testclient import TestClient
from likewise.session import Session, save_results
try:
    from likewise.images.files import read_folder
    from likewise.workspace.workspace import Workspace
    make = lambda session: Workspace(session, has_worker=False)
except ImportError:  # release 0.1
    from likewise.workspace.workspace import Desk
    from likewise.images.folder import read_folder
    make = lambda session: Desk(session, trains=False)
from likewise.server.app import create_app

src, crossed, is_recording = sys.argv[1], set(), False

def trace(frame, event, argument):
    code = frame.f_code
    if is_recording and code.co_filename.startswith(src) and code.co_name != "<module>":
        crossed.add(code.co_filename[len(src) + 1:])

threading.settrace(trace)
with tempfile.TemporaryDirectory() as place:
    folder = Path(place, "photos")
    folder.mkdir()
    for number in range(12):
        pixels = np.random.default_rng(number).integers(0, 255, (32, 32, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    session = Session.create(folder.with_suffix(".likewise"), read_folder(folder))
    getattr(session, "add_criterion", getattr(session, "add_orientation", None))("x", 2)
    rows = np.random.default_rng(0).dirichlet((1, 1), 12).astype(np.float32)
    save_results(session, "x", rows, keys=("g1", "g2"), n_answers=3)
    with make(session) as workspace:
        app = create_app(workspace, "token")
        with TestClient(app, base_url="http://127.0.0.1:8000") as client:
            client.headers["Authorization"] = "Bearer token"
            for attempt in range(3):  # the first ones import modules and fill caches
                is_recording = False
                question = client.get("/api/questions").json()["questions"][0]
                answer = "different" if question["kind"] == "pair" else "none"
                is_recording = attempt == 2
                reply = client.post("/api/answers", json={"question": question, "answer": answer})
                is_recording = False
                assert reply.status_code == 201, reply.text
print(json.dumps(sorted(crossed)))
"""


if __name__ == "__main__":
    main()
