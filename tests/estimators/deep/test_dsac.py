"""DSAC: labels in rounds, selection of images, pseudo-labels, and cases the paper leaves open."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning, UnknownNameError
from likewise.estimators.deep.dsac import DSAC, DSACObjective, labelled_batches
from likewise.estimators.deep.dsac_targets import (
    NO_LABEL,
    Clusters,
    Targets,
    assign_to_centres,
    labels_of,
    make_targets,
    seeded_kmeans,
    soft_assign,
)
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import NetworkConfig, TrainingPlan, resolve
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle, LabelOracle
from likewise.random_streams import stream
from tests.estimators.deep.batches import learner_of
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
QUICK = TrainingPlan(n_rounds=3, epochs_per_round=3, batch_size=40, learning_rate=0.01)


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [
        DSAC(
            n_clusters=3,
            architecture=TINY,
            plan=TrainingPlan(epochs_per_round=5, learning_rate=0.01),
        )
    ],
)
def test_it_passes_scikit_learns_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> DSAC:
    given = {"n_clusters": 2, "architecture": TINY, "plan": QUICK, "random_state": 0, **given}
    return DSAC(**given)


def objective(model: DSAC) -> DSACObjective:
    found = learner_of(model).objective
    assert isinstance(found, DSACObjective)
    return found


def clusters(model: DSAC) -> Clusters:
    return objective(model).clusters(learner_of(model))[1]


def targets(model: DSAC) -> Targets:
    found = objective(model).targets
    assert found is not None
    return found


# -- asking -------------------------------------------------------------------


def test_it_asks_for_labels_in_each_round_and_never_twice() -> None:
    oracle, seen = CountingOracle(LabelOracle(FAINT)), []
    model = make().fit(
        X, oracle=oracle, n_questions=15, watch=lambda _: seen.append(oracle.n_answers)
    )
    assert seen == [5, 10, 15]
    assert set(oracle.by_kind) == {"label"}
    asked = [answer.question.images[0] for answer in model.constraints_.answers.values()]
    assert len(set(asked)) == 15
    assert set(model.constraints_.group_names().values()) == {"0", "1"}


@pytest.mark.parametrize("selection", ["full", "random", "difficult", "representative"])
def test_each_selection_chooses_images_near_or_far_from_centres(selection: str) -> None:
    model = make(selection=selection, n_clusters=3).start(X)
    images = np.array([question.images[0] for question in model.ask(9)])
    assert len(set(images)) == 9
    found = clusters(model)
    ranks = np.empty(120)
    for c in range(3):
        members = np.flatnonzero(found.clusters == c)
        ranks[members] = found.distances[members].argsort().argsort() / (len(members) - 1)
    by_cluster = np.bincount(found.clusters[images], minlength=3)
    near, far = ranks[images] < 0.3, ranks[images] > 0.7
    if selection == "random":
        return
    assert by_cluster.tolist() == [3, 3, 3]
    expected = {"full": (3, 6), "difficult": (0, 9), "representative": (9, 0)}[selection]
    assert (near.sum(), far.sum()) == expected


def test_with_one_candidate_the_nearest_of_each_cluster_is_asked_about() -> None:
    model = make(n_clusters=3, n_candidates=1, selection="representative").start(X)
    images = [question.images[0] for question in model.ask(3)]
    found = clusters(model)
    members = [np.flatnonzero(found.clusters == c) for c in range(3)]
    assert sorted(images) == sorted(m[found.distances[m].argmin()] for m in members)
    others = make(n_clusters=3, n_candidates=40, selection="representative").start(X).ask(3)
    assert images != [question.images[0] for question in others]


def test_one_label_for_each_cluster_alternates_between_the_two_kinds() -> None:
    """The paper's CIFAR-100-20: 20 labels, 20 clusters, and no difficult image ever."""
    model = make(n_clusters=4).start(X)
    first = [question.images[0] for question in model.ask(4)]
    then = [question.images[0] for question in model.ask(4)]
    distances = clusters(model).distances
    assert distances[first].max() < distances[then].min()


def test_images_with_pseudo_labels_can_still_be_asked_about() -> None:
    model = make(spread_first=1000).fit(X, oracle=LabelOracle(FAINT), n_questions=6)
    assert (targets(model).targets != NO_LABEL).all()
    assert len(model.ask(50)) == 50


def test_an_image_passed_or_bad_is_not_asked_again_soon() -> None:
    model = make().start(X[:10])
    model.tell([Question.label(0)], ["cannot_tell"])
    model.tell([Question.label(1)], ["bad_image"])
    model.tell([Question.label(2)], ["red"])
    assert {question.images[0] for question in model.ask(7)} == set(range(3, 10))


def test_a_budget_larger_than_the_collection_gives_a_warning() -> None:
    oracle = CountingOracle(LabelOracle(FAINT))
    text = r"Of the 3[34] questions of this round (12|0) were asked: nothing else is open"
    with pytest.warns(LikewiseWarning, match=text):
        make().fit(X[:12], oracle=oracle, n_questions=100)
    assert oracle.n_answers == 12


# -- learning -----------------------------------------------------------------


def test_labels_lead_to_their_criterion() -> None:
    plan = TrainingPlan(n_rounds=5, epochs_per_round=10, batch_size=40, learning_rate=0.01)
    alone = make(plan=plan).fit(X).labels_  # k-means
    meant = min(BOLD, FAINT, key=lambda grouping: accuracy(grouping, alone))
    model = make(plan=plan).fit(X, oracle=LabelOracle(meant), n_questions=50)
    named = [answer.question.images[0] for answer in model.constraints_.answers.values()]
    others = np.setdiff1d(np.arange(120), named)
    assert accuracy(meant[others], alone[others]) < 0.65
    assert accuracy(meant[others], model.predict(X)[others]) > 0.85


def test_before_any_label_it_is_k_means() -> None:
    model = make().fit(X)
    assert set(model.history_[0]) == {"class", "centre", "pull", "loss", "size_entropy"}
    assert model.history_[-1]["class"] == 0
    assert max(accuracy(BOLD, model.labels_), accuracy(FAINT, model.labels_)) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_images_linked_to_a_labelled_one_have_its_label() -> None:
    graph = ConstraintGraph(6)
    graph.label(4, "red")
    graph.label(0, "blue")
    graph.tell(Answer(Question.pair(0, 5), "same"))
    assert labels_of(graph, 3).tolist() == [1, -1, -1, -1, 0, 1]


def test_more_names_than_clusters_give_a_warning() -> None:
    graph = ConstraintGraph(4)
    for image, name in enumerate(("red", "green", "blue")):
        graph.label(image, name)
    with pytest.warns(LikewiseWarning, match="3 groups are named but n_clusters=2, so 'blue'"):
        assert labels_of(graph, 2).tolist() == [0, 1, -1, -1]


def test_pretraining_contrasts_views_before_any_label() -> None:
    plan = QUICK.replace(warmup_epochs=2)
    model = make(plan=plan, pretrain="simclr").fit(X, oracle=LabelOracle(FAINT), n_questions=6)
    phases = ["simclr" in entry for entry in model.history_]
    assert phases == [True] * 2 + [False] * 9
    off = make(plan=plan).fit(X)
    assert not any("simclr" in entry for entry in off.history_)
    default = make(plan=None, pretrain="simclr").start(X)
    assert default.learner_.plan.warmup_epochs == 12
    assert make(plan=None).start(X).learner_.plan.warmup_epochs == 0
    by_hand = make(plan=plan, pretrain="simclr").start(X).train()
    assert ["simclr" in entry for entry in by_hand.history_] == [True] * 2 + [False] * 3


@pytest.mark.parametrize(("preset", "lowered"), [("paper", 0.1), ("reproduction", 0.4)])
def test_pretraining_lowers_its_loss_only_with_the_step_size_of_the_reproduction(
    preset: str, lowered: float
) -> None:
    """By .02 in twelve epochs with the printed step size, by .55 with the other one."""
    vectors, _, _ = two_factors(600)
    plan = DSAC.presets[preset]["plan"].replace(epochs_per_round=1, n_rounds=1)
    given: dict[str, Any] = {"backbone": None, "architecture": TINY, "plan": plan}
    model = DSAC.from_preset(preset, n_clusters=2, random_state=0, **given).start(vectors).train()
    losses = [entry["simclr"] for entry in model.history_ if "simclr" in entry]
    assert len(losses) == 12
    assert (losses[0] - losses[-1] > lowered) == (preset == "reproduction")


def test_it_is_trained_on_images(tmp_path: Path) -> None:
    rng = stream(0, "images")
    images = rng.integers(0, 60, (16, 16, 16, 3)).astype(np.uint8)
    images[::2] += 180
    shape = NetworkConfig(size=16)
    model = make(backbone="resnet18:width=8,stem=3x3", architecture=shape, n_embedding=8)
    model.set_params(plan=TrainingPlan(n_rounds=2, epochs_per_round=1, batch_size=8))
    model.fit(images, oracle=LabelOracle([0, 1] * 8), n_questions=4)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(DSAC.load(tmp_path / "m").predict(images), model.predict(images))


def test_a_resumed_training_is_the_uninterrupted_one_bit_for_bit(tmp_path: Path) -> None:
    plan = QUICK.replace(checkpoint_every=1, warmup_epochs=1)
    given: dict[str, Any] = {"plan": plan, "pretrain": "simclr"}
    told: dict[str, Any] = {"oracle": LabelOracle(FAINT), "n_questions": 9}
    whole = make(**given).fit(X, **told)
    for stop_at in (1, 2, 4, 9):
        epochs: list[int] = []

        def stop(done: int, total: int, at: int = stop_at, seen: list[int] = epochs) -> None:
            seen.append(done)
            if len(seen) == at:
                raise KeyboardInterrupt

        place = tmp_path / str(stop_at)
        with pytest.raises(KeyboardInterrupt):
            make(**given).fit(X, checkpoint=place, progress=stop, **told)
        resumed = make(**given).fit(X, checkpoint=place, **told)
        np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
        assert resumed.history_ == whole.history_
        assert resumed.constraints_.answers == whole.constraints_.answers


def test_the_paper_preset_is_what_the_paper_prints() -> None:
    s = resolve(DSAC(preset="paper"))
    assert (s.backbone, s.pretrain, s.n_embedding) == ("convnext-tiny", "simclr", 200)
    assert (s.spread_first, s.spread_more, s.pull) == (50, 1000, 1.0)
    assert s.plan is not None
    assert s.architecture is not None
    assert (s.plan.optimiser, s.plan.learning_rate, s.plan.n_rounds) == ("adamw", 2e-5, 5)
    assert (s.plan.batch_size, s.plan.epochs_per_round, s.plan.warmup_epochs) == (128, 100, 12)
    assert (s.architecture.size, s.architecture.recipe) == (96, "simclr-dsac")


def test_pseudo_labels_are_spread_to_the_given_number_of_images() -> None:
    def n_taught(**given: Any) -> int:
        given = {"spread_first": 0, "spread_more": 0, **given}
        model = make(**given).fit(X, oracle=LabelOracle(FAINT), n_questions=6)
        return int((targets(model).targets >= 0).sum())

    assert n_taught() == n_taught(pseudo_labels=False) == 6
    assert 6 < n_taught(spread_first=5) <= 16
    assert n_taught(spread_first=5, spread_more=5) > n_taught(spread_first=5)
    assert n_taught(spread_first=5, pseudo_labels=False) == 6


def test_invalid_parameters_raise_an_error() -> None:
    with pytest.raises(UnknownNameError, match="selection; did you mean 'difficult'"):
        make(selection="dificult").fit(X)
    with pytest.raises(InvalidParameterError, match="DSAC needs reset_each_round=False, got True"):
        make(plan=QUICK.replace(reset_each_round=True)).fit(X)
    with pytest.raises(UnknownNameError, match="pretrain; did you mean 'simclr'"):
        make(pretrain="simcl").fit(X)
    with pytest.raises(InvalidParameterError, match="n_candidates must be an integer >= 1, got 0"):
        make(n_candidates=0).fit(X)


# -- order and balance of Algorithm 2 ------------------------------------------


def test_a_round_uses_the_clusters_found_after_the_training_before() -> None:
    model = make().start(X)
    model.tell([Question.label(image) for image in range(8)], [str(c) for c in FAINT[:8]])
    before = clusters(model)
    model.train()
    np.testing.assert_array_equal(targets(model).clusters, before.clusters)
    np.testing.assert_array_equal(targets(model).targets[:8] >= 0, True)
    after = clusters(model)  # seeded by the labels, in the new embedding
    classes = labels_of(model.constraints_, 2)
    np.testing.assert_array_equal(after.clusters[:8], classes[:8])
    model.train()
    np.testing.assert_array_equal(targets(model).clusters, after.clusters)


def test_every_batch_has_images_with_and_without_a_label() -> None:
    known = np.arange(0, 12, 2)
    batches = list(labelled_batches(known, 200, 40, seed=0, epoch=1))
    assert {len(batch) for batch in batches} == {40}
    for batch in batches:
        assert np.isin(batch, known).sum() == 6
    others = np.concatenate([np.setdiff1d(batch, known) for batch in batches])
    assert len(others) == len(set(others)) == 170  # five whole batches of the 194
    many = next(labelled_batches(np.arange(100), 200, 40, seed=0, epoch=1))
    assert (many < 100).sum() == 20  # as in the collection
    again = list(labelled_batches(known, 200, 40, seed=0, epoch=1))
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))


@pytest.mark.parametrize("n_known", [1, 25, 39, 40])
def test_batches_are_full_for_any_number_of_labels(n_known: int) -> None:
    for batch in labelled_batches(np.arange(n_known), 40, 20, seed=0, epoch=0):
        assert len(set(batch.tolist())) == len(batch) == 20


def test_the_pull_does_not_depend_on_the_length_of_embeddings() -> None:
    def pull(scale: float, **given: Any) -> float:
        model = make(pull=1.0, **given).start(X)
        learner = learner_of(model)
        learner.constraints = model.constraints_
        with torch.no_grad():
            for name, parameter in learner.network.named_parameters():
                parameter.mul_(scale if name.startswith("embed.") else 1.0)
        objective(model).before_prediction(learner)
        objective(model).begin_training(learner)
        learner.epoch = 1
        return objective(model).terms(Batch(learner, 0, np.arange(120)))["pull"].item()

    assert pull(1.0) == pytest.approx(pull(10.0), rel=1e-3)
    assert pull(10.0, relative_pull=False) == pytest.approx(
        100 * pull(1.0, relative_pull=False), rel=1e-3
    )


def test_pretraining_has_its_own_step_size() -> None:
    plan = QUICK.replace(warmup_epochs=2)
    seen: list[tuple[bool, float]] = []
    model = make(plan=plan, pretrain="simclr", pretrain_learning_rate=0.05)

    def watch(done: int, total: int) -> None:
        group = learner_of(model).optimiser.param_groups[0]
        seen.append(("simclr" in model.history_[-1], group["lr"]))

    model.fit(X, oracle=LabelOracle(FAINT), n_questions=6, progress=watch)
    assert set(seen) == {(True, 0.05), (False, 0.01)}


# -- its parts ----------------------------------------------------------------


def test_labelled_images_stay_in_their_class_and_seed_it() -> None:
    rng = stream(0, "rows")
    rows = rng.normal(size=(60, 3)).astype(np.float32)
    labels = np.full(60, NO_LABEL)
    labels[:6] = [0, 0, 2, 2, 2, 0]
    found = seeded_kmeans(rows, 4, labels, seed=0)
    np.testing.assert_array_equal(found.clusters[:6], labels[:6])
    assert set(found.clusters) == {0, 1, 2, 3}  # classes without a label keep a place
    for c in range(4):
        np.testing.assert_allclose(found.centres[c], rows[found.clusters == c].mean(0), atol=1e-5)


def test_unlabelled_images_are_with_the_nearest_centre() -> None:
    rows = np.array([[0.0], [1.0], [9.0]], dtype=np.float32)
    centres = np.array([[0.0], [10.0]], dtype=np.float32)
    found = assign_to_centres(rows, centres, np.array([NO_LABEL, 1, NO_LABEL]))
    assert found.clusters.tolist() == [0, 1, 1]
    assert found.distances.tolist() == [0.0, 81.0, 1.0]
    assert soft_assign(rows, centres).argmax(axis=1).tolist() == [0, 0, 1]


def test_a_cluster_smaller_than_the_spread_gives_all_it_has() -> None:
    rows = np.arange(6, dtype=np.float32)[:, None]
    centres = np.array([[1.0], [5.0]], dtype=np.float32)
    labels = np.array([-1, 1, -1, -1, -1, -1])  # cluster 0 holds an image of class 1
    found = Clusters(centres, np.array([0, 0, 0, 1, 1, 1]), np.abs(rows[:, 0] - 1))
    made = make_targets(rows, found, labels, n_spread=1000)
    assert made.targets.tolist() == [1, 1, 1, -1, -1, -1]
    assert make_targets(rows, found, labels, n_spread=0).targets.tolist() == labels.tolist()
    np.testing.assert_allclose(made.importance[:3].mean(), 1, rtol=1e-6)
    assert made.class_means[1].tolist() == [1.0]


def test_a_batch_all_labelled_or_all_unlabelled_drops_the_other_term() -> None:
    rows = stream(0, "rows").normal(size=(8, 3)).astype(np.float32)
    labels = np.array([0, 1, 0, 1, -1, -1, -1, -1])
    found = make_targets(rows, seeded_kmeans(rows, 2, labels, 0), labels, n_spread=0)
    taught = np.flatnonzero(found.targets >= 0)
    others = np.flatnonzero(found.targets < 0)
    for part, silent in ((taught, "pull"), (others, "class")):
        tensor = torch.from_numpy(rows[part])
        terms = found.terms(part, tensor, torch.zeros(len(part), 2), gamma=1.0, pull=1.0)
        assert terms[silent] == 0
        assert torch.isfinite(sum(terms.values(), torch.tensor(0.0)))
