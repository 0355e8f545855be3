"""The one command for speed figures: which parts there are, said in words."""

import pytest

from benchmarks.speed import PARTS, main


def test_an_unknown_part_is_rejected_before_anything_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["constraints", "constraint"])
    told = capsys.readouterr()
    assert stop.value.code == 2
    assert "unknown part 'constraint'" in told.err
    assert all(name in told.err for name in PARTS)
    assert not told.out
