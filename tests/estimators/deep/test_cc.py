"""CC: the contract of scikit-learn, its ablations, and what it must find."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import InvalidParameterError, LikewiseError, ModelFileError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.params import NetworkConfig, TrainingPlan, resolve
from likewise.metrics import accuracy
from likewise.nn.augmentation import make_augmentation
from tests.estimators.deep.batches import learner_of

Blobs = tuple[npt.NDArray[Any], npt.NDArray[Any]]
EXPECTED_FAILURES: dict[str, str] = {}
TINY = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks(
    [
        CC(
            n_clusters=3,
            architecture=TINY,
            plan=TrainingPlan(epochs_per_round=20, learning_rate=0.02),
        )
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_it_passes_scikit_learns_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> CC:
    plan = TrainingPlan(epochs_per_round=30, batch_size=64, learning_rate=0.01)
    return CC(**{"n_clusters": 3, "random_state": 0, "architecture": TINY, "plan": plan, **given})


def test_it_finds_separated_groups(blobs: Blobs) -> None:
    assert accuracy(blobs[1], make().fit(blobs[0]).labels_) > 0.95


@pytest.mark.parametrize(("views", "equal"), [("two", 0), ("one", 1), ("none", 2)])
def test_the_ablation_of_views_leaves_one_or_both_plain(
    blobs: Blobs, views: str, equal: int
) -> None:
    """[CC]_ Table 4; training on two equal views must still give numbers."""
    model = make(views=views).fit(blobs[0])
    rows = torch.from_numpy(blobs[0]).float()
    drawn = learner_of(model).augmentation.draw(rows, torch.Generator().manual_seed(0))
    assert sum(torch.equal(view, rows) for view in drawn) == equal
    assert np.isfinite(model.history_[-1]["loss"])


def test_each_head_alone_trains_only_its_own_terms(blobs: Blobs) -> None:
    assert set(make(heads="instance").fit(blobs[0]).history_[0]) == {
        "instance",
        "loss",
        "size_entropy",
    }
    assert "instance" not in make(heads="cluster").fit(blobs[0]).history_[0]


def test_without_an_assignment_head_k_means_gives_the_clusters(blobs: Blobs) -> None:
    model = make(heads="instance").fit(blobs[0])
    assert accuracy(blobs[1], model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(blobs[0]), model.labels_)


def test_it_is_trained_on_images(tmp_path: Path) -> None:
    """Light and dark images, a small ResNet, two epochs: that it runs, not its quality."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 60, (24, 16, 16, 3)).astype(np.uint8)
    images[::2] += 180
    model = make(
        n_clusters=2,
        backbone="resnet18:width=8,stem=3x3",
        architecture=NetworkConfig(size=16, n_hidden=16, n_projection=8),
        plan=TrainingPlan(epochs_per_round=2, batch_size=12),
    ).fit(images)
    assert model.labels_.shape == (24,)
    model.save(tmp_path / "m")
    loaded = CC.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(images), model.predict(images))


def test_a_resumed_training_is_the_uninterrupted_one_bit_for_bit(
    blobs: Blobs, tmp_path: Path
) -> None:
    plan = TrainingPlan(epochs_per_round=6, batch_size=32, checkpoint_every=2)
    whole = make(plan=plan).fit(blobs[0])

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(plan=plan).fit(blobs[0], checkpoint=tmp_path / "c", progress=stop)
    resumed = make(plan=plan).fit(blobs[0], checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
    assert resumed.history_ == whole.history_


def test_a_checkpoint_of_other_settings_or_images_raises_an_error(
    blobs: Blobs, tmp_path: Path
) -> None:
    make().fit(blobs[0], checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another parameters \(n_clusters=3, now 4\)"):
        make(n_clusters=4).fit(blobs[0], checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another input \(fingerprint="):
        make().fit(blobs[0] + 1, checkpoint=tmp_path / "c")


def test_training_a_loaded_model_raises_an_error(blobs: Blobs, tmp_path: Path) -> None:
    make().fit(blobs[0]).save(tmp_path / "m")
    with pytest.raises(LikewiseError, match="loaded without its images"):
        CC.load(tmp_path / "m").train()


def test_a_preset_sets_parameters_left_at_their_default(blobs: Blobs) -> None:
    model = make(preset="small", plan=None).start(blobs[0])
    assert model.learner_.plan.epochs_per_round == 40
    with pytest.raises(UnknownNameError, match="did you mean 'small'"):
        make(preset="smal").fit(blobs[0])


def test_a_constant_column_has_no_effect(blobs: Blobs) -> None:
    X = np.hstack([blobs[0], np.full((120, 2), 7.0)])
    assert accuracy(blobs[1], make().fit(X).labels_) > 0.95


@pytest.mark.parametrize("name", ["instance_temperature", "cluster_temperature"])
def test_a_temperature_must_be_positive(blobs: Blobs, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="temperature"):
        make(**{name: 0.0}).fit(blobs[0])


def test_tensorboard_gets_every_epoch(blobs: Blobs, tmp_path: Path) -> None:
    plan = TrainingPlan(epochs_per_round=2, batch_size=64, log_to=str(tmp_path))
    make(plan=plan).fit(blobs[0])
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("events.out.tfevents*"))
    assert written.count(b"size_entropy") == 2


def test_the_paper_preset_is_what_the_paper_prints() -> None:
    s = resolve(CC(preset="paper"))
    assert (s.backbone, s.architecture and s.architecture.size) == ("resnet34", 224)
    assert s.plan is not None
    assert (s.plan.batch_size, s.plan.epochs_per_round, s.plan.learning_rate) == (256, 1000, 3e-4)
    assert (s.instance_temperature, s.cluster_temperature) == (0.5, 1.0)


def test_extra_images_train_the_instance_head_and_belong_to_no_cluster(
    blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """STL-10's unlabelled images: first in every epoch, with the instance loss alone."""
    X, extra = blobs[0][:60], blobs[0][60:]
    plan = TrainingPlan(epochs_per_round=1, batch_size=60)
    plain, more = make(plan=plan).fit(X), make(plan=plan).fit(X, extra=extra)
    assert more.labels_.shape == (60,)
    state = {
        name: [learner_of(m).network.state_dict()[name] for m in (plain, more)] for name in STATE
    }
    assert not torch.equal(*state["instance.layers.0.weight"])

    seen: list[set[str]] = []
    model = make(plan=plan)
    step = NetworkLearner.train_steps

    def spied(self: Any, batches: Any, terms: Any, data: Any = None) -> Any:
        means = step(self, batches, terms, data)
        seen.append(set(means))
        return means

    monkeypatch.setattr(NetworkLearner, "train_steps", spied)
    model.fit(X, extra=extra)
    assert seen[0] == {"instance", "loss"}
    assert seen[1] > seen[0]
    np.testing.assert_array_equal(model.probabilities_, more.probabilities_)
    assert len(seen) == 2
    make(plan=plan).fit(X)
    assert len(seen) == 3  # none on further images


STATE = ("instance.layers.0.weight",)


def test_only_the_augmentation_for_imagenet_blurs() -> None:
    assert make_augmentation("cc-imagenet", size=224).blur == 0.5
    assert (
        make_augmentation("cc-large", size=96).blur
        == make_augmentation("cc-small", size=32).blur
        == 0
    )


def test_prediction_keeps_no_features_in_memory(blobs: Blobs) -> None:
    """So that predicting a long array needs memory for its answers only."""
    model = make(plan=TrainingPlan(epochs_per_round=1)).fit(blobs[0])
    alive: list[weakref.ref[torch.Tensor]] = []
    heads = learner_of(model).network.heads

    def spied(features: torch.Tensor) -> Any:
        gc.collect()
        assert sum(ref() is not None for ref in alive) <= 1  # of the batch before
        alive.append(weakref.ref(features))
        return heads(features)

    learner_of(model).network.heads = spied  # type: ignore[method-assign]
    model.predict(np.tile(blobs[0], (20, 1)))
    assert len(alive) == 3
