"""Where the page was last: found again, by its owner only."""

from pathlib import Path

import pytest

from likewise.server.door import FILE, Door, bind_again, is_open, keep_door, last_door
from likewise.server.serve import bind

HERE = "127.0.0.1"


def test_the_door_is_found_again_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    door = Door(HERE, 8123, "s3cret")
    assert last_door(tmp_path) is None
    keep_door(tmp_path, door)
    assert last_door(tmp_path) == door
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": "x"}', '{"port": "a"}', "\xff"])
def test_a_file_that_says_nothing_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="latin-1")
    assert last_door(tmp_path) is None


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    keep_door(tmp_path / "nowhere", Door(HERE, 1, "t"))
    assert last_door(tmp_path / "nowhere") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "name"), [(HERE, HERE), ("0.0.0.0", HERE), ("::", HERE), ("::1", "[::1]")]
)
def test_the_address_is_one_that_a_browser_can_open(host: str, name: str) -> None:
    assert Door(host, 80, "t").address == f"http://{name}:80/?token=t"


def test_the_port_of_last_time_is_taken_if_it_is_free() -> None:
    with bind(HERE, 0) as reserved:  # which does not listen, and keeps others away
        last = Door(HERE, reserved.getsockname()[1], "t")
        with bind_again(HERE, 0, last) as again:
            assert again.getsockname()[1] == last.port
            again.listen()
            assert is_open(last)
            with bind_again(HERE, 0, last) as other:  # taken: another one will do
                assert other.getsockname()[1] != last.port
        assert not is_open(last)


def test_a_port_that_was_asked_for_goes_before_that_of_last_time() -> None:
    with bind(HERE, 0) as first, bind(HERE, 0) as second:
        asked, last = (one.getsockname()[1] for one in (first, second))
        with bind_again(HERE, asked, Door(HERE, last, "t")) as bound:
            assert bound.getsockname()[1] == asked
