"""Run one method on one data set and return the result row of `likewise bench run`."""

import inspect
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import wraps
from typing import Any

from likewise.constraints.question import PERSON_SECONDS
from likewise.embedding.registry import DEFAULT_ENCODER
from likewise.errors import AnswersEndedError, InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.params import NetworkConfig, TrainingPlan, defaults, parameters_in_force
from likewise.estimators.registry import from_scratch, make_method, method_class, with_encoder
from likewise.operating_system import peak_memory
from likewise.oracles.base import Oracle
from likewise_bench.datasets import Dataset, load_dataset, load_labels_csv
from likewise_bench.evaluation import (
    GroundTruth,
    LearningCurve,
    TimedOracle,
    answer_fields,
    estimate_fields,
)
from likewise_bench.inputs import Inputs, Step, for_k_means, make_inputs, quiet
from likewise_bench.spec import RunSpec, split_parts

Row = dict[str, Any]
SYNTHETIC = ("scenes", "cross")  # data sets of any size


def run_benchmark(run: RunSpec, step: Step = quiet) -> Row:
    """Load, embed, ask, train and evaluate.

    Parameters
    ----------
    run : RunSpec
    step : callable
        Returns a progress callback, given the title of a long step.

    Returns
    -------
    row : dict
        The fields listed in ``docs/reference/benchmark.md``. The last epoch counts, and nothing
        is selected by true labels: only `GroundTruth` has them, to answer and to score.
    """
    timer = Timer()
    with timer("total"):
        dataset = load(run, step)
        truth = GroundTruth(dataset, run.criterion, split_parts(run, dataset))
        model = make_run_method(run, truth.n_values)
        with timer("embed"):
            inputs = make_inputs(run, dataset, truth.parts, step)
        truth = GroundTruth(dataset, run.criterion, inputs.parts)
        oracle = truth.oracle(run)
        curve = LearningCurve(truth, oracle, inputs.test)
        timer.time_calls(model, "ask")
        n_questions = _max_questions(run, model)
        if run.seconds is not None:
            stop_when_time_is_up(model, oracle)
        with timer("fit"):
            model.fit(
                inputs.train,
                oracle=oracle,
                n_questions=n_questions,
                progress=step("training"),
                watch=curve,
                **_extra(run, dataset, model),
            )
    return {
        "dataset": dataset.name,
        "criterion": truth.criterion,
        **describe(run, model),
        "encoder": inputs.encoder,
        "protocol": run.protocol,
        "seed": run.seed,
        "n_images": len(inputs.parts.train),
        "n_clusters": _n_clusters(model),
        "n_questions": n_questions,
        **curve.scores(model),
        "baselines": truth.baselines(
            _kmeans_labels(run, inputs, model.n_clusters or truth.n_values)
        ),
        "curve": curve.points,
        "seconds": {**timer.seconds(), "person": oracle.seconds},
        "peak_memory_mb": peak_memory_mb(),
        **estimate_fields(model),
        **answer_fields(model),
    }


def _max_questions(run: RunSpec, model: InteractiveClusterer) -> int:
    """Return the number of answers allowed, given both limits of the run."""
    if run.seconds is None or not model.asks:
        return run.n_questions
    kinds = run.kinds or model.asks
    # The shortest question shows one group, and as a grid one image.
    shortest = min(sum(PERSON_SECONDS[kind][:3]) for kind in kinds)
    most = int(run.seconds / shortest + 1e-9)
    return min(run.n_questions, most) if run.n_questions else most


def stop_when_time_is_up(model: InteractiveClusterer, oracle: TimedOracle) -> None:
    """Make a model ask nothing more once the simulated time of the annotator is used up.

    Needed only for questions of different length; training continues as planned.
    """
    ask_oracle = model.ask_oracle

    def ask_in_time(person: Oracle, n: int) -> None:
        if not oracle.is_time_up:
            with suppress(AnswersEndedError):
                ask_oracle(person, n)

    model.__dict__["ask_oracle"] = ask_in_time  # of this instance only


def load(run: RunSpec, step: Step = quiet) -> Dataset:
    """Return the data set of a run: a named one, or a folder with a table of labels."""
    if run.images is not None and run.labels is not None:
        return load_labels_csv(run.images, run.labels, progress=step("reading images"))
    assert run.dataset is not None  # checked by `RunSpec`
    is_synthetic = run.dataset.partition(":")[0] in SYNTHETIC
    options = {"n_images": run.n_synthetic} if is_synthetic and run.n_synthetic is not None else {}
    return load_dataset(run.dataset, data=run.data, **options)


def _extra(run: RunSpec, dataset: Dataset, model: InteractiveClusterer) -> dict[str, Any]:
    """Return the unlabelled images for a method that uses them (CC on STL-10)."""
    is_supported = "extra" in inspect.signature(model.fit).parameters
    if dataset.unlabelled is None or not run.from_scratch or not is_supported:
        return {}
    return {"extra": dataset.unlabelled}


def _n_clusters(model: InteractiveClusterer) -> int:
    """Return the given number of clusters; with ``-k auto`` the number found."""
    return int(model.n_clusters or model.probabilities_.shape[1])


def _kmeans_labels(run: RunSpec, inputs: Inputs, n_clusters: int) -> Any:
    method = make_method("kmeans", n_clusters, seed=run.seed)
    return method.fit(for_k_means(inputs.train)).labels_


_PARTS = {"plan": TrainingPlan, "architecture": NetworkConfig}
_OTHER_FIELDS = ("n_clusters", "random_state", "preset", "encoder", "strategy")


def make_run_method(run: RunSpec, n_values: int) -> InteractiveClusterer:
    """Return the method of a run, untrained.

    Raises
    ------
    InvalidParameterError
        If the method does not support an option of the run.
    """
    settings = {**run.settings, **_questions(run, method_class(run.method))}
    if "backbone" in settings and not run.from_scratch:
        raise InvalidParameterError(
            f"backbone={settings['backbone']} needs training on images; add --from-scratch."
        )
    n_clusters: Any = None if run.n_clusters == "auto" else run.n_clusters or n_values
    model = make_method(run.method, n_clusters, preset=run.preset, settings=settings, seed=run.seed)
    return (
        from_scratch(model)
        if run.from_scratch
        else with_encoder(model, run.encoder or DEFAULT_ENCODER)
    )


def _questions(run: RunSpec, cls: type[InteractiveClusterer]) -> dict[str, Any]:
    """Return the parameters that determine the questions; raise an error if unsupported."""
    own, chosen = defaults(cls), {}
    if run.strategy is not None:
        if "strategy" not in own:
            raise InvalidParameterError(
                f"The method {run.method!r} has no query strategy, got "
                f"strategy={run.strategy!r}; leave it out."
            )
        chosen["strategy"] = run.strategy
    if run.kinds is not None:
        if "kinds" in own:
            return {**chosen, "kinds": run.kinds}
        if not set(cls.asks) <= set(run.kinds):
            raise InvalidParameterError(
                f"kinds must contain {', '.join(cls.asks)}, the kinds of questions that the method "
                f"{run.method!r} asks, got {','.join(run.kinds)}; add them, or leave kinds out."
            )
    return chosen


def describe(run: RunSpec, model: InteractiveClusterer) -> dict[str, Any]:
    """Return the fields of a row that describe data and settings.

    `settings` has every parameter in force, named as in ``--set``, and the other options of
    the run, so that it can be repeated.
    """
    chosen = parameters_in_force(model)
    settings: dict[str, Any] = {}
    for name, value in chosen.items():
        if name in _PARTS:
            default = getattr(model, f"default_{name}", None) or _PARTS[name]()
            settings.update(asdict(value or default))
        elif name not in _OTHER_FIELDS:
            settings[name] = value if _is_plain(value) else type(value).__name__
    for name in ("split", "test_fraction", "kinds", "noise", "unsure", "from_scratch"):
        settings.setdefault(name, getattr(run, name))
    strategy = chosen.get("strategy")
    return {
        "method": run.method,
        "strategy": strategy if _is_plain(strategy) else type(strategy).__name__,
        "preset": run.preset,
        "settings": settings,
    }


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, tuple, list))


class Timer:
    """Accumulates the seconds of named parts.

    Examples
    --------
    >>> timer = Timer()
    >>> with timer("embed"):
    ...     pass
    >>> sorted(timer.seconds())
    ['ask', 'embed', 'total', 'train']
    """

    def __init__(self) -> None:
        self._spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Context manager: add the elapsed time to `part`."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._spent[part] += time.perf_counter() - begin

    def time_calls(self, owner: object, name: str) -> None:
        """Add the time of every call of an object's method to the part of the same name."""
        method: Any = getattr(owner, name)

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self(name):
                return method(*args, **kwargs)

        setattr(owner, name, timed)

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each part; time in `fit` without asking counts as training.

        Questions chosen inside a training step (as in the papers) count as training.
        """
        spent = self._spent
        parts = {
            "embed": spent["embed"],
            "ask": spent["ask"],
            "train": spent["fit"] - spent["ask"],
            "total": spent["total"],
        }
        return {name: round(seconds, 3) for name, seconds in parts.items()}


def peak_memory_mb() -> float:
    """Return the peak memory of this process, in megabytes; 0 if it is unknown (Windows)."""
    return round((peak_memory() or 0) / 2**20, 1)
