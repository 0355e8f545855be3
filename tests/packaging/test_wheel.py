"""Wheel and source archive: built, checked, and used outside the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PYTHON_NAMES = ("PYTHONPATH", "VIRTUAL_ENV")
USE = """
import likewise, likewise_bench, sys
from importlib.metadata import entry_points, metadata, version
assert likewise.__file__.startswith(sys.argv[1]), likewise.__file__
assert version("likewise") == likewise.__version__
assert "License-Expression: MIT" in str(metadata("likewise"))
print(sorted(entry.name for entry in entry_points(group="likewise.commands")))
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, **options: str) -> str:
    environment = {**os.environ, **options}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env=environment
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def dependencies(requirements: Iterable[str]) -> set[str]:
    """Return the normalized names of the packages that requirements bring, without extras."""
    found: set[str] = set()
    queue = [Requirement(one) for one in requirements]
    while queue:
        one = queue.pop()
        name = normalized(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        queue += [Requirement(more) for more in distribution(name).requires or ()]
    return found


@pytest.fixture(scope="module")
def default_dependencies() -> set[str]:
    """Return what a plain `pip install likewise` brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return dependencies(project["dependencies"])


def test_the_default_installation_is_small(default_dependencies: set[str]) -> None:
    """As `make size`, without an installation: the files of these packages as they are here."""
    paths = {
        Path(str(file.locate()))
        for name in default_dependencies
        for file in distribution(name).files or ()
    }
    paths |= {path for path in (ROOT / "src").rglob("*") if path.is_file()}
    n_bytes = sum(path.stat().st_blocks * 512 for path in paths if path.is_file())
    assert "torch" not in default_dependencies
    assert n_bytes < 450 * 2**20


def test_the_lock_names_every_dependency(default_dependencies: set[str]) -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = {normalized(line.partition("==")[0]) for line in lines if "==" in line}
    assert default_dependencies <= locked


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel and the source archive."""
    pytest.importorskip("build", reason="build is not installed")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


def test_the_metadata_is_complete(built: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())
    assert printed.count("PASSED") == 2


def test_the_archives_contain_what_the_application_needs(built: Path) -> None:
    wheel = set(zipfile.ZipFile(next(built.glob("*.whl"))).namelist())
    page = ROOT / "src" / "likewise" / "server" / "page"
    files = [path for path in page.rglob("*") if path.is_file()]
    assert len(files) > 10
    expected = {path.relative_to(ROOT / "src").as_posix() for path in files}
    expected |= {"likewise/py.typed", "likewise_bench/py.typed"}
    assert expected <= wheel
    assert not [name for name in wheel if name.startswith(("tests/", "benchmarks/", "research/"))]
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in expected} | {"LICENSE", "README.md"} <= sources


def test_public_names_of_the_installed_wheel_have_types(built: Path, tmp_path: Path) -> None:
    """Pyright reads py.typed of the installed package, whose dependencies are linked."""
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent))
    if pyright is None:
        pytest.skip("pyright is not installed")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    (site,) = (tmp_path / "env" / "lib").rglob("site-packages")
    zipfile.ZipFile(next(built.glob("*.whl"))).extractall(site)
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.suffix != ".pth" and not package.name.startswith(("likewise", "__editable__")):
            (site / package.name).symlink_to(package)
    command = [pyright, "--verifytypes", "likewise", "--ignoreexternal", "--outputjson"]
    environment = {
        **{name: value for name, value in os.environ.items() if name not in PYTHON_NAMES},
        "PATH": os.pathsep.join([str(tmp_path / "env" / "bin"), os.environ["PATH"]]),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    if not done.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright could not be run: {done.stderr[-300:]}")
    found = json.loads(done.stdout)["typeCompleteness"]
    assert str(site) in found["packageRootDirectory"]
    unknown = [s["name"] for s in found["symbols"] if s["isExported"] and not s["isTypeKnown"]]
    assert found["completenessScore"] >= 0.98, unknown[:20]


def test_the_installed_wheel_works_outside_the_repository(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    wheel = next(built.glob("*.whl"))
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run(*install, "--target", site, wheel)
    printed = run(sys.executable, "-c", USE, site, PYTHONPATH=str(site))
    assert printed.strip() == "['bench', 'demo']"
    command = [sys.executable, str(site / "bin" / "likewise")]
    assert "start" in run(*command, "--help", PYTHONPATH=str(site))
    listed = run(*command, "bench", "list", PYTHONPATH=str(site))
    assert "likewise" in listed
