"""Report of one criterion: learning curve, accuracy, group sizes, confusions, example images."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from likewise.constraints.question import Answer
from likewise.embedding.embeddings import Encoder
from likewise.errors import ImageError
from likewise.estimators.kernel.accuracy_estimate import AccuracyEstimate
from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import accuracy
from likewise.session.assignments import Assignment, assignments
from likewise.session.export.html import GroupTiles, Page, Section, Tile, html
from likewise.session.results import load_results
from likewise.session.session import Session
from likewise.types import Floats, Indexes, Progress, silent
from likewise.workspace.thumbnails import Thumbnails
from likewise.workspace.training_job import SessionVectors

_N_POINTS = 9  # of the learning curve
_N_SURE, _N_UNSURE = 9, 6  # example images of a group
_MAX_CONFUSIONS = 12
_MIN_CONFUSED = 0.5  # images, from which a confusion is listed
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 260, 46, 34  # of the chart, and of its margins


@dataclass(frozen=True)
class CurvePoint:
    """The model after the first `n_answers` answers.

    Parameters
    ----------
    n_answers : int
    accuracy : AccuracyEstimate
        Estimated from these answers alone.
    agreement : float
        Share of images that are in the same group as after all answers.
    """

    n_answers: int
    accuracy: AccuracyEstimate
    agreement: float


def learning_curve(
    session: Session, criterion: str, vectors: SessionVectors, progress: Progress = silent
) -> list[CurvePoint]:
    """Return estimate and grouping by number of answers, by replaying the answers in order.

    Retracted answers and conflicts are left out. Each point is one training.
    """
    answers = _answers_about_rows(session, criterion, vectors)
    steps = sorted({*np.linspace(0, len(answers), _N_POINTS).round().astype(int).tolist()})
    stored = session.criterion(criterion)
    model = Likewise(stored.n_clusters, two_groups=stored.two_groups, random_state=0)
    model.start(vectors.embeddings)
    groupings: list[tuple[int, AccuracyEstimate, Indexes]] = []
    progress(0, len(steps))
    for n_answers in steps:
        for answer in answers[model.n_answered_ : n_answers]:
            model.tell_one(answer)
        model.train()
        groupings.append((n_answers, model.accuracy_estimate_, model.labels_))
        progress(len(groupings), len(steps))
    last = groupings[-1][2]
    return [CurvePoint(n, estimate, accuracy(last, found)) for n, estimate, found in groupings]


def _answers_about_rows(session: Session, criterion: str, vectors: SessionVectors) -> list[Answer]:
    row = np.full(vectors.n_known, -1, dtype=np.intp)
    row[vectors.positions] = np.arange(len(vectors.positions))
    active = session.graph(criterion).active_answers
    known = [
        answer.at_positions([int(row[i]) for i in answer.question.images])
        for _, answer in sorted(active.items())
    ]
    return [answer for answer in known if answer is not None]


def confusions(probabilities: Floats, labels: Indexes, fixed: Sequence[int] = ()) -> Floats:
    """Return the expected number of images of group i that belong to group j.

    Parameters
    ----------
    probabilities : array of shape (n, k)
    labels : array of shape (n,)
        The group of each image; images with -1 are left out.
    fixed : sequence of int
        Images whose group a person has confirmed: they are not confused.
    """
    counts = np.zeros((probabilities.shape[1],) * 2, dtype=np.float32)
    used = labels >= 0
    used[list(fixed)] = False
    np.add.at(counts, labels[used], probabilities[used])
    np.fill_diagonal(counts, 0)
    return counts


def make_report(
    session: Session,
    criterion: str,
    encoder: Encoder | None = None,
    *,
    embedding: Progress = silent,
    training: Progress = silent,
) -> str:
    """Return the report as one HTML document without scripts or links to other files.

    Parameters
    ----------
    session : Session
        Must have results for the criterion.
    criterion : str
    encoder : Encoder, optional
        That of the session, to replay the answers; without it there is no learning curve.
    embedding, training : Progress
    """
    criterion = session.criterion(criterion).name
    rows = assignments(session, criterion)
    results = load_results(session, criterion)
    assert results is not None  # `assignments` raises if there are none
    figures = []
    if encoder is not None:
        vectors = SessionVectors.of(session, encoder, session.images.askable, embedding)
        points = learning_curve(session, criterion, vectors, training)
        figures.append(curve_svg(points))
    figures.append(_sizes_table(rows))
    names = {row.cluster: row.name for row in rows if row.cluster >= 0}
    fixed = [row.position for row in rows if row.answered]
    labels = np.full(len(results.labels), -1, dtype=np.intp)
    for row in rows:
        labels[row.position] = row.cluster
    figures.append(_confusion_table(confusions(results.probabilities, labels, fixed), names))
    sections = [Section("Examples", _examples(session, criterion, rows))]
    folder = "Pictures" if session.root is None else session.root.name
    paragraphs = _summary(session, criterion, rows, results.quality.get("accuracy", {}))
    return html(Page(f"{folder}, by {criterion}: report", sections, paragraphs, figures))


def _summary(
    session: Session, criterion: str, rows: Sequence[Assignment], quality: object
) -> list[str]:
    graph = session.graph(criterion)
    n_placed = sum(row.answered for row in rows)
    texts = [
        f"{len(rows):,} images, {graph.n_answers:,} answers; {n_placed:,} images were placed by a "
        f"person, {len(graph.conflicts):,} answers are in conflict with others.",
    ]
    if isinstance(quality, dict) and {"estimate", "low", "high"} <= quality.keys():
        texts.append(
            f"Estimated accuracy of the grouping: {quality['estimate']:.0%} "
            f"(90 % interval {quality['low']:.0%} to {quality['high']:.0%})."
        )
    return texts


def _sizes_table(rows: Sequence[Assignment]) -> str:
    """Return a table with the size, the placed images and the mean confidence of each group."""
    groups: dict[str, list[Assignment]] = {}
    for row in rows:
        groups.setdefault(row.name or f"cluster {row.cluster}", []).append(row)
    largest = max((len(members) for members in groups.values()), default=1)
    lines = []
    for name, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        mean = float(np.mean([row.confidence for row in members]))
        n_placed = sum(row.answered for row in members)
        bar = f'<td><meter max="{largest}" value="{len(members)}"></meter></td>'
        lines.append(
            f"<tr><th>{escape(name)}</th>{bar}<td>{len(members):,}</td><td>{n_placed:,}</td>"
            f"<td>{mean:.2f}</td></tr>"
        )
    return (
        "<figure><figcaption>Groups</figcaption><table><tr><th>group</th><th></th>"
        f"<th>images</th><th>placed</th><th>mean confidence</th></tr>{''.join(lines)}</table>"
        "</figure>"
    )


def _confusion_table(counts: Floats, names: dict[int, str]) -> str:
    """Return a table of the pairs of groups between which most images may be wrong."""
    order = np.argsort(-counts, axis=None, kind="stable")[:_MAX_CONFUSIONS]
    lines = []
    for one, other in zip(*np.unravel_index(order, counts.shape), strict=True):
        n = float(counts[one, other])
        if n >= _MIN_CONFUSED and int(one) in names:
            likely = escape(names.get(int(other), f"cluster {other}"))
            lines.append(
                f"<tr><th>{escape(names[int(one)])}</th><td>{likely}</td><td>{n:.1f}</td></tr>"
            )
    caption = "Confusions: expected number of images of a group that belong to another"
    if not lines:
        return f"<figure><figcaption>{caption}: none.</figcaption></figure>"
    return (
        f"<figure><figcaption>{caption}</figcaption><table><tr><th>in group</th>"
        f"<th>may belong to</th><th>images</th></tr>{''.join(lines)}</table></figure>"
    )


def _examples(session: Session, criterion: str, rows: Sequence[Assignment]) -> list[GroupTiles]:
    """Return the images of each group with the highest and the lowest confidence."""
    thumbnails = Thumbnails(session)
    colours = {group.name: group.colour for group in session.groups(criterion).shown()}
    groups: dict[tuple[int, str], list[Assignment]] = {}
    for row in rows:
        groups.setdefault((row.cluster, row.name), []).append(row)
    shown = []
    for (_, name), members in sorted(groups.items(), key=lambda item: item[0]):
        members.sort(key=lambda row: -row.confidence)
        least = [row for row in members[_N_SURE:] if not row.answered][-_N_UNSURE:]
        tiles = [
            Tile(image, f"{row.path} ({row.confidence:.0%})", "odd" if row in least else "")
            for row in [*members[:_N_SURE], *least]
            if (image := _thumbnail(thumbnails, row.position))
        ]
        note = "Framed: the least certain images." if least else ""
        shown.append(GroupTiles(name, colours.get(name, "#777777"), len(members), tiles, note))
    return shown


def _thumbnail(thumbnails: Thumbnails, position: int) -> bytes:
    try:
        return thumbnails.thumbnail(position)
    except ImageError:
        return b""


def curve_svg(points: Sequence[CurvePoint]) -> str:
    """Return the learning curve: estimated accuracy with its interval, and agreement."""
    most = max(points[-1].n_answers, 1)

    def x(n: float) -> float:
        return _LEFT + n / most * (_WIDTH - _LEFT - 8)

    def y(share: float) -> float:
        return 8 + (1 - share) * (_HEIGHT - _BOTTOM - 8)

    def path(values: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in values)

    low = [(point.n_answers, point.accuracy.low) for point in points]
    high = [(point.n_answers, point.accuracy.high) for point in points]
    estimate = [(point.n_answers, point.accuracy.estimate) for point in points]
    agreement = [(point.n_answers, point.agreement) for point in points]
    grid = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    ticks = "".join(
        f'<text x="{x(point.n_answers):.1f}" y="{_HEIGHT - 14}" text-anchor="middle">'
        f"{point.n_answers}</text>"
        for point in points
    )
    return (
        "<figure><figcaption>Learning curve by number of answers: estimated accuracy with its "
        "90 % interval, and (dashed) the share of images in the same group as now</figcaption>"
        f'<svg class="curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{grid}{ticks}'
        f'<polygon points="{path([*high, *reversed(low)])}"/>'
        f'<polyline points="{path(estimate)}"/>'
        f'<polyline class="dashed" points="{path(agreement)}"/></svg></figure>'
    )
