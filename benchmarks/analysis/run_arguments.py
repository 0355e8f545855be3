"""What to run, in words: of the measurements that are started by ``python -m``."""

import argparse
from typing import Any

from likewise_bench.spec import RunSpec


def run_parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of the words that `named_run` needs; a measurement adds its own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--data")
    parser.add_argument("--orientation", required=True, help="the one that is meant")
    parser.add_argument("--method", default="pcl")
    parser.add_argument("--limit", type=int, help="learn from only so many images")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser


def named_run(given: argparse.Namespace, **more: Any) -> RunSpec:
    """Return the run that the words name; `more` are further fields of it."""
    return RunSpec(
        method=given.method,
        dataset=given.dataset,
        data=given.data,
        criterion=given.criterion,
        n_images=given.limit,
        settings=dict(part.split("=", 1) for part in given.set),
        **more,
    )
