import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning, SessionError
from likewise.session import Session, assignments, load_results, save_results
from likewise.session.results import FILE
from tests.session.pictures import Pictures, pictures

N = 20


def confident(labels: list[int], k: int = 2) -> np.ndarray:
    """Return probabilities of .9 for each label."""
    rest = 0.1 / (k - 1)
    return np.where(np.arange(k) == np.array(labels)[:, None], 0.9, rest).astype(np.float32)


def test_results_come_back_as_they_were_saved(session: Session) -> None:
    labels = [i % 2 for i in range(N)]
    assert load_results(session, "season") is None
    saved = save_results(session, "season", confident(labels), keys=("g1", "g2"), n_answers=7)
    with Session.open(session.path, write=False) as other:
        loaded = load_results(other, "season")
    assert loaded is not None
    np.testing.assert_array_equal(loaded.labels, labels)
    np.testing.assert_array_equal(loaded.probabilities, saved.probabilities)
    np.testing.assert_allclose(loaded.confidence, 0.9)
    assert (loaded.keys, loaded.n_answers) == (("g1", "g2"), 7)
    assert not loaded.moved.any()


def test_a_reader_may_save_results_while_another_process_writes_answers(session: Session) -> None:
    with Session.open(session.path, write=False) as trainer:
        save_results(trainer, "season", confident([0] * N))
    assert load_results(session, "season") is not None


def test_images_that_moved_are_marked(session: Session) -> None:
    save_results(session, "season", confident([0] * N))
    results = save_results(session, "season", confident([0] * (N - 2) + [1, 1]))
    assert np.flatnonzero(results.moved).tolist() == [18, 19]


def test_labels_satisfy_all_answers_for_any_probabilities(session: Session) -> None:
    session.tell(Answer(Question.pair(0, 1), "same"))
    session.tell(Answer(Question.pair(2, 3), "different"))
    labels = save_results(session, "season", confident([0, 1, 0, 0] + [0] * (N - 4))).labels
    assert labels[0] == labels[1]
    assert labels[2] != labels[3]


def test_answers_given_after_the_training_are_satisfied_too(session: Session) -> None:
    save_results(session, "season", confident([0] * N))
    session.tell(Answer(Question.pair(0, 1), "different"))
    rows = assignments(session, "season")
    assert rows[0].cluster != rows[1].cluster
    assert not any(row.answered for row in rows)  # nobody has said where they are


def test_an_image_that_a_person_placed_is_answered(session: Session) -> None:
    session.make_groups("season", ["winter", "summer"])
    save_results(session, "season", confident([0] * N), keys=("g1", "g2"))
    session.tell(Answer(Question.pair(0, 1), "different"))
    session.tell(Answer(Question.choice(2, (0, 1), ("g1", "g2")), "none"))
    session.tell(Answer(Question.pair(3, 4), "cannot_tell"))
    assert not any(row.answered for row in assignments(session, "season"))
    session.tell(Answer(Question.choice(3, (0, 1), ("g1", "g2")), "g2"))  # in the group of image 1
    session.tell(Answer(Question.label(4), "g1"))
    session.tell(Answer(Question.choice(5, (0, 1), ("g1", "g2")), "new"))
    answered = [row.position for row in assignments(session, "season") if row.answered]
    assert answered == [1, 3, 4, 5]


def test_new_images_have_no_label_until_the_next_training(session: Session) -> None:
    save_results(session, "season", confident([1] * N))
    session.sync(pictures(N + 2))
    results = load_results(session, "season")
    assert results is not None
    assert results.labels.tolist() == [1] * N + [-1, -1]
    assert results.confidence[-1] == 0
    session.tell(Answer(Question.pair(0, N), "same"))
    told, unknown = assignments(session, "season")[-2:]
    assert told.cluster == 1  # somebody said so
    assert (unknown.cluster, unknown.name, unknown.confidence) == (-1, "not sorted yet", 0)


def test_the_moved_flag_is_not_set_for_new_images(session: Session) -> None:
    save_results(session, "season", confident([1] * N))
    session.sync(pictures(N + 1))
    assert not save_results(session, "season", confident([1] * (N + 1))).moved.any()


def test_copies_have_the_group_of_their_image(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s", Pictures(["a", "b", "c"], "xyx")) as session:
        session.add_criterion("season")
        session.tell(Answer(Question.pair(0, 1), "same"))
        labels = save_results(session, "season", confident([1, 1, 0])).labels
        assert labels.tolist() == [1, 1, 1]
        rows = assignments(session, "season")
        assert [row.cluster for row in rows] == [1, 1, 1]
        assert [row.answered for row in rows] == [True, True, True]
        session.tell(Answer(Question.label(2), "bad_image"))
        assert [row.cluster for row in assignments(session, "season")] == [-1, 1, -1]


def test_bad_images_are_in_no_cluster(session: Session) -> None:
    session.tell(Answer(Question.label(4), "bad_image"))
    save_results(session, "season", confident([0] * N))
    row = assignments(session, "season")[4]
    assert (row.cluster, row.name, row.answered) == (-1, "bad image", True)


def test_clusters_are_called_by_their_keys(session: Session) -> None:
    winter = session.make_group("season", name="winter").key
    summer = session.make_group("season", name="summer").key
    save_results(session, "season", confident([i % 2 for i in range(N)]), keys=(winter, summer))
    session.change_group("season", winter, name="cold days")
    assert [row.name for row in assignments(session, "season")[:2]] == ["cold days", "summer"]
    session.change_group("season", summer, merge_into=winter)
    rows = assignments(session, "season")
    assert {(row.cluster, row.name) for row in rows} == {(0, "cold days")}


def test_without_keys_clusters_are_called_as_most_of_their_labels(session: Session) -> None:
    for image in (0, 2):
        session.tell(Answer(Question.label(image), "winter"))
    save_results(session, "season", confident([i % 2 for i in range(N)]))
    assert [row.name for row in assignments(session, "season")[:2]] == ["winter", ""]


@pytest.mark.parametrize("content", [b"", b"rubbish", b"PK\x03\x04 half a zip"])
def test_a_damaged_file_is_ignored_with_a_warning(session: Session, content: bytes) -> None:
    save_results(session, "season", confident([0] * N))
    (session.model_folder("season") / FILE).write_bytes(content)
    with pytest.warns(LikewiseWarning, match=r"results.npz is damaged .* train again"):
        assert load_results(session, "season") is None


def test_nothing_is_left_over_when_results_are_replaced(session: Session) -> None:
    for _ in range(3):
        save_results(session, "season", confident([0] * N))
    assert [p.name for p in session.model_folder("season").iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("probabilities", "keys", "message"),
    [
        (np.ones((3, 2)), (), r"must have shape \(20, k\).* got \(3, 2\)"),
        (np.ones(20), (), r"must have shape \(20, k\).* got \(20,\)"),
        (np.full((20, 2), np.nan), (), "must be finite"),
        (np.ones((20, 2)), ("g1",), r"one element per cluster \(2\), got 1"),
    ],
)
def test_results_that_do_not_fit_are_refused(
    session: Session, probabilities: np.ndarray, keys: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        save_results(session, "season", probabilities, keys=keys)
    assert load_results(session, "season") is None


def test_before_any_training_there_is_nothing_to_show(session: Session) -> None:
    with pytest.raises(SessionError, match="Criterion 'season' has no groups yet"):
        assignments(session, "")


def test_results_of_an_earlier_release_without_a_digest_are_read(session: Session) -> None:
    save_results(session, "season", confident([i % 2 for i in range(N)]), keys=("g1", "g2"))
    path = session.model_folder("season") / FILE
    with np.load(path) as file:
        old = {name: file[name] for name in file.files if name != "digest"}
    old["hashes"] = old["hashes"].astype(np.str_)
    np.savez(path, **old)
    loaded = load_results(session, "season")
    assert loaded is not None
    np.testing.assert_array_equal(loaded.labels, [i % 2 for i in range(N)])


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": np.zeros(N - 1, dtype=np.intp)},
        {"labels": np.full(N, 2)},
        {"labels": np.full(N, -2)},
        {"labels": np.zeros(N)},
        {"moved": np.zeros((N, 1), dtype=np.bool_)},
        {"moved": np.zeros(N)},
        {"probabilities": np.zeros(N, dtype=np.float32)},
        {"probabilities": np.zeros((N, 0), dtype=np.float32)},
        {"probabilities": np.full((N, 2), np.nan, dtype=np.float32)},
        {"probabilities": np.full((N, 2), 1e30, dtype=np.float32)},
        {"probabilities": np.full((N, 2), "x")},
        {"keys": np.array(["g1"])},
        {"keys": np.array(["g1", "g1"])},
        {"hashes": np.array(["a"], dtype=np.bytes_)},
        {"n_answers": np.array(-1)},
        {"n_answers": np.array([1, 2])},
        {"quality": np.array("[" * 100_000)},
    ],
)
def test_arrays_of_another_shape_or_type_count_as_none(
    session: Session, changed: dict[str, np.ndarray]
) -> None:
    save_results(session, "season", confident([0] * N), keys=("g1", "g2"))
    path = session.model_folder("season") / FILE
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **arrays | changed)
    with pytest.warns(LikewiseWarning, match="is damaged"):
        assert load_results(session, "season") is None


def test_bytes_changed_at_random_are_read_or_count_as_none(session: Session) -> None:
    save_results(session, "season", confident([0] * N), keys=("g1", "g2"))
    path, chance = session.model_folder("season") / FILE, random.Random(0)
    content = path.read_bytes()
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 5, 50))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikewiseWarning)
            load_results(session, "season")
