"""What all tests share: vectors are kept where no other run finds them."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _cache_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("LIKEWISE_CACHE")
    os.environ["LIKEWISE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("LIKEWISE_CACHE")
    if before is not None:
        os.environ["LIKEWISE_CACHE"] = before
