"""Wide feature blocks are projected on their principal axes."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from likewise.nn.backbones import BlockProjection, narrow_slices
from likewise.random_streams import stream


def rows_of_rank(n: int, width: int, rank: int, seed: int = 0) -> torch.Tensor:
    rng = stream(seed, "axes")
    rows = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, width))
    return torch.from_numpy((rows - rows.mean(axis=0)).astype(np.float32))


def fitted(slices: dict[str, slice], rows: torch.Tensor) -> BlockProjection:
    axes = BlockProjection(slices, rows.shape[1])
    axes.fit(rows.numpy())
    return axes


def test_distances_are_kept_if_the_rank_is_low() -> None:
    rows = rows_of_rank(60, 600, 20)
    axes = fitted({"all": slice(0, 600)}, rows)
    assert axes.n_out == 512
    seen = axes(rows)
    torch.testing.assert_close(seen @ seen.T, rows @ rows.T, rtol=1e-3, atol=0.05)


def test_the_longest_axes_are_kept_and_blocks_are_projected_separately() -> None:
    slices = {f"f{i}": slice(100 * i, 100 * (i + 1)) for i in range(9)}
    rows = rows_of_rank(150, 900, 900)
    axes = fitted(slices, rows)
    for name, columns in slices.items():
        kept = axes(rows)[:, axes.slices[name]]
        assert kept.shape[1] == 64
        assert kept.square().sum() > 64 / 100 * rows[:, columns].square().sum()
        alone = torch.zeros_like(rows)
        alone[:, columns] = rows[:, columns]
        seen = axes(alone)
        torch.testing.assert_close(seen[:, axes.slices[name]], kept, rtol=1e-4, atol=1e-3)
        seen[:, axes.slices[name]] = 0
        assert (seen == 0).all()


def test_a_narrow_block_is_unchanged() -> None:
    rows = rows_of_rank(50, 640, 40)
    slices = {"narrow": slice(0, 40), "wide": slice(40, 640)}
    axes = fitted(slices, rows)
    torch.testing.assert_close(axes(rows)[:, :40], rows[:, :40])
    assert axes.slices == {"narrow": slice(0, 40), "wide": slice(40, 296)}


def test_fewer_rows_than_axes_leave_the_rest_zero() -> None:
    rows = rows_of_rank(10, 600, 10)
    seen = fitted({"all": slice(0, 600)}, rows)(rows)
    assert seen.shape == (10, 512)
    assert (seen[:, 10:] == 0).all()


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=12))
def test_narrowed_blocks_are_adjacent_and_not_wider_than_before(widths: list[int]) -> None:
    stops = np.cumsum(widths).tolist()
    before = {
        str(i): slice(stop - w, stop) for i, (w, stop) in enumerate(zip(widths, stops, strict=True))
    }
    after = narrow_slices(before)
    start = 0
    for name, part in after.items():
        assert part.start == start
        assert 1 <= part.stop - part.start <= before[name].stop - before[name].start
        start = part.stop
    assert start <= max(512, 64 * len(widths))
