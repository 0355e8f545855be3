import itertools
from pathlib import Path

import pytest

from likewise.constraints.question import Question
from likewise.constraints.relation import Relation
from likewise.errors import ImageError, InvalidParameterError, UnknownNameError
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, right_answer, save_half_results


def test_a_question_is_there_before_anything_was_trained(workspace: Workspace) -> None:
    (question,) = workspace.criterion("colour").questions(1)
    assert question.kind == "pair"


def test_an_answer_is_in_the_log_when_it_is_acknowledged(workspace: Workspace) -> None:
    reply = workspace.criterion("colour").answer(Question.pair(0, 2), "same", "ada", 1.5)
    with Session.open(workspace.session.path, write=False) as other:
        (entry,) = other.answers("colour")
    assert (entry.id, entry.answer, entry.who, entry.seconds) == (
        reply.result.id,
        "same",
        "ada",
        1.5,
    )


def test_nothing_is_asked_twice_and_the_end_is_no_crash(workspace: Workspace) -> None:
    criterion, asked = workspace.criterion("colour"), []
    while questions := criterion.questions(1):
        asked.append(questions[0])
        workspace.criterion("colour").answer(
            questions[0], right_answer(workspace.session, questions[0])
        )
    assert len(set(asked)) == len(asked)
    graph = workspace.session.graph("colour")
    pairs = list(itertools.combinations(range(12), 2))
    assert all(graph.relation(i, j) is not Relation.UNKNOWN for i, j in pairs)
    assert len(asked) < len(pairs)  # what follows was not asked


def test_an_answer_sent_twice_is_one_answer(workspace: Workspace) -> None:
    first = workspace.criterion("colour").answer(Question.pair(0, 2), "same", "ada")
    again = workspace.criterion("colour").answer(Question.pair(0, 2), "same", "ada")
    assert again.result.id == first.result.id
    assert len(workspace.session.answers("colour")) == 1


def test_undo_goes_on_after_a_restart(session: Session) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace:
        for other in (2, 4, 6):
            workspace.criterion("colour").answer(Question.pair(0, other), "same")
    with Workspace(Session.open(path), has_worker=False) as workspace:
        taken = [workspace.criterion("colour").undo() for _ in range(4)]
        assert [None if entry is None else entry.id for entry in taken] == [3, 2, 1, None]
        assert workspace.session.answers("colour") == []
        assert workspace.criterion("colour").questions(99)[0].kind == "pair"


def test_what_was_taken_back_is_asked_again(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    n_open = len(criterion.questions(99))
    workspace.criterion("colour").answer(Question.pair(0, 1), "cannot_tell")
    assert len(criterion.questions(99)) == n_open - 1
    workspace.criterion("colour").undo()
    assert len(criterion.questions(99)) == n_open


def test_a_contradiction_is_a_question_with_its_cycle(workspace: Workspace) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    reply = workspace.criterion("colour").answer(Question.pair(0, 4), "different")
    assert reply.result.taken is False
    assert reply.conflict is not None
    assert [entry.id for entry in reply.conflict.against] == [1, 2]
    assert set(reply.conflict.images) == {0, 2, 4}
    workspace.criterion("colour").retract(1)
    assert workspace.criterion("colour").review.conflicts() == []
    assert workspace.session.graph("colour").relation(0, 4) is Relation.DIFFERENT


def test_after_several_equal_answers_the_other_kind_is_looked_for(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    for pair in [(0, 1), (2, 3), (4, 5)]:
        trained_workspace.criterion("colour").answer(Question.pair(*pair), "different")
    criterion.queue.fill([Question.pair(6, 7), Question.pair(6, 9), Question.pair(6, 8)])
    assert criterion.questions(1) == [Question.pair(6, 8)]  # red and red


def test_groups_of_a_choice_are_called_as_they_are_now(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.queue.fill([Question.choice(0, (3, 2), ("group 1", "group 2"))])
    # in the order of the gallery, whatever the model thinks likelier
    assert criterion.questions(1) == [Question.choice(0, (2, 3), ("g1", "g2"))]


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_group_without_a_name_is_called_by_its_picture(
    session: Session, is_trained: bool
) -> None:
    if is_trained:  # but both faces are in one group by the model
        save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        criterion.queue.fill([Question.choice(0, (2, 4), ("group 1", "group 2"))])
        (question,) = criterion.questions(1)
        assert question.groups == ("like 2", "like 4")
        assert workspace.criterion("colour").answer(question, "like 2").result.taken


def test_none_of_these_begins_a_group_that_the_next_questions_offer(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    waiting = [Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)]
    criterion.queue.fill(waiting)
    asked = criterion.questions(4)  # all are in hand before anything is answered
    trained_workspace.criterion("colour").answer(asked[0], "none")
    second, *_ = criterion.questions(3)
    assert second == Question.choice(4, (2, 3, 0), ("g1", "g2", "like 0"))
    assert (
        trained_workspace.criterion("colour").answer(second, "like 0").result.taken
    )  # so 0 and 4 are one group
    third, *_ = criterion.questions(2)
    assert third.images == (5, 2, 3, 0)
    trained_workspace.criterion("colour").answer(third, "none")
    (fourth,) = criterion.questions(1)
    assert fourth == Question.choice(6, (2, 3, 0, 5), ("g1", "g2", "like 0", "like 5"))


def test_a_group_is_not_offered_twice_nor_one_that_was_taken_back(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.queue.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4)])
    trained_workspace.criterion("colour").answer(criterion.questions(1)[0], "none")
    trained_workspace.criterion("colour").answer(Question.pair(0, 6), "same")
    criterion.queue.fill(
        [Question.choice(4, (3, 6), ("a", "b")), Question.choice(8, (5, 7), ("a", "b"))]
    )
    assert [q.images for q in criterion.questions(2)] == [(4, 6, 3), (8, 5, 7)]
    trained_workspace.criterion("colour").undo()
    trained_workspace.criterion("colour").undo()
    criterion.queue.release()
    criterion.queue.fill([Question.choice(10, (3, 2), ("a", "b"))])
    assert [q.images for q in criterion.questions(1)] == [(10, 2, 3)]


def test_a_group_that_was_taken_back_is_gone_from_questions_in_hand_and_others_stay(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.queue.fill([Question.choice(i, (3, 2), ("a", "b")) for i in (0, 4, 5, 6)])
    first, *_ = criterion.questions(4)
    trained_workspace.criterion("colour").answer(first, "new")
    second, *_ = criterion.questions(3)
    trained_workspace.criterion("colour").answer(second, "new")
    assert criterion.questions(1)[0].images == (5, 2, 3, 0, 4)
    trained_workspace.criterion("colour").undo()
    assert criterion.questions(1)[0].images == (5, 2, 3, 0)  # the first group stands
    criterion.ask_again(second)
    assert [q.images for q in criterion.questions(2)] == [(4, 2, 3, 0), (5, 2, 3, 0)]
    trained_workspace.criterion("colour").undo()
    criterion.ask_again(first)
    assert [q.images for q in criterion.questions(3)] == [(0, 2, 3), (4, 2, 3), (5, 2, 3)]


def test_who_began_no_group_after_all_is_not_offered_as_one(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    trained_workspace.criterion("colour").answer(Question.choice(0, (3, 2), ("a", "b")), "new")
    trained_workspace.criterion("colour").undo()
    for blue in (3, 5):
        trained_workspace.criterion("colour").answer(Question.pair(0, blue), "different")
    criterion.queue.fill([Question.choice(4, (3, 5), ("a", "b"))])
    assert criterion.questions(1)[0].images == (4, 3, 5)


def test_the_gallery_is_sorted_by_confidence_and_gathers_the_unsure(
    trained_workspace: Workspace,
) -> None:
    gallery = trained_workspace.criterion("colour").status.gallery()
    assert gallery.members["g1"].tolist() == [10, 8, 6, 4, 2, 0]
    assert gallery.unsure.tolist() == [0, 1]
    assert [group.name for group in gallery.groups] == ["group 1", "group 2"]


def test_a_moved_picture_is_an_answer_and_stays_moved(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    told = trained_workspace.criterion("colour").move_images([0, 2], "g2")
    assert [one.taken for one in told] == [True, True]
    gallery = criterion.status.gallery()
    assert {0, 2} <= set(gallery.members["g2"].tolist())
    assert [entry.kind for entry in trained_workspace.session.answers("colour")] == [
        "choice",
        "choice",
    ]
    save_half_results(trained_workspace.session)  # a model that learned nothing from it
    criterion.status.load()
    assert {0, 2} <= set(criterion.status.gallery().members["g2"].tolist())


def test_the_whole_of_a_group_may_be_moved_but_not_to_nowhere(trained_workspace: Workspace) -> None:
    trained_workspace.criterion("colour").move_images([0, 2, 4, 6, 8, 10], "g2")
    assert len(trained_workspace.criterion("colour").status.gallery().members["g1"]) == 0
    with pytest.raises(UnknownNameError, match="'g9' is not a known group"):
        trained_workspace.criterion("colour").move_images([0], "g9")


def test_agreement_counts_what_the_model_had_guessed_and_survives(
    trained_workspace: Workspace,
) -> None:
    for pair, word in [((0, 2), "same"), ((0, 1), "different"), ((0, 4), "different")]:
        trained_workspace.criterion("colour").answer(Question.pair(*pair), word)
    criterion = trained_workspace.criterion("colour")
    advice = criterion.status.progress()
    assert advice is not None
    assert advice.n_checked == 3
    assert advice.agreement == pytest.approx(2 / 3)
    criterion.status.load()
    kept = Path(trained_workspace.session.model_folder("colour")) / "agreement.json"
    assert kept.read_text() == "[true, true, false]"


def test_names_and_colours_of_groups_stay(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.change_group("g2", name="sea")
    before = [(one.key, one.name, one.colour) for one in criterion.status.gallery().groups]
    save_half_results(trained_workspace.session)
    criterion.status.load()
    assert [(one.key, one.name, one.colour) for one in criterion.status.gallery().groups] == before
    assert before[1][1] == "sea"


def test_a_merged_group_is_one_gallery(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.change_group("g2", merge_into="g1")
    gallery = criterion.status.gallery()
    assert [len(members) for members in gallery.members.values()] == [12]


def test_two_orientations_share_pictures_and_nothing_else(workspace: Workspace) -> None:
    workspace.add_criterion("mood", 3)
    workspace.criterion("mood").answer(Question.pair(0, 1), "same")
    assert sum(workspace.criterion("colour").status.counts().values()) == 0
    assert workspace.criterion("mood").status.counts()["same"] == 1


def test_listeners_hear_of_answers_until_they_stop(workspace: Workspace) -> None:
    heard: list[str] = []
    stop = workspace.events.subscribe(lambda message: heard.append(message["event"]))
    workspace.criterion("colour").answer(Question.pair(0, 2), "same")
    stop()
    workspace.criterion("colour").answer(Question.pair(0, 4), "same")
    assert heard == ["answers"]


def test_a_trainer_that_dies_is_said_in_words_until_it_is_ready_again(workspace: Workspace) -> None:
    workspace._receive({"event": "worker_exited", "reason": "it was killed"})
    words = "Learning stopped (it was killed) and is being started again; answers are kept."
    assert (workspace.problem or "", workspace.n_worker_exits) == (words, 1)
    workspace._receive({"event": "ready"})
    assert (workspace.problem or "", workspace.n_worker_exits) == ("", 0)


class TestPictures:
    def test_small_and_large_have_no_metadata_and_are_kept(self, workspace: Workspace) -> None:
        assert workspace.thumbnails.image(0)[:4] == b"RIFF"
        small = workspace.thumbnails.thumbnail(0)
        (kept,) = (workspace.session.path / "thumbnails").iterdir()
        assert kept.read_bytes() == small

    def test_one_that_vanished_is_said_so(self, workspace: Workspace, folder: Path) -> None:
        (folder / "00red.png").unlink()
        with pytest.raises(ImageError, match=r"'00red.png' does not exist"):
            workspace.thumbnails.image(0)

    def test_one_that_became_a_link_out_of_the_folder_is_not_shown(
        self, workspace: Workspace, folder: Path, tmp_path: Path
    ) -> None:
        secret = tmp_path / "secret.png"
        (folder / "00red.png").rename(secret)
        (folder / "00red.png").symlink_to(secret)
        with pytest.raises(ImageError, match="leads out of the folder"):
            workspace.thumbnails.image(0)
        with pytest.raises(ImageError, match="leads out of the folder"):
            workspace.thumbnails.thumbnail(0)

    def test_there_are_no_others(self, workspace: Workspace) -> None:
        for number in (-1, 12):
            with pytest.raises(InvalidParameterError, match="is not in this session"):
                workspace.thumbnails.image(number)


def test_parity_settles_the_third_pair(tmp_path: Path, folder: Path) -> None:
    with Workspace(make_session(folder, two_groups=True), has_worker=False) as workspace:
        workspace.criterion("colour").answer(Question.pair(0, 1), "different")
        assert (
            workspace.criterion("colour").answer(Question.pair(1, 2), "different").result.n_settled
            == 2
        )
