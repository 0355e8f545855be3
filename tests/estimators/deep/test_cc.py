"""CC: the contract of scikit-learn, its ablations, and what it must find."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import InvalidParameterError, LikewiseError, ModelFileError, UnknownNameError
from likewise.estimators.deep.cc import CC
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.estimators.settings import resolve
from likewise.metrics import accuracy
from likewise.nn.augment.config import make_augmentation

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
def test_keeps_the_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def make(**given: Any) -> CC:
    plan = TrainingPlan(epochs_per_round=30, batch_size=64, learning_rate=0.01)
    return CC(**{"n_clusters": 3, "random_state": 0, "architecture": TINY, "plan": plan, **given})


def test_finds_groups_that_are_there(blobs: Blobs) -> None:
    assert accuracy(blobs[1], make().fit(blobs[0]).labels_) > 0.95


@pytest.mark.parametrize(("views", "equal"), [("two", 0), ("one", 1), ("none", 2)])
def test_the_ablation_leaves_that_many_views_plain(blobs: Blobs, views: str, equal: int) -> None:
    """[CC]_ Table 4; training on two equal views must still give numbers."""
    model = make(views=views).fit(blobs[0])
    rows = torch.from_numpy(blobs[0]).float()
    drawn = model._views.draw(rows, torch.Generator().manual_seed(0))
    assert sum(torch.equal(view, rows) for view in drawn) == equal
    assert np.isfinite(model.history_[-1]["loss"])


def test_each_head_alone_trains_only_its_own_terms(blobs: Blobs) -> None:
    assert set(make(heads="instance").fit(blobs[0]).history_[0]) == {
        "instance",
        "loss",
        "size_entropy",
    }
    assert "instance" not in make(heads="cluster").fit(blobs[0]).history_[0]


def test_instance_only_is_read_out_by_k_means(blobs: Blobs) -> None:
    model = make(heads="instance").fit(blobs[0])
    assert accuracy(blobs[1], model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(blobs[0]), model.labels_)


def test_pictures_from_scratch(tmp_path: Path) -> None:
    """Light and dark pictures, a small ResNet, two epochs: the walk, not the quality."""
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 60, (24, 16, 16, 3)).astype(np.uint8)
    pictures[::2] += 180
    model = make(
        n_clusters=2,
        backbone="resnet18:width=8,stem=3x3",
        architecture=NetworkConfig(size=16, n_hidden=16, n_projection=8),
        plan=TrainingPlan(epochs_per_round=2, batch_size=12),
    ).fit(pictures)
    assert model.labels_.shape == (24,)
    model.save(tmp_path / "m")
    loaded = CC.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(pictures), model.predict(pictures))


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


def test_a_checkpoint_of_other_settings_or_images_is_refused(blobs: Blobs, tmp_path: Path) -> None:
    make().fit(blobs[0], checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another parameters \(n_clusters=3, now 4\)"):
        make(n_clusters=4).fit(blobs[0], checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match=r"another input \(fingerprint="):
        make().fit(blobs[0] + 1, checkpoint=tmp_path / "c")


def test_a_loaded_model_says_why_it_cannot_train(blobs: Blobs, tmp_path: Path) -> None:
    make().fit(blobs[0]).save(tmp_path / "m")
    with pytest.raises(LikewiseError, match="loaded without its images"):
        CC.load(tmp_path / "m").train()


def test_a_preset_fills_what_was_left_at_its_default(blobs: Blobs) -> None:
    model = make(preset="small", plan=None).start(blobs[0])
    assert model.learner_.plan.epochs_per_round == 40
    with pytest.raises(UnknownNameError, match="did you mean 'small'"):
        make(preset="smal").fit(blobs[0])


def test_a_constant_column_does_no_harm(blobs: Blobs) -> None:
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
    assert (s.backbone, s.architecture.size) == ("resnet34", 224)
    assert (s.plan.batch_size, s.plan.epochs_per_round, s.plan.learning_rate) == (256, 1000, 3e-4)
    assert (s.instance_temperature, s.cluster_temperature) == (0.5, 1.0)


def parts(blobs: Blobs, n: int = 60) -> Iterator[npt.NDArray[Any]]:
    """Yield parts of a stream; only the newest is alive."""
    for start in range(n):
        yield np.roll(blobs[0], 7 * start, axis=0)[:30]


def test_a_stream_that_never_fits_in_memory_is_learned_part_by_part(blobs: Blobs) -> None:
    """The paper's online claim: parts are seen once and forgotten."""
    model = make()
    for part in parts(blobs):
        model.partial_fit(part)
    assert len(model._data) == 30
    assert model.labels_.shape == (30,)
    assert accuracy(blobs[1], model.predict(blobs[0])) > 0.95
    found = np.concatenate(list(model.predict_stream([blobs[0][:50], blobs[0][50:]])))
    np.testing.assert_array_equal(found, model.predict(blobs[0]))


def test_a_part_that_shows_one_cluster_only_does_not_rename_clusters(blobs: Blobs) -> None:
    model = make(plan=TrainingPlan(batch_size=64, learning_rate=1e-9)).partial_fit(blobs[0])
    before = model.predict(blobs[0])
    last = blobs[0][before == before.max()]
    np.testing.assert_array_equal(model.partial_fit(last).labels_, before.max())
    np.testing.assert_array_equal(model.predict(blobs[0]), before)


def test_a_saved_stream_goes_on_after_loading(blobs: Blobs, tmp_path: Path) -> None:
    first, *rest = parts(blobs, 4)
    whole = make().partial_fit(first)
    whole.save(tmp_path / "m")
    loaded = CC.load(tmp_path / "m")
    for part in rest:
        whole.partial_fit(part)
        loaded.partial_fit(part)
    np.testing.assert_array_equal(loaded.predict_proba(blobs[0]), whole.predict_proba(blobs[0]))


def test_a_stream_of_other_vectors_or_without_assignments_is_refused(blobs: Blobs) -> None:
    model = make().partial_fit(blobs[0])
    with pytest.raises(ValueError, match="has 9 features"):
        model.partial_fit(blobs[0][:, :9])
    with pytest.raises(InvalidParameterError, match="heads='instance' is read out by k-means"):
        make(heads="instance").partial_fit(blobs[0])


def test_extra_images_train_the_instance_head_and_belong_to_no_cluster(blobs: Blobs) -> None:
    """STL-10's unlabelled images: first in every epoch, instance contrast alone."""
    X, extra = blobs[0][:60], blobs[0][60:]
    plan = TrainingPlan(epochs_per_round=1, batch_size=60)
    plain, more = make(plan=plan).fit(X), make(plan=plan).fit(X, extra=extra)
    assert more.labels_.shape == (60,)
    state = {name: [m.learner_.network.state_dict()[name] for m in (plain, more)] for name in STATE}
    assert not torch.equal(*state["instance.layers.0.weight"])

    seen: list[set[str]] = []
    model = make(plan=plan)
    terms = model._extra_terms

    def spied(number: int, indexes: Any) -> Any:
        found = terms(number, indexes)
        seen.append(set(found))
        return found

    model._extra_terms = spied  # type: ignore[method-assign]
    model.fit(X, extra=extra)
    assert seen == [{"instance"}]
    assert make(plan=plan).fit(X)._extra is None
    np.testing.assert_array_equal(model.probabilities_, more.probabilities_)


STATE = ("instance.layers.0.weight",)


def test_the_recipe_of_imagenet_blurs_and_the_others_do_not() -> None:
    assert make_augmentation("cc-imagenet", size=224).blur == 0.5
    assert (
        make_augmentation("cc-large", size=96).blur
        == make_augmentation("cc-small", size=32).blur
        == 0
    )


def test_evaluation_keeps_no_features_of_the_images_it_has_seen(blobs: Blobs) -> None:
    """So that predicting a long array needs memory for its answers only."""
    model = make(plan=TrainingPlan(epochs_per_round=1)).fit(blobs[0])
    alive: list[weakref.ref[torch.Tensor]] = []
    look = model._look

    def spied(source: Any, indexes: Any) -> Any:
        gc.collect()
        assert sum(ref() is not None for ref in alive) <= 1  # the one just seen
        view = look(source, indexes)
        alive.append(weakref.ref(view.features))
        return view

    model._look = spied  # type: ignore[method-assign]
    model.predict(np.tile(blobs[0], (20, 1)))
    assert len(alive) == 3
