"""The saved address of the page: loaded again, readable by its owner only."""

from pathlib import Path

import pytest

from likewise.server.serve import (
    FILE,
    PageAddress,
    bind,
    bind_preferred,
    choose_token,
    is_open,
    load_address,
    save_address,
)

LOCAL = "127.0.0.1"


def test_an_address_is_loaded_again_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    address = PageAddress(LOCAL, 8123, "s3cret")
    assert load_address(tmp_path) is None
    save_address(tmp_path, address)
    assert load_address(tmp_path) == address
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": "x"}', '{"port": "a"}', "\xff"])
def test_a_malformed_file_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="latin-1")
    assert load_address(tmp_path) is None


def test_each_start_has_a_new_token_unless_the_last_one_is_kept() -> None:
    last = PageAddress(LOCAL, 1, choose_token(None, keep=True))
    assert len(last.token) == 32
    assert choose_token(last, keep=True) == last.token
    assert choose_token(last, keep=False) != last.token


@pytest.mark.parametrize("token", ["", "token", 21 * "x", 30 * "é"])
def test_an_empty_or_short_token_is_replaced(tmp_path: Path, token: str) -> None:
    save_address(tmp_path, PageAddress(LOCAL, 1, token))
    chosen = choose_token(load_address(tmp_path), keep=True)
    assert chosen != token
    assert len(chosen) == 32


def test_a_folder_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    save_address(tmp_path / "missing", PageAddress(LOCAL, 1, "t"))
    assert load_address(tmp_path / "missing") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "name"), [(LOCAL, LOCAL), ("0.0.0.0", LOCAL), ("::", LOCAL), ("::1", "[::1]")]
)
def test_the_url_is_one_that_a_browser_can_open(host: str, name: str) -> None:
    assert PageAddress(host, 80, "t").url == f"http://{name}:80/?token=t"


def test_the_last_port_is_used_again_if_it_is_free() -> None:
    with bind(LOCAL, 0) as reserved:  # bound without listening: no other process takes the port
        last = PageAddress(LOCAL, reserved.getsockname()[1], "t")
        with bind_preferred(LOCAL, 0, last) as again:
            assert again.getsockname()[1] == last.port
            again.listen()
            assert is_open(last)
            with bind_preferred(LOCAL, 0, last) as other:  # in use: any other port
                assert other.getsockname()[1] != last.port
        assert not is_open(last)


def test_a_port_of_the_command_line_is_preferred_to_the_last_port() -> None:
    with bind(LOCAL, 0) as first, bind(LOCAL, 0) as second:
        wanted, last = (one.getsockname()[1] for one in (first, second))
        with bind_preferred(LOCAL, wanted, PageAddress(LOCAL, last, "t")) as bound:
            assert bound.getsockname()[1] == wanted
