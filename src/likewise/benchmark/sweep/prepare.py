"""Before a sweep: every data set is read once, its orientations checked, its pictures embedded."""

from collections.abc import Iterable
from dataclasses import replace

from likewise.benchmark.protocol import Run, divide

Material = tuple[Run, ...]  # one run for each orientation of images that are read alike


def materials(runs: Iterable[Run]) -> list[Material]:
    """Return what has to be read, each once, with one run an orientation."""
    shared: dict[tuple[object, ...], dict[str | None, Run]] = {}
    for run in runs:
        source = (run.dataset, run.data, run.images, run.labels)
        shared.setdefault((*source, *_chosen(run)), {}).setdefault(run.orientation, run)
    return [tuple(by_orientation.values()) for by_orientation in shared.values()]


def _chosen(run: Run) -> tuple[object, ...]:
    """Return what decides which images are embedded, and how."""
    seed = run.seed if run.protocol == "inductive" else None
    part = (run.split, run.protocol, run.n_images, run.n_test, run.test_fraction, seed)
    return (run.encoder, run.from_scratch, *part)


def prepare(material: Material) -> int:
    """Read, check and embed; the vectors are in the cache when this returns.

    Returns
    -------
    n_images : int

    Raises
    ------
    DatasetError, UnknownNameError
        If files are missing or broken, or a set has no such orientation.
    """
    from likewise.benchmark.inputs import make_inputs
    from likewise.benchmark.judge import Judge
    from likewise.benchmark.run import load

    first = material[0]
    dataset = load(first)
    parts = divide(first, dataset)
    for run in material:
        Judge(dataset, run.orientation, parts)
    if not first.from_scratch:
        make_inputs(replace(first, n_questions=0), dataset, parts)
    return len(parts.train) + len(parts.test)
