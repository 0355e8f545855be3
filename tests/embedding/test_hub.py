"""Models by ID: from the cache, from the hub with a warning, and clear errors otherwise."""

import json
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from likewise.embedding.hub import find_model
from likewise.embedding.registry import make_encoder
from likewise.errors import EncoderError, LikewiseWarning
from tests.embedding.tiny_models import PREPROCESSOR, save_tiny

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def no_real_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the client at a closed port and an empty cache."""
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)


def cached_model(cache: Path, name: str) -> Path:
    """Save a tiny model in the cache of the hub's client."""
    repo = cache / f"models--{name.replace('/', '--')}"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(COMMIT)
    folder = repo / "snapshots" / COMMIT
    save_tiny("vit", folder, PREPROCESSOR)
    return folder


def test_a_downloaded_model_is_used_without_the_hub(tmp_path: Path) -> None:
    folder = cached_model(tmp_path / "cache", "someone/tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_model("someone/tiny") == folder
    encoder = make_encoder("hf:someone/tiny")
    assert encoder.name.startswith("hf-someone-tiny-28-")
    assert make_encoder("someone/tiny").name == encoder.name
    assert make_encoder(str(folder)).name.endswith(encoder.name[-12:])  # of the same weights


def test_an_incomplete_download_is_not_used(tmp_path: Path) -> None:
    folder = cached_model(tmp_path / "cache", "someone/tiny")
    (folder / "model.safetensors").unlink()
    with pytest.raises(EncoderError, match="cannot be reached"):
        find_model("someone/tiny")


def test_an_unreachable_hub_is_reported() -> None:
    with pytest.raises(
        EncoderError,
        match=r"The model facebook/dinov2-small is not on this machine and the Hugging Face hub "
        r"cannot be reached \(.+\); connect .* or use the encoder 'bundled'",
    ):
        find_model("facebook/dinov2-small")


def test_offline_mode_is_reported_as_an_unreachable_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(EncoderError, match="cannot be reached"):
        find_model("facebook/dinov2-small")


@pytest.mark.parametrize("name", ["/no/such/folder", "./nothing", "~/nothing-at-all", "a/b/c"])
def test_a_missing_folder_is_reported(name: str) -> None:
    with pytest.raises(EncoderError, match=r"The folder .+ does not exist; use a folder"):
        find_model(name)


def test_a_file_instead_of_a_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.bin").write_bytes(b"weights")
    monkeypatch.chdir(tmp_path)
    for name in (str(tmp_path / "models" / "tiny.bin"), "models/tiny.bin"):
        with pytest.raises(
            EncoderError,
            match=r"tiny\.bin must be a folder with a model, but is a file; .*save_pretrained",
        ):
            find_model(name)


@pytest.mark.parametrize("name", ["some one/tiny", "-x/y", "x/y..z"])
def test_an_invalid_id_is_reported(name: str) -> None:
    with pytest.raises(EncoderError, match="is not a valid model ID; IDs look like"):
        find_model(name)


class FakeHub(BaseHTTPRequestHandler):
    """A server with the few routes of the hub that its client needs."""

    folder: Path

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def do_HEAD(self) -> None:
        self.do_GET(with_body=False)

    def do_GET(self, with_body: bool = True) -> None:
        path = self.path.partition("?")[0]
        files = sorted(file.name for file in self.folder.iterdir())
        if "someone/gated" in path:
            self._send(403, b"{}", with_body, {"X-Error-Code": "GatedRepo"})
        elif "someone/tiny" not in path:
            self._send(404, b"{}", with_body, {"X-Error-Code": "RepoNotFound"})
        elif "/resolve/" in path:
            name = path.rpartition("/")[2]  # the client stores one file per ETag
            headers = {"ETag": f'"{name}"', "X-Repo-Commit": COMMIT}
            self._send(200, (self.folder / name).read_bytes(), with_body, headers)
        elif "/tree/" in path:
            tree = [
                {
                    "type": "file",
                    "path": file,
                    "size": (self.folder / file).stat().st_size,
                    "oid": file,
                }
                for file in files
            ]
            self._send(200, json.dumps(tree).encode(), with_body, {})
        else:
            siblings = [{"rfilename": file} for file in files]
            info = {"id": "someone/tiny", "sha": COMMIT, "siblings": siblings}
            self._send(200, json.dumps(info).encode(), with_body, {})

    def _send(self, status: int, content: bytes, with_body: bool, extra: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(content)), **extra}.items():
            self.send_header(key, value)
        self.end_headers()
        if with_body:
            self.wfile.write(content)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve a hub with one model; yield its folder."""
    folder = tmp_path / "served"
    save_tiny("vit", folder, PREPROCESSOR)
    (folder / "pytorch_model.bin").write_bytes(b"not wanted")
    (folder / "README.md").write_text("not wanted")
    handler = type("Handler", (FakeHub,), {"folder": folder})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        address + "/{repo_id}/resolve/{revision}/{filename}",
    )
    yield folder
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("hub")
def test_an_unknown_id_is_reported() -> None:
    with pytest.raises(EncoderError, match=r"There is no public model 'someone/tiney' on the"):
        find_model("someone/tiney")


@pytest.mark.usefixtures("hub")
def test_a_gated_model_is_reported() -> None:
    with pytest.raises(EncoderError, match=r"someone/gated is gated: accept its terms"):
        find_model("someone/gated")


def test_a_download_warns_and_fetches_only_the_needed_files(hub: Path) -> None:
    with pytest.warns(LikewiseWarning, match="Downloading the model someone/tiny from the"):
        folder = find_model("someone/tiny")
    assert sorted(file.name for file in folder.iterdir()) == [
        "config.json",
        "model.safetensors",
        "preprocessor_config.json",
    ]
    assert (folder / "config.json").read_bytes() == (hub / "config.json").read_bytes()
    assert find_model("someone/tiny") == folder  # without a request


def test_a_model_without_weights_is_reported(hub: Path) -> None:
    (hub / "model.safetensors").unlink()
    (hub / "pytorch_model.bin").unlink()
    with pytest.raises(EncoderError, match="has no weights in a supported format"):
        find_model("someone/tiny")
