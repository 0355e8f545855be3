"""Match the clusters of a new training to existing groups, so that groups keep their names."""

from collections import defaultdict

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.session.results import (
    Quality,
    Results,
    load_results,
    pinned_columns,
    placed_groups,
    save_results,
)
from likewise.session.session import Session
from likewise.types import Indexes
from likewise.workspace.status import DEFAULT_NAME

_PINNED_WEIGHT = 40  # of an image that an answer assigns to a group by its key


def match_clusters(
    before: Indexes, now: Indexes, n_columns: int, weight: npt.ArrayLike = 1
) -> Indexes:
    """Return, for each group, the cluster of the new model that shares the most images with it.

    One cluster per group, by linear assignment.

    Parameters
    ----------
    before : array of shape (n,)
        The group of each image after the previous training; -1 if it had none.
    now : array of shape (n,)
        The cluster of each image in the new model.
    n_columns : int
    weight : array-like of shape (n,)
        The weight of each image in the number of shared images.

    Examples
    --------
    >>> match_clusters(np.array([0, 0, 1]), np.array([1, 1, 0]), 2).tolist()
    [1, 0]
    """
    shared = np.zeros((n_columns, n_columns))
    is_known = (before >= 0) & (before < n_columns)
    weights = np.broadcast_to(np.asarray(weight, dtype=float), now.shape)
    np.add.at(shared, (before[is_known], now[is_known]), weights[is_known])
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1], dtype=np.intp)


def align_clusters(
    session: Session,
    criterion: str,
    model: InteractiveClusterer,
    positions: Indexes,
    keys: tuple[str, ...],
) -> None:
    """Renumber the clusters of a trained model by the groups they match; nothing is saved."""
    before, weight = _previous_groups(session, criterion, keys)
    n_columns = model.probabilities_.shape[1]
    model.renumber(match_clusters(before[positions], model.labels_, n_columns, weight[positions]))


def save_matched_results(
    session: Session,
    criterion: str,
    model: InteractiveClusterer,
    positions: Indexes,
    *,
    n_answers: int,
    keys: tuple[str, ...] = (),
    has_model: bool = False,
    quality: Quality | None = None,
) -> Results:
    """Renumber the clusters of a model by the groups they match, and save its results.

    Parameters
    ----------
    model : InteractiveClusterer
        Trained; its clusters are renumbered.
    positions : array of shape (n,)
        Of the model's images in the session.
    session, criterion, n_answers, keys, has_model, quality
        As in `save_results`.
    """
    align_clusters(session, criterion, model, positions, keys)
    n_columns = model.probabilities_.shape[1]
    probabilities = np.zeros((len(session.images), n_columns), dtype=np.float32)
    probabilities[positions] = model.probabilities_
    return save_results(
        session,
        criterion,
        probabilities,
        keys=keys,
        n_answers=n_answers,
        has_model=has_model,
        quality=quality,
    )


def group_keys(session: Session, criterion: str, n: int) -> tuple[str, ...]:
    """Return the keys of `n` groups: the existing ones in order, then new ones.

    If there are more than `n`, those come first in which a person placed images or that a person
    named: a model may have fewer clusters than there were before the answers.
    """
    made = [group.key for group in session.groups(criterion).all()]
    if len(made) > n:
        used = _used_groups(session, criterion)
        first = sorted(made, key=lambda key: key not in used)[:n]
        return tuple(key for key in made if key in first)
    return (*made, *(f"g{number + 1}" for number in range(len(made), n)))


def _used_groups(session: Session, criterion: str) -> set[str]:
    """Return the groups that answers contain by their key or by must-links, and named ones."""
    groups, graph = session.groups(criterion), session.graph(criterion)
    used = {group.key for group in groups.shown() if not DEFAULT_NAME.fullmatch(group.name)}
    used |= placed_groups(graph.active_answers, groups)
    results = load_results(session, criterion)
    if results is not None and results.keys:
        component = graph.groups()[: len(results.labels)]
        linked = np.bincount(component, minlength=len(component))[component] > 1
        columns = results.labels[: len(component)][linked]
        used.update(groups.resolve(results.keys[column]) for column in columns if column >= 0)
    return used


def _previous_groups(
    session: Session, criterion: str, keys: tuple[str, ...]
) -> tuple[Indexes, Indexes]:
    """Return the group of each image after the previous training, and the weight of each image.

    The core images of a group have the weight of all others together. Images that answers assign
    to a group by its key have more: the group keeps them, whatever is predicted for the others.
    """
    before, graph = load_results(session, criterion), session.graph(criterion)
    n = len(session.images)
    groups = np.full(n, -1, dtype=np.intp) if before is None else before.labels.copy()
    weight = np.ones(n, dtype=np.intp)
    weight[_core_images(groups, graph)] = n
    pinned = pinned_columns(graph.active_answers, session.groups(criterion), keys)
    groups[list(pinned)], weight[list(pinned)] = list(pinned.values()), _PINNED_WEIGHT * n
    return groups, weight


def _core_images(groups: Indexes, graph: ConstraintGraph) -> list[int]:
    """Return the core of each group: its largest set of must-linked images that were answered.

    The one that was answered first, of several of that size. Other images may be in the group
    only because the model had no better cluster for them, such as those answered with "none".
    """
    component, linked = graph.groups(), defaultdict[tuple[int, int], list[int]](list)
    core: dict[int, list[int]] = {}
    answers = (graph.answers[number] for number in sorted(graph.answers))
    for image in dict.fromkeys(i for answer in answers for i in answer.question.images):
        linked[int(groups[image]), int(component[image])].append(image)
    for (group, _), images in linked.items():
        if len(images) > len(core.get(group, ())):
            core[group] = images
    return [image for images in core.values() for image in images]
