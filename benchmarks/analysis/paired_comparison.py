"""Compare two strategies: paired differences over seeds, with confidence intervals."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.analysis.run_arguments import named_run, run_parser
from likewise.errors import InvalidParameterError
from likewise_bench.runner import run_benchmark
from likewise_bench.spec import RunSpec

Row = dict[str, Any]
CONFIDENCE = 0.95


def paired(run: RunSpec, strategies: tuple[str, str], budgets: Sequence[int], n_seeds: int) -> Row:
    """Return for each budget the mean difference in accuracy and its interval.

    Parameters
    ----------
    run : RunSpec
        Common to both strategies.
    strategies : two names
        The difference is first minus second.
    budgets : list of int
    n_seeds : int
        Seeds 0, 1, …; both runs of a pair share data, initial network and draws.
    """
    if n_seeds < 2:
        raise InvalidParameterError(f"n_seeds must be at least 2 for an interval, got {n_seeds}.")
    points = [_point(run, strategies, budget, n_seeds) for budget in budgets]
    return {
        "dataset": run.dataset,
        "criterion": run.criterion,
        "method": run.method,
        "settings": dict(run.settings),
        "first": strategies[0],
        "second": strategies[1],
        "marks": "acc on images named in no answer",
        "confidence": CONFIDENCE,
        "points": points,
    }


def _point(run: RunSpec, strategies: tuple[str, str], budget: int, n_seeds: int) -> Row:
    marks = [
        [_mark(replace(run, strategy=name, n_questions=budget, seed=seed)) for name in strategies]
        for seed in range(n_seeds)
    ]
    first, second = np.array(marks).T
    return {
        "n_questions": budget,
        strategies[0]: [round(float(mark), 4) for mark in first],
        strategies[1]: [round(float(mark), 4) for mark in second],
        **difference(first - second),
    }


def _mark(run: RunSpec) -> float:
    row = run_benchmark(run)
    marks = row["unasked"] or row
    return float(marks["acc"])


def difference(values: np.typing.NDArray[np.floating]) -> Row:
    r"""Return the mean of paired differences and its interval, from Student's t.

    Notes
    -----
    :math:`\bar d \pm t_{n-1} s / \sqrt n`, s the standard deviation of the differences.
    """
    n, mean = len(values), float(np.mean(values))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return {
        "difference": round(mean, 4),
        "low": round(mean - half, 4),
        "high": round(mean + half, 4),
        "n_seeds": n,
    }


def lines(row: Row) -> Iterator[str]:
    """Yield a row as text."""
    yield f"{row['dataset']} by {row['criterion']}, {row['method']}: {row['first']} less " + str(
        row["second"]
    )
    for point in row["points"]:
        yield (
            f"  {point['n_questions']:5d} answers: {point['difference']:+.3f} "
            f"[{point['low']:+.3f}, {point['high']:+.3f}], {point['n_seeds']} seeds"
        )


def main(words: Sequence[str] | None = None) -> None:
    """Print one JSON object on stdout, and the same as text on stderr."""
    parser = run_parser(__doc__)
    parser.add_argument("--strategies", nargs=2, default=["joint", "random"])
    parser.add_argument("--questions", nargs="+", type=int, default=[30, 100, 300])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args(words)
    row = paired(named_run(given), tuple(given.strategies), given.questions, given.seeds)
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stderr.write("\n".join(lines(row)) + "\n")


if __name__ == "__main__":
    main()
