"""The unguided clusters stay in force until the classifier predicts the answers better."""

import numpy as np
import pytest

from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.unguided_mixture import UnguidedMixture
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

N, K = 120, 3
TRUTH: Indexes = np.arange(N) % K
CLUSTERS: Indexes = np.where(np.arange(N) < 100, TRUTH, (TRUTH + 1) % K)  # five of six are right
LABELLED: Indexes = np.arange(4)


def one_hot(classes: Indexes, p: float = 0.9) -> Floats:
    rest = (1 - p) / (K - 1)
    return np.where(np.eye(K)[classes] > 0, p, rest).astype(np.float32)


def fitted(classifier: Floats, images: Indexes = LABELLED) -> UnguidedMixture:
    mixture = UnguidedMixture()
    mixture.fit(classifier, CLUSTERS, images, TRUTH[images])
    return mixture


def test_with_few_labels_images_keep_their_unguided_cluster() -> None:
    wrong = one_hot((TRUTH + stream(0, "noise").integers(3, size=N)) % K)
    mixture = fitted(wrong)
    assert mixture.weight < 0.5
    found = mixture.predict(wrong, CLUSTERS).argmax(axis=1)
    np.testing.assert_array_equal(found, CLUSTERS)


def test_rows_are_probabilities() -> None:
    rows = fitted(one_hot(TRUTH)).predict(one_hot(TRUTH), CLUSTERS)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)
    assert (rows >= 0).all()


def test_with_many_labels_only_the_classifier_counts() -> None:
    mixture = fitted(one_hot(TRUTH), np.arange(60))
    assert mixture.table is None
    own = one_hot((TRUTH + 1) % K)
    np.testing.assert_array_equal(mixture.predict(own, CLUSTERS), own)


@pytest.mark.parametrize(("is_right", "wins"), [(True, True), (False, False)])
def test_the_predictor_that_foresaw_the_answers_wins(is_right: bool, wins: bool) -> None:
    classifier = one_hot(TRUTH if is_right else (TRUTH + 1) % K)
    mixture = fitted(classifier)
    new = np.arange(100, 106) if is_right else np.arange(4, 10)  # in wrong clusters, or right ones
    mixture.compare(classifier[new], CLUSTERS[new], np.eye(K, dtype=np.bool_)[TRUTH[new]])
    images = np.concatenate([LABELLED, new])
    before = fitted(classifier, images).weight
    mixture.fit(classifier, CLUSTERS, images, TRUTH[images])
    assert (mixture.weight > before) is wins


def test_every_group_has_its_own_cluster_as_long_as_there_are_enough() -> None:
    undecided = np.full((N, K), 1 / K, dtype=np.float32)
    mixture = UnguidedMixture()
    mixture.fit(undecided, CLUSTERS, np.array([0, 3, 6]), np.array([0, 1, 1]))  # of one cluster
    assert mixture.table is not None
    assert sorted(mixture.table.argmax(axis=1).tolist()) == list(range(K))


def test_the_state_is_restored() -> None:
    mixture, other = fitted(one_hot(TRUTH)), UnguidedMixture()
    other.set_state(mixture.get_state())
    assert (other.weight, other.get_state().keys()) == (mixture.weight, mixture.get_state().keys())
    np.testing.assert_array_equal(
        other.predict(one_hot(TRUTH), CLUSTERS), mixture.predict(one_hot(TRUTH), CLUSTERS)
    )


def test_a_model_without_the_clusters_uses_its_classifier() -> None:
    mixture = UnguidedMixture()
    mixture.set_state({})
    own = one_hot(TRUTH)
    np.testing.assert_array_equal(mixture.predict(own, CLUSTERS), own)


def _two_groupings(seed: int) -> tuple[Floats, Indexes, Indexes]:
    """Return vectors in which one grouping is plain and another one hardly shows."""
    rng = stream(seed, "two groupings")
    plain, faint = rng.integers(3, size=240), rng.integers(3, size=240)
    X = rng.normal(size=(240, 24))
    X[:, :3] += 4 * np.eye(3)[plain]
    X[:, 3:6] += 0.8 * np.eye(3)[faint]
    return X.astype(np.float32), plain, faint


@pytest.mark.parametrize("seed", [0, 1])
def test_the_first_answers_do_not_make_a_grouping_worse_that_was_right(seed: int) -> None:
    X, plain, _ = _two_groupings(seed)
    model, oracle = Likewise(3, random_state=seed).start(X), LabelOracle(plain)
    before = accuracy(plain, model.labels_)
    assert before > 0.9
    for n in range(1, 9):
        questions = model.ask(1)
        model.tell(questions, oracle.answer(questions)).train()
        assert accuracy(plain, model.labels_) >= before - 0.02, n


def test_a_loaded_model_predicts_new_images_as_before(tmp_path: object) -> None:
    X, plain, _ = _two_groupings(0)
    model = Likewise(3, random_state=0).fit(X, oracle=LabelOracle(plain), n_questions=3)
    assert model.learner_._mixture.table is not None
    model.save(f"{tmp_path}/m.likewise-model")
    loaded = Likewise.load(f"{tmp_path}/m.likewise-model")
    new, _, _ = _two_groupings(5)
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    alone = np.vstack([model.predict_proba(new[[i]]) for i in range(5)])
    np.testing.assert_allclose(alone, model.predict_proba(new)[:5], atol=1e-5)


def test_a_resumed_fit_weighs_the_clusters_as_one_without_a_break(tmp_path: object) -> None:
    X, _, faint = _two_groupings(0)
    whole = Likewise(3, random_state=0).fit(X, oracle=LabelOracle(faint), n_questions=8)
    first = Likewise(3, random_state=0)
    first.fit(X, oracle=LabelOracle(faint), n_questions=5, checkpoint=f"{tmp_path}/checkpoint")
    assert first.learner_._mixture.table is not None
    again = Likewise(3, random_state=0)
    again.fit(X, oracle=LabelOracle(faint), n_questions=8, checkpoint=f"{tmp_path}/checkpoint")
    assert again.learner_._mixture.weight == whole.learner_._mixture.weight
    np.testing.assert_array_equal(again.probabilities_, whole.probabilities_)
