"""Criteria and their status."""

from fastapi import APIRouter, Response

from likewise.server.models import (
    CriterionResponse,
    NewCriterionRequest,
    StatusResponse,
)
from likewise.server.presenters import Presenter, json_response
from likewise.server.routes import By
from likewise.workspace.workspace import Workspace


def criteria_router(workspace: Workspace) -> APIRouter:
    """Return the routes for criteria."""
    router, presenter = APIRouter(tags=["criteria"]), Presenter(workspace)

    @router.get("/criteria")
    def list_criteria() -> list[CriterionResponse]:
        """Return the criteria of the session, the oldest first."""
        return [
            CriterionResponse(
                name=one.name,
                n_clusters=one.n_clusters,
                n_answers=workspace.session.graph(one.name).n_answers,
            )
            for one in workspace.session.criteria
        ]

    @router.post("/criteria", status_code=201)
    def create_criterion(request: NewCriterionRequest) -> CriterionResponse:
        """Add a criterion for the same collection; all criteria share the embeddings."""
        made = workspace.add_criterion(request.name, request.n_clusters)
        return CriterionResponse(name=made.name, n_clusters=made.n_clusters, n_answers=0)

    @router.get("/status", response_model=StatusResponse)
    def get_status(by: By = "") -> Response:
        """Return counts, agreement, conflicts and the state of the worker."""
        return json_response(presenter.status(workspace.criterion(by)))

    return router
