"""What a training found, written down so that every group keeps its number, name and colour."""

from collections import defaultdict

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Indexes
from likewise.desk.columns import stable_columns
from likewise.estimators.base import InteractiveClusterer
from likewise.session.results import Results, load_results, pinned_columns, save_results
from likewise.session.session import Session

_PUT_THERE = 40  # how much more an image counts that was put into a group by its name


def keep_found(
    session: Session,
    orientation: str,
    model: InteractiveClusterer,
    positions: Indexes,
    *,
    n_answers: int,
    keys: tuple[str, ...] = (),
    has_model: bool = False,
) -> Results:
    """Give the model's clusters the numbers of the groups they are, and keep where all images are.

    Parameters
    ----------
    model : PersonalClusterer
        Trained; it is renumbered.
    positions : array of shape (n,)
        Of the model's images in the session.
    session, orientation, n_answers, keys, has_model
        As in `save_results`.
    """
    number_as_before(session, orientation, model, positions, keys)
    n_columns = model.probabilities_.shape[1]
    found = np.zeros((len(session.images), n_columns), dtype=np.float32)
    found[positions] = model.probabilities_
    return save_results(
        session, orientation, found, keys=keys, n_answers=n_answers, has_model=has_model
    )


def number_as_before(
    session: Session,
    orientation: str,
    model: InteractiveClusterer,
    positions: Indexes,
    keys: tuple[str, ...],
) -> None:
    """Give the clusters of a trained model the numbers of the groups they are; nothing is kept."""
    old, weight = _places_before(session, orientation, keys)
    n_columns = model.probabilities_.shape[1]
    model.renumber(stable_columns(old[positions], model.labels_, n_columns, weight[positions]))


def group_keys(session: Session, orientation: str, n: int) -> tuple[str, ...]:
    """Return the key of each of `n` numbers: the groups that were made, in order, then new ones."""
    made = [group.key for group in session.groups(orientation).all()]
    return (*made[:n], *(f"g{number + 1}" for number in range(len(made), n)))


def _places_before(
    session: Session, orientation: str, keys: tuple[str, ...]
) -> tuple[Indexes, Indexes]:
    """Return where each image was after the training before, and how much that counts.

    Images that a group is known by count as much as all others together; most of all those that
    people put into it by its name: it keeps that name whatever a model makes of the rest.
    """
    before, graph = load_results(session, orientation), session.graph(orientation)
    n = len(session.images)
    places = np.full(n, -1, dtype=np.intp) if before is None else before.labels.copy()
    weight = np.ones(n, dtype=np.intp)
    weight[_known_by(places, graph)] = n
    said = {number: a for number, a in graph.answers.items() if number not in graph.set_aside}
    held = pinned_columns(said, session.groups(orientation), keys)
    places[list(held)], weight[list(held)] = list(held.values()), _PUT_THERE * n
    return places, weight


def _known_by(places: Indexes, graph: ConstraintGraph) -> list[int]:
    """Return what each group is known by: of the images people spoke of, the most that are tied.

    The first that was spoken of if there is a choice. Others may be in a group only because a
    model had no better place for them: "none of these" was said of many.
    """
    ties, tied = graph.groups(), defaultdict[tuple[int, int], list[int]](list)
    known_by: dict[int, list[int]] = {}
    answers = (graph.answers[number] for number in sorted(graph.answers))
    for image in dict.fromkeys(i for answer in answers for i in answer.question.images):
        tied[int(places[image]), int(ties[image])].append(image)
    for (place, _), images in tied.items():
        if len(images) > len(known_by.get(place, ())):
            known_by[place] = images
    return [image for images in known_by.values() for image in images]
