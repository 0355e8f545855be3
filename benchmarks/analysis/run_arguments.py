"""Command line arguments of the analyses that are run with ``python -m``."""

import argparse
from typing import Any

from likewise_bench.spec import RunSpec


def run_parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of the arguments of `named_run`; an analysis adds its own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--data")
    parser.add_argument(
        "--by", "--orientation", dest="criterion", required=True, help="criterion to cluster by"
    )
    parser.add_argument("--method", default="pcl")
    parser.add_argument("--limit", type=int, help="number of images to train on")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser


def named_run(given: argparse.Namespace, **more: Any) -> RunSpec:
    """Return the run of parsed arguments; `more` are further fields of it."""
    return RunSpec(
        method=given.method,
        dataset=given.dataset,
        data=given.data,
        criterion=given.criterion,
        n_images=given.limit,
        settings=dict(part.split("=", 1) for part in given.set),
        **more,
    )
