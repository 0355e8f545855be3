from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session import Session
from likewise.session.groups import COLOURS
from tests.session.pictures import restore_last


def label(image: int, name: str) -> Answer:
    return Answer(Question.label(image), name)


def choice(image: int, shown: dict[str, int], said: str) -> Answer:
    return Answer(Question.choice(image, tuple(shown.values()), tuple(shown)), said)


def test_keys_and_colours_are_given_once_and_stay(path: Path) -> None:
    with Session.open(path) as session:
        made = [session.make_group("season").key for _ in range(3)]
        session.make_group("season", name="winter", colour="#abcdef")
    assert made == ["g1", "g2", "g3"]
    with Session.open(path, write=False) as session:
        groups = session.groups("season").all()
        assert [g.key for g in groups] == ["g1", "g2", "g3", "g4"]
        assert [g.colour for g in groups] == [*COLOURS[:3], "#abcdef"]
        assert groups[-1].name == "winter"


def test_several_are_made_at_once_or_none(session: Session) -> None:
    before = session._database.n_written
    made = session.make_groups("season", ["winter", "summer"])
    assert [(g.key, g.name) for g in made] == [("g1", "winter"), ("g2", "summer")]
    assert session._database.n_written == before + 1
    with pytest.raises(InvalidParameterError):
        session.make_groups("season", ["spring", "  "])
    assert len(session.groups("season").all()) == 2


def test_a_label_makes_its_group(session: Session) -> None:
    session.tell(label(0, "winter"))
    session.tell(label(1, "winter"))
    session.tell(label(2, "cannot_tell"))
    assert [g.key for g in session.groups("season").all()] == ["winter"]


def test_a_new_key_differs_from_labels_typed_before(session: Session) -> None:
    session.tell(label(0, "g2"))
    assert session.make_group("season").key == "g3"
    session.tell(label(0, "g4"))
    assert session.make_group("season").key == "g5"


def test_each_criterion_has_its_own_groups(session: Session) -> None:
    session.add_criterion("mood")
    session.make_group("mood")
    assert session.groups("season").all() == ()
    assert session.make_group("season").key == "g1"


def test_a_new_name_changes_no_answer_and_can_be_retracted(session: Session) -> None:
    session.tell(label(0, "winter"))
    session.tell(label(1, "winter"))
    session.change_group("season", "winter", name="cold days", colour="#000000", who="ann")
    group = session.groups("season")["winter"]
    assert (group.name, group.colour) == ("cold days", "#000000")
    assert session.graph("season").relation(0, 1) is Relation.SAME
    assert session.groups("season").key_of("cold days") == "winter"
    session.undo("season")  # both changes are one action
    assert session.groups("season")["winter"].name == "winter"
    assert session.groups("season")["winter"].colour == COLOURS[0]
    restore_last(session)
    assert session.groups("season")["winter"].colour == "#000000"
    restore_last(session)
    assert session.groups("season")["winter"].name == "cold days"


def test_a_merge_makes_labels_equivalent_and_can_be_retracted(session: Session) -> None:
    session.tell(label(0, "winter"))
    session.tell(label(1, "snow"))
    assert session.graph("season").relation(0, 1) is Relation.DIFFERENT
    session.change_group("season", "snow", merge_into="winter")
    assert session.graph("season").relation(0, 1) is Relation.SAME
    session.tell(label(2, "snow"))
    assert session.graph("season").relation(0, 2) is Relation.SAME
    groups = session.groups("season")
    assert [g.key for g in groups.shown()] == ["winter"]
    assert groups.name("snow") == "winter"
    (merge,) = (entry.id for entry, _ in session.entries("season") if entry.kind == "merge")
    session.retract(merge)
    assert session.graph("season").relation(0, 1) is Relation.DIFFERENT
    assert session.graph("season").relation(1, 2) is Relation.SAME


def test_a_choice_does_not_exclude_a_group_that_was_merged_with_the_chosen_one(
    session: Session,
) -> None:
    for key in ("a", "b", "c"):
        session.tell(label({"a": 0, "b": 1, "c": 2}[key], key))
    session.tell(choice(5, {"a": 0, "b": 1, "c": 2}, "a"))
    assert session.graph("season").relation(5, 1) is Relation.DIFFERENT
    session.change_group("season", "b", merge_into="a")
    assert session.graph("season").conflicts == {}
    assert session.graph("season").relation(5, 1) is Relation.SAME
    assert session.graph("season").relation(5, 2) is Relation.DIFFERENT


def test_merges_go_along_chains_and_in_no_circle(session: Session) -> None:
    for i, key in enumerate("abc"):
        session.tell(label(i, key))
    session.change_group("season", "a", merge_into="b")
    session.change_group("season", "b", merge_into="c")
    assert session.groups("season").resolve("a") == "c"
    with pytest.raises(InvalidParameterError, match="'c' and 'a' are already one group"):
        session.change_group("season", "c", merge_into="a")


def test_merges_that_point_at_each_other_after_a_retraction_still_end(session: Session) -> None:
    session.tell_all([label(0, "a"), label(1, "b")])
    session.change_group("season", "a", merge_into="b")
    (merge,) = (entry.id for entry, _ in session.entries("season") if entry.kind == "merge")
    session.retract(merge)
    retract = session.entries("season")[-1][0].id
    session.change_group("season", "b", merge_into="a")
    session.retract(retract)
    groups = session.groups("season")
    assert groups.resolve("a") == groups.resolve("b") == "b"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": " "}, "name of a group must not be blank, got ' '"),
        ({"colour": "red"}, "colour must look like '#0072b2', got 'red'"),
        ({"merge_into": "summer"}, "'summer' is not a known group"),
        ({"merge_into": "winter"}, "already one group"),
        ({"name": "\ud800"}, "lone surrogate"),
    ],
)
def test_impossible_changes_are_refused_and_not_written(
    session: Session, change: dict[str, str], message: str
) -> None:
    session.tell(label(0, "winter"))
    with pytest.raises(InvalidParameterError, match=message):
        session.change_group("season", "winter", **change)
    assert len(session.entries("season")) == 1


def test_an_unknown_group_cannot_be_changed(session: Session) -> None:
    session.tell(label(0, "winter"))
    with pytest.raises(UnknownNameError, match="did you mean 'winter'"):
        session.change_group("season", "wintr", name="cold days")
    assert len(session.entries("season")) == 1


def test_sixteen_groups_have_colours_that_differ() -> None:
    rgb = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in COLOURS])
    far = np.linalg.norm(rgb[:, None] - rgb, axis=2) + 999 * np.eye(len(rgb))
    assert len(COLOURS) == 16
    assert far.min() > 40
