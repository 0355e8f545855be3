import itertools
from pathlib import Path

import pytest

from likewise.constraints.question import Question, Relation
from likewise.desk.desk import Desk
from likewise.errors import ImageError, InvalidParameterError, UnknownNameError
from likewise.session import Session
from tests.desk.folder import make_session, right_answer, sort_by_halves


def test_a_question_is_there_before_anything_was_trained(desk: Desk) -> None:
    (question,) = desk.sorting("colour").questions(1)
    assert question.kind == "pair"


def test_an_answer_is_in_the_log_when_it_is_acknowledged(desk: Desk) -> None:
    reply = desk.answer("colour", Question.pair(0, 2), "same", "ada", 1.5)
    with Session.open(desk.session.path, write=False) as other:
        (entry,) = other.answers("colour")
    assert (entry.id, entry.answer, entry.who, entry.seconds) == (reply.told.id, "same", "ada", 1.5)


def test_nothing_is_asked_twice_and_the_end_is_no_crash(desk: Desk) -> None:
    sorting, asked = desk.sorting("colour"), []
    while questions := sorting.questions(1):
        asked.append(questions[0])
        desk.answer("colour", questions[0], right_answer(desk.session, questions[0]))
    assert len(set(asked)) == len(asked)
    graph = desk.session.graph("colour")
    pairs = list(itertools.combinations(range(12), 2))
    assert all(graph.relation(i, j) is not Relation.UNKNOWN for i, j in pairs)
    assert len(asked) < len(pairs)  # what follows was not asked


def test_an_answer_sent_twice_is_one_answer(desk: Desk) -> None:
    first = desk.answer("colour", Question.pair(0, 2), "same", "ada")
    again = desk.answer("colour", Question.pair(0, 2), "same", "ada")
    assert again.told.id == first.told.id
    assert len(desk.session.answers("colour")) == 1


def test_undo_goes_on_after_a_restart(session: Session) -> None:
    path = session.path
    with Desk(session, trains=False) as desk:
        for other in (2, 4, 6):
            desk.answer("colour", Question.pair(0, other), "same")
    with Desk(Session.open(path), trains=False) as desk:
        taken = [desk.undo("colour") for _ in range(4)]
        assert [None if entry is None else entry.id for entry in taken] == [3, 2, 1, None]
        assert desk.session.answers("colour") == []
        assert desk.sorting("colour").questions(99)[0].kind == "pair"


def test_what_was_taken_back_is_asked_again(desk: Desk) -> None:
    sorting = desk.sorting("colour")
    n_open = len(sorting.questions(99))
    desk.answer("colour", Question.pair(0, 1), "cannot_tell")
    assert len(sorting.questions(99)) == n_open - 1
    desk.undo("colour")
    assert len(sorting.questions(99)) == n_open


def test_a_contradiction_is_a_question_with_its_cycle(desk: Desk) -> None:
    for pair in [(0, 2), (2, 4)]:
        desk.answer("colour", Question.pair(*pair), "same")
    reply = desk.answer("colour", Question.pair(0, 4), "different")
    assert reply.told.accepted is False
    assert reply.conflict is not None
    assert [entry.id for entry in reply.conflict.against] == [1, 2]
    assert set(reply.conflict.images) == {0, 2, 4}
    desk.retract("colour", 1)
    assert desk.sorting("colour").conflicts() == []
    assert desk.session.graph("colour").relation(0, 4) is Relation.DIFFERENT


def test_after_several_equal_answers_the_other_kind_is_looked_for(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    for pair in [(0, 1), (2, 3), (4, 5)]:
        sorted_desk.answer("colour", Question.pair(*pair), "different")
    sorting.line.fill([Question.pair(6, 7), Question.pair(6, 9), Question.pair(6, 8)])
    assert sorting.questions(1) == [Question.pair(6, 8)]  # red and red


def test_groups_of_a_choice_are_called_as_they_are_now(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    sorting.line.fill([Question.choice(0, (3, 2), ("group 1", "group 2"))])
    # in the order of the gallery, whatever the model thinks likelier
    assert sorting.questions(1) == [Question.choice(0, (2, 3), ("g1", "g2"))]


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_group_without_a_name_is_called_by_its_picture(
    session: Session, is_trained: bool
) -> None:
    if is_trained:  # but both faces are in one group by the model
        sort_by_halves(session, n_answers=3)
    with Desk(session, trains=False) as desk:
        sorting = desk.sorting("colour")
        sorting.line.fill([Question.choice(0, (2, 4), ("group 1", "group 2"))])
        (question,) = sorting.questions(1)
        assert question.groups == ("like 2", "like 4")
        assert desk.answer("colour", question, "like 2").told.accepted


def test_none_of_these_begins_a_group_that_the_next_questions_offer(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    waiting = [Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)]
    sorting.line.fill(waiting)
    asked = sorting.questions(4)  # all are in hand before anything is answered
    sorted_desk.answer("colour", asked[0], "none")
    second, *_ = sorting.questions(3)
    assert second == Question.choice(4, (2, 3, 0), ("g1", "g2", "like 0"))
    assert sorted_desk.answer("colour", second, "like 0").told.accepted  # so 0 and 4 are one group
    third, *_ = sorting.questions(2)
    assert third.images == (5, 2, 3, 0)
    sorted_desk.answer("colour", third, "none")
    (fourth,) = sorting.questions(1)
    assert fourth == Question.choice(6, (2, 3, 0, 5), ("g1", "g2", "like 0", "like 5"))


def test_a_group_is_not_offered_twice_nor_one_that_was_taken_back(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    sorting.line.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4)])
    sorted_desk.answer("colour", sorting.questions(1)[0], "none")
    sorted_desk.answer("colour", Question.pair(0, 6), "same")
    sorting.line.fill(
        [Question.choice(4, (3, 6), ("a", "b")), Question.choice(8, (5, 7), ("a", "b"))]
    )
    assert [q.images for q in sorting.questions(2)] == [(4, 6, 3), (8, 5, 7)]
    sorted_desk.undo("colour")
    sorted_desk.undo("colour")
    sorting.line.forget()
    sorting.line.fill([Question.choice(10, (3, 2), ("a", "b"))])
    assert [q.images for q in sorting.questions(1)] == [(10, 2, 3)]


def test_a_group_that_was_taken_back_is_gone_from_questions_in_hand_and_others_stay(
    sorted_desk: Desk,
) -> None:
    sorting = sorted_desk.sorting("colour")
    sorting.line.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)])
    first, *_ = sorting.questions(4)
    sorted_desk.answer("colour", first, "new")
    second, *_ = sorting.questions(3)
    sorted_desk.answer("colour", second, "new")
    assert sorting.questions(1)[0].images == (5, 2, 3, 0, 4)
    sorted_desk.undo("colour")
    assert sorting.questions(1)[0].images == (5, 2, 3, 0)  # the first group stands
    sorting.ask_again(second)
    assert [q.images for q in sorting.questions(2)] == [(4, 2, 3, 0), (5, 2, 3, 0)]
    sorted_desk.undo("colour")
    sorting.ask_again(first)
    assert [q.images for q in sorting.questions(3)] == [(0, 2, 3), (4, 2, 3), (5, 2, 3)]


def test_who_began_no_group_after_all_is_not_offered_as_one(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    sorted_desk.answer("colour", Question.choice(0, (3, 2), ("a", "b")), "new")
    sorted_desk.undo("colour")
    for blue in (3, 5):
        sorted_desk.answer("colour", Question.pair(0, blue), "different")
    sorting.line.fill([Question.choice(4, (3, 5), ("a", "b"))])
    assert sorting.questions(1)[0].images == (4, 3, 5)


def test_the_gallery_is_sorted_by_confidence_and_gathers_the_unsure(sorted_desk: Desk) -> None:
    gallery = sorted_desk.sorting("colour").gallery()
    assert gallery.members["g1"].tolist() == [10, 8, 6, 4, 2, 0]
    assert gallery.unsure.tolist() == [0, 1]
    assert [group.name for group in gallery.groups] == ["group 1", "group 2"]


def test_a_moved_picture_is_an_answer_and_stays_moved(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    told = sorted_desk.move("colour", [0, 2], "g2")
    assert [one.accepted for one in told] == [True, True]
    gallery = sorting.gallery()
    assert {0, 2} <= set(gallery.members["g2"].tolist())
    assert [entry.kind for entry in sorted_desk.session.answers("colour")] == ["choice", "choice"]
    sort_by_halves(sorted_desk.session)  # a model that learned nothing from it
    sorting.refresh()
    assert {0, 2} <= set(sorting.gallery().members["g2"].tolist())


def test_the_whole_of_a_group_may_be_moved_but_not_to_nowhere(sorted_desk: Desk) -> None:
    sorted_desk.move("colour", [0, 2, 4, 6, 8, 10], "g2")
    assert len(sorted_desk.sorting("colour").gallery().members["g1"]) == 0
    with pytest.raises(UnknownNameError, match="'g9' is not a known group"):
        sorted_desk.move("colour", [0], "g9")


def test_agreement_counts_what_the_model_had_guessed_and_survives(sorted_desk: Desk) -> None:
    for pair, word in [((0, 2), "same"), ((0, 1), "different"), ((0, 4), "different")]:
        sorted_desk.answer("colour", Question.pair(*pair), word)
    sorting = sorted_desk.sorting("colour")
    advice = sorting.advice()
    assert advice is not None
    assert advice.n_checked == 3
    assert advice.agreement == pytest.approx(2 / 3)
    sorting.refresh()
    kept = Path(sorted_desk.session.model_folder("colour")) / "agreement.json"
    assert kept.read_text() == "[true, true, false]"


def test_names_and_colours_of_groups_stay(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    sorting.change_group("g2", name="sea")
    before = [(one.key, one.name, one.colour) for one in sorting.gallery().groups]
    sort_by_halves(sorted_desk.session)
    sorting.refresh()
    assert [(one.key, one.name, one.colour) for one in sorting.gallery().groups] == before
    assert before[1][1] == "sea"


def test_a_merged_group_is_one_gallery(sorted_desk: Desk) -> None:
    sorting = sorted_desk.sorting("colour")
    sorting.change_group("g2", merge_into="g1")
    gallery = sorting.gallery()
    assert [len(members) for members in gallery.members.values()] == [12]


def test_two_orientations_share_pictures_and_nothing_else(desk: Desk) -> None:
    desk.add_criterion("mood", 3)
    desk.answer("mood", Question.pair(0, 1), "same")
    assert sum(desk.sorting("colour").tally().values()) == 0
    assert desk.sorting("mood").tally()["same"] == 1


def test_listeners_hear_of_answers_until_they_stop(desk: Desk) -> None:
    heard: list[str] = []
    stop = desk.listen(lambda message: heard.append(message["event"]))
    desk.answer("colour", Question.pair(0, 2), "same")
    stop()
    desk.answer("colour", Question.pair(0, 4), "same")
    assert heard == ["answers"]


def test_a_trainer_that_dies_is_said_in_words_until_it_is_ready_again(desk: Desk) -> None:
    desk._hear({"event": "died", "reason": "it was killed"})
    words = "Learning stopped (it was killed) and is being started again; answers are kept."
    assert (desk.trouble or "", desk.n_deaths) == (words, 1)
    desk._hear({"event": "ready"})
    assert (desk.trouble or "", desk.n_deaths) == ("", 0)


class TestPictures:
    def test_small_and_large_have_no_metadata_and_are_kept(self, desk: Desk) -> None:
        assert desk.album.picture(0)[:4] == b"RIFF"
        small = desk.album.thumbnail(0)
        (kept,) = (desk.session.path / "thumbnails").iterdir()
        assert kept.read_bytes() == small

    def test_one_that_vanished_is_said_so(self, desk: Desk, folder: Path) -> None:
        (folder / "00red.png").unlink()
        with pytest.raises(ImageError, match=r"'00red.png' does not exist"):
            desk.album.picture(0)

    def test_one_that_became_a_link_out_of_the_folder_is_not_shown(
        self, desk: Desk, folder: Path, tmp_path: Path
    ) -> None:
        secret = tmp_path / "secret.png"
        (folder / "00red.png").rename(secret)
        (folder / "00red.png").symlink_to(secret)
        with pytest.raises(ImageError, match="leads out of the folder"):
            desk.album.picture(0)
        with pytest.raises(ImageError, match="leads out of the folder"):
            desk.album.thumbnail(0)

    def test_there_are_no_others(self, desk: Desk) -> None:
        for number in (-1, 12):
            with pytest.raises(InvalidParameterError, match="is not in this session"):
                desk.album.picture(number)


def test_parity_settles_the_third_pair(tmp_path: Path, folder: Path) -> None:
    with Desk(make_session(folder, two_groups=True), trains=False) as desk:
        desk.answer("colour", Question.pair(0, 1), "different")
        assert desk.answer("colour", Question.pair(1, 2), "different").told.n_settled == 2
