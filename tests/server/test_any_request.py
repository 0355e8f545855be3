"""Every generated request gets a documented response (schemathesis)."""

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from likewise.server.app import create_app
from likewise.workspace.workspace import Workspace
from tests.server.conftest import AUTHORISED, TOKEN

schemathesis: Any = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

HEADERS = {**AUTHORISED, "Host": "127.0.0.1"}
STREAM = "/api/events"  # never ends
FEW = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
def test_every_request_gets_a_documented_response(workspace: Workspace) -> None:
    app = create_app(workspace, TOKEN)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    operations = [found.ok() for found in schema.exclude(path=STREAM).get_all_operations()]
    assert len(operations) >= 16
    for operation in operations:
        for mode in schemathesis.GenerationMode:
            check(operation.as_strategy(generation_mode=mode))
    assert workspace.session.graph("colour").n_answers >= 0  # the server still works


def check(cases: Any) -> None:
    @FEW
    @given(case=cases)
    def every(case: Any) -> None:
        response = case.call(headers=HEADERS)
        known = case.operation.definition.raw["responses"]
        assert str(response.status_code) in known, (case.method, case.path, response.text)
        if response.status_code >= 400:
            assert set(response.json()) == {"error", "message"}

    with contextlib.suppress(Unsatisfiable):  # a path without parameters has no invalid requests
        every()
