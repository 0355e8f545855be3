"""The speed measurement of encoders: what it compares and prints."""

import numpy as np
import pytest

from benchmarks import speed_encoders
from benchmarks.speed_encoders import agreement, encoders_bench, measure_rates
from likewise.images.collection import Pixels

A = np.array([[1.0, 0.0], [0.0, 2.0]], np.float32)


def test_agreement_is_the_mean_cosine_of_rows() -> None:
    turned = np.array([[0.0, 1.0], [0.0, 5.0]], np.float32)
    assert agreement({"x": A, "more": A}, {"x": turned}) == {"x": 0.5}
    assert agreement({"x": A}, {"x": 3 * A}) == {"x": 1.0}


def test_rates_are_images_over_the_best_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0, 4, 4, 5, 5, 7, 7, 10, 10, 13, 13, 14])  # a: 4, 2, 3 seconds; b: 1, 3, 1
    monkeypatch.setattr("benchmarks.speed_encoders.time.perf_counter", lambda: next(moments))
    assert measure_rates({"a": dict, "b": dict}, 12) == {"a": 6.0, "b": 12.0}


@pytest.mark.slow
def test_both_rates_and_the_agreement_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_encoders, "_ROUNDS", 1)
    n_different, measured = [], speed_encoders.rate_of_files

    def watched(images: Pixels) -> float:
        n_different.append(len(np.unique(images, axis=0)))
        return measured(images)

    monkeypatch.setattr(speed_encoders, "rate_of_files", watched)
    encoders_bench(n_images=2)
    assert n_different == [8]  # copies would be encoded once but counted each
    out = capsys.readouterr().out
    assert out.count("plain float32 torch") == 2
    assert "times; at least 4: " in out
    assert out.count("1.000000 at least 0.999: ok") == 9
    assert "from JPEG files" in out
