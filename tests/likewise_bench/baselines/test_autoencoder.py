"""The autoencoder baselines: losses against formulas, stages of training, published properties."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import TrainingPlan
from likewise.nn.training import generator
from likewise.random_streams import stream
from likewise_bench.baselines.autoencoder import AutoencoderNetwork, reconstruction_loss
from likewise_bench.baselines.dec import DEC, IDEC
from likewise_bench.baselines.network_baseline import LeadingDirections
from likewise_bench.baselines.variational import (
    DCGMM,
    VAE,
    MixtureNetwork,
    mixture_divergence,
    normal_divergence,
    posterior_log_variance,
)
from tests.likewise_bench.baselines.crossed_groupings import SMALL, crossed_groupings

X, DOMINANT, _ = crossed_groupings()
PLAN = TrainingPlan(warmup_epochs=15, epochs_per_round=15, batch_size=80, learning_rate=0.01)


def learner_of(model: InteractiveClusterer) -> NetworkLearner:
    assert isinstance(model.learner_, NetworkLearner)
    return model.learner_


def network_of(model: InteractiveClusterer) -> AutoencoderNetwork:
    network = learner_of(model).network
    assert isinstance(network, AutoencoderNetwork)
    return network


def everything(model: InteractiveClusterer) -> Batch:
    learner = learner_of(model)
    learner.network.eval()
    return Batch(learner, 0, np.arange(len(X)))


# -- variational autoencoders -----------------------------------------------------


def test_the_divergence_of_a_standard_normal_is_zero() -> None:
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
    output = network.heads(torch.randn(5, 4, generator=generator(3, "features")))
    log_variance = torch.randn(5, 2, generator=generator(4, "variance"))
    share, total = network.log_share.softmax(0), 0.0
    for i in range(5):
        for k in range(3):
            q = float(output.p[i, k])
            total += q * math.log(q / float(share[k]))
            for d in range(2):
                own, its = float(log_variance[i, d]), float(network.raw_width[k, d])
                away = float(output.z[i, d] - network.centres[k, d]) ** 2
                total += q * (its - own + (math.exp(own) + away) / math.exp(its) - 1) / 2
    found = mixture_divergence(network, output, log_variance)
    assert found.item() == pytest.approx(total / 5, rel=1e-4)


def test_embeddings_of_a_vae_are_about_standard_normal() -> None:
    model = VAE(n_clusters=2, plan=PLAN, architecture=SMALL, random_state=0).fit(X)
    z = learner_of(model).forward_all().embeddings
    log_variance = posterior_log_variance(everything(model))
    spread = z.var(axis=0) + log_variance.exp().mean(0).detach().numpy()
    assert np.abs(z.mean(axis=0)).max() < 0.3
    np.testing.assert_allclose(spread, 1, atol=0.35)


# -- published properties ---------------------------------------------------------


@torch.no_grad()
def error_and_confidence(model: InteractiveClusterer) -> tuple[float, float]:
    batch = everything(model)
    error = reconstruction_loss(batch, batch.plain.z).item()
    return error, float(batch.plain.p.max(dim=1).values.mean())


def test_dec_becomes_more_confident_and_idec_keeps_reconstructing() -> None:
    given: dict[str, Any] = {"n_clusters": 2, "architecture": SMALL, "random_state": 0}
    pretrained = DEC(**given, plan=PLAN).start(X).train(15)
    before, unsure = error_and_confidence(pretrained)
    labels = pretrained.labels_
    dec = DEC(**given, plan=PLAN).fit(X)
    error, sure = error_and_confidence(dec)
    assert sure > unsure + 0.02
    assert (dec.labels_ == labels).mean() > 0.95  # its first clusters hardly change
    kept, _ = error_and_confidence(IDEC(**given, plan=PLAN).fit(X))
    assert kept < before < error


def test_the_mixture_is_fitted_when_pretraining_ends() -> None:
    model = DCGMM(n_clusters=2, architecture=SMALL, plan=PLAN, random_state=0).start(X)
    model.train(14)
    assert not network_of(model).is_placed
    model.train(1)
    assert network_of(model).is_placed
    assert [set(entry) - {"size_entropy"} for entry in model.history_] == [
        {"reconstruction", "loss"}
    ] * 15
    model.train(1)
    assert {"reconstruction", "mixture"} < set(model.history_[-1])


# -- their input --------------------------------------------------------


def test_leading_directions_keep_the_proportions_of_distances() -> None:
    wide = stream(0, "wide").normal(size=(40, 6)) @ stream(1, "wide").normal(size=(6, 400))
    centred = (wide - wide.mean(axis=0)).astype(np.float32)
    directions = LeadingDirections(400, width=8)
    directions.fit(centred)
    found = directions(torch.from_numpy(centred)).numpy()
    assert found.shape == (40, 8)
    assert np.square(found).mean() == pytest.approx(1, rel=1e-3)
    before = np.linalg.norm(centred[:, None] - centred, axis=2)
    after = np.linalg.norm(found[:, None] - found, axis=2)
    ratio = after[before > 0] / before[before > 0]
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-3)
    assert np.square(found).mean(axis=0).min() > 0.05  # rotated: no column is empty
