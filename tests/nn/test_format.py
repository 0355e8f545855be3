"""Which precision and memory format a network is trained in, and a compiled backbone."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from likewise.estimators.deep.cc import CC
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.nn import device
from likewise.nn.device import FORMATS, Runtime, fastest_format, make_runtime
from tests.estimators.deep.batches import learner_of

torch.set_num_threads(1)
NETWORK = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten())
NETWORK_TO_VECTORS = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 8), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
)
IMAGES = torch.rand(8, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _with_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if the processor had bf16; torch emulates it where it has not."""
    monkeypatch.setattr(device, "_has_bf16", lambda _: True)


def open_runtime() -> Runtime:
    return make_runtime("auto", images=True)


def test_a_format_replaces_an_earlier_one_if_it_saves_a_tenth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def chosen(*seconds: float) -> int:
        clock = [0.0]
        calls = iter(range(10_000))

        def process_time() -> float:
            number = next(calls) - len(FORMATS)  # the first round only begins
            if number > 0 and number % 2:
                clock[0] += seconds[number // 2 % len(FORMATS)]
            return clock[0]

        monkeypatch.setattr(time, "process_time", process_time)
        return fastest_format(NETWORK, IMAGES)

    before = {name: value.clone() for name, value in NETWORK.state_dict().items()}
    assert chosen(1.0, 0.95, 0.93) == 0
    assert chosen(1.0, 0.85, 0.80) == 1
    assert chosen(1.0, 0.85, 0.70) == 2
    assert chosen(1.0, 0.95, 0.80) == 2
    for name, value in NETWORK.state_dict().items():
        assert torch.equal(value, before[name])
    assert NETWORK[0].weight.grad is None


def test_the_choice_is_kept_for_a_machine_network_and_image_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []

    def fastest(*_: object) -> int:
        measured.append(1)
        return 2

    monkeypatch.setattr(device, "fastest_format", fastest)
    for _ in range(2):
        runtime = open_runtime().with_fastest_format(NETWORK, IMAGES, tmp_path)
        assert (runtime.precision, runtime.channels_last) == ("bf16", True)
        assert runtime.to_memory_format(IMAGES).is_contiguous(memory_format=torch.channels_last)
    assert len(measured) == 1
    open_runtime().with_fastest_format(NETWORK, IMAGES[:, :, :7], tmp_path)
    assert len(measured) == 2
    (file,) = tmp_path.iterdir()
    assert sorted(json.loads(file.read_text()).values()) == [2, 2]


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 7}'])
def test_a_damaged_file_or_an_unwritable_folder_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(device, "fastest_format", lambda *_: 1)
    (tmp_path / "training_formats.json").write_text(text)
    for cache in (tmp_path, tmp_path / "training_formats.json" / "no folder"):
        assert open_runtime().with_fastest_format(NETWORK, IMAGES, cache).precision == "bf16"


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_given_precision_is_not_measured(tmp_path: Path, precision: str) -> None:
    runtime = make_runtime(precision, images=True)
    assert runtime.with_fastest_format(NETWORK, IMAGES, tmp_path) is runtime
    assert runtime.precision == precision
    assert runtime.channels_last == (precision == "bf16")
    assert not list(tmp_path.iterdir())


def test_a_training_continues_in_the_format_it_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "fastest_format", lambda *_: 0)
    images = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
    given: dict[str, Any] = {
        "n_clusters": 2,
        "backbone": NETWORK_TO_VECTORS,
        "architecture": NetworkConfig(size=8, n_hidden=8, n_projection=4),
        "random_state": 0,
    }
    plan = TrainingPlan(epochs_per_round=1, batch_size=6)
    model = CC(plan=plan, **given).fit(images)
    assert learner_of(model).runtime.precision == "float32"
    state = learner_of(model).get_state()
    other = CC(plan=plan, **given).start(images)
    assert learner_of(other).runtime.precision == "bf16"
    learner_of(other).set_state(state)
    assert learner_of(other).runtime.precision == "float32"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_compiled_backbone_trains_as_the_plain_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_compile = torch.nn.Module.compile  # traced, but not translated to C++: half a minute
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda self: plain_compile(self, backend="eager")
    )
    rows = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    shape = NetworkConfig(n_features=8, n_hidden=8, n_projection=4)
    plan = TrainingPlan(epochs_per_round=2, batch_size=20)
    plain, compiled = (
        CC(2, architecture=shape, plan=plan.replace(compiled=flag), random_state=0).fit(rows)
        for flag in (False, True)
    )
    assert compiled.history_[-1]["loss"] == pytest.approx(plain.history_[-1]["loss"], abs=1e-5)
    assert learner_of(compiled).network.backbone._compiled_call_impl is not None
    compiled.save(tmp_path / "m")
    np.testing.assert_array_equal(CC.load(tmp_path / "m").labels_, compiled.labels_)
