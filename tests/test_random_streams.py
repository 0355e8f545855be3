"""Streams of random numbers: the same on every machine, each its own."""

from likewise.random_streams import derive, stream


def test_a_seed_derived_today_is_the_one_every_release_derives() -> None:
    assert derive(0) == 4761921975702974394
    assert derive(7, "order", 3) == 2732397880727487379
    assert stream(7, "order", 3).integers(1000, size=3).tolist() == [620, 55, 156]


def test_each_name_each_order_of_names_and_each_seed_is_a_stream_of_its_own() -> None:
    names: list[tuple[str | int, ...]] = [(), ("a",), ("a", "b"), ("b", "a"), ("ab",), (3,), ("3",)]
    seeds = {derive(seed, *name) for name in names for seed in (0, 1)}
    assert len(seeds) == 2 * len(names)


def test_a_seed_fits_where_torch_and_numpy_want_one_of_63_bits() -> None:
    seeds = [derive(k) for k in range(200)]
    assert 2**62 < max(seeds) < 2**63
    assert min(seeds) >= 0
