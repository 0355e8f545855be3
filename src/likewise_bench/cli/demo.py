"""`likewise demo`: a one-minute demonstration that needs no files."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_parent_folder, print_json, print_line, replace_file
from likewise.cli.options import AsJson, Seed

if TYPE_CHECKING:
    from likewise_bench.demo import Demo


def demo(
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE.html", help="The gallery page to write.")
    ] = Path("likewise-demo.html"),
    n_images: Annotated[int, typer.Option("--n-images", min=128, help="Number of images.")] = 1024,
    questions: Annotated[int, typer.Option("--questions", min=1, help="Number of answers.")] = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Cluster synthetic images before and after simulated answers; takes a minute, needs no files.

    The scenes are grouped by shape, which unguided clustering does not find. A simulated
    annotator answers; accuracy before and after is printed, and a page with the groups is written.

    \b
    Example:
        likewise demo
        likewise demo --questions 50 -o page.html
    """
    check_parent_folder(out)
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import embedding_cache
    from likewise.session.export.html import html
    from likewise_bench.demo import demo_page, run_demo

    begin = time.perf_counter()
    with ProgressBars() as bars:
        shown = run_demo(n_images, questions, seed=seed, store=embedding_cache(), step=bars.step)
    replace_file(out, html(demo_page(shown)).encode())
    row = _row(shown, out, time.perf_counter() - begin)
    if as_json:
        print_json(row)
    else:
        _print(row)


def _row(shown: "Demo", out: Path, seconds: float) -> dict[str, Any]:
    from likewise_bench.demo import WANTED

    return {
        "method": shown.method,
        "wanted": WANTED,
        "guessed": shown.guessed,
        "n_images": len(shown.images),
        "n_answers": shown.n_answers,
        "acc": shown.figures(),
        "page": str(out.absolute()),
        "seconds": round(seconds, 1),
    }


def _print(row: dict[str, Any]) -> None:
    acc = row["acc"]
    print_line(f"{row['n_images']:,} synthetic images, method {row['method']}")
    print_line(f"  unguided, the groups follow {row['guessed']}: accuracy {acc['guessed']:.2f}")
    print_line(
        f"  wanted criterion {row['wanted']}: accuracy {acc['before']:.2f} before any answer"
    )
    rest = acc["after_unasked"]
    unasked = "" if rest is None else f" ({rest:.2f} on images in no question)"
    print_line(f"  after {row['n_answers']} answers: accuracy {acc['after']:.2f}{unasked}")
    print_line(f"  {row['seconds']:.0f} s. Page with the groups: {row['page']}")
