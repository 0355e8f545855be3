"""The order of images is drawn from named seeds and does not depend on the processes."""

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from likewise.nn.training import covering_shards, process_share, shuffled_batches


@given(st.integers(1, 300), st.integers(1, 64), st.integers(0, 5))
def test_a_batch_is_full_and_has_no_duplicates(n: int, size: int, epoch: int) -> None:
    batches = list(shuffled_batches(n, size, seed=3, epoch=epoch))
    assert {len(batch) for batch in batches} == {min(size, n)}
    seen = np.concatenate(batches)
    assert len(np.unique(seen)) == len(seen) > n - size


def test_images_left_out_of_one_epoch_are_in_another() -> None:
    seen = {int(i) for epoch in range(10) for b in shuffled_batches(10, 4, 0, epoch) for i in b}
    assert seen == set(range(10))


def test_the_order_depends_on_seed_and_epoch() -> None:
    first, again, other = (
        np.concatenate(list(shuffled_batches(50, 10, 7, epoch))) for epoch in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@given(st.integers(1, 300), st.integers(1, 4), st.data())
def test_shards_cover_a_share_for_any_number_of_processes(
    size: int, n_processes: int, data: st.DataObject
) -> None:
    rank = data.draw(st.integers(0, n_processes - 1))
    own = process_share(size, rank, n_processes)
    assume(own.start < own.stop)
    shards = covering_shards(own, size)
    assert shards[0].start <= own.start
    assert shards[-1].stop >= own.stop
    assert all(a.stop == b.start for a, b in itertools.pairwise(shards))
