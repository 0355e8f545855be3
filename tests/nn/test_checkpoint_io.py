"""A saved folder is whole or not there, and damage is told in words."""

import json
from pathlib import Path

import pytest
import torch

from likewise.errors import ModelFileError
from likewise.estimators.persistence import FACTS, TENSORS, read_folder, write_folder
from likewise.nn.training import optimiser_state, restore_optimiser


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6).reshape(2, 3), "b": torch.tensor(0.5, dtype=torch.bfloat16)}
    write_folder(tmp_path / "m", tensors, {"name": "Öl", "n": 3})
    back, facts = read_folder(tmp_path / "m")
    assert facts["name"] == "Öl"
    assert facts["n"] == 3
    for name, tensor in tensors.items():
        torch.testing.assert_close(back[name], tensor, rtol=0, atol=0)


def test_a_second_save_replaces_the_first_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for value in (1, 2):
        write_folder(tmp_path / "m", {"a": torch.tensor([value])}, {})
    assert read_folder(tmp_path / "m")[0]["a"].item() == 2
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_failed_save_leaves_the_earlier_one_as_it_was(tmp_path: Path) -> None:
    write_folder(tmp_path / "m", {"a": torch.tensor([1])}, {})
    with pytest.raises(TypeError):
        write_folder(tmp_path / "m", {"a": torch.tensor([2])}, {"not JSON": object()})
    assert read_folder(tmp_path / "m")[0]["a"].item() == 1
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_somebody_elses_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(ModelFileError, match="exists and is not a likewise model"):
        write_folder(tmp_path / "m", {}, {})
    assert (tmp_path / "m" / "holiday.jpg").exists()


def test_damage_a_newer_format_and_no_model_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a saved likewise model"):
        read_folder(tmp_path)
    with pytest.raises(ModelFileError, match=r"There is nothing at .*nowhere; check its name"):
        read_folder(tmp_path / "nowhere")
    write_folder(tmp_path / "m", {"a": torch.tensor([1])}, {})
    facts = tmp_path / "m" / FACTS
    facts.write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelFileError, match=r"newer release \(format 99; this one reads 1\)"):
        read_folder(tmp_path / "m")
    facts.write_text("{")
    with pytest.raises(ModelFileError, match="is damaged"):
        read_folder(tmp_path / "m")
    facts.write_text("{}")
    (tmp_path / "m" / TENSORS).write_bytes(b"short")
    with pytest.raises(ModelFileError, match="is damaged"):
        read_folder(tmp_path / "m")


def test_an_optimiser_goes_on_exactly_where_it_stood() -> None:
    def step(p: torch.nn.Parameter, optimiser: torch.optim.Optimizer) -> None:
        optimiser.zero_grad()
        (p**3).sum().backward()
        optimiser.step()

    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimiser = torch.optim.Adam([p], lr=0.1)
    step(p, optimiser)
    q = torch.nn.Parameter(p.detach().clone())
    other = torch.optim.Adam([q], lr=0.1)
    restore_optimiser(other, optimiser_state(optimiser))
    step(p, optimiser)
    step(q, other)
    assert torch.equal(p, q)
