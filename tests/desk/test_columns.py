import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.desk.columns import stable_columns
from likewise.desk.flat import SCALE, flatten
from likewise.desk.keeping import keep_found
from likewise.estimators.kmeans import KMeans
from likewise.seeds import stream
from likewise.session import Session
from tests.desk.folder import sort_by_halves


def test_groups_keep_their_place_however_the_model_numbers_them() -> None:
    rng = stream(0, "places")
    before = rng.integers(0, 5, 200)
    shuffle = rng.permutation(5)
    columns = stable_columns(before, shuffle[before], 5)
    np.testing.assert_array_equal(columns, shuffle)


def test_pictures_that_people_spoke_of_decide_where_most_move() -> None:
    before = np.array([0] * 10 + [1] * 10)
    now = 1 - before
    now[[0, 10]] = before[[0, 10]]  # the model swapped all but those that were answered
    weight = np.ones(20)
    assert stable_columns(before, now, 2, weight).tolist() == [1, 0]
    weight[[0, 10]] = 50
    assert stable_columns(before, now, 2, weight).tolist() == [0, 1]


def test_a_new_group_gets_a_place_of_its_own() -> None:
    before, now = np.array([0, 0, 1, 1, -1]), np.array([2, 2, 0, 0, 1])
    assert stable_columns(before, now, 3).tolist() == [2, 0, 1]


def test_a_group_that_people_put_pictures_into_by_name_keeps_that_name(session: Session) -> None:
    sort_by_halves(session, n_answers=1)  # reds in g1, blues in g2
    for image, face in [(0, 2), (4, 2)]:  # somebody was shown the reds as g2, and took them
        question = Question.choice(image, (face, 1), ("g2", "g1"))
        session.tell(Answer(question, "g2", criterion="colour"))
    rows = stream(0, "rows").normal(0, 0.1, (12, 4)).astype(np.float32)
    rows[::2] += 1
    numbers = set()
    for seed in range(6):
        model = KMeans(n_clusters=2, random_state=seed).fit(rows)
        numbers.add(int(model.labels_[0]))
        keys = ("g1", "g2")
        results = keep_found(session, "colour", model, np.arange(12), n_answers=3, keys=keys)
        np.testing.assert_array_equal(results.labels[::2], 1)  # reds are g2 now
        np.testing.assert_array_equal(model.predict(rows), model.labels_)  # new pictures too
        np.testing.assert_array_equal(model.labels_, results.labels)
    assert numbers == {0, 1}  # however the model numbers them


def test_a_group_keeps_its_number_with_those_that_were_tied_not_with_those_it_lost(
    session: Session,
) -> None:
    sort_by_halves(session, n_answers=1)  # blues in g2, for want of a third group
    for first, second, said in [(1, 3, "same"), (5, 1, "different"), (7, 1, "different")]:
        session.tell(Answer(Question.pair(first, second), said, criterion="colour"))
    none = Question.choice(9, (0, 1), ("g1", "g2"))
    session.tell(Answer(none, "none", criterion="colour"))
    kinds = [0, 1, 0, 1, 0, 2, 0, 2, 0, 2, 0, 2]  # all blues but two are something else
    rows = np.eye(4, dtype=np.float32)[kinds] + stream(0, "rows").normal(0, 0.01, (12, 4))
    for seed in range(6):
        model = KMeans(n_clusters=3, random_state=seed).fit(rows)
        keys = ("g1", "g2", "g3")
        found = keep_found(session, "colour", model, np.arange(12), n_answers=4, keys=keys).labels
        assert found.tolist() == kinds


def test_the_map_keeps_far_things_apart_and_stays_on_its_sheet() -> None:
    rows = stream(0, "rows").normal(0, 0.01, (100, 6)).astype(np.float32)
    rows[:50, 3] += 1
    places = flatten(rows, np.zeros(100, dtype=np.intp))
    assert places.min() >= 0
    assert places.max() <= SCALE
    assert abs(int(places[:50, 0].mean()) - int(places[50:, 0].mean())) > SCALE / 2


def test_the_map_shows_the_groups_though_pictures_vary_more_in_other_ways() -> None:
    rng = stream(0, "rows by groups")
    groups = np.arange(300) % 3
    rows = rng.normal(0, [3, 3, 0.3, 0.3, 0.3], (300, 5)).astype(np.float32)
    rows[:, 2:] += np.eye(3, dtype=np.float32)[groups] * 3
    places = flatten(rows, groups).astype(np.float64)
    middles = np.stack([places[groups == group].mean(axis=0) for group in range(3)])
    far = np.linalg.norm(places[:, None] - middles, axis=2)
    assert (far.argmin(axis=1) == groups).mean() > 0.95
    assert np.array_equal(flatten(rows, groups), flatten(rows, groups))


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_rows_that_are_all_alike_or_thin_have_a_place_too(n_columns: int) -> None:
    alike = np.full((5, n_columns), 7, dtype=np.float32)
    places = flatten(alike, np.arange(5) % 2)
    assert places.shape == (5, 2)
    assert (places == places[0]).all()
