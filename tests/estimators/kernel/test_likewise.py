"""Likewise: a few answers of any kind determine the criterion; without answers it is k-means."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints.question import KINDS, Answer, Question
from likewise.embedding.embeddings import Embeddings
from likewise.errors import InvalidParameterError, PoolExhaustedError, UnknownNameError
from likewise.estimators.kernel.held_out import apply_temperature
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.questioner import check_kinds
from likewise.estimators.registry import make_method
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, LabelOracle, NoisyOracle
from likewise.random_streams import stream

Made = tuple[Embeddings, npt.NDArray[Any], npt.NDArray[Any]]
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [Likewise(n_clusters=3)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_passes_the_estimator_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def two_criteria() -> Made:
    """A collection with two independent criteria, one loud (large distances) and one quiet."""
    rng = stream(0, "two ways")
    loud, quiet = rng.integers(0, 3, 240), rng.integers(0, 3, 240)
    centres = rng.normal(size=(2, 3, 12))
    blocks = {
        "loud": 6 * centres[0][loud] + rng.normal(size=(240, 12)),
        "quiet": 2 * centres[1][quiet] + rng.normal(size=(240, 12)),
        "noise": rng.normal(size=(240, 40)),
    }
    return Embeddings({n: x.astype(np.float32) for n, x in blocks.items()}), loud, quiet


def test_without_answers_the_loud_criterion_is_found(two_criteria: Made) -> None:
    X, loud, quiet = two_criteria
    found = Likewise(n_clusters=3, random_state=0).fit(X).labels_
    assert accuracy(loud, found) > 0.95
    assert accuracy(quiet, found) < 0.6


@pytest.mark.parametrize("kinds", ["pair,choice", "pair", "choice", "label", "pair,choice,label"])
def test_answers_of_every_kind_lead_to_the_less_prominent_criterion(
    two_criteria: Made, kinds: str
) -> None:
    X, _, quiet = two_criteria
    oracle = CountingOracle(LabelOracle(quiet))
    model = Likewise(n_clusters=3, kinds=kinds, random_state=0)
    model.fit(X, oracle=oracle, n_questions=60)
    assert accuracy(quiet, model.labels_) > (0.8 if kinds == "pair" else 0.9)
    assert oracle.n_answers == 60
    assert set(oracle.by_kind) <= set(kinds.split(","))


def test_the_feature_block_that_predicts_answers_gets_the_weight(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    model = Likewise(n_clusters=3, kinds="pair,choice", random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=40)
    tuned = model.learner_.block_weights
    for view in ("", " smoothed"):
        assert tuned["quiet" + view] > 1.5 * tuned["loud" + view]


def test_the_number_of_groups_grows_with_the_answers(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    model = Likewise(random_state=0).fit(X, oracle=LabelOracle(quiet), n_questions=40)
    assert model.probabilities_.shape[1] == 3
    assert accuracy(quiet, model.labels_) > 0.85


@pytest.mark.parametrize("n_clusters", [2, None])
def test_a_group_of_nearly_all_images_is_not_divided(n_clusters: int | None) -> None:
    rng = stream(0, "one rare group")
    rare = np.arange(400) >= 398
    X = rng.normal(size=(400, 12))
    X[:, 0] += 8 * rare
    X[:, 1] += 6 * (np.arange(400) % 2)  # what k-means finds
    model = Likewise(n_clusters=n_clusters, strategy="random", random_state=0)
    model.fit(X, oracle=LabelOracle(rare), n_questions=15)
    assert {answer.answer for answer in model.constraints_.answers.values()} == {"same"}
    assert np.bincount(model.labels_).max() > 380
    assert model.violations_ == 0


def test_no_question_is_repeated_or_implied_by_answers(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    model = Likewise(n_clusters=3, random_state=0).start(X)
    oracle, relation = LabelOracle(quiet), model.constraints_.relation
    for number in range(25):
        (question,) = model.ask(1)
        asked = question.asked if question.kind != "pair" else question.images[:1]
        others = question.representatives or question.images[1:]
        assert all(relation(image, other) == 0 for image in asked for other in others)
        model.tell([question], oracle.answer([question]))
        if number % 5 == 4:
            model.train()
    given = model.constraints_.answers.values()
    assert len(set(given)) == 25
    assert {answer.question.kind for answer in given} == {"pair", "choice", "grid"}


def test_unanswered_questions_do_not_count_as_coverage(two_criteria: Made) -> None:
    """The page requests dozens of questions, discards them, and requests others."""
    X, _, quiet = two_criteria
    oracle, model = LabelOracle(quiet), Likewise(n_clusters=3, random_state=0).start(X)
    assert model.questioner_._representatives is not None
    representatives = set(model.questioner_._representatives.tolist())
    for _ in range(5):
        first, second, *_ = model.ask(48)
        model.tell([first, second], oracle.answer([first, second])).train()
    asked = [answer.question.images[0] for answer in model.constraints_.answers.values()]
    assert len(asked) == 10
    assert set(asked) <= representatives


def test_an_image_answered_cannot_tell_is_not_asked_about_again_soon() -> None:
    """With so few images that it would be."""
    model = Likewise(n_clusters=2, random_state=0).start(stream(0, "six").normal(size=(6, 4)))
    asked = []
    for _ in range(5):
        (question,) = model.ask(1)
        asked.append(question.images[0])
        model.tell([question], ["cannot_tell"])
    assert len(set(asked)) == 5
    with pytest.raises(PoolExhaustedError, match="nothing is left to ask"):
        model.ask(1)


def test_questions_requested_together_are_about_different_images(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=15)
    questions = model.ask(6)
    asked = [image for question in questions for image in question.asked]
    assert len(questions) == 6
    assert {question.kind for question in questions} >= {"choice", "grid"}
    assert len(set(asked)) == len(asked)


def test_asking_raises_when_the_answers_determine_every_group() -> None:
    X = stream(0, "tiny").normal(size=(6, 4))
    labels = np.array([0, 0, 0, 1, 1, 1])
    model = Likewise(n_clusters=2, random_state=0).fit(
        X, oracle=LabelOracle(labels), n_questions=50
    )
    assert model.constraints_.n_answers < 15
    assert accuracy(labels, model.labels_) == 1.0
    with pytest.raises(PoolExhaustedError, match="determine the group of every image"):
        model.ask(1)


def test_wrong_answers_cost_little_more_than_the_images_they_mention(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    clean, noisy = (
        Likewise(n_clusters=3, random_state=0).fit(X, oracle=oracle, n_questions=80).labels_
        for oracle in (LabelOracle(quiet), NoisyOracle(quiet, flip=0.1, unsure=0.0, seed=1))
    )
    assert accuracy(quiet, noisy) > accuracy(quiet, clean) - 0.12


def test_a_loaded_model_has_its_answers_and_predicts_new_images(
    two_criteria: Made, tmp_path: Path
) -> None:
    X, _, quiet = two_criteria
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=30)
    model.save(tmp_path / "m")
    loaded = Likewise.load(tmp_path / "m")
    some = Embeddings({name: rows[:7] for name, rows in X.blocks.items()})
    np.testing.assert_allclose(loaded.predict_proba(some), model.predict_proba(some), atol=1e-6)
    assert loaded.constraints_.n_answers == 30


def test_answers_collected_elsewhere_are_used(two_criteria: Made) -> None:
    """Random pairs, as in the papers."""
    X, _, quiet = two_criteria
    rng = stream(1, "pairs")
    pairs = np.array([rng.choice(240, 2, replace=False) for _ in range(250)])
    signs = np.where(quiet[pairs[:, 0]] == quiet[pairs[:, 1]], 1, -1)
    model = Likewise(n_clusters=3, random_state=0).fit(X, pairs=pairs, relations=signs)
    without = Likewise(n_clusters=3, random_state=0).fit(X)
    assert accuracy(quiet, model.labels_) > accuracy(quiet, without.labels_) + 0.15


def test_an_unknown_kind_of_question_is_refused(two_criteria: Made) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'choice'"):
        Likewise(n_clusters=3, kinds="choises").fit(two_criteria[0])
    with pytest.raises(InvalidParameterError, match="kinds must name at least one"):
        Likewise(n_clusters=3, kinds=()).fit(two_criteria[0])
    assert check_kinds("pair, choice") == KINDS[:2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"questions_per_training": 0}, "questions_per_training must be at least 1, got 0"),
        ({"pseudo_label_fraction": 7}, "must be between 0 and 1, got 7"),
        ({"pseudo_label_fraction": -0.1}, "pseudo_label_fraction must be .*got -0.1"),
        ({"n_coverage_questions": -1}, "n_coverage_questions must be at least 1, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused(
    two_criteria: Made, given: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Likewise(n_clusters=3, **given).fit(two_criteria[0])  # type: ignore[arg-type]  # on purpose


def test_the_first_question_is_a_pair(two_criteria: Made) -> None:
    (question,) = Likewise(n_clusters=3, random_state=0).start(two_criteria[0]).ask(1)
    assert question == Question.pair(*question.images)


def test_random_questions_are_asked_for_comparison(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    asked = []
    strategies: list[tuple[Any, int]] = [("random", 0), ("random", 1), (None, 0)]
    for strategy, seed in strategies:
        model = Likewise(n_clusters=3, strategy=strategy, random_state=seed)
        model.fit(X, oracle=LabelOracle(quiet), n_questions=12)
        asked.append([a.question.images[0] for a in model.constraints_.answers.values()])
    assert len(set(asked[0])) == 12
    assert len(set(asked[0]) & set(asked[1])) < 6
    assert len(set(asked[0]) & set(asked[2])) < 6
    with pytest.raises(UnknownNameError, match="strategy of likewise"):
        Likewise(strategy="csd").start(X)  # type: ignore[arg-type]  # on purpose


# -- what a program can ask the model -------------------------------------------


def test_telling_one_answer_returns_its_result(two_criteria: Made) -> None:
    model = Likewise(n_clusters=3, random_state=0).start(two_criteria[0])
    result = model.tell_one(Answer(Question.pair(0, 1), "same"))
    assert result.accepted
    conflict = model.tell_one(Answer(Question.pair(0, 1), "different"))
    assert not conflict.accepted
    assert [fact.answer_id for fact in conflict.proof] == [result.id]


def test_the_number_of_determined_images_counts_those_of_known_groups(two_criteria: Made) -> None:
    model = Likewise(n_clusters=3, random_state=0).start(two_criteria[0])
    assert model.n_determined_ == 0
    model.tell([(0, 1), (1, 2)], ["different", "same"])
    assert model.n_determined_ == 3


@pytest.mark.parametrize(("two_groups", "inferred"), [(True, 1), (False, 0)])
def test_with_two_groups_different_from_different_is_same(
    two_criteria: Made, two_groups: bool, inferred: int
) -> None:
    model = Likewise(2, two_groups=two_groups, random_state=0).start(two_criteria[0])
    model.tell([(0, 1), (1, 2)], ["different", "different"])
    assert model.constraints_.relation(0, 2) == inferred


def test_with_three_groups_different_from_different_is_unknown(two_criteria: Made) -> None:
    model = Likewise(3, two_groups=True, random_state=0).start(two_criteria[0])
    model.tell([(0, 1), (1, 2)], ["different", "different"])
    assert model.constraints_.relation(0, 2) == 0


def test_confirmed_images_are_not_label_issues(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    oracle = NoisyOracle(quiet, flip=0.15, unsure=0.0, seed=3)
    model = Likewise(n_clusters=3, kinds="pair,choice", random_state=0).start(X)
    for _ in range(12):
        for _ in range(5):
            questions = model.ask(1)
            model.tell(questions, oracle.answer(questions))
        model.train()
    images = [issue.image for issue in model.label_issues_]
    assert images
    model.confirm(images)
    assert not set(images) & {issue.image for issue in model.label_issues_}


def test_a_training_calibrates_its_probabilities(two_criteria: Made) -> None:
    X, _, quiet = two_criteria
    model = Likewise(n_clusters=3, random_state=0)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=40)
    raw = model.learner_.probabilities[:, model.columns_]
    temperature = model.learner_.temperature
    np.testing.assert_allclose(model.probabilities_, apply_temperature(raw, temperature))
    np.testing.assert_allclose(model.predict_proba(X), model.probabilities_, atol=1e-6)


def test_removed_and_unknown_settings_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="'small' is not a known preset of Likewise"):
        make_method("likewise", 3, preset="small")
    with pytest.raises(UnknownNameError, match="epochs_per_round"):
        make_method("likewise", 3, settings={"epochs_per_round": "5"})
    with pytest.raises(TypeError, match="plan"):
        Likewise(plan=None)  # type: ignore[call-arg]


def test_settings_of_release_0_1_are_accepted_by_their_old_names() -> None:
    """Sweep files contain them."""
    old = {"targeted": "false", "n_words": "0", "cover_learned": "false", "n_cover": "30"}
    model = make_method("likewise", 3, settings={**old, "self_training": ".1", "width": "64"})
    assert isinstance(model, Likewise)
    assert model.within_class_whitening is model.learned_coverage is False
    assert (model.n_visual_words, model.n_coverage_questions, model.n_components) == (0, 30, 64)
    assert model.pseudo_label_fraction == 0.1
    assert (
        make_method("likewise", 2, settings={"parity": "false"}).get_params()["two_groups"] is False
    )


def test_runs_where_torch_cannot_be_imported() -> None:
    code = """
        import sys
        class NoTorch:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "torch":
                    raise ImportError(name)
        sys.meta_path.insert(0, NoTorch())
        from sklearn.datasets import make_blobs
        from likewise import LabelOracle, Likewise
        X, y = make_blobs(60, n_features=4, centers=3, random_state=0)
        model = Likewise(3, random_state=0).fit(X, oracle=LabelOracle(y), n_questions=8)
        model.save(sys.argv[1])
        assert (Likewise.load(sys.argv[1]).predict(X) == model.predict(X)).all()
    """
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", dedent(code), f"{folder}/model"]
        subprocess.run(command, check=True, timeout=120)
