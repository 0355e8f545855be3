"""The public code of PCL: each defect can be switched on, and the preset has all of them."""

from typing import Any

import numpy as np
import pytest
import torch

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import UnknownNameError
from likewise.estimators.deep.objective import fraction_met
from likewise.estimators.deep.pcl import ContextNetwork
from likewise.estimators.params import NetworkConfig, TrainingPlan, resolve
from likewise.estimators.questioners import PairQuestioner
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from likewise_bench.baselines.pcl_authors import JointAuthors, PCLAuthors, fixed_batches
from tests.estimators.deep.batches import learner_of, loss_terms, no_relations, views
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
QUICK = TrainingPlan(n_rounds=2, epochs_per_round=2, batch_size=40, learning_rate=0.01)


def make(**given: Any) -> PCLAuthors:
    fixed = {"n_clusters": 2, "architecture": TINY, "plan": QUICK, "random_state": 0}
    return PCLAuthors(**{**fixed, "preset": None, **given})


def test_without_a_fixed_context_predictions_depend_on_each_other() -> None:
    """As in the public code."""
    model = make(companions=True, attention="plain").fit(X)
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(6)])
    together = model.predict_proba(X)
    assert np.abs(together[:6] - alone).max() > 1e-3
    assert not isinstance(learner_of(model).network, ContextNetwork)
    one_batch = model.predict_proba(X[: QUICK.batch_size])  # companions are those of a batch
    np.testing.assert_array_equal(together[: QUICK.batch_size], one_batch)


def test_frozen_after_freezes_batch_statistics_only() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (12, 16, 16, 3)).astype(np.uint8)
    given: dict[str, Any] = {
        "backbone": "resnet18:width=8,stem=3x3",
        "architecture": NetworkConfig(size=16, n_hidden=16, n_projection=8, recipe="pcl"),
    }
    one = make(plan=TrainingPlan(epochs_per_round=1, batch_size=12), **given).fit(images)
    two = TrainingPlan(epochs_per_round=2, batch_size=12)
    training, frozen = make(plan=two, **given), make(plan=two, frozen_after=1, **given)
    means = [
        next(
            v
            for k, v in learner_of(m.fit(images)).network.state_dict().items()
            if "running_mean" in k
        )
        for m in (one, training, frozen)
    ]
    torch.testing.assert_close(means[2], means[0])
    assert not torch.allclose(means[1], means[0])
    weights = [next(learner_of(m).network.parameters()) for m in (one, frozen)]
    assert not torch.equal(*weights)


def test_the_default_preset_is_the_public_code_with_its_defects() -> None:
    s = resolve(PCLAuthors())
    assert (s.instance_temperature, s.assignment_temperature, s.cluster_temperature) == (1, 1, 2)
    assert (s.norm, s.weights, s.assignment_similarity) == ("global", "authors", "dot")
    assert (s.attention, s.companions, s.frozen_after) == ("plain", True, 1)
    assert s.plan is not None
    assert (s.fixed_batches, s.plan.clip_norm, s.extension) == (True, 20.0, 0.0)
    assert s.plan.epochs_per_round == 501
    assert s.initial_questions == 0
    assert s.strategy == "joint-authors"


@pytest.mark.filterwarnings("ignore:Of 100 questions")
def test_it_asks_about_pairs_of_its_fixed_batches() -> None:
    given = {**PCLAuthors.presets["authors"], "backbone": None, "architecture": TINY}
    given["plan"] = given["plan"].replace(epochs_per_round=4, first_query_epoch=2, batch_size=40)
    model = make(**given)
    fitted = model.fit(X, oracle=LabelOracle(FAINT), n_questions=100)
    batches = [set(range(s, s + 40)) for s in (0, 40, 80)]
    asked = [a.question.images for a in fitted.constraints_.answers.values()]
    assert len(asked) == 6
    assert isinstance(model.questioner_, PairQuestioner)
    assert model.questioner_.strategy == JointAuthors()
    assert all(any(set(pair) <= batch for batch in batches) for pair in asked)


def test_most_pairs_never_meet_in_fixed_batches() -> None:
    graph = ConstraintGraph(400)
    for i, j in stream(0, "answers").permutation(400)[:120].reshape(-1, 2):
        graph.add(int(i), int(j), Relation.SAME)
    met = fraction_met(graph, [batch for _ in range(5) for batch in fixed_batches(400, 40)])
    assert met < 0.3
    assert [b.tolist() for b in fixed_batches(5, 2)] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("sign", [+1, -1])
def test_a_batch_of_one_kind_of_answer_only_gives_a_finite_loss(sign: int) -> None:
    a, b = views()
    relations = no_relations()
    relations.relations[:] = sign
    relations.relations.fill_diagonal_(0)
    given = {"norm": "global", "weights": "authors", "assignment_similarity": "dot"}
    terms = loss_terms(make(**given).start(X), a, b, relations)
    assert all(torch.isfinite(term) for term in terms.values())


def test_an_unknown_choice_raises_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="weights; did you mean 'authors'"):
        make(weights="author").fit(X)
    with pytest.raises(UnknownNameError, match="preset of PCLAuthors; did you mean 'authors'"):
        make(preset="autors").fit(X)
