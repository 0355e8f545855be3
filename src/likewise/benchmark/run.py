"""Perform one run and return its row: the JSON object that `likewise bench run` prints."""

import inspect
from typing import Any

from likewise.benchmark.clock import Clock, peak_memory_mb
from likewise.benchmark.contestant import describe, make_contestant
from likewise.benchmark.course import Course
from likewise.benchmark.datasets import Dataset, load_dataset, load_table
from likewise.benchmark.inputs import Inputs, Step, for_k_means, make_inputs, quiet
from likewise.benchmark.judge import Judge
from likewise.benchmark.protocol import Run, divide
from likewise.methods.base import PersonalClusterer
from likewise.methods.registry import make_method

Row = dict[str, Any]
MADE = ("scenes", "cross")  # sets that have as many images as one wants


def perform(run: Run, step: Step = quiet) -> Row:
    """Load, embed, ask, train and score.

    Parameters
    ----------
    run : Run
    step : callable
        Given the title of a long step, returns who is told of its progress.

    Returns
    -------
    row : dict
        The fields of DESIGN.md, section 4. The last epoch counts, and nothing is chosen by
        true labels: these are in the `Judge` only, which answers and marks.
    """
    clock = Clock()
    with clock("total"):
        dataset = load(run, step)
        judge = Judge(dataset, run.orientation, divide(run, dataset))
        model = make_contestant(run, run.n_clusters or judge.n_values)
        with clock("embed"):
            inputs = make_inputs(run, dataset, judge.parts, step)
        judge = Judge(dataset, run.orientation, inputs.parts)
        course = Course(judge, judge.oracle(run), inputs.test)
        clock.time_calls(model, "ask")
        with clock("fit"):
            model.fit(
                inputs.train,
                oracle=course.oracle,
                n_questions=run.n_questions,
                progress=step("training"),
                watch=course,
                **_extra(run, dataset, model),
            )
    return {
        "dataset": dataset.name,
        "orientation": judge.orientation,
        **describe(run, model),
        "encoder": inputs.encoder,
        "protocol": run.protocol,
        "seed": run.seed,
        "n_images": len(inputs.parts.train),
        "n_clusters": model.n_clusters,
        "n_questions": run.n_questions,
        **course.marks(model),
        "baselines": judge.baselines(_by_k_means(run, inputs, model.n_clusters)),
        "curve": course.points,
        "seconds": clock.seconds(),
        "peak_memory_mb": peak_memory_mb(),
    }


def load(run: Run, step: Step = quiet) -> Dataset:
    """Return the data set of a run: a named one, or a folder with its table."""
    if run.images is not None and run.labels is not None:
        return load_table(run.images, run.labels, progress=step("reading pictures"))
    assert run.dataset is not None  # `Run` checked
    is_made = run.dataset.partition(":")[0] in MADE
    options = {"n_images": run.n_made} if is_made and run.n_made is not None else {}
    return load_dataset(run.dataset, data=run.data, **options)


def _extra(run: Run, dataset: Dataset, model: PersonalClusterer) -> dict[str, Any]:
    """Return a set's unlabelled pictures for a method that learns from such (CC on STL-10)."""
    takes_them = "extra" in inspect.signature(model.fit).parameters
    if dataset.unlabelled is None or not run.from_scratch or not takes_them:
        return {}
    return {"extra": dataset.unlabelled}


def _by_k_means(run: Run, inputs: Inputs, n_clusters: int) -> Any:
    method = make_method("kmeans", n_clusters, seed=run.seed)
    return method.fit(for_k_means(inputs.train)).labels_
