import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from likewise.constraints.question import RESERVED, Answer, Question, Relation
from likewise.constraints.serialization import answer_to_line
from likewise.errors import InvalidParameterError, SessionError, UnknownNameError
from likewise.session import Session
from tests.session.pictures import Pictures, pictures, restore_last


def pair(first: int, second: int, answer: str = "same", **more: Any) -> Answer:
    return Answer(Question.pair(first, second), answer, **more)


def reopened(session: Session) -> Session:
    session.close()
    return Session.open(session.path)


class TestTelling:
    def test_an_answer_is_in_memory_and_on_disk(self, session: Session) -> None:
        told = session.tell(pair(3, 9))
        assert told.accepted
        assert session.graph("season").relation(3, 9) is Relation.SAME
        with Session.open(session.path, write=False) as other:
            assert other.graph("season").relation(3, 9) is Relation.SAME
            assert [entry.id for entry in other.answers("season")] == [told.id]

    def test_a_contradiction_is_stored_as_a_conflict_with_its_proof(self, session: Session) -> None:
        first, second = session.tell(pair(3, 9)), session.tell(pair(9, 17))
        told = session.tell(pair(3, 17, "different"))
        assert not told.accepted
        assert [(fact.answer_id, str(fact)) for fact in told.proof] == [
            (first.id, "3 = 9"),
            (second.id, "9 = 17"),
        ]
        assert list(session.graph("season").conflicts) == [told.id]
        assert len(session.answers("season")) == 3

    def test_the_time_is_noted_and_a_given_one_is_kept(self, session: Session) -> None:
        session.tell(pair(0, 1))
        session.tell(pair(1, 2, at="2001-02-03T04:05:06Z"))
        noted, given_time = (entry.at for entry in session.answers("season"))
        assert noted.startswith("20")
        assert noted.endswith("Z")
        assert given_time == "2001-02-03T04:05:06Z"

    def test_each_criterion_has_its_own_answers(self, session: Session) -> None:
        session.add_criterion("mood")
        session.tell(pair(0, 1, criterion="mood"))
        assert session.graph("season").n_answers == 0
        assert session.graph("mood").n_answers == 1

    def test_without_a_name_the_only_criterion_is_meant(self, session: Session) -> None:
        session.tell(pair(0, 1))
        session.add_criterion("mood")
        with pytest.raises(InvalidParameterError, match="choose one with --by: mood, season"):
            session.tell(pair(0, 2))

    def test_a_misspelt_criterion_is_named_with_a_hint(self, session: Session) -> None:
        with pytest.raises(UnknownNameError, match="did you mean 'season'"):
            session.tell(pair(0, 1, criterion="saeson"))

    def test_several_answers_are_saved_together_or_not_at_all(self, session: Session) -> None:
        told = session.tell_all([pair(0, 1), pair(1, 2), pair(0, 2, "different")])
        assert [one.accepted for one in told] == [True, True, False]
        with pytest.raises(InvalidParameterError, match="Image 20 is not in this session"):
            session.tell_all([pair(4, 5), pair(5, 20)])
        assert len(session.answers("season")) == 3

    @pytest.mark.parametrize("image", [-1, 20])
    def test_missing_images_are_refused(self, session: Session, image: int) -> None:
        with pytest.raises(InvalidParameterError, match=rf"Image {image} is not .* 0 to 19"):
            session.tell(Answer(Question.label(image), "winter"))
        assert session.entries("season") == []

    def test_two_copies_of_one_file_cannot_be_asked_about(self, tmp_path: Path) -> None:
        with Session.create(tmp_path / "s", Pictures(["a", "b", "c"], "xyx")) as session:
            session.add_criterion("season")
            with pytest.raises(InvalidParameterError, match="Images 0 and 2 are copies"):
                session.tell(pair(0, 2))
            assert session.entries("season") == []

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (Answer(Question.label(0), "\ud800"), "lone surrogate"),
            (pair(0, 1, who="\udcff"), "lone surrogate"),
            (pair(0, 1, at="\udcff"), "lone surrogate"),
            (Answer(Question.choice(0, (1,), ("\ud800",)), "none"), "lone surrogate"),
            (pair(0, 1, seconds=float("nan")), "seconds must be a finite number or None, got nan"),
        ],
    )
    def test_what_the_log_cannot_store_is_refused(
        self, session: Session, answer: Answer, message: str
    ) -> None:
        with pytest.raises(InvalidParameterError, match=message):
            session.tell(answer)
        assert session.entries("season") == []

    def test_many_threads_may_tell_at_once(self, session: Session) -> None:
        pairs = [(i, j) for i in range(8) for j in range(8, 16)]
        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda p: session.tell(pair(p[0], p[1], "different")), pairs))
        assert len({one.id for one in told}) == len(pairs)
        entries = {session.as_answer(e).question.images: e.id for e in session.answers("season")}
        assert entries == {p: one.id for p, one in zip(pairs, told, strict=True)}

    def test_a_reader_cannot_tell(self, path: Path) -> None:
        with (
            Session.open(path, write=False) as session,
            pytest.raises(SessionError, match="opened for reading only"),
        ):
            session.tell(pair(0, 1))


class TestRetracting:
    def test_undo_is_unlimited_and_survives_a_restart(self, session: Session) -> None:
        ids = [session.tell(pair(i, i + 1)).id for i in range(5)]
        undone = []
        for _ in ids:
            session = reopened(session)
            undone.append(session.undo("season"))
        with session:
            assert [entry.id for entry in undone if entry] == ids[::-1]
            assert session.undo("season") is None
            assert session.graph("season").n_answers == 0

    def test_retractions_can_be_retracted_after_a_restart(self, session: Session) -> None:
        session.tell_all([pair(0, 1), pair(1, 2)])
        session.undo("season")
        session.undo("season")
        with reopened(session) as again:
            restore_last(again)
            restore_last(again)
            assert again.graph("season").relation(0, 2) is Relation.SAME

    def test_any_old_answer_can_be_retracted_and_restored(self, session: Session) -> None:
        old = session.tell(pair(0, 1)).id
        session.tell(pair(1, 2))
        session.retract(old)
        assert session.graph("season").relation(0, 2) is Relation.UNKNOWN
        (retract,) = (e.id for e, _ in session.entries("season") if e.kind == "retract")
        with pytest.raises(InvalidParameterError, match=f"by entry {retract}; retract"):
            session.retract(old)
        session.retract(retract)
        assert session.graph("season").relation(0, 2) is Relation.SAME

    def test_a_conflict_becomes_active_when_its_reason_is_retracted(self, session: Session) -> None:
        old = session.tell(pair(0, 1)).id
        session.tell(pair(0, 1, "different"))
        session.retract(old)
        assert session.graph("season").relation(0, 1) is Relation.DIFFERENT
        restore_last(session)
        assert session.graph("season").relation(0, 1) is Relation.SAME

    def test_each_person_undoes_their_own(self, session: Session) -> None:
        session.tell_all([pair(0, 1, who="ann"), pair(1, 2, who="bob")])
        assert getattr(session.undo("season", who="ann"), "who", None) == "ann"
        assert [entry.who for entry in session.answers("season")] == ["bob"]
        assert session.undo("season", who="ann") is None
        assert session.answers("season", who="ann") == []

    def test_an_unknown_entry_cannot_be_retracted(self, session: Session) -> None:
        with pytest.raises(InvalidParameterError, match="Entry 7 is not in the log"):
            session.retract(7)

    def test_the_log_only_grows(self, session: Session) -> None:
        session.tell(pair(0, 1))
        session.undo("season")
        restore_last(session)
        kinds = [(entry.kind, active) for entry, active in session.entries("season")]
        assert kinds == [("pair", True), ("retract", False), ("retract", True)]


steps = st.one_of(
    st.tuples(
        st.just("tell"),
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] != p[1]),
        st.sampled_from(["same", "different", "cannot_tell", "bad_image"]),
    ),
    st.tuples(st.just("label"), st.integers(0, 5), st.sampled_from(["winter", "summer"])),
    st.tuples(st.sampled_from(["undo", "restore"])),
    st.tuples(st.just("retract"), st.integers(1, 30)),
    st.tuples(st.just("merge")),
)


def do(session: Session, step: tuple[Any, ...]) -> None:
    try:
        if step[0] == "tell":
            session.tell(pair(step[1][0], step[1][1], step[2]))
        elif step[0] == "label":
            session.tell(Answer(Question.label(step[1]), step[2]))
        elif step[0] == "retract":
            session.retract(step[1])
        elif step[0] == "merge":
            session.change_group("season", "summer", merge_into="winter")
        elif step[0] == "undo":
            session.undo("season")
        else:
            restore_last(session)
    except (InvalidParameterError, StopIteration):  # nothing to retract or to merge
        pass


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(steps, max_size=20), st.booleans())
def test_memory_is_at_all_times_what_a_restart_would_find(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[Any, ...]], two_groups: bool
) -> None:
    path = tmp_path_factory.mktemp("memory") / "s"
    with Session.create(path, pictures(6)) as session:
        session.add_criterion("season", 2, two_groups=two_groups)
        for step in done:
            do(session, step)
            ours = session.graph("season")
            with Session.open(path, write=False) as other:
                fresh = other.graph("season")
            np.testing.assert_array_equal(ours.relations(range(6)), fresh.relations(range(6)))
            assert dict(ours.conflicts).keys() == dict(fresh.conflicts).keys()
            assert dict(ours.answers) == dict(fresh.answers)
            assert ours.group_names() == fresh.group_names()


printable = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
words = st.text(printable).filter(lambda text: text.strip() and text not in RESERVED)
questions = st.one_of(
    st.tuples(st.just("pair"), st.sampled_from(["same", "different", "cannot_tell"])),
    st.tuples(st.just("label"), words),
    st.tuples(st.just("choice"), st.lists(words, min_size=2, max_size=9, unique=True)),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(questions, words, st.text(printable), st.text(min_size=1), st.none() | st.floats(0, 1e9))
def test_written_values_are_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    asked: tuple[str, Any],
    criterion: str,
    who: str,
    at: str,
    seconds: float | None,
) -> None:
    kind, said = asked
    if kind == "pair":
        question = Question.pair(4, 7)
    elif kind == "label":
        question = Question.label(4)
    else:
        question = Question.choice(4, tuple(range(5, 5 + len(said))), tuple(said))
        said = said[0]
    answer = Answer(question, said, who, criterion, at, seconds)
    path = tmp_path_factory.mktemp("round") / "s"
    with Session.create(path, pictures(20)) as session:
        session.add_criterion(criterion)
        session.tell(answer)
    with Session.open(path, write=False) as session:
        assert [one.name for one in session.criteria] == [criterion]
        (entry,) = session.answers(criterion)
        assert session.as_answer(entry) == answer
        assert entry.line(criterion) == answer_to_line(answer, session.images.hashes)


class TestCriteria:
    def test_pseudo_links_are_returned_as_they_were_added(self, session: Session) -> None:
        session.add_criterion("Été / hiver?", 2, two_groups=True)
        with reopened(session) as again:
            first, second = again.criteria
            assert (first.name, first.n_clusters, first.two_groups) == ("season", None, False)
            assert (second.name, second.n_clusters, second.two_groups) == ("Été / hiver?", 2, True)

    def test_folder_names_are_valid_on_every_file_system(self, session: Session) -> None:
        names = ["../../etc", "CON", "a/b", "a:b", "冬", " ", "x" * 500]
        for name in names[:5] + names[6:]:
            session.add_criterion(name)
            folder = session.model_folder(name)
            assert folder.parent == session.path / "models"
            folder.mkdir()
        with pytest.raises(InvalidParameterError, match="a criterion must not be blank, got ' '"):
            session.add_criterion(" ")

    def test_a_name_is_used_once(self, session: Session) -> None:
        with pytest.raises(InvalidParameterError, match="'season' is already in this session"):
            session.add_criterion("season")
        session.add_criterion("mood")
        with pytest.raises(InvalidParameterError, match="'season' is already in this session"):
            session.change_criterion(replace(session.criterion("mood"), name="season"))

    def test_capitals_and_spaces_make_no_other_name(self, session: Session) -> None:
        session.add_criterion("skin tone")
        assert session.criterion(" Skin  TONE").name == "skin tone"
        with pytest.raises(InvalidParameterError, match="'skin tone' is already in this session"):
            session.add_criterion("Skin Tone")
        with pytest.raises(InvalidParameterError, match="'skin tone' is already in this session"):
            session.change_criterion(replace(session.criterion("season"), name="Skin Tone"))
        skin = session.criterion("skin tone")
        assert session.change_criterion(replace(skin, name="Skin tone")).name == "Skin tone"

    def test_names_of_an_older_session_that_differ_in_capitals_stay_apart(
        self, session: Session
    ) -> None:
        session.add_criterion("mood")
        with session._database.transaction() as db:
            db.execute("UPDATE criterion SET name = 'Season' WHERE name = 'mood'")
        session._criteria._cached = None
        assert [session.criterion(name).name for name in ("season", "Season")] == [
            "season",
            "Season",
        ]
        grown = replace(session.criterion("Season"), n_clusters=3)
        assert session.change_criterion(grown).n_clusters == 3

    def test_an_criterion_is_had_once_with_as_many_groups_as_is_said(
        self, session: Session
    ) -> None:
        made = session.ensure_criterion("mood", 2)
        assert (made.n_clusters, made.two_groups) == (2, True)
        assert session.ensure_criterion("Mood") == made
        assert session.ensure_criterion("MOOD", 2) == made
        grown = session.ensure_criterion("mood", 3)
        assert (grown.id, grown.name, grown.n_clusters, grown.two_groups) == (
            made.id,
            "mood",
            3,
            False,
        )

    def test_can_be_renamed_with_all_their_answers(self, session: Session) -> None:
        session.tell(pair(0, 1))
        folder = session.model_folder("season")
        season = session.criterion("season")
        session.change_criterion(replace(season, name="time of year", n_clusters=4))
        assert session.graph("time of year").n_answers == 1
        assert session.criterion("time of year").n_clusters == 4
        assert session.model_folder("time of year") == folder

    def test_two_groups_may_be_switched_on_later(self, session: Session) -> None:
        session.tell_all([pair(0, 1, "different"), pair(1, 2, "different")])
        assert session.graph("season").relation(0, 2) is Relation.UNKNOWN
        season = session.criterion("season")
        session.change_criterion(replace(season, n_clusters=2, two_groups=True))
        assert session.graph("season").relation(0, 2) is Relation.SAME

    @pytest.mark.parametrize(
        ("n_clusters", "two_groups", "message"),
        [
            (0, False, "n_clusters must be an integer >= 1 or None, got 0"),
            (3, True, "requires n_clusters=2, got 3"),
        ],
    )
    def test_impossible_numbers_of_groups_are_refused(
        self, session: Session, n_clusters: int, two_groups: bool, message: str
    ) -> None:
        with pytest.raises(InvalidParameterError, match=message):
            session.add_criterion("mood", n_clusters, two_groups=two_groups)

    def test_a_session_without_any_is_reported(self, tmp_path: Path) -> None:
        with (
            Session.create(tmp_path / "s", pictures(2)) as session,
            pytest.raises(InvalidParameterError, match=r"has no criteria yet. Add one"),
        ):
            session.tell(pair(0, 1))


def test_the_room_is_light() -> None:
    code = (
        "import sys, likewise.session; "
        "print(*{'torch', 'sklearn', 'faiss', 'PIL'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "\n"
