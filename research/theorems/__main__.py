"""Draw the figure of a theorem: ``python -m research.theorems pcl-3.1 -o figure.png``."""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import save, styled
from likewise_bench.spec import RunSpec

FIGURES = {
    "pcl-3.1": "pcl_3_1",
    "pcl-3.2": "pcl_3_2",
    "pcl-3.3": "pcl_3_3",
    "occ-eq8": "occ_eq_8",
    "occ-1-2": "occ_1_2",
}


def draw(request: Request, out: Path) -> None:
    """Draw the figure `request.kind` and write it to `out`."""
    module = import_module(f"research.theorems.{FIGURES[request.kind]}")
    figure: Callable[[Request], object] = module.figure
    with styled():
        save(figure(request), out)  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw one figure; those of OCC are measured during a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--dataset")
    parser.add_argument("--data")
    parser.add_argument("--by")
    parser.add_argument("--method", default="occ")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    run = None
    if given.dataset is not None:
        run = RunSpec(
            given.method,
            dataset=given.dataset,
            data=given.data,
            criterion=given.by,
            seed=given.seed,
        )
    options = {"epochs": given.epochs, "seed": given.seed}
    draw(Request(given.figure, run=run, options=options), given.out)


if __name__ == "__main__":
    main()
