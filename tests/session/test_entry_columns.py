"""A log that is read at once gives what its entries give one by one."""

import json
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError
from likewise.session import Session
from likewise.session.database import DATABASE
from likewise.session.log import now, read
from likewise.session.replay import Replay

N = 20
KEYS = ("ash", "oak", "elm")
CRITERION = "season"


def any_answer(rng: random.Random) -> Answer:
    images = rng.sample(range(N), 5)
    keys = tuple(rng.sample(KEYS, rng.randint(1, 3)))
    kind = rng.choice(["pair", "pair", "choice", "grid", "label"])
    who, seconds = rng.choice(["ada", "bo", ""]), rng.choice([None, 1.25])
    ticked: tuple[int, ...] = ()
    if kind == "pair":
        question = Question.pair(images[0], images[1])
        value = rng.choice(["same", "different", "different", "cannot_tell", "bad_image"])
    elif kind == "choice":
        question = Question.choice(images[0], tuple(images[1 : 1 + len(keys)]), keys)
        value = rng.choice([*keys, "none", "new", "cannot_tell"])
    elif kind == "grid":
        question = Question.grid(tuple(images[:-1]), images[-1], keys[0])
        value, ticked = rng.choice(["ticked", "bad_image"]), tuple(images[: rng.randint(0, 3)])
    else:
        question, value = Question.label(images[0]), rng.choice([*keys, "bad_image"])
    at = "" if rng.random() < 0.2 else now()
    return Answer(question, value, who, CRITERION, at, seconds, ticked)


def act(session: Session, rng: random.Random) -> None:
    """Do one thing that a person or the page can do."""
    what = rng.random()
    numbers = [entry.id for entry, is_active in session.entries(CRITERION) if is_active]
    keys = [group.key for group in session.groups(CRITERION).shown()]
    if what < 0.7 or not numbers:
        session.tell_all([any_answer(rng)], stamp=rng.random() < 0.5)
    elif what < 0.85:
        session.retract(rng.choice(numbers))
    elif what < 0.9:
        session.act(CRITERION, [any_answer(rng), any_answer(rng)], [rng.choice(numbers)], "ada")
    elif what < 0.95 and keys:
        session.change_group(CRITERION, rng.choice(keys), name=f"name {rng.random()}")
    elif len(keys) > 1:
        session.change_group(CRITERION, keys[0], merge_into=keys[1])


def replays(session: Session) -> tuple[Replay, Replay]:
    """The log read at once, and one by one."""
    parts = session._database, session.images, session.criterion(CRITERION)
    at_once, one_by_one = Replay(*parts), Replay(*parts)
    at_once.catch_up()
    for entry in read(session._database, parts[2].id):
        one_by_one.apply([entry])
    return at_once, one_by_one


def check_equal(at_once: Replay, one_by_one: Replay) -> None:
    one, other = at_once.entries, one_by_one.entries
    assert list(one.by_id.items()) == list(other.by_id.items())
    assert list(one.active()) == list(other.active())
    assert (one.last, one.invalid) == (other.last, other.invalid)
    assert one.last_active("ada") == other.last_active("ada")
    assert one.confirmed() == other.confirmed()
    first, second = at_once.graph, one_by_one.graph
    assert list(first.answers.items()) == list(second.answers.items())
    assert dict(first.active_answers) == dict(second.active_answers)
    assert list(first.conflicts) == list(second.conflicts)
    assert first.bad_images == second.bad_images
    np.testing.assert_array_equal(first.relations(range(N)), second.relations(range(N)))
    assert first.group_names() == second.group_names()


@pytest.mark.parametrize("two_groups", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_any_log_gives_the_same(path: Path, seed: int, two_groups: bool) -> None:
    rng = random.Random(seed)
    with Session.open(path) as session:
        if two_groups:
            session.ensure_criterion(CRITERION, 2)
        for _ in range(40):
            act(session, rng)
        check_equal(*replays(session))
        before = session.graph(CRITERION)
    with Session.open(path) as session:
        assert list(session.graph(CRITERION).answers.items()) == list(before.answers.items())
        for _ in range(5):
            act(session, rng)
        check_equal(*replays(session))
        assert session.graph(CRITERION).groups().tolist() == (
            replays(session)[1].graph.groups().tolist()
        )


A, B, C = "a", "b", "c"  # replaced by content hashes
AT = "2026-11-19T12:00:00.000Z"
ROWS = [  # kind, images, answer, group, groups, at, seconds, ticked
    ("pair", [B, A], "same", None, None, AT, 1.0, None),
    ("pair", [A, B], "same", "same", None, AT, 1.0, None),
    ("pair", [A, A], "same", None, None, AT, None, None),
    ("pair", [A, "unknown"], "same", None, None, AT, None, None),
    ("pair", [A, B, C], "same", None, None, AT, None, None),
    ("pair", [A, B], "oak", None, None, AT, None, None),
    ("pair", [A, B], "same", None, None, "yesterday", None, None),
    ("pair", [A, B], "same", None, None, "é" * 24, None, None),
    ("pair", [A, B], "same", None, None, "x" * 23 + "\0", None, None),
    ("pair", [A, B], "same", None, None, AT, -1.0, None),
    ("pair", [A, B], "same", None, None, AT, 9e999, None),
    ("pair", [A, B], "same", None, None, AT, None, [A]),
    ("pair", [A, B], "same", None, [], AT, None, None),
    ("choice", [A, B, C], "oak", None, ["oak", "elm"], AT, None, None),
    ("choice", [A, B, C], "oak", "oak", ["oak"], AT, None, None),
    ("choice", [A, B, B], "oak", "oak", ["oak", "elm"], AT, None, None),
    ("choice", [A, B], "ash", "ash", ["oak"], AT, None, None),
    ("grid", [A, B, C], "ticked", "oak", None, AT, None, [C]),
    ("grid", [A, B, C], "ticked", "oak", None, AT, None, [A, A]),
    ("grid", [A, B, C], "ticked", "oak", None, AT, None, [A]),
    ("grid", [A], "ticked", "oak", None, AT, None, None),
    ("grid", [A, B], "ticked", None, None, AT, None, None),
    ("label", [A], "oak", None, None, AT, None, None),
    ("label", [A, B], "oak", "oak", None, AT, None, None),
    ("label", [], "oak", "oak", None, AT, None, None),
]


@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_rows_of_other_programs_give_the_same(
    path: Path, row: tuple[object, ...], separators: tuple[str, str] | None
) -> None:
    with Session.open(path) as session:
        session.tell(Answer(Question.pair(3, 4), "same", "ada", CRITERION))
        hashes = dict(zip((A, B, C), session.images.hashes[:3], strict=True))
    cells = [
        json.dumps([hashes.get(one, one) for one in cell], separators=separators)
        if isinstance(cell, list)
        else cell
        for cell in row
    ]
    db = sqlite3.connect(path / DATABASE)
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute(
        'INSERT INTO log (criterion, who, kind, images, answer, "group", groups, at, seconds, '
        "ticked) VALUES (1, 'ada', ?, ?, ?, ?, ?, ?, ?, ?)",
        cells,
    )
    db.commit()
    db.close()
    with Session.open(path) as session:
        check_equal(*replays(session))


def test_what_is_written_is_kept_in_columns(path: Path) -> None:
    """Otherwise a long log would need the memory of objects."""
    rng = random.Random(0)
    with Session.open(path) as session:
        for _ in range(30):
            try:
                session.tell(any_answer(rng))
            except InvalidParameterError:
                continue
        at_once, _ = replays(session)
        kinds = {entry.kind for entry in at_once.entries.by_id.values()}
        assert kinds == {"pair", "choice", "grid", "label"}
        assert at_once._answers == {}
        times = {entry.at for entry in at_once.entries.by_id.values()}
        assert all(len(at) == 24 for at in times)
