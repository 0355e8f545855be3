"""Replay of many answers at once: the state is that of adding them one after the other.

As long as no answer contradicts those before it, their order does not matter: connected
components give the closure of all. From the first contradiction on they are added in order, except
those that say what is known already.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from likewise.constraints.active import ActiveConstraints, Proof
from likewise.constraints.answers import AnswerColumns, Answers, Shape
from likewise.constraints.constraint import given_relations
from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, SAME, Relation
from likewise.types import Indexes

_IN_ORDER = 2_048  # answers whose relations are looked up together
_PRECISION = 64  # the first contradiction is searched for up to this part of all answers


@dataclass(frozen=True)
class GivenRelations:
    """The relations that answers state, in their order, as `given_relations` returns them.

    Parameters
    ----------
    row : array of shape (m,)
        The answer.
    first, second : array of shape (m,)
        Nodes: images, then group names.
    relation : array of shape (m,)
    names : dict
        The row and the first image of the first answer with each group name.
    n_rows : int
        Answers from this one on are not included: it has a third name of two groups.
    """

    row: Indexes
    first: Indexes
    second: Indexes
    relation: npt.NDArray[np.int8]
    names: dict[str, tuple[int, int]]
    n_rows: int


def replay_answers(
    answers: Answers, n_images: int, *, two_groups: bool, known: Mapping[int, Proof]
) -> ActiveConstraints:
    """Return the active constraints of all answers.

    Parameters
    ----------
    answers : Answers
    n_images : int
    two_groups : bool
    known : mapping of int to tuple of Constraint
        Proofs of conflicts of an earlier replay. One is used again if all its answers are still
        active: to search for the shortest chain takes most of the time of a conflict.
    """
    active = ActiveConstraints(n_images, two_groups=two_groups)
    columns = answers.columns()
    given = relations_of(columns, n_images, two_groups=two_groups)
    n_rows, components = _consistent_rows(given, n_images, two_groups=two_groups)
    used = slice(0, int(np.searchsorted(given.row, n_rows)))
    ids = columns.ids[given.row[used]]
    names = {name: one for name, one in given.names.items() if one[0] < n_rows}
    _use_names(active, columns, names, n_rows)
    active.add_consistent(
        components[: active.closure.n_nodes],
        *(given.first[used], given.second[used], given.relation[used], ids),
    )
    if n_rows < len(columns):
        _add_in_order(active, columns, given, n_rows, answers, known)
    return active


def relations_of(columns: AnswerColumns, n_images: int, *, two_groups: bool) -> GivenRelations:
    """Return what all answers state; an answer that states nothing has no relations."""
    says = _of_shapes(columns, lambda shape: shape.answer not in (CANNOT_TELL, BAD_IMAGE))
    is_grid = _of_shapes(columns, lambda shape: shape.kind == "grid")[columns.codes]
    is_label = says & _of_shapes(columns, lambda shape: shape.kind == "label")
    lengths = np.diff(columns.starts)
    row = np.repeat(np.arange(len(columns)), lengths)
    place = np.arange(len(row)) - columns.starts[row]
    anchor = np.where(is_grid, lengths - 1, 0)  # the place of the image that the others relate to
    used = np.flatnonzero((place != anchor[row]) & says[columns.codes[row]])
    row, place = row[used], place[used]
    first = columns.images[columns.starts[row] + anchor[row]].astype(np.intp)
    second = columns.images[used].astype(np.intp)
    stated, starts = _stated(columns)
    place = np.where(is_grid[row], 0, place - 1)
    relation = stated[starts[columns.codes[row]] + place]
    for number, ticked in columns.ticked.items():
        found = int(np.searchsorted(columns.ids, number))
        here = slice(*np.searchsorted(row, [found, found + 1]))
        relation[here][np.isin(second[here], ticked)] = Relation.DIFFERENT
    given = GivenRelations(row, first, second, relation, {}, len(columns))
    return _with_names(given, columns, is_label, n_images, two_groups=two_groups)


def _of_shapes(columns: AnswerColumns, condition: Callable[[Shape], bool]) -> npt.NDArray[np.bool_]:
    """Return whether a condition holds, for each shape."""
    return np.array([condition(shape) for shape in columns.shapes], dtype=np.bool_)


def _stated(columns: AnswerColumns) -> tuple[npt.NDArray[np.int8], Indexes]:
    """Return the relations that each shape states, one after the other, and where they start."""
    stated: list[list[int]] = []
    for shape in columns.shapes:
        if shape.kind == "pair":
            stated.append([1 if shape.answer == SAME else -1])
        elif shape.kind == "grid":
            stated.append([1])  # of the images that are not ticked
        else:
            stated.append([1 if key == shape.answer else -1 for key in shape.groups])
    starts = np.cumsum([0, *map(len, stated)])
    return np.array([one for part in stated for one in part], dtype=np.int8), starts


def _with_names(
    given: GivenRelations,
    columns: AnswerColumns,
    is_label: npt.NDArray[np.bool_],
    n_images: int,
    *,
    two_groups: bool,
) -> GivenRelations:
    """Add what labels state; names have the nodes after the images, in the order of first use."""
    if not is_label.any():
        return given
    rows = np.flatnonzero(is_label[columns.codes])
    images = columns.images[columns.starts[rows]].astype(np.intp)
    codes, firsts = np.unique(columns.codes[rows], return_index=True)
    names: dict[str, tuple[int, int]] = {}
    order = np.zeros(len(columns.shapes), dtype=np.intp)  # of the name of each shape
    for code, one in sorted(zip(codes.tolist(), firsts.tolist(), strict=True), key=lambda c: c[1]):
        name = columns.shapes[code].answer
        names.setdefault(name, (int(rows[one]), int(images[one])))
        order[code] = list(names).index(name)
    number = order[columns.codes[rows]]
    n_rows = len(columns)
    relation = np.ones(len(rows), dtype=np.int8)
    if two_groups:  # one node: the first name is the same as it, the second differs from it
        n_rows = int(rows[number > 1][0]) if (number > 1).any() else n_rows
        relation[number == 1] = Relation.DIFFERENT
        number = np.zeros_like(number)
    row = np.concatenate([given.row, rows])
    sorted_ = np.argsort(row, kind="stable")
    return GivenRelations(
        row[sorted_],
        np.concatenate([given.first, images])[sorted_],
        np.concatenate([given.second, n_images + number])[sorted_],
        np.concatenate([given.relation, relation])[sorted_],
        names,
        n_rows,
    )


def _consistent_rows(
    given: GivenRelations, n_images: int, *, two_groups: bool
) -> tuple[int, Indexes]:
    """Return how many of the first answers do not contradict each other, and their components.

    If there is a contradiction the number may be up to ``1 / _PRECISION`` of all too low.
    """
    n_names = min(1, len(given.names)) if two_groups else len(given.names)

    def components(n_rows: int) -> Indexes | None:
        used = slice(0, int(np.searchsorted(given.row, n_rows)))
        links = given.first[used], given.second[used], given.relation[used]
        return _components(*links, n_images, n_names, two_groups=two_groups)

    low, high = 0, given.n_rows
    found = components(high)
    if found is not None:
        return high, found
    while high - low > max(1, given.n_rows // _PRECISION):
        middle = (low + high) // 2
        low, high = (low, middle) if components(middle) is None else (middle, high)
    found = components(low)
    assert found is not None  # also of no answers
    return low, found


def _components(
    first: Indexes,
    second: Indexes,
    relation: npt.NDArray[np.int8],
    n_images: int,
    n_names: int,
    *,
    two_groups: bool,
) -> Indexes | None:
    """Return the component of each node, None if the relations contradict each other.

    With two groups each node has a second one for whatever differs from it.
    """
    n, is_same = n_images + n_names, relation > 0
    if two_groups:
        ends = np.concatenate([second[is_same], second[~is_same] + n])
        starts = np.concatenate([first[is_same], first[~is_same]])
        rows, columns = np.append(starts, starts + n), np.append(ends, (ends + n) % (2 * n))
        found = _connected(rows, columns, 2 * n)
        return None if (found[:n] == found[n:]).any() else found[:n]
    found = _connected(first[is_same], second[is_same], n)
    if (found[first[~is_same]] == found[second[~is_same]]).any():
        return None
    return None if len(np.unique(found[n_images:])) < n_names else found


def _connected(rows: Indexes, columns: Indexes, n: int) -> Indexes:
    links = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n, n))
    labels: Any = connected_components(links, directed=False)[1]
    return np.asarray(labels, dtype=np.intp)


def _use_names(
    active: ActiveConstraints,
    columns: AnswerColumns,
    names: Mapping[str, tuple[int, int]],
    n_rows: int,
) -> None:
    """Register the names that the first answers use."""
    for name, (row, image) in names.items():
        active.use_name(name, int(columns.ids[row]), image)
    codes = {code for code, shape in enumerate(columns.shapes) if shape.answer in names}
    labels = np.flatnonzero(np.isin(columns.codes[:n_rows], list(codes)))
    for row in labels.tolist():
        shape = columns.shapes[columns.codes[row]]
        if shape.kind == "label":
            active.name_of_answer[int(columns.ids[row])] = shape.answer


def _add_in_order(
    active: ActiveConstraints,
    columns: AnswerColumns,
    given: GivenRelations,
    start: int,
    answers: Answers,
    known: Mapping[int, Proof],
) -> None:
    """Add the answers from a row on, one after the other.

    The relations of images are looked up for many answers at once. What the closure implies is
    implied after further answers, too: if it implies all that an answer says, the closure remains
    as it is, and if it implies the opposite of a pair, the answer is a conflict.
    """
    n_images = active.closure.n_images
    is_pair = _of_shapes(columns, lambda shape: shape.kind == "pair")[columns.codes]
    for block in range(start, len(columns), _IN_ORDER):
        rows = range(block, min(block + _IN_ORDER, len(columns)))
        bounds = np.searchsorted(given.row, np.arange(rows.start, rows.stop + 1))
        here = slice(bounds[0], bounds[-1])
        first, second, relation = given.first[here], given.second[here], given.relation[here]
        is_image = second < n_images
        pairs = np.stack([first, np.where(is_image, second, first)], axis=1)
        found = np.where(is_image, active.closure.pairs(pairs), 0)
        n_unknown = np.concatenate([[0], np.cumsum(found != relation)])[bounds - bounds[0]]
        is_implied = (np.diff(n_unknown) == 0).tolist()
        links = list(zip(first.tolist(), second.tolist(), relation.tolist(), strict=True))
        is_opposite = (found == -relation).tolist()
        places = (bounds - bounds[0]).tolist()
        for at, row in enumerate(rows):
            number, place = int(columns.ids[row]), places[at]
            if is_implied[at]:
                for link in links[place : places[at + 1]]:
                    active.edges.append((*link, number))
            elif is_pair[row] and is_opposite[place] and number not in known:
                active.add_conflict((*links[place], number))
            else:
                _add(active, number, answers, known)


def _add(
    active: ActiveConstraints, number: int, answers: Answers, known: Mapping[int, Proof]
) -> None:
    """Add one answer; a known proof is used if all its answers are still active."""
    answer, proof = answers[number], known.get(number, ())
    relations = given_relations(answer, active.closure.n_images)
    if answer.question.kind == "grid":
        active.add_grid(number, relations)
        return
    is_valid = all(
        used.answer_id in answers and used.answer_id not in active.conflicts for used in proof
    )
    active.add(number, relations, proof if is_valid else ())
