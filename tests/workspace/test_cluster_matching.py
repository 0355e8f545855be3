import numpy as np

from likewise.constraints.question import Answer, Question
from likewise.estimators.kmeans import KMeans
from likewise.random_streams import stream
from likewise.session import Session
from likewise.workspace.cluster_matching import group_keys, match_clusters, save_matched_results
from tests.workspace.images import save_half_results


def test_groups_keep_their_number_for_every_order_of_the_clusters() -> None:
    rng = stream(0, "places")
    before = rng.integers(0, 5, 200)
    shuffle = rng.permutation(5)
    columns = match_clusters(before, shuffle[before], 5)
    np.testing.assert_array_equal(columns, shuffle)


def test_answered_images_decide_where_most_images_change_their_cluster() -> None:
    before = np.array([0] * 10 + [1] * 10)
    now = 1 - before
    now[[0, 10]] = before[[0, 10]]  # all images but the answered ones were swapped
    weight = np.ones(20)
    assert match_clusters(before, now, 2, weight).tolist() == [1, 0]
    weight[[0, 10]] = 50
    assert match_clusters(before, now, 2, weight).tolist() == [0, 1]


def test_a_new_cluster_gets_its_own_number() -> None:
    before, now = np.array([0, 0, 1, 1, -1]), np.array([2, 2, 0, 0, 1])
    assert match_clusters(before, now, 3).tolist() == [2, 0, 1]


def test_new_keys_follow_those_of_existing_groups(session: Session) -> None:
    session.make_groups("colour", ["dusk", "dawn"])
    assert group_keys(session, "colour", 1) == ("g1",)
    assert group_keys(session, "colour", 3) == ("g1", "g2", "g3")


def test_groups_that_a_person_made_come_before_unused_ones(session: Session) -> None:
    save_half_results(session, n_answers=1)
    session.make_groups("colour", ["group 1", "group 2", "group 3", "group 4", "dusk"])
    session.tell(Answer(Question.label(4), "g4", criterion="colour"))
    assert group_keys(session, "colour", 2) == ("g4", "g5")
    assert group_keys(session, "colour", 3) == ("g1", "g4", "g5")
    session.tell(Answer(Question.pair(1, 3), "same", criterion="colour"))  # both in g2
    assert group_keys(session, "colour", 3) == ("g2", "g4", "g5")


def test_a_group_keeps_the_images_that_answers_assign_to_it(session: Session) -> None:
    save_half_results(session, n_answers=1)  # red in g1, blue in g2
    for image, shown in [(0, 2), (4, 2)]:  # answers assign red images to g2
        question = Question.choice(image, (shown, 1), ("g2", "g1"))
        session.tell(Answer(question, "g2", criterion="colour"))
    rows = stream(0, "rows").normal(0, 0.1, (12, 4)).astype(np.float32)
    rows[::2] += 1
    numbers = set()
    for seed in range(6):
        model = KMeans(n_clusters=2, random_state=seed).fit(rows)
        numbers.add(int(model.labels_[0]))
        keys, positions = ("g1", "g2"), np.arange(12)
        results = save_matched_results(session, "colour", model, positions, n_answers=3, keys=keys)
        np.testing.assert_array_equal(results.labels[::2], 1)  # red images are in g2 now
        np.testing.assert_array_equal(model.predict(rows), model.labels_)
        np.testing.assert_array_equal(model.labels_, results.labels)
    assert numbers == {0, 1}  # for every order of the model's clusters


def test_a_group_keeps_its_number_with_its_largest_must_linked_set(session: Session) -> None:
    save_half_results(session, n_answers=1)  # all blue images in g2, since there is no third group
    for first, second, answer in [(1, 3, "same"), (5, 1, "different"), (7, 1, "different")]:
        session.tell(Answer(Question.pair(first, second), answer, criterion="colour"))
    none = Question.choice(9, (0, 1), ("g1", "g2"))
    session.tell(Answer(none, "none", criterion="colour"))
    kinds = [0, 1, 0, 1, 0, 2, 0, 2, 0, 2, 0, 2]  # all blue images but two form a third group
    rows = np.eye(4, dtype=np.float32)[kinds] + stream(0, "rows").normal(0, 0.01, (12, 4))
    for seed in range(6):
        model = KMeans(n_clusters=3, random_state=seed).fit(rows)
        keys = ("g1", "g2", "g3")
        results = save_matched_results(
            session, "colour", model, np.arange(12), n_answers=4, keys=keys
        )
        assert results.labels.tolist() == kinds
