"""OCC: reductions, ablations, the decay of its weight, and its questions."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.deep.objective import BatchRelations
from likewise.estimators.deep.occ import OCC
from likewise.estimators.params import TrainingPlan, parameters_in_force, resolve
from likewise.estimators.parts import Prediction, QueryState
from likewise.estimators.questioners import PairQuestioner
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from tests.estimators.deep.batches import loss_terms, no_relations, views, with_relation
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
QUICK = TrainingPlan(n_rounds=2, epochs_per_round=2, batch_size=40, learning_rate=0.01)


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [
        OCC(
            n_clusters=3,
            architecture=TINY,
            plan=TrainingPlan(epochs_per_round=20, learning_rate=0.02),
        )
    ],
)
def test_it_passes_scikit_learns_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> OCC:
    return OCC(**{"n_clusters": 2, "architecture": TINY, "plan": QUICK, "random_state": 0, **given})


def test_without_answers_it_is_cc_up_to_log_n_and_a_term_on_assignments() -> None:
    a, b = views()
    terms = loss_terms(make().start(X), a, b, no_relations())
    log_n = float(np.log(6))
    expected = {
        "instance": nt_xent(a.z, b.z, temperature=0.5) + log_n,
        "assignment": nt_xent(a.p, b.p, temperature=1.0) + log_n,
        "cluster": nt_xent(a.p.T, b.p.T, temperature=4.0),
        "balance": cluster_entropy_loss(a.p, b.p),
    }
    assert set(terms) == set(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value)


@pytest.mark.parametrize(
    ("spaces", "left_out"),
    [("both", set()), ("representation", {"assignment"}), ("assignment", {"instance"})],
)
def test_each_space_alone_keeps_columns_and_balance(spaces: str, left_out: set[str]) -> None:
    a, b = views()
    terms = loss_terms(make(spaces=spaces).start(X), a, b, no_relations())
    assert set(terms) == {"instance", "assignment", "cluster", "balance"} - left_out


def test_cannot_links_are_used_by_the_variant_of_the_loss_only() -> None:
    a, b = views()
    for loss, is_used in (("logsum", False), ("pairlog", True)):
        model = make(loss=loss).start(X)
        plain = loss_terms(model, a, b, no_relations())["instance"]
        assert bool(loss_terms(model, a, b, with_relation(-1))["instance"] != plain) == is_used
        assert loss_terms(model, a, b, with_relation(+1))["instance"] != plain


def test_the_variant_is_the_loss_of_the_public_code_on_both_spaces() -> None:
    a, b = views()
    known = with_relation(+1)
    known.relations[2, 3] = known.relations[3, 2] = -1
    known.guesses[4, 5] = known.guesses[5, 4] = +1
    terms = loss_terms(make(loss="pairlog").start(X), a, b, known)
    unit = [torch.nn.functional.normalize(view.z, dim=1) for view in (a, b)]
    torch.testing.assert_close(terms["instance"], mean_of_logs(torch.cat(unit), known, 0.5))
    rows = torch.cat([a.p, b.p])
    torch.testing.assert_close(terms["assignment"], mean_of_logs(rows, known, 1.0))


def mean_of_logs(rows: torch.Tensor, known: BatchRelations, temperature: float) -> torch.Tensor:
    """Return PCL's public loss by loops: answers weigh 1 + max(4n / (N+ + 1), 2), guesses 1."""
    n = len(rows) // 2
    s = rows @ rows.T / temperature
    answer = 1 + max(4 * n / (float((known.relations == 1).sum()) + 1), 2.0)
    cost, total = torch.zeros(()), 0.0
    for i in range(2 * n):
        said, guessed = known.relations[i % n].tolist() * 2, known.guesses[i % n].tolist() * 2
        v = torch.tensor([0.0 if k == i else 1.0 + (said[k] == -1) for k in range(2 * n)])
        rivals = torch.log((v * s[i].exp()).sum()) + torch.log(2 * n / v.sum())
        for j in range(2 * n):
            weight = (j == (i + n) % (2 * n)) + answer * (said[j] == 1) + (guessed[j] == 1)
            cost = cost + weight * (rivals - s[i, j])
            total += weight
    return cost / total


def test_a_pseudo_link_counts_as_an_answer_does() -> None:
    a, b = views()
    model, answered = make().start(X), with_relation(+1)
    guessed = BatchRelations(torch.zeros_like(answered.relations), answered.relations)
    for name, term in loss_terms(model, a, b, answered).items():
        torch.testing.assert_close(term, loss_terms(model, a, b, guessed)[name])


def test_the_weight_of_answers_falls_linearly_from_fifty_to_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[float] = []

    def spied(*rows: Any, weight: float, **given: Any) -> Any:
        seen.append(weight)
        return occ_contrastive(*rows, weight=weight, **given)

    monkeypatch.setattr("likewise.estimators.deep.occ.occ_contrastive", spied)
    plan = TrainingPlan(warmup_epochs=2, n_rounds=2, epochs_per_round=4, batch_size=120)
    make(plan=plan).fit(X)
    np.testing.assert_allclose(seen[::2], 50 * (1 - np.arange(10) / 10))  # two spaces an epoch


@pytest.mark.parametrize("seed", range(12))
def test_csd_asks_what_a_loop_over_all_pairs_of_the_batch_would(seed: int) -> None:
    """Embeddings of the last cycle are remembered for all images, n x d numbers, not n x n."""
    rng = stream(seed, "csd")
    old, a, b = rng.normal(size=(3, 30, 4)).astype(np.float32)
    a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
    questioner = PairQuestioner("csd")
    even = np.full((30, 2), 0.5, dtype=np.float32)
    state = QueryState(ConstraintGraph(30), old, even, np.arange(2), seed=0)
    questioner.update(Prediction(old, even), state)
    questioner.begin_cycle()
    assert questioner.previous is not None
    assert questioner.previous.shape == (30, 4)
    batch = np.array([3, 17, 8, 25, 11])
    asked = questioner.propose_in_batch(1, batch, (a[batch], b[batch]), even[:5], state)
    best, expected = 0.0, (0, 0)
    for p in range(5):
        for q in range(p + 1, 5):
            i, j = int(batch[p]), int(batch[q])
            now = [rows / np.linalg.norm(rows) for rows in (a[i] + b[i], a[j] + b[j])]
            then = [rows / np.linalg.norm(rows) for rows in (old[i], old[j])]
            s, before = now[0] @ now[1], then[0] @ then[1]
            if s * abs(s - before) > best:
                best, expected = s * abs(s - before), (min(i, j), max(i, j))
    assert asked[0].images == expected


@pytest.mark.parametrize(("space", "width"), [("z", 16), ("backbone", 32)])
def test_csd_compares_two_rounds_in_query_space(space: str, width: int) -> None:
    model = make(query_space=space).fit(X, oracle=LabelOracle(FAINT), n_questions=4)
    assert isinstance(model.questioner_, PairQuestioner)
    rows, previous = model.questioner_.rows, model.questioner_.previous
    assert rows is not None
    assert previous is not None
    assert rows.shape == previous.shape == (120, width)
    assert not np.array_equal(rows, previous)


def test_the_paper_preset_is_what_the_paper_prints() -> None:
    s = resolve(OCC(preset="paper"))
    assert (s.balance, s.include_self, s.query_space) == ("pooled", True, "backbone")
    assert s.extension > 0
    assert (s.backbone, s.architecture and s.architecture.size) == ("resnet34", 224)
    assert s.plan is not None
    assert (s.plan.epochs_per_round, s.plan.batch_size, s.plan.learning_rate) == (1000, 256, 3e-4)
    assert (s.cluster_temperature, s.two_groups, s.candidates) == (1.0, False, "random")
    assert s.loss == "logsum"
    assert parameters_in_force(OCC(preset="pairlog")) == {
        **parameters_in_force(OCC(preset="paper")),
        "preset": "pairlog",
        "loss": "pairlog",
    }
    assert resolve(OCC(preset="paper", balance="pooled", extension=0.1)).extension == 0.1


def test_a_preset_value_can_be_changed_even_to_the_default() -> None:
    given = {"extension": 0.0, "include_self": False, "balance": "view", "query_space": "z"}
    changed = OCC.from_preset("paper", n_clusters=3, **given)
    assert changed.n_clusters == 3
    assert {name: getattr(resolve(changed), name) for name in given} == given
    assert resolve(changed).plan == resolve(OCC(preset="paper")).plan
    with pytest.raises(UnknownNameError, match="preset of OCC; did you mean 'paper'"):
        OCC.from_preset("papper")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "papper"}, "preset of OCC; did you mean 'paper'"),
        ({"strategy": "cds"}, "strategy; did you mean 'csd'"),
        ({"spaces": "assignement"}, "spaces; did you mean 'assignment'"),
        ({"loss": "pairlogs"}, "loss; did you mean 'pairlog'"),
        ({"candidates": "anchord"}, "candidates; did you mean 'anchored'"),
        ({"balance": "poled"}, "balance; did you mean 'pooled'"),
        ({"query_space": "backbon"}, "query_space; did you mean 'backbone'"),
    ],
)
def test_an_unknown_choice_raises_an_error_with_the_nearest(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        make(**given).fit(X)


def test_a_negative_strength_raises_an_error() -> None:
    with pytest.raises(InvalidParameterError, match=r"weight must be >= 0, got -"):
        make(strength=-1.0).fit(X)


def test_with_two_groups_two_cannot_links_imply_a_must_link() -> None:
    links = [(0, 1), (1, 2)]
    assert make(two_groups=True).fit(X, cl=links).constraints_.relation(0, 2) == Relation.SAME
    assert make(two_groups=False).fit(X, cl=links).constraints_.relation(0, 2) == Relation.UNKNOWN
