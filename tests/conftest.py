"""Common to all tests: a cache folder of this run, and no time limits of Hypothesis."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Tests run beside other processes: how long an example takes says nothing about the code. CI tries
# the same examples each time; on a developer's machine they differ from run to run.
settings.register_profile(
    "likewise",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("likewise")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("LIKEWISE_CACHE")
    os.environ["LIKEWISE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("LIKEWISE_CACHE")
    if before is not None:
        os.environ["LIKEWISE_CACHE"] = before
