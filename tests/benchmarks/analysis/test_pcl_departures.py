"""The loss of PCL's presets by epoch."""

import pytest

from benchmarks.analysis import pcl_departures


def test_the_loss_as_printed_is_that_of_equal_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pcl_departures, "_EPOCHS", 12)
    monkeypatch.setattr(pcl_departures, "_SHOWN", (1, 12))
    head, paper, reproduction, equal = (row.split("|")[2:-1] for row in pcl_departures.curves(40))
    assert [int(epoch) for epoch in head] == [1, 12]
    assert float(equal[0]) == pytest.approx(9.86)  # 2 log 80 + log 3
    assert [float(loss) for loss in paper] == pytest.approx([9.86, 9.86], abs=0.02)
    assert float(reproduction[-1]) < 9.8
