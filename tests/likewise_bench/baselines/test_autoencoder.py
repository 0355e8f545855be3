"""The parts of the autoencoder rivals: pair losses by loops, what is published of each."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from likewise.methods.network import View
from likewise.methods.plan import Plan
from likewise.methods.rivals.autoencoder import AutoencoderRival
from likewise.methods.rivals.dc_gmm import DCGMM, MixtureNetwork, mixture_divergence
from likewise.methods.rivals.dec import DEC
from likewise.methods.rivals.directions import Directions
from likewise.methods.rivals.idec import IDEC
from likewise.methods.rivals.pair_losses import (
    angle_likelihood,
    clipped_distance,
    margin_distance,
    signed_distance,
)
from likewise.methods.rivals.spherepair import equal_angles
from likewise.methods.rivals.vae import VAE
from likewise.methods.rivals.variational import normal_divergence
from likewise.nn.seeding import generator
from likewise.seeds import stream
from tests.methods.rivals.crossed import SMALL, crossed

X, BOLD, _ = crossed()
PLAN = Plan(warmup_epochs=15, epochs_per_round=15, batch_size=80, learning_rate=0.01)
RELATIONS = torch.tensor([1, -1, -1, 1])


def rows(seed: int = 0) -> tuple[Tensor, Tensor]:
    first, second = torch.randn(2, 4, 3, generator=generator(seed, "rows"), dtype=torch.double)
    return first, second


# -- pair losses ----------------------------------------------------------------


def naive(kind: str, d: float, angle: float, is_same: bool) -> float:
    """Return what one pair costs, as the docstrings say."""
    if kind == "signed":
        return d**2 if is_same else -min(d**2, 2.0)
    if kind == "margin":
        return d**2 if is_same else max(0.0, 2.0 - d) ** 2
    if kind == "clipped":
        return (min(d, 2.0) / 2.0 - (0 if is_same else 1)) ** 2
    if is_same:
        return -math.log((1 + math.cos(angle)) / 2)
    return -math.log(1 - (1 + math.cos(min(1.5 * angle, math.pi))) / 2)


LOSSES: dict[str, Any] = {
    "signed": lambda a, b, r: signed_distance(a, b, r, clip=2.0),
    "margin": lambda a, b, r: margin_distance(a, b, r, margin=2.0),
    "clipped": lambda a, b, r: clipped_distance(a, b, r, limit=2.0),
    "angle": lambda a, b, r: angle_likelihood(a, b, r, factor=1.5),
}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_pair_loss_agrees_with_its_formula(kind: str, seed: int) -> None:
    first, second = rows(seed)
    total = 0.0
    for a, b, relation in zip(first, second, RELATIONS, strict=True):
        cosine = float(a @ b / (a.norm() * b.norm()))
        total += naive(kind, float((a - b).norm()), math.acos(cosine), bool(relation > 0))
    assert LOSSES[kind](first, second, RELATIONS).item() == pytest.approx(total / 4, abs=1e-4)


@pytest.mark.parametrize("kind", LOSSES)
def test_same_is_pulled_and_different_pushed_only_so_far(kind: str) -> None:
    near = torch.tensor([[1.0, 0.1]], requires_grad=True)
    fixed = torch.tensor([[1.0, 0.0]])
    for relation, sign in ((1, 1), (-1, -1)):
        (slope,) = torch.autograd.grad(LOSSES[kind](near, fixed, torch.tensor([relation])), near)
        assert sign * slope[0, 1] > 0
    far = torch.tensor([[-9.0, 0.1]], requires_grad=True)
    (slope,) = torch.autograd.grad(LOSSES[kind](far, fixed, torch.tensor([-1])), far)
    assert slope.abs().max() < 1e-4


def test_k_groups_fit_on_the_sphere_at_no_cost() -> None:
    """The corners of a regular simplex: all answers kept, and the loss is 0."""
    for k in (2, 3, 5):
        corners = torch.eye(k) - 1 / k
        first, second = torch.triu_indices(k, k, 1)
        different = -torch.ones(len(first))
        found = angle_likelihood(corners[first], corners[second], different, factor=equal_angles(k))
        assert found.item() == pytest.approx(0, abs=1e-4)


# -- the variational ones -----------------------------------------------------


def test_the_divergence_of_a_standard_normal_is_nothing() -> None:
    assert normal_divergence(torch.zeros(5, 3), torch.zeros(5, 3)).item() == 0
    assert normal_divergence(torch.ones(5, 3), torch.zeros(5, 3)).item() == pytest.approx(1.5)


@torch.no_grad()
def test_the_mixture_divergence_is_the_formula_of_vade() -> None:
    network = MixtureNetwork(
        torch.nn.Identity(), 4, n_embedding=2, n_hidden=4, n_out=4, n_clusters=3
    )
    network.centres.normal_(generator=generator(0, "centres"))
    network.raw_width.normal_(generator=generator(1, "width"))
    network.log_share.normal_(generator=generator(2, "share"))
    view: View = network.heads(torch.randn(5, 4, generator=generator(3, "features")))
    log_variance = torch.randn(5, 2, generator=generator(4, "variance"))
    share, total = network.log_share.softmax(0), 0.0
    for i in range(5):
        for k in range(3):
            q = float(view.p[i, k])
            total += q * math.log(q / float(share[k]))
            for d in range(2):
                own, its = float(log_variance[i, d]), float(network.raw_width[k, d])
                away = float(view.z[i, d] - network.centres[k, d]) ** 2
                total += q * (its - own + (math.exp(own) + away) / math.exp(its) - 1) / 2
    found = mixture_divergence(network, view, log_variance)
    assert found.item() == pytest.approx(total / 5, rel=1e-4)


def test_embeddings_of_a_vae_are_about_standard_normal() -> None:
    model = VAE(n_clusters=2, plan=PLAN, architecture=SMALL, random_state=0).fit(X)
    z = model._all()[0]
    view = model._look(model._source, np.arange(len(X)))
    spread = z.var(axis=0) + model.network_.log_variance(view).exp().mean(0).detach().numpy()
    assert np.abs(z.mean(axis=0)).max() < 0.3
    np.testing.assert_allclose(spread, 1, atol=0.35)


# -- what is published ---------------------------------------------------------


def errors_and_confidence(model: AutoencoderRival) -> tuple[float, float]:
    everybody = np.arange(len(X))
    view = model._look(model._source, everybody)
    error = model._reconstruction(everybody, view.z).item()
    return error, float(view.p.max(dim=1).values.mean())


def test_dec_grows_surer_and_idec_still_reconstructs() -> None:
    given: dict[str, Any] = {"n_clusters": 2, "architecture": SMALL, "random_state": 0}
    pretrained = DEC(**given, plan=PLAN).start(X).train(15)
    before, unsure = errors_and_confidence(pretrained)
    labels = pretrained.labels_
    dec = DEC(**given, plan=PLAN).fit(X)
    error, sure = errors_and_confidence(dec)
    assert sure > unsure + 0.02
    assert (dec.labels_ == labels).mean() > 0.95  # it does not leave its first clusters
    kept, _ = errors_and_confidence(IDEC(**given, plan=PLAN).fit(X))
    assert kept < before < error


def test_a_mixture_is_fitted_when_pretraining_ends() -> None:
    model = DCGMM(n_clusters=2, architecture=SMALL, plan=PLAN, random_state=0).start(X)
    model.train(14)
    assert not model.network_.is_placed
    model.train(1)
    assert model.network_.is_placed
    assert [set(entry) - {"size_entropy"} for entry in model.history_] == [
        {"reconstruction", "loss"}
    ] * 15
    model.train(1)
    assert {"reconstruction", "mixture"} < set(model.history_[-1])


# -- the rows they see --------------------------------------------------------


def test_leading_directions_keep_distances_in_proportion() -> None:
    wide = stream(0, "wide").normal(size=(40, 6)) @ stream(1, "wide").normal(size=(6, 400))
    centred = (wide - wide.mean(axis=0)).astype(np.float32)
    directions = Directions(400, width=8)
    directions.fit(centred)
    found = directions(torch.from_numpy(centred)).numpy()
    assert found.shape == (40, 8)
    assert np.square(found).mean() == pytest.approx(1, rel=1e-3)
    before = np.linalg.norm(centred[:, None] - centred, axis=2)
    after = np.linalg.norm(found[:, None] - found, axis=2)
    ratio = after[before > 0] / before[before > 0]
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-3)
    assert np.square(found).mean(axis=0).min() > 0.05  # turned: no column is empty
