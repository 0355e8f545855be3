"""What a training found, written down so that every group keeps its number, name and colour."""

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.desk.columns import stable_columns
from likewise.methods.base import PersonalClusterer
from likewise.session.anchors import held_in
from likewise.session.results import Results, load_results, save_results
from likewise.session.session import Session

_SPOKEN_OF, _PUT_THERE = 50, 2_000  # how much an image counts when groups are matched by members


def keep_found(
    session: Session,
    orientation: str,
    model: PersonalClusterer,
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
    model: PersonalClusterer,
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

    Images that people spoke of count more; most of all those they put into a group by its
    name: that group keeps its name whatever a model makes of the rest.
    """
    before, graph = load_results(session, orientation), session.graph(orientation)
    n = len(session.images)
    places = np.full(n, -1, dtype=np.intp) if before is None else before.labels.copy()
    weight = np.ones(n, dtype=np.intp)
    weight[[i for answer in graph.answers.values() for i in answer.question.images]] = _SPOKEN_OF
    said = {number: a for number, a in graph.answers.items() if number not in graph.set_aside}
    held = held_in(said, session.groups(orientation), keys)
    places[list(held)], weight[list(held)] = list(held.values()), _PUT_THERE
    return places, weight
