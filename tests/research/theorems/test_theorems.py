from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from likewise.nn.losses.constrained import constrained_nt_xent
from likewise.random_streams import stream
from likewise_bench.plots.contrastive import epoch_by_epoch
from likewise_bench.plots.plotted_run import Request, set_up
from research.theorems.__main__ import FIGURES, draw
from research.theorems.occ_1_2 import BUDGETS, measure
from research.theorems.occ_eq_8 import terms
from research.theorems.occ_run import Epoch, epochs
from research.theorems.pcl_3_1 import excess
from research.theorems.pcl_3_2 import gaps
from research.theorems.pcl_3_3 import changes
from research.theorems.problem import TEMPERATURE, loss, make_batch, solve, told
from research.theorems.sampling import active_risk, bernstein, d_p, probabilities, variance


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield


def _epoch(m: int = 400) -> Epoch:
    rng = stream(0, "losses")
    return Epoch(rng.beta(0.5, 2, m), rng.beta(0.5, 2, m), rng.normal(0, 0.1, m))


def test_the_loss_is_that_of_the_method() -> None:
    batch = make_batch(6, 0)
    known = told(batch.truth, np.array([[0, 1], [2, 5], [3, 5]]))
    assert known.unique().tolist() == [-1, 0, 1]
    rows = batch.views[:, :3]
    ours = constrained_nt_xent(rows[:6], rows[6:], known, temperature=TEMPERATURE)
    assert float(loss(rows, known)) == pytest.approx(float(ours), abs=1e-12)


def test_the_minimum_is_found_and_more_starts_do_not_increase_it() -> None:
    wanted = torch.ones(8, 3, dtype=torch.float64)
    found, value = solve(lambda w: (w - wanted).square().sum(), 0)
    torch.testing.assert_close(found, wanted)
    assert value < 1e-12
    _, again = solve(lambda w: (w - wanted).square().sum().sqrt(), 0, starts=[found])
    assert again < 1e-6


def test_only_asked_questions_give_relations() -> None:
    batch = make_batch(5, 0)
    known = told(batch.truth, np.array([[1, 3]]))
    assert int(known.abs().sum()) == 2
    assert known[1, 3] == known[3, 1] == batch.truth[1, 3]


def test_the_premise_of_3_2_holds_without_mu_and_fails_for_cannot_links_with_it() -> None:
    without, with_mu = changes(8, 0, "none"), changes(8, 0, "code")
    assert without.share_falling("different") == 0
    assert with_mu.share_falling("different") > 0.3
    assert with_mu.share_falling("same") < 0.2


def test_a_must_link_changes_the_loss_most_for_the_least_similar_pair() -> None:
    found = changes(8, 0)
    order = np.argsort(found.similarity)
    assert np.corrcoef(found.similarity, found.change["same"])[0, 1] < -0.9
    assert found.change["same"][order[0]] > found.change["same"][order[-1]]
    assert found.uncertainty[np.abs(found.similarity - 0.2).argmin()] == 1


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve roughly, where the test is not about the solution."""
    monkeypatch.setattr("research.theorems.problem._STEPS", 8)


@pytest.mark.usefixtures("_hasty")
def test_with_all_answers_the_gap_is_closed() -> None:
    found = gaps(4, 2, 0, n_later=2)
    assert found.q[-1] == 6
    assert found.gap[-1] == 0
    assert sum(found.share_shrinking(same)[1] for same in (True, False)) == 2


@pytest.mark.usefixtures("_hasty")
def test_the_excess_risk_is_a_distance() -> None:
    found = excess(4, 2, 0, n_away=2)
    assert found.shape == (2,)
    assert (found >= 0).all()


positive = st.lists(st.floats(0.01, 2), min_size=3, max_size=12).map(np.array)


@settings(max_examples=60, deadline=None)
@given(losses=positive, share=st.floats(0.1, 0.9))
def test_probabilities_sum_to_the_budget(losses: Any, share: float) -> None:
    p = probabilities(losses, share * len(losses))
    assert p.sum() == pytest.approx(share * len(losses), rel=0.05)
    too_much = losses / losses.sum() * share * len(losses) > 1
    np.testing.assert_allclose(p[too_much], 1, rtol=0.05)
    assert (p > 0).all()
    assert (p <= 1 + 1e-12).all()


@settings(max_examples=60, deadline=None)
@given(losses=positive, other=positive)
def test_sqrt_loss_minimises_d_p_and_loss_the_variance(
    losses: Any,
    other: Any,
) -> None:
    other = np.resize(other, len(losses))
    budget = 0.2  # so small that no probability is cut at 1
    of_root, of_loss, of_other = (
        probabilities(weights, budget) for weights in (np.sqrt(losses), losses, other)
    )
    slack = 1 + 1e-2  # of the floor
    assert d_p(losses, of_root) <= min(d_p(losses, of_loss), d_p(losses, of_other)) * slack
    at_least = min(variance(losses, of_root), variance(losses, of_other))
    assert variance(losses, of_loss) <= at_least * slack


def test_the_extended_risk_is_right_on_average_and_its_variance_as_computed() -> None:
    losses = _epoch().target
    p = probabilities(np.sqrt(losses), 60)
    extended, active = active_risk(losses, p, stream(0, "draws"), 4000)
    assert extended.mean() == pytest.approx(losses.mean(), rel=0.05)
    assert extended.var() == pytest.approx(variance(losses, p), rel=0.1)
    assert (active <= bernstein(losses, p)).mean() > 0.9


def test_the_three_terms_bound_the_risk() -> None:
    expected, parts = terms(_epoch(), 0)
    assert 0 < expected <= sum(parts) + 1e-9
    assert all(part >= 0 for part in parts)


def test_every_rule_is_measured_at_every_budget() -> None:
    found = measure(_epoch(), 0)
    assert list(found) == ["uniform", "CSD", "√loss", "loss"]
    for number in range(len(BUDGETS)):
        assert min(found, key=lambda name: found[name][number].d_p) == "√loss"
        assert min(found, key=lambda name: found[name][number].variance) == "loss"


def test_occ_is_measured_after_every_epoch(tmp_path: Path) -> None:
    from likewise_bench.spec import RunSpec

    run = RunSpec("occ", dataset="digits", criterion="parity", n_images=60)
    found = epochs(Request("occ-eq8", run=run), 2)
    assert len(found) == 2
    assert found[0].target.shape == found[0].csd.shape
    assert (found[0].target >= -1e-6).all()
    assert (found[0].target != found[1].target).any()
    assert set_up(epoch_by_epoch(run, 2)).model.get_params()["plan"].reset_each_round is False
    draw(Request("occ-1-2", run=run, options={"epochs": 1}), tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 5_000


def test_every_theorem_has_a_figure() -> None:
    assert len(FIGURES) == 5
