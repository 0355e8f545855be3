"""Likewise: few answers steer it, of any kind; without answers it is sensible."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints.question import Question
from likewise.encoders.embeddings import Embeddings
from likewise.errors import InvalidParameterError, PoolExhaustedError, UnknownNameError
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.questioner import KINDS
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle
from likewise.oracles.simulated import LabelOracle, NoisyOracle
from likewise.seeds import stream

Made = tuple[Embeddings, npt.NDArray[Any], npt.NDArray[Any]]
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [Likewise(n_clusters=3)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_keeps_the_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def two_ways() -> Made:
    """A collection that can be sorted in two independent ways, one loud and one quiet."""
    rng = stream(0, "two ways")
    loud, quiet = rng.integers(0, 3, 240), rng.integers(0, 3, 240)
    centres = rng.normal(size=(2, 3, 12))
    facets = {
        "loud": 6 * centres[0][loud] + rng.normal(size=(240, 12)),
        "quiet": 2 * centres[1][quiet] + rng.normal(size=(240, 12)),
        "noise": rng.normal(size=(240, 40)),
    }
    return Embeddings({n: x.astype(np.float32) for n, x in facets.items()}), loud, quiet


def test_without_a_word_it_finds_the_loud_way(two_ways: Made) -> None:
    X, loud, quiet = two_ways
    found = Likewise(n_clusters=3, random_state=0).fit(X).labels_
    assert accuracy(loud, found) > 0.95
    assert accuracy(quiet, found) < 0.6


@pytest.mark.parametrize("kinds", ["pair,choice", "pair", "choice", "label", "pair,choice,label"])
def test_answers_of_every_kind_lead_it_to_the_quiet_way(two_ways: Made, kinds: str) -> None:
    X, _, quiet = two_ways
    oracle = CountingOracle(LabelOracle(quiet))
    model = Likewise(n_clusters=3, kinds=kinds, random_state=0)
    model.fit(X, oracle=oracle, n_questions=60)
    assert accuracy(quiet, model.labels_) > (0.8 if kinds == "pair" else 0.9)
    assert oracle.n_answers == 60
    assert set(oracle.by_kind) <= set(kinds.split(","))


def test_the_facet_that_foretells_answers_gets_the_weight(two_ways: Made) -> None:
    X, _, quiet = two_ways
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=40)
    assert model._learner.tuning is not None
    weights = dict(zip(model._space.names, model._learner.tuning.weights, strict=True))
    for seen in ("", " in company"):
        assert weights["quiet" + seen] > 1.5 * weights["loud" + seen]


def test_groups_grow_from_the_answers_where_no_number_is_given(two_ways: Made) -> None:
    X, _, quiet = two_ways
    model = Likewise(random_state=0).fit(X, oracle=LabelOracle(quiet), n_questions=40)
    assert model.probabilities_.shape[1] == 3
    assert accuracy(quiet, model.labels_) > 0.85


@pytest.mark.parametrize("n_clusters", [2, None])
def test_a_group_that_is_nearly_everything_is_not_cut_in_two(n_clusters: int | None) -> None:
    rng = stream(0, "one rare group")
    rare = np.arange(400) >= 398
    X = rng.normal(size=(400, 12))
    X[:, 0] += 8 * rare
    X[:, 1] += 6 * (np.arange(400) % 2)  # what centres see
    model = Likewise(n_clusters=n_clusters, strategy="random", random_state=0)
    model.fit(X, oracle=LabelOracle(rare), n_questions=15)
    assert {answer.answer for answer in model.constraints_.answers.values()} == {"same"}
    assert np.bincount(model.labels_).max() > 380
    assert model.violations_ == 0


def test_nothing_is_asked_twice_and_nothing_that_follows(two_ways: Made) -> None:
    X, _, quiet = two_ways
    model = Likewise(n_clusters=3, random_state=0).start(X)
    oracle = LabelOracle(quiet)
    for number in range(50):
        (question,) = model.ask(1)
        image, *others = question.images
        assert all(model.constraints_.relation(image, other) == 0 for other in others)
        model.tell([question], oracle.answer([question]))
        if number % 10 == 9:
            model.train()
    assert len(set(model.constraints_.answers.values())) == 50


def test_coverage_goes_on_however_many_questions_wait_unanswered(two_ways: Made) -> None:
    """A page keeps dozens of questions ready, throws them away, and asks for others."""
    X, _, quiet = two_ways
    oracle, model = LabelOracle(quiet), Likewise(n_clusters=3, random_state=0).start(X)
    cover = {int(image) for image in model._interview._cover}
    for _ in range(5):
        first, second, *_ = model.ask(48)
        model.tell([first, second], oracle.answer([first, second])).train()
    asked = [answer.question.images[0] for answer in model.constraints_.answers.values()]
    assert len(asked) == 10
    assert set(asked) <= cover


def test_what_cannot_be_told_is_not_asked_again_soon() -> None:
    """Of so few images that they would have to be asked about again."""
    model = Likewise(n_clusters=2, random_state=0).start(stream(0, "six").normal(size=(6, 4)))
    asked = []
    for _ in range(5):
        (question,) = model.ask(1)
        asked.append(question.images[0])
        model.tell([question], ["cannot_tell"])
    assert len(set(asked)) == 5
    with pytest.raises(PoolExhaustedError, match="nothing left to ask"):
        model.ask(1)


def test_several_questions_at_once_are_about_different_images(two_ways: Made) -> None:
    X, _, quiet = two_ways
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=30)
    questions = model.ask(6)
    assert len({question.images[0] for question in questions}) == 6


def test_when_everything_is_settled_it_says_so() -> None:
    X = stream(0, "tiny").normal(size=(6, 4))
    labels = np.array([0, 0, 0, 1, 1, 1])
    model = Likewise(n_clusters=2, random_state=0).fit(
        X, oracle=LabelOracle(labels), n_questions=50
    )
    assert model.constraints_.n_answers < 15
    assert accuracy(labels, model.labels_) == 1.0
    with pytest.raises(PoolExhaustedError, match="settle every image"):
        model.ask(1)


def test_wrong_answers_cost_little_more_than_the_images_they_name(two_ways: Made) -> None:
    X, _, quiet = two_ways
    clean, noisy = (
        Likewise(n_clusters=3, random_state=0).fit(X, oracle=oracle, n_questions=80).labels_
        for oracle in (LabelOracle(quiet), NoisyOracle(quiet, flip=0.1, unsure=0.0, seed=1))
    )
    assert accuracy(quiet, noisy) > accuracy(quiet, clean) - 0.12


def test_advice_knows_how_often_it_was_right(two_ways: Made) -> None:
    X, _, quiet = two_ways
    model = Likewise(n_clusters=3, random_state=0)
    assert model.start(X).advice().agreement is None
    model.fit(X, oracle=LabelOracle(quiet), n_questions=60)
    advice = model.advice()
    assert advice.agreement is not None
    assert 0 <= advice.low <= advice.agreement <= advice.high <= 1
    assert 0 <= advice.expected_changes <= 240


def test_saved_with_its_answers_it_predicts_new_images(two_ways: Made, tmp_path: Path) -> None:
    X, _, quiet = two_ways
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=30)
    model.save(tmp_path / "m")
    loaded = Likewise.load(tmp_path / "m")
    some = Embeddings({name: rows[:7] for name, rows in X.facets.items()})
    np.testing.assert_allclose(loaded.predict_proba(some), model.predict_proba(some), atol=1e-6)
    assert loaded.constraints_.n_answers == 30


def test_answers_collected_elsewhere_are_used(two_ways: Made) -> None:
    """Random pairs, as the papers have them: groups nobody named, tied and kept apart."""
    X, _, quiet = two_ways
    rng = stream(1, "pairs")
    pairs = np.array([rng.choice(240, 2, replace=False) for _ in range(250)])
    signs = np.where(quiet[pairs[:, 0]] == quiet[pairs[:, 1]], 1, -1)
    model = Likewise(n_clusters=3, random_state=0).fit(X, pairs=pairs, relations=signs)
    untold = Likewise(n_clusters=3, random_state=0).fit(X)
    assert accuracy(quiet, model.labels_) > accuracy(quiet, untold.labels_) + 0.15


def test_an_unknown_kind_of_question_is_refused(two_ways: Made) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'choice'"):
        Likewise(n_clusters=3, kinds="choises").fit(two_ways[0])
    with pytest.raises(InvalidParameterError, match="kinds is empty"):
        Likewise(n_clusters=3, kinds=()).fit(two_ways[0])
    assert Likewise(n_clusters=3, kinds="pair, choice").start(two_ways[0])._kinds == KINDS[:2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"width": 0}, "width=0 is no number of directions; choose at least 1"),
        ({"questions_per_training": 0}, "questions_per_training=0 is no number of answers"),
        ({"self_training": 7}, "self_training=7 is no share of images; choose 0 to 1"),
        ({"self_training": -0.1}, "self_training=-0.1 is no share"),
        ({"n_cover": -1}, "n_cover=-1 is no number of questions; choose at least 1"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(
    two_ways: Made, given: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Likewise(n_clusters=3, **given).fit(two_ways[0])  # type: ignore[arg-type]  # on purpose


def test_the_first_question_compares_two_pictures(two_ways: Made) -> None:
    (question,) = Likewise(n_clusters=3, random_state=0).start(two_ways[0]).ask(1)
    assert question == Question.pair(*question.images)


def test_random_questions_are_asked_for_comparison(two_ways: Made) -> None:
    X, _, quiet = two_ways
    asked = []
    ways: list[tuple[Any, int]] = [("random", 0), ("random", 1), (None, 0)]
    for strategy, seed in ways:
        model = Likewise(n_clusters=3, strategy=strategy, random_state=seed)
        model.fit(X, oracle=LabelOracle(quiet), n_questions=12)
        asked.append([a.question.images[0] for a in model.constraints_.answers.values()])
    assert len(set(asked[0])) == 12
    assert len(set(asked[0]) & set(asked[1])) < 6
    assert len(set(asked[0]) & set(asked[2])) < 6
    with pytest.raises(UnknownNameError, match="strategy of likewise"):
        Likewise(strategy="csd").start(X)  # type: ignore[arg-type]  # that is the point
