import pytest

from likewise.cli.bars import Bars


def test_bars_are_on_stderr_with_count_and_rate(capfd: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        tell = bars.step("reading pictures")
        for done in range(41):
            tell(done, 40)
    out, err = capfd.readouterr()
    assert out == ""
    assert "reading pictures" in err
    assert "40/40" in err
    assert "/s" in err


def test_a_step_that_begins_again_begins_its_bar_again(capfd: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        tell = bars.step("training")
        for done in (1, 2, 3):
            tell(done, 3)
        tell(1, 5)
    err = capfd.readouterr().err
    assert "1/5" in err
    assert err.count("training") == 1
