"""Splitting off, doubts, slips, comparison, and looking at the folder again."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from likewise.constraints.constraint import AnswerResult, Constraint
from likewise.constraints.question import Question, Relation
from likewise.desk.comparing import compare
from likewise.desk.desk import Desk
from likewise.desk.openness import also_settled
from likewise.desk.slips import likely_slip
from likewise.desk.suspicion import from_suspects
from likewise.errors import CollectionError, InvalidParameterError
from likewise.session import Session, save_results
from tests.desk.folder import make_session, paint_folder, sort_by_halves


class TestSplittingOff:
    def test_chosen_pictures_become_a_group_at_once_and_each_is_an_answer(
        self, sorted_desk: Desk
    ) -> None:
        key, told = sorted_desk.split("colour", [0, 2, 4], "dusk")
        assert [one.accepted for one in told] == [True] * 3
        gallery = sorted_desk.sorting("colour").gallery()
        assert sorted(gallery.members[key].tolist()) == [0, 2, 4]
        assert [group.name for group in gallery.groups] == ["group 1", "group 2", "dusk"]
        assert [e.answer for e in sorted_desk.session.answers("colour")] == [key] * 3
        assert sorted_desk.session.criterion("colour").n_clusters == 3

    def test_it_is_there_after_a_restart_and_a_training_that_learned_nothing(
        self, sorted_desk: Desk
    ) -> None:
        key, _ = sorted_desk.split("colour", [0, 2])
        path = sorted_desk.session.path
        sorted_desk.close()
        with Desk(Session.open(path), trains=False) as desk:
            assert sorted(desk.sorting("colour").gallery().members[key].tolist()) == [0, 2]
            graph = desk.session.graph("colour")
            assert graph.relation(0, 2) is Relation.SAME
            assert graph.relation(0, 10) is Relation.DIFFERENT  # which stands for the reds

    @pytest.mark.parametrize("two_groups", [False, True])
    def test_what_was_split_off_is_undone_whole_also_after_a_restart(
        self, folder: Path, two_groups: bool
    ) -> None:
        session = make_session(folder, two_groups=two_groups)
        before, path = session.criterion("colour"), session.path
        sort_by_halves(session, n_answers=3)
        with Desk(session, trains=False) as desk:
            desk.split("colour", [0, 2])
        with Desk(Session.open(path), trains=False) as desk:
            desk.undo("colour")
            assert len(desk.sorting("colour").gallery().groups) == 3  # one answer holds it
            desk.undo("colour")
            assert desk.session.criterion("colour") == before
            gallery = desk.sorting("colour").gallery()
            assert [group.key for group in gallery.groups] == ["g1", "g2"]
            assert len(gallery.fresh) == 0  # all are somewhere
            key, _ = desk.split("colour", [4, 6])  # and again
            assert sorted(desk.sorting("colour").gallery().members[key].tolist()) == [4, 6]

    def test_of_two_that_were_split_off_the_later_keeps_its_place(self, sorted_desk: Desk) -> None:
        first, told = sorted_desk.split("colour", [0, 2])
        second, _ = sorted_desk.split("colour", [5, 7])
        for one in told:
            sorted_desk.retract("colour", one.id)
        members = sorted_desk.sorting("colour").gallery().members
        assert sorted(members[second].tolist()) == [5, 7]
        assert sorted_desk.session.criterion("colour").n_clusters == 4
        sorted_desk.undo("colour")
        sorted_desk.undo("colour")
        assert sorted_desk.session.criterion("colour").n_clusters == 2
        assert first not in sorted_desk.sorting("colour").gallery().members

    def test_one_picture_alone_may_be_split_off(self, sorted_desk: Desk) -> None:
        key, told = sorted_desk.split("colour", [0])
        assert [one.accepted for one in told] == [True, True]  # unlike all groups, and its name
        assert sorted_desk.sorting("colour").gallery().members[key].tolist() == [0]

    def test_two_groups_that_become_three_are_no_longer_two(self, folder: Path) -> None:
        session = make_session(folder, two_groups=True)
        sort_by_halves(session, n_answers=3)
        with Desk(session, trains=False) as desk:
            desk.answer("colour", Question.pair(0, 1), "different")
            key, told = desk.split("colour", [2, 4])
            assert all(one.accepted for one in told)
            assert desk.session.criterion("colour").two_groups is False
            assert sorted(desk.sorting("colour").gallery().members[key].tolist()) == [2, 4]

    def test_what_answers_tie_to_the_rest_becomes_a_contradiction(self, sorted_desk: Desk) -> None:
        sorted_desk.answer("colour", Question.pair(0, 10), "same")
        _, told = sorted_desk.split("colour", [0, 2])
        assert [one.accepted for one in told] == [False, True]
        (conflict,) = sorted_desk.sorting("colour").conflicts()
        assert {entry.answer for entry in conflict.against} == {"same"}

    def test_all_pictures_or_strange_ones_are_refused(self, sorted_desk: Desk) -> None:
        with pytest.raises(InvalidParameterError, match="nothing would be left"):
            sorted_desk.split("colour", list(range(12)))
        with pytest.raises(InvalidParameterError, match="Picture 99 is not in this session"):
            sorted_desk.split("colour", [99])
        assert sorted_desk.session.answers("colour") == []


class TestDoubts:
    def suspects(self) -> list[SimpleNamespace]:
        chain = (Constraint(7, 0, 2, Relation.SAME), Constraint(8, 2, 4, Relation.SAME))
        return [SimpleNamespace(answer=7, image=0, surprise=0.93, chain=chain)]

    def test_a_method_speaks_of_its_own_numbers_and_the_page_of_the_logs(self) -> None:
        sent = from_suspects(self.suspects(), {7: 1, 8: 2}, [40, 41, 42])
        assert sent == [{"answer": 1, "image": 40, "surprise": 0.93, "chain": [1, 2]}]
        assert from_suspects(self.suspects(), {8: 2}, [40, 41, 42]) == []

    def test_they_are_offered_until_taken_back_or_stood_by_also_after_a_restart(
        self, sorted_desk: Desk
    ) -> None:
        for other in (2, 4, 6):
            sorted_desk.answer("colour", Question.pair(0, other), "same")
        message = {
            "event": "trained",
            "orientation": "colour",
            "suspects": [
                {"answer": number, "image": 0, "surprise": 0.9, "chain": [number, 2]}
                for number in (1, 3)
            ],
        }
        sorted_desk._hear(message)
        sorting = sorted_desk.sorting("colour")
        assert [doubt.entry.id for doubt in sorting.doubts()] == [1, 3]
        assert [entry.id for entry in sorting.doubts()[0].chain] == [1, 2]
        sorted_desk.confirm("colour", 1)
        sorted_desk.retract("colour", 3)
        assert sorting.doubts() == []
        path = sorted_desk.session.path
        sorted_desk.close()
        with Desk(Session.open(path), trains=False) as desk:
            one = {"answer": 1, "image": 0, "surprise": 0.9, "chain": []}
            desk._hear({**message, "suspects": [one]})
            assert desk.sorting("colour").doubts() == []

    def test_standing_by_an_answer_confirms_the_image_it_was_doubted_for(
        self, sorted_desk: Desk
    ) -> None:
        asked = Question.choice(4, (0, 1), ("g1", "g2"))
        for question, word in [(Question.pair(0, 2), "same"), (asked, "g1")] * 2:
            sorted_desk.answer("colour", question, word)
        heard = {"event": "trained", "orientation": "colour"}
        one = {"answer": 1, "image": 2, "surprise": 0.9, "chain": [1]}
        sorted_desk._hear({**heard, "suspects": [one]})
        sorted_desk._hear({**heard, "suspects": []})  # a page may still show what was said before
        for number in (1, 2, 3):
            sorted_desk.confirm("colour", number)
        assert sorted_desk.session.confirmed("colour") == {1: (2,), 2: (4,), 3: (0, 2)}

    def test_nobody_stands_by_what_does_not_stand(self, sorted_desk: Desk) -> None:
        number = sorted_desk.answer("colour", Question.pair(0, 2), "same").told.id
        sorted_desk.retract("colour", number)
        for gone in (number, 99):
            with pytest.raises(InvalidParameterError, match=f"Answer {gone} by 'colour' does not"):
                sorted_desk.confirm("colour", gone)
        assert sorted_desk.session.confirmed("colour") == {}

    def test_undo_takes_back_that_it_is_right_though_it_was_said_twice(
        self, sorted_desk: Desk
    ) -> None:
        number = sorted_desk.answer("colour", Question.pair(0, 2), "same").told.id
        one = {"answer": number, "image": 0, "surprise": 0.9, "chain": []}
        sorted_desk._hear({"event": "trained", "orientation": "colour", "suspects": [one]})
        sorting = sorted_desk.sorting("colour")
        for _ in range(2):  # two pages at once
            sorted_desk.confirm("colour", number, "ann")
        assert sorting.doubts() == []
        assert sorted_desk.undo("colour", "bob") is None  # who said nothing
        said = sorted_desk.undo("colour", "ann")
        assert said is not None
        assert said.kind == "confirm"
        assert [doubt.entry.id for doubt in sorting.doubts()] == [number]
        assert sorted_desk.undo("colour") is not None  # and the answer itself
        assert sorting.doubts() == []


def test_the_likely_slip_is_the_answer_the_model_believes_least(sorted_desk: Desk) -> None:
    for pair, word in [((0, 10), "same"), ((10, 11), "same")]:  # red and red; red and blue
        sorted_desk.answer("colour", Question.pair(*pair), word)
    sorted_desk.answer("colour", Question.pair(0, 11), "different")
    sorting = sorted_desk.sorting("colour")
    (conflict,) = sorting.conflicts()
    entries, positions = (conflict.entry, *conflict.against), sorted_desk.session.images.positions
    assert likely_slip(entries, sorting.results, positions) == 2
    assert likely_slip(entries, None, positions) is None


def test_answers_that_find_no_place_are_listed(folder: Path) -> None:
    session = make_session(folder)  # two places, and three groups that differ
    sort_by_halves(session, n_answers=3)
    with Desk(session, trains=False) as desk:
        sorting = desk.sorting("colour")
        for pair in [(0, 1), (0, 2)]:
            desk.answer("colour", Question.pair(*pair), "different")
        assert sorting.violations() == []
        desk.answer("colour", Question.pair(1, 2), "different")
        assert len(sorting.violations()) == 1


@pytest.mark.parametrize(
    ("question", "n_settled", "n_also"),
    [
        (Question.pair(0, 1), 1, 0),
        (Question.pair(0, 1), 15, 14),
        (Question.choice(0, (1, 2), ("a", "b")), 5, 3),
        (Question.choice(0, (1, 2), ("a", "b")), 1, 0),
    ],
)
def test_what_was_asked_does_not_count_as_settled_besides(
    question: Question, n_settled: int, n_also: int
) -> None:
    assert also_settled(question, AnswerResult(1, accepted=True, n_settled=n_settled)) == n_also


def test_two_ways_to_sort_are_counted_against_each_other(sorted_desk: Desk) -> None:
    session = sorted_desk.session
    session.add_criterion("halves", 2)
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(session, "halves", chances, keys=("g1", "g2"), n_answers=1)
    galleries = [sorted_desk.sorting(name).gallery() for name in ("colour", "halves")]
    found = compare(galleries[0], galleries[1], n_shown=2)
    assert found.counts.tolist() == [[3, 3], [3, 3]]
    assert found.pictures[0][1].tolist() == [10, 8]  # red and of the second half, the surest
    assert (round(found.nmi, 6), found.n_images) == (0, 12)
    assert compare(galleries[0], galleries[0]).ari == pytest.approx(1)


class TestTheFolderAgain:
    def test_new_pictures_are_found_and_lost_ones_noted(
        self, sorted_desk: Desk, folder: Path, tmp_path: Path
    ) -> None:
        heard: list[str] = []
        sorted_desk.listen(lambda message: heard.append(message["event"]))
        assert sorted_desk.rescan() is None
        extra = paint_folder(tmp_path / "extra", 14)
        for name in ("12red.png", "13blue.png"):
            shutil.copy(extra / name, folder / name)
        (folder / "00red.png").unlink()
        changes = sorted_desk.rescan()
        assert changes is not None
        assert (changes.added, changes.missing) == ((12, 13), (0,))
        assert heard == ["pictures"]
        gallery = sorted_desk.sorting("colour").gallery()
        assert sorted(gallery.fresh.tolist()) == [12, 13]  # in no group until they are embedded
        assert 0 not in gallery.members["g1"].tolist()
        assert sorted_desk.album.thumbnail(13)[:4] == b"RIFF"
        assert sorted_desk.answer("colour", Question.pair(2, 12), "same").told.accepted

    def test_a_folder_that_vanishes_is_said_so_and_nothing_is_noted_as_lost(
        self, sorted_desk: Desk, folder: Path
    ) -> None:
        away = folder.rename(folder.with_name("away"))
        with pytest.raises(CollectionError, match=r"cannot be reached.*does not exist.*kept"):
            sorted_desk.rescan()
        assert sorted_desk.folder_trouble is not None
        assert sorted_desk.session.images.n_missing == 0
        sorted_desk.answer("colour", Question.pair(0, 2), "same")
        away.rename(folder)
        assert sorted_desk.rescan() is None
        assert sorted_desk.folder_trouble is None

    def test_a_picture_that_breaks_is_left_out_and_comes_back(
        self, sorted_desk: Desk, folder: Path
    ) -> None:
        whole = (folder / "00red.png").read_bytes()
        (folder / "00red.png").write_bytes(whole[:100])
        changes = sorted_desk.rescan()
        assert changes is not None
        assert changes.broken == (0,)
        (folder / "00red.png").write_bytes(whole)
        changes = sorted_desk.rescan()
        assert changes is not None
        assert changes.returned == (0,)
