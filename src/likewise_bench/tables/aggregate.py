"""Grouping result rows by run and by task; mean, standard deviation and area under the curve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise_bench.sweep.spec import key_of


@dataclass(frozen=True)
class MeanStd:
    """Mean, standard deviation over seeds (None for one seed), and number of seeds.

    Examples
    --------
    >>> str(MeanStd.of([0.5, 0.7])), str(MeanStd.of([12.0], digits=0)), str(MeanStd.of([]))
    ('.600 ± .141', '12', '')
    """

    mean: float | None
    spread: float | None = None
    n: int = 0
    digits: int = 3

    @classmethod
    def of(cls, values: Iterable[float | None], digits: int = 3) -> "MeanStd":
        """Return mean and standard deviation of several runs; missing values are ignored."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(None)
        spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
        return cls(float(np.mean(known)), spread, len(known), digits)

    @classmethod
    def known(cls, values: Iterable[float | None]) -> "MeanStd":
        """Return the mean of a value; without deviation if it is the same for every seed."""
        figure = cls.of(values)
        is_one = not round(figure.spread or 0, figure.digits)
        return cls(figure.mean, None, figure.n) if is_one else figure

    def with_digits(self, *, digits: int) -> "MeanStd":
        """Return the same value with another number of decimals."""
        return replace(self, digits=digits)

    def __str__(self) -> str:
        if self.mean is None:
            return ""
        text = self._short(self.mean)
        return text if self.spread is None else f"{text} ± {self._short(self.spread)}"

    def _short(self, value: float) -> str:
        text = f"{value:,.{self.digits}f}"
        return text.replace("0.", ".", 1) if abs(value) < 1 and self.digits else text


def area(row: Mapping[str, Any], name: str = "acc") -> float | None:
    """Return the normalised area under the learning curve, or None without a curve.

    The curve begins with the score of k-means at 0 answers, the same for every method, so that a
    missing early point is no advantage. With held-out images, their scores are used, and the
    curve begins at its first point, since k-means was not evaluated on them.

    Examples
    --------
    >>> curve = [{"n_answers": 10, "acc": 0.8, "test": None}]
    >>> area({"curve": curve, "baselines": {"kmeans_acc": 0.4}, "acc": 0.8})
    0.6
    """
    points = [(point["n_answers"], _score(point, name)) for point in row["curve"]]
    points = [point for point in points if point[1] is not None]
    if not points:
        return None
    if points[-1][0] == 0:
        return float(points[-1][1])
    is_tested = row["curve"][-1]["test"] is not None
    first = points[0][1] if is_tested or name != "acc" else row["baselines"]["kmeans_acc"]
    answers, scores = np.array([(0, first), *points], dtype=float).T
    return round(float(np.trapezoid(scores, answers) / answers[-1]), 6)


def _score(point: Mapping[str, Any], name: str) -> Any:
    part = point if point["test"] is None else point["test"]
    return part.get(name)


Row = Mapping[str, Any]
Spec = Mapping[str, Any]
#: Fields with one value per table; all other fields distinguish its rows.
_TASK = (
    *("dataset", "images", "labels", "criterion", "encoder", "from_scratch", "protocol"),
    *("test_fraction", "split", "n_images", "n_test"),
)
SCORES = ("nmi", "ari", "acc", "fmi", "pair_f1")


@dataclass(frozen=True)
class Group:
    """Rows that differ only in their seed.

    Attributes
    ----------
    spec : mapping
        Specification of the run, without the seed.
    rows : tuple of mapping
        Rows without errors, by seed.
    errors : tuple of str
        Error messages of the other rows.
    """

    spec: Spec
    rows: tuple[Row, ...]
    errors: tuple[str, ...]

    @property
    def method(self) -> str:
        """Return the method."""
        return str(self.spec["method"])

    @property
    def n_questions(self) -> int:
        """Return the budget."""
        return int(self.spec.get("n_questions", 0))

    @property
    def asks(self) -> bool:
        """Return whether any question was asked."""
        return any(row["n_answers"] for row in self.rows) or not self.rows

    def scores(self, name: str, part: str = "scored") -> list[float | None]:
        """Return one score for every row.

        Parameters
        ----------
        name : str
            Of `SCORES`.
        part : {"scored", "all", "unasked", "test"}
            ``scored``: held-out images if there are any, else all.
        """
        return [_scores(row, part).get(name) for row in self.rows]

    def values(self, *path: str) -> list[float | None]:
        """Return one nested entry of every row, by its path of keys."""
        return [_value(row, path) for row in self.rows]


def _scores(row: Row, part: str) -> Mapping[str, float]:
    if part == "scored":
        part = "test" if row["test"] else "all"
    return row if part == "all" else row[part] or {}


def _value(row: Any, path: Sequence[str]) -> Any:
    for name in path:
        row = None if row is None else row.get(name)
    return row


def spec_of_row(row: Row) -> Spec:
    """Return the requested run; for a row of ``bench run``, as far as it is recorded."""
    if "spec" in row:
        spec: Spec = row["spec"]
        return spec
    names = ("method", "dataset", "criterion", "n_questions", "preset", "seed")
    spec = {name: row[name] for name in names if row.get(name)}
    chosen = {name: value for name, value in row["settings"].items() if name in _RUN and value}
    if row["protocol"] != "transductive":
        chosen["protocol"] = row["protocol"]
    if chosen.get("split") == "all":
        del chosen["split"]
    return {**spec, **chosen}


_RUN = ("from_scratch", "noise", "unsure", "split", "test_fraction")


def groups(rows: Iterable[Row]) -> list[Group]:
    """Return rows grouped over seeds, in order of first occurrence.

    Of two rows of the same run, the last one counts.
    """
    runs: dict[str, tuple[Spec, Row]] = {}
    for row in rows:
        spec = spec_of_row(row)
        runs[key_of(spec)] = spec, row
    found: dict[str, list[tuple[Spec, Row]]] = {}
    for spec, row in runs.values():
        found.setdefault(key_of(_without(spec, ("seed",))), []).append((spec, row))
    return [_group(members) for members in found.values()]


def _group(members: list[tuple[Spec, Row]]) -> Group:
    members.sort(key=lambda member: member[0].get("seed", 0))
    return Group(
        _without(members[0][0], ("seed",)),
        tuple(row for _, row in members if "error" not in row),
        tuple(str(row["error"]) for _, row in members if "error" in row),
    )


def _without(spec: Spec, names: Sequence[str]) -> Spec:
    return {name: value for name, value in spec.items() if name not in names}


@dataclass(frozen=True)
class Task:
    """A task: the same images, criterion and protocol."""

    spec: Spec
    groups: tuple[Group, ...]

    @property
    def regime(self) -> str:
        """Return whether the method trained from scratch or used embeddings."""
        if self.spec.get("from_scratch"):
            return "from scratch"
        encoders = {row["encoder"] for group in self.groups for row in group.rows}
        encoders.discard(None)
        return f"pretrained ({', '.join(sorted(encoders))})" if encoders else "the set's vectors"

    @property
    def name(self) -> str:
        """Return data set and criterion: ``cards by suit``."""
        name = self.spec.get("dataset") or self.spec.get("images")
        part = f", {self.spec['split']} images" if "split" in self.spec else ""
        return f"{name} by {self.spec.get('criterion')}{part}"

    @property
    def rows(self) -> list[Row]:
        """Return all rows without errors."""
        return [row for group in self.groups for row in group.rows]


def tasks(rows: Iterable[Row]) -> list[Task]:
    """Return groups by task; from scratch and pretrained are kept apart."""
    found: dict[str, list[Group]] = {}
    for group in groups(rows):
        common = {name: group.spec[name] for name in _TASK if name in group.spec}
        found.setdefault(key_of(common), []).append(group)
    return [
        Task({name: of[0].spec[name] for name in _TASK if name in of[0].spec}, tuple(of))
        for of in found.values()
    ]


def variants(members: Sequence[Group]) -> dict[str, list[Group]]:
    """Return the rows of a table: groups by method and changed settings.

    Settings that all groups share are left out of the names.
    """
    all_settings = [dict(group.spec.get("settings", {})) for group in members]
    shared = {
        name
        for name in (all_settings[0] if all_settings else {})
        if len({str(settings.get(name)) for settings in all_settings}) == 1 and len(members) > 1
    }
    found: dict[str, list[Group]] = {}
    for group in members:
        found.setdefault(_name(group.spec, shared), []).append(group)
    return found


def _name(spec: Spec, shared: set[str]) -> str:
    words = [str(spec["method"])]
    if "strategy" in spec:
        is_random = spec["strategy"] == "random"
        words.append("random questions" if is_random else str(spec["strategy"]))
    for name in ("preset", "n_clusters", "kinds", "noise", "unsure"):
        if name in spec:
            value = spec[name]
            text = "+".join(value) if isinstance(value, list) else value
            words.append(f"{_SHORT.get(name, name)}={text}")
    settings = spec.get("settings", {})
    words += [f"{name}={value}" for name, value in settings.items() if name not in shared]
    return ", ".join(words)


_SHORT = {"n_clusters": "k"}


def baselines(rows: Sequence[Row], name: str) -> list[float]:
    """Return a trivial baseline per seed, from runs with the true number of clusters."""
    default = [row for row in rows if "n_clusters" not in spec_of_row(row)] or rows
    return list({row["seed"]: row["baselines"][name] for row in default}.values())
