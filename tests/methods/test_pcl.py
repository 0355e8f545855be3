"""PCL: reductions, attention and its bank, parity switches, presets, and that answers steer it."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import InvalidParameterError, LikewiseError, ModelFileError, UnknownNameError
from likewise.methods.architecture import Architecture
from likewise.methods.cc import CC
from likewise.methods.pcl import PCL
from likewise.methods.plan import Plan
from likewise.methods.settings import resolve
from likewise.metrics import accuracy
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent
from likewise.oracles.simulated import LabelOracle
from likewise.queries.base import Pool
from likewise.queries.pcl import Joint
from likewise.queries.pcl_authors import JointAuthors
from likewise.queries.registry import make_strategy
from likewise.types import Pairs
from tests.methods.made_data import TINY, two_factors
from tests.methods.test_occ import nothing_known, views, with_relation

X, BOLD, FAINT = two_factors(120)
QUICK = Plan(n_rounds=2, epochs_per_round=2, batch_size=40, learning_rate=0.01)


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [PCL(n_clusters=3, architecture=TINY, plan=Plan(epochs_per_round=20, learning_rate=0.02))],
)
def test_keeps_the_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> PCL:
    return PCL(**{"n_clusters": 2, "architecture": TINY, "plan": QUICK, "random_state": 0, **given})


def test_without_answers_it_is_contrast_up_to_a_constant() -> None:
    a, b = views()
    terms = make().start(X)._loss_terms(a, b, nothing_known())
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
def test_both_answers_change_both_contrasts_and_nothing_else(relation: int) -> None:
    a, b = views()
    model = make().start(X)
    plain = model._loss_terms(a, b, nothing_known())
    told = model._loss_terms(a, b, with_relation(relation))
    changed = {name for name in plain if not torch.equal(plain[name], told[name])}
    assert changed == {"instance", "assignment"}


@pytest.mark.parametrize("sign", [+1, -1])
def test_a_batch_of_one_kind_of_answer_only_gives_a_finite_loss(sign: int) -> None:
    a, b = views()
    known = nothing_known()
    known.relations[:] = sign
    known.relations.fill_diagonal_(0)
    authors = {"norm": "global", "weights": "authors", "assignment_similarity": "dot"}
    for given in ({}, {"norm": "anchor"}, authors):
        terms = make(**given).start(X)._loss_terms(a, b, known)
        assert all(torch.isfinite(term) for term in terms.values())


def test_one_picture_in_a_batch_is_refused_in_words() -> None:
    pictures = np.zeros((4, 16, 16, 3), dtype=np.uint8)
    shape = Architecture(size=16, n_hidden=16, n_projection=8)
    with pytest.raises(InvalidParameterError, match=r"One picture in a batch .* at least 2, and"):
        make(backbone="resnet18:width=8", architecture=shape, plan=QUICK.but(batch_size=1)).fit(
            pictures
        )


@pytest.mark.parametrize(
    ("precision", "dtype"), [("bf16", torch.bfloat16), ("float32", torch.float32)]
)
def test_pictures_are_computed_in_the_precision_chosen(precision: str, dtype: torch.dtype) -> None:
    pictures = np.random.default_rng(0).integers(0, 255, (12, 16, 16, 3)).astype(np.uint8)
    model = make(
        backbone="resnet18:width=8,stem=3x3",
        architecture=Architecture(size=16, n_hidden=16, n_projection=8),
        plan=Plan(epochs_per_round=2, batch_size=6, precision=precision),
    ).start(pictures)
    seen: set[torch.dtype] = set()
    for module in model.network_.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda _, __, out: seen.add(out.dtype))
    model.tell([(0, 1), (2, 3)], [+1, -1]).train()
    assert seen == {dtype}
    assert all(weight.dtype == torch.float32 for weight in model.network_.parameters())
    assert all(np.isfinite(list(entry.values())).all() for entry in model.history_)


def test_a_module_given_as_backbone_is_not_touched_and_each_fit_begins_where_it_does() -> None:
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(3, 8, 8, 8), torch.nn.Flatten(), torch.nn.Linear(512, 8)
    module = torch.nn.Sequential(*layers)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    pictures = np.random.default_rng(0).integers(0, 255, (12, 64, 64, 3)).astype(np.uint8)
    shape = Architecture(size=64, n_hidden=16, n_projection=8)
    model = make(backbone=module, architecture=shape, plan=QUICK.but(batch_size=6, fresh=True))
    first, second = (model.fit(pictures).probabilities_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_a_batch_of_one_image_trains() -> None:
    model = make(plan=QUICK.but(batch_size=1)).fit(X[:5])
    assert np.isfinite(model.probabilities_).all()


def test_constant_vectors_train_and_sort_nothing() -> None:
    model = make().fit(np.ones((20, 4)), ml=[(0, 1)], cl=[(2, 3)])
    assert np.isfinite(model.probabilities_).all()
    assert model.labels_[2] != model.labels_[3]


def test_answers_on_images_that_are_not_there_are_refused() -> None:
    with pytest.raises(LikewiseError, match="500"):
        make().fit(X, ml=[(0, 500)])


@pytest.mark.parametrize("attention", ["residual", "plain", "none"])
def test_every_attention_trains_and_predicts_image_by_image(attention: str, tmp_path: Path) -> None:
    model = make(attention=attention).fit(X)
    assert (model.network_.context is None) == (attention == "none")
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(6)])
    np.testing.assert_allclose(model.predict_proba(X)[:6], alone, rtol=1e-4, atol=1e-6)
    model.save(tmp_path / "m")
    loaded = PCL.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_with_companions_prediction_does_depend_on_them() -> None:
    """The public code's behaviour, for comparison: the switch is real."""
    model = make(companions=True, attention="plain").fit(X)
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(6)])
    together = model.predict_proba(X)
    assert np.abs(together[:6] - alone).max() > 1e-3
    assert model._bank is None
    one_batch = model.predict_proba(X[: QUICK.batch_size])  # companions are those of a batch
    np.testing.assert_array_equal(together[: QUICK.batch_size], one_batch)


def test_the_bank_holds_as_many_images_as_it_is_told_and_at_most_all() -> None:
    for size, expected in ((7, 7), (1000, 120)):
        bank = make(bank_size=size).fit(X)._bank
        assert bank is not None
        assert len(bank) == expected


def test_frozen_after_freezes_batch_statistics_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 255, (12, 16, 16, 3)).astype(np.uint8)
    given: dict[str, Any] = {
        "backbone": "resnet18:width=8,stem=3x3",
        "architecture": Architecture(size=16, n_hidden=16, n_projection=8, recipe="pcl"),
    }
    one = make(plan=Plan(epochs_per_round=1, batch_size=12), **given).fit(pictures)
    two = Plan(epochs_per_round=2, batch_size=12)
    thawed, frozen = make(plan=two, **given), make(plan=two, frozen_after=1, **given)
    means = [
        next(v for k, v in m.fit(pictures).network_.state_dict().items() if "running_mean" in k)
        for m in (one, thawed, frozen)
    ]
    torch.testing.assert_close(means[2], means[0])
    assert not torch.allclose(means[1], means[0])
    weights = [next(m.network_.parameters()) for m in (one, frozen)]
    assert not torch.equal(*weights)


@pytest.mark.parametrize("candidates", ["random", "anchored", "anchored-wide"])
def test_the_first_questions_are_random_and_no_more_than_were_wanted(candidates: str) -> None:
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


def test_a_wide_rule_lets_the_strategy_choose_among_more_images() -> None:
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


def test_in_batches_the_random_questions_come_before_the_first_epoch() -> None:
    plan = QUICK.but(n_rounds=1, cadence="batch", first_query_epoch=1)
    model = make(plan=plan, initial_questions=15)
    seen: list[int] = []
    train = model._train_one_epoch

    def spied() -> None:
        seen.append(model.constraints_.n_answers)
        train()

    model._train_one_epoch = spied  # type: ignore[method-assign]
    model.fit(X, oracle=LabelOracle(FAINT), n_questions=18)
    assert seen == [15, 15]
    assert model.constraints_.n_answers == 18
    few = make(plan=plan, initial_questions=15).fit(X, oracle=LabelOracle(FAINT), n_questions=4)
    assert few.constraints_.n_answers == 4


def test_the_hard_score_is_the_one_chosen() -> None:
    assert make(hard="eq7").start(X)._asker.strategy == Joint(hard="eq7")
    chosen = make(hard="eq7", strategy="joint:epsilon=0.4").start(X)._asker.strategy
    assert chosen == Joint(epsilon=0.4, hard="eq7")
    assert make(strategy="s_hp", hard="eq7").start(X)._asker.strategy.hard == "eq7"  # type: ignore[attr-defined]


def test_the_paper_preset_is_what_the_paper_prints() -> None:
    s = resolve(PCL(preset="paper"))
    assert (s.attention, s.hard, s.balance, s.norm, s.weights) == (
        ("plain", "eq7", "pooled", "anchor", "paper")
    )
    assert (s.instance_temperature, s.assignment_temperature, s.cluster_temperature) == (0.5, 1, 1)
    assert s.extension > 0
    assert s.initial_questions > 0
    assert not s.companions
    assert (s.plan.batch_size, s.plan.epochs_per_round, s.plan.learning_rate) == (128, 500, 1e-5)
    assert (s.plan.clip_norm, s.plan.sampler, s.parity, s.candidates) == (
        (None, "linked", False, "random")
    )


def test_the_authors_preset_is_the_public_code_defects_included() -> None:
    s = resolve(PCL(preset="authors"))
    assert (s.instance_temperature, s.assignment_temperature, s.cluster_temperature) == (1, 1, 2)
    assert (s.norm, s.weights, s.assignment_similarity) == ("global", "authors", "dot")
    assert (s.attention, s.companions, s.frozen_after) == ("plain", True, 1)
    assert (s.plan.sampler, s.plan.clip_norm, s.extension) == ("fixed", 20.0, 0.0)
    assert s.plan.epochs_per_round == 501
    assert s.initial_questions == 0
    assert isinstance(make_strategy(s.strategy), JointAuthors)


@pytest.mark.filterwarnings("ignore:Of 100 questions")
def test_the_authors_parity_runs_with_its_cadence_and_sampler() -> None:
    given = {**PCL.presets["authors"], "backbone": None, "architecture": TINY}
    given["plan"] = given["plan"].but(epochs_per_round=4, first_query_epoch=2, batch_size=40)
    fitted = make(**given).fit(X, oracle=LabelOracle(FAINT), n_questions=100)
    batches = [set(range(s, s + 40)) for s in (0, 40, 80)]
    asked = [a.question.images for a in fitted.constraints_.answers.values()]
    assert len(asked) == 6
    assert all(any(set(pair) <= batch for batch in batches) for pair in asked)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "autors"}, "preset of PCL; did you mean 'authors'"),
        ({"strategy": "join"}, "strategy; did you mean 'joint'"),
        ({"attention": "plane"}, "attention; did you mean 'plain'"),
        ({"norm": "anchors"}, "norm; did you mean 'anchor'"),
        ({"hard": "eq8"}, "hard; did you mean 'eq7'"),
        ({"weights": "author"}, "weights; did you mean 'authors'"),
        ({"views": "tow"}, "views; did you mean 'two'"),
    ],
)
def test_a_mistyped_choice_is_refused_and_corrected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        make(**given).fit(X)


def test_a_checkpoint_of_another_method_or_number_of_clusters_is_refused(tmp_path: Path) -> None:
    make().fit(X, checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another parameters \(n_clusters=2, now 3\)"):
        make(n_clusters=3).fit(X, checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another method \('PCL', now 'CC'\)"):
        CC(n_clusters=2).fit(X, checkpoint=tmp_path / "c")


def test_heads_that_do_not_divide_the_features_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="n_heads=5"):
        make(n_heads=5).fit(X)


def test_answers_steer_it_to_the_grouping_that_is_meant() -> None:
    """Vectors with two groupings: CC finds the bold one, whatever is meant; PCL listens."""
    vectors, bold, faint = two_factors(240)
    plan = Plan(n_rounds=4, epochs_per_round=10, batch_size=80, learning_rate=0.01)
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "random_state": 0}
    alone = CC(plan=plan, **given).fit(vectors)
    told = PCL(plan=plan.but(sampler="linked"), **given).fit(
        vectors, oracle=LabelOracle(faint), n_questions=80
    )
    assert accuracy(bold, alone.predict(vectors)) > 0.9
    assert accuracy(faint, alone.predict(vectors)) < 0.65
    assert accuracy(faint, told.predict(vectors)) > 0.9
