"""Generate the results page from the stored result rows.

``likewise bench table docs/research/runs/*.jsonl --layout results -o docs/research/results.md``
writes it; ``python -m likewise_bench.report FILE... -o PAGE`` does the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from likewise_bench.sweep.results_file import Row, read_results
from likewise_bench.sweep.spec import Sweep, key_of, read_sweep, spec_of
from likewise_bench.tables.format import Table, write
from likewise_bench.tables.layouts import by_answers, noise_table
from likewise_bench.tables.published import paper_layout, paper_tables

_HEAD = """# Results

Generated from the rows in `docs/research/runs/`, one JSON line per run; do not edit it:

    likewise bench table docs/research/runs/*.jsonl --layout results -o docs/research/results.md

Notes on the tables:

- ACC, NMI and ARI are computed on all clustered images, with answers enforced; *unasked* excludes
  every image that is named in an answer. With held-out images, the scores are computed on these.
- The rows of `likewise` were made before 2026-11-18 22:00 UTC by the learner of release 0.1, which
  differs below about fifty answers (`docs/research/likewise_experiments.md`, "The first answers").
- Each budget is a separate run (`docs/development/decisions/0005-one-run-per-budget.md`). A budget
  counts answers of any kind; implied relations are free. Methods that ask nothing have the same
  value at every budget.
- *area* is the mean ACC from no answer (k-means) to the last one, under the curve of the largest
  budget.
- Lines that begin with a dash are reference lines, not methods: one group for everything, k-means,
  perfect labels of the best *other* criterion, and random questions.
- *from scratch* and *pretrained* are in separate tables. The last epoch counts, nothing is selected
  by true labels, and settings are the same for all data sets unless a line says otherwise.
- s and MB: seconds and peak memory of one run in its own process, embeddings cached. Several runs
  shared the cores, so seconds are only roughly comparable.
"""


def report(files: Sequence[Path]) -> str:
    """Return the page in Markdown; missing rows of sweeps are listed.

    Parameters
    ----------
    files : sequence of Path
        Results; the sweep of ``docs/research/runs/NAME.jsonl`` is ``benchmarks/NAME.toml``.
    """
    kept = {file: read_results([file]) for file in sorted(files)}
    rows = [row for of in kept.values() for row in of]
    done = [row for row in rows if "error" not in row]
    sections = [_HEAD, _machines(done)]
    sections.append(_not_run(files))
    sections += [_section(file, of) for file, of in kept.items()]
    sections.append(_papers(done))
    return "\n".join(section for section in sections if section)


def _machines(rows: Sequence[Row]) -> str:
    """Return the environments and dates of the rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if "machine" in row:
            found.setdefault(key_of(row["machine"]), []).append(row)
    lines = ["## Environments", ""]
    for of in found.values():
        environment = ", ".join(f"{name} {value}" for name, value in of[0]["machine"].items())
        dates = sorted({row["date"] for row in of if "date" in row})
        when = f", {dates[0]} to {dates[-1]}" if dates else ""
        lines.append(f"- {len(of):,} rows{when}: {environment}")
    return "\n".join([*lines, ""]) if found else "There are no results yet.\n"


def _section(file: Path, rows: Sequence[Row]) -> str:
    sweep = _sweep(file)
    title = file.stem if sweep is None else sweep.title
    parts = [f"## {title}\n"]
    if sweep is not None:
        parts += [sweep.about + "\n"] if sweep.about else []
        out = f"docs/research/runs/{file.name}"
        parts.append(f"    likewise bench sweep benchmarks/{sweep.name}.toml -o {out}\n")
        parts += _missing(sweep, rows)
    tables: list[Table] = [*noise_table(rows), *by_answers(rows)]
    return "\n".join([*parts, write(tables, "markdown")])


def _sweeps(file: Path) -> list[Path]:
    """Return the sweep files of the project that contains a results file."""
    places = (*file.absolute().parents[:4], Path.cwd())
    found = (sorted((place / "benchmarks").glob("*.toml")) for place in places)
    return next((paths for paths in found if paths), [])


def _sweep(file: Path) -> Sweep | None:
    """Return the sweep file of a results file, or None."""
    return next((read_sweep(path) for path in _sweeps(file) if path.stem == file.stem), None)


def _not_run(files: Sequence[Path]) -> str:
    """Return the sweeps of the project without results."""
    run = {file.stem for file in files}
    known = dict.fromkeys(path for file in files for path in _sweeps(file))
    names = [f"`{path.name}` ({read_sweep(path).title})" for path in known if path.stem not in run]
    return f"Sweeps without results: {', '.join(names)}.\n" if names else ""


def _missing(sweep: Sweep, rows: Sequence[Row]) -> Iterator[str]:
    made = {key_of(row["spec"]) for row in rows if "spec" in row and "error" not in row}
    wanted = [spec_of(run) for run in sweep.runs]
    missing = [spec for spec in wanted if key_of(spec) not in made]
    if missing:
        yield f"**{len(wanted) - len(missing):,} of {len(wanted):,} rows are present; missing:**\n"
        yield "\n".join(f"- {line}" for line in _summary(missing)) + "\n"


def _summary(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the missing runs, one line per data set and criterion."""
    found: dict[str, dict[str, int]] = {}
    for spec in specs:
        task = f"{spec.get('dataset')} by {spec.get('criterion')}"
        methods = found.setdefault(task, {})
        methods[spec["method"]] = methods.get(spec["method"], 0) + 1
    return [
        f"{task}: {', '.join(f'{method} ({n})' for method, n in methods.items())}"
        for task, methods in found.items()
    ]


def _papers(rows: Sequence[Row]) -> str:
    """Return the papers' tables that have results of ours, and the names of the others."""
    with_ours: list[Table] = []
    without: list[str] = []
    for name, table in paper_tables().items():
        tables = [one for one in paper_layout(name, rows) if _has_ours(one)]
        with_ours += tables
        without += [] if tables else [str(table["paper"])]
    head = "## The papers' tables, published values beside ours\n"
    rest = (
        "Published values only, without our results (see them with `likewise bench table FILE "
        f"--layout NAME`): {'; '.join(without)}.\n"
    )
    return "\n".join([head, write(with_ours, "markdown"), rest if without else ""])


def _has_ours(table: Table) -> bool:
    """Return whether a table has any result of ours."""
    columns = [i for i, name in enumerate(table.header) if name.endswith(("scratch", "pretrained"))]
    lines = [line for line in table.rows if not str(line[0]).startswith("—")]
    return any(str(line[i]) for line in lines for i in columns)


def main() -> None:
    """Command line interface: write the page."""
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.write_text(report(given.files), "utf-8")


if __name__ == "__main__":
    main()
