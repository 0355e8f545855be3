"""PCL: special cases of its loss, attention and its bank, questions, presets, effect of answers."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import (
    InvalidParameterError,
    LikewiseError,
    LikewiseWarning,
    ModelFileError,
    UnknownNameError,
)
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.pcl import PCL, ContextNetwork
from likewise.estimators.params import NetworkConfig, TrainingPlan, resolve
from likewise.estimators.questioners import PairQuestioner
from likewise.metrics import accuracy
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent
from likewise.oracles.base import LabelOracle
from likewise.queries.base import Pool
from likewise.queries.pcl import Joint
from likewise.types import Pairs
from tests.estimators.deep.batches import (
    learner_of,
    loss_terms,
    no_relations,
    views,
    with_relation,
)
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
QUICK = TrainingPlan(n_rounds=2, epochs_per_round=2, batch_size=40, learning_rate=0.01)


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [
        PCL(
            n_clusters=3,
            architecture=TINY,
            plan=TrainingPlan(epochs_per_round=20, learning_rate=0.02),
        )
    ],
)
def test_it_passes_scikit_learns_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> PCL:
    return PCL(**{"n_clusters": 2, "architecture": TINY, "plan": QUICK, "random_state": 0, **given})


def test_without_answers_it_is_contrast_up_to_a_constant() -> None:
    a, b = views()
    model = make(assignment_similarity="cosine", cluster_temperature=1.0)
    terms = loss_terms(model.start(X), a, b, no_relations())
    constant = float(np.log(12 / 11))
    expected = {
        "instance": nt_xent(a.z, b.z, temperature=0.5) + constant,
        "assignment": nt_xent(a.p, b.p, temperature=1.0) + constant,
        "cluster": nt_xent(a.p.T, b.p.T, temperature=1.0),
        "balance": cluster_entropy_loss(a.p, b.p),
    }
    assert set(terms) == set(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value)


@pytest.mark.parametrize("relation", [+1, -1])
def test_both_kinds_of_answers_change_only_the_two_contrastive_terms(relation: int) -> None:
    a, b = views()
    model = make().start(X)
    plain = loss_terms(model, a, b, no_relations())
    told = loss_terms(model, a, b, with_relation(relation))
    changed = {name for name in plain if not torch.equal(plain[name], told[name])}
    assert changed == {"instance", "assignment"}


@pytest.mark.parametrize("sign", [+1, -1])
def test_a_batch_of_one_kind_of_answer_only_gives_a_finite_loss(sign: int) -> None:
    a, b = views()
    known = no_relations()
    known.relations[:] = sign
    known.relations.fill_diagonal_(0)
    for given in ({}, {"norm": "anchor"}, {"assignment_similarity": "dot"}):
        terms = loss_terms(make(**given).start(X), a, b, known)
        assert all(torch.isfinite(term) for term in terms.values())


def test_one_image_in_a_batch_raises_an_error_with_batch_normalisation() -> None:
    images = np.zeros((4, 16, 16, 3), dtype=np.uint8)
    shape = NetworkConfig(size=16, n_hidden=16, n_projection=8)
    with pytest.raises(InvalidParameterError, match="at least 2 images in a batch, got 1"):
        make(backbone="resnet18:width=8", architecture=shape, plan=QUICK.replace(batch_size=1)).fit(
            images
        )


@pytest.mark.parametrize(
    ("precision", "dtype"), [("bf16", torch.bfloat16), ("float32", torch.float32)]
)
def test_images_are_computed_in_the_given_precision(precision: str, dtype: torch.dtype) -> None:
    images = np.random.default_rng(0).integers(0, 255, (12, 16, 16, 3)).astype(np.uint8)
    model = make(
        backbone="resnet18:width=8,stem=3x3",
        architecture=NetworkConfig(size=16, n_hidden=16, n_projection=8),
        plan=TrainingPlan(epochs_per_round=2, batch_size=6, precision=precision),
    ).start(images)
    seen: set[torch.dtype] = set()
    for module in learner_of(model).network.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda _, __, out: seen.add(out.dtype))
    model.tell([(0, 1), (2, 3)], [+1, -1]).train()
    assert seen == {dtype}
    assert all(weight.dtype == torch.float32 for weight in learner_of(model).network.parameters())
    assert all(np.isfinite(list(entry.values())).all() for entry in model.history_)


def test_a_module_given_as_backbone_is_copied_for_each_fit() -> None:
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(3, 8, 8, 8), torch.nn.Flatten(), torch.nn.Linear(512, 8)
    module = torch.nn.Sequential(*layers)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    images = np.random.default_rng(0).integers(0, 255, (12, 64, 64, 3)).astype(np.uint8)
    shape = NetworkConfig(size=64, n_hidden=16, n_projection=8)
    model = make(
        backbone=module, architecture=shape, plan=QUICK.replace(batch_size=6, reset_each_round=True)
    )
    first, second = (model.fit(images).probabilities_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_a_batch_of_one_image_trains() -> None:
    model = make(plan=QUICK.replace(batch_size=1)).fit(X[:5])
    assert np.isfinite(model.probabilities_).all()


def test_batches_of_one_image_give_a_warning_that_names_the_batch_size() -> None:
    plan = QUICK.replace(n_rounds=1, epochs_per_round=4, batch_size=1)
    with pytest.warns(LikewiseWarning, match=r"collapsed: .*batch of one image.*larger batch_size"):
        make(plan=plan).fit(X[:20])


def test_constant_vectors_can_be_trained_on() -> None:
    model = make().fit(np.ones((20, 4)), ml=[(0, 1)], cl=[(2, 3)])
    assert np.isfinite(model.probabilities_).all()
    assert model.labels_[2] != model.labels_[3]


def test_answers_about_missing_images_raise_an_error() -> None:
    with pytest.raises(LikewiseError, match="500"):
        make().fit(X, ml=[(0, 500)])


@pytest.mark.parametrize("attention", ["residual", "plain", "none"])
def test_with_every_attention_images_are_predicted_independently(
    attention: str, tmp_path: Path
) -> None:
    model = make(attention=attention).fit(X)
    assert (learner_of(model).network.context is None) == (attention == "none")
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(6)])
    np.testing.assert_allclose(model.predict_proba(X)[:6], alone, rtol=1e-4, atol=1e-6)
    model.save(tmp_path / "m")
    loaded = PCL.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_the_bank_holds_bank_size_images_or_all() -> None:
    for size, expected in ((7, 7), (1000, 120)):
        network = learner_of(make(bank_size=size).fit(X)).network
        assert isinstance(network, ContextNetwork)
        assert len(network.bank) == expected


@pytest.mark.parametrize("candidates", ["random", "anchored", "anchored-wide"])
def test_the_first_questions_are_random(candidates: str) -> None:
    """Whatever the strategy, the first six are the same; the others are what it likes best."""

    def asked(strategy: str) -> list[tuple[int, ...]]:
        given = {"initial_questions": 6, "strategy": strategy, "candidates": candidates}
        model = make(**given).start(X)
        return [question.images for question in [*model.ask(20), *model.ask(3)]]

    joint, margin = asked("joint"), asked("margin-diversity")
    assert len(set(joint[:20])) == 20
    assert joint[:6] == margin[:6]
    assert joint[6:20] != margin[6:20]
    few = make(initial_questions=6, candidates=candidates).start(X[:6]).ask(15)
    assert len({question.images for question in few}) == 15  # of 15 pairs, none twice
    plain = [q.images for q in make(strategy="joint", candidates=candidates).start(X).ask(20)]
    assert set(joint[:6]) != set(plain[:6])


def test_anchored_wide_lets_the_strategy_choose_among_more_images() -> None:
    """20 questions place 10 images: of 20 that were drawn, or of all."""

    class FirstImages:
        def score(self, pool: Pool, pairs: Pairs) -> npt.NDArray[np.float64]:
            scores: npt.NDArray[np.float64] = -pairs.max(axis=1).astype(np.float64)
            return scores

    def largest(candidates: str) -> int:
        model = make(strategy=FirstImages(), candidates=candidates).start(X)
        model.tell([(0, 1), (0, 2)], [-1, +1])
        return max(i for question in model.ask(20) for i in question.images)

    assert largest("anchored") > 30
    assert largest("anchored-wide") == 12


def test_in_batches_the_random_questions_come_before_the_first_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = QUICK.replace(n_rounds=1, query_timing="batch", first_query_epoch=1)
    model = make(plan=plan, initial_questions=15)
    seen: list[int] = []
    train = NetworkLearner._train_one_epoch

    def spied(learner: NetworkLearner) -> None:
        seen.append(model.constraints_.n_answers)
        train(learner)

    monkeypatch.setattr(NetworkLearner, "_train_one_epoch", spied)
    model.fit(X, oracle=LabelOracle(FAINT), n_questions=18)
    assert seen == [15, 15]
    assert model.constraints_.n_answers == 18
    few = make(plan=plan, initial_questions=15).fit(X, oracle=LabelOracle(FAINT), n_questions=4)
    assert few.constraints_.n_answers == 4


def test_the_hard_score_is_the_one_chosen() -> None:
    def strategy(**given: Any) -> Any:
        questioner = make(**given).start(X).questioner_
        assert isinstance(questioner, PairQuestioner)
        return questioner.strategy

    assert strategy(hard="eq7") == Joint(hard="eq7")
    assert strategy(hard="eq7", strategy="joint:epsilon=0.4") == Joint(epsilon=0.4, hard="eq7")
    assert strategy(strategy="s_hp", hard="eq7").hard == "eq7"


def test_the_paper_preset_is_what_the_paper_prints() -> None:
    s = resolve(PCL(preset="paper"))
    assert (s.attention, s.hard, s.balance, s.norm) == ("plain", "eq7", "pooled", "anchor")
    assert (s.instance_temperature, s.assignment_temperature, s.cluster_temperature) == (0.5, 1, 1)
    assert s.extension > 0
    assert s.initial_questions > 0
    assert s.plan is not None
    assert (s.plan.batch_size, s.plan.epochs_per_round, s.plan.learning_rate) == (128, 500, 1e-5)
    assert (s.plan.clip_norm, s.plan.sampler, s.two_groups, s.candidates) == (
        (None, "linked", False, "random")
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "papre"}, "preset of PCL; did you mean 'paper'"),
        ({"strategy": "join"}, "strategy; did you mean 'joint'"),
        ({"attention": "plane"}, "attention; did you mean 'plain'"),
        ({"norm": "anchors"}, "norm; did you mean 'anchor'"),
        ({"hard": "eq8"}, "hard; did you mean 'eq7'"),
        ({"views": "tow"}, "views; did you mean 'two'"),
    ],
)
def test_an_unknown_choice_raises_an_error_with_the_nearest(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        make(**given).fit(X)


def test_a_checkpoint_of_another_method_or_number_of_clusters_raises_an_error(
    tmp_path: Path,
) -> None:
    make().fit(X, checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another parameters \(n_clusters=2, now 3\)"):
        make(n_clusters=3).fit(X, checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another method \('PCL', now 'CC'\)"):
        CC(n_clusters=2).fit(X, checkpoint=tmp_path / "c")


def test_heads_that_do_not_divide_the_features_raise_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="n_heads=5"):
        make(n_heads=5).fit(X)


def test_answers_lead_to_the_criterion_of_the_answers() -> None:
    """Vectors with two groupings: CC finds the dominant one, PCL that of the answers."""
    vectors, bold, faint = two_factors(240)
    plan = TrainingPlan(n_rounds=4, epochs_per_round=10, batch_size=80, learning_rate=0.01)
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "random_state": 0}
    alone = CC(plan=plan, **given).fit(vectors)
    told = PCL(plan=plan.replace(sampler="linked"), **given).fit(
        vectors, oracle=LabelOracle(faint), n_questions=80
    )
    assert accuracy(bold, alone.predict(vectors)) > 0.9
    assert accuracy(faint, alone.predict(vectors)) < 0.65
    assert accuracy(faint, told.predict(vectors)) > 0.9
