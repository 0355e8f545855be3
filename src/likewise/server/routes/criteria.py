"""Criteria: list, create, status, and the comparison of two."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from likewise.server.models import (
    CellResponse,
    ComparisonResponse,
    CriterionResponse,
    NewCriterionRequest,
    StatusResponse,
)
from likewise.server.presenters import Presenter, group_name, json_response
from likewise.server.routes import By
from likewise.workspace.gallery import Comparison, compare
from likewise.workspace.workspace import Workspace

CellLimit = Annotated[int, Query(ge=0, le=50, description="Images per cell.")]
Second = Annotated[str, Query(max_length=200, description="Name of the second criterion.")]


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

    @router.get("/compare")
    def compare_criteria(
        second: Second, first: By = "", limit: CellLimit = 6
    ) -> ComparisonResponse:
        """Return the contingency table of two criteria, with some images in each cell."""
        one, other = workspace.criterion(first), workspace.criterion(second)
        table = compare(one.status.gallery(), other.status.gallery(), limit)
        return _comparison(table, one.name, other.name)

    return router


def _comparison(table: Comparison, first: str, second: str) -> ComparisonResponse:
    cells = [
        [CellResponse(n=n, images=shown.tolist()) for n, shown in zip(ns, images, strict=True)]
        for ns, images in zip(table.counts.tolist(), table.images, strict=True)
    ]
    return ComparisonResponse(
        first=first,
        second=second,
        rows=[group_name(group) for group in table.rows],
        columns=[group_name(group) for group in table.columns],
        cells=cells,
        n_images=table.n_images,
        nmi=round(table.nmi, 4),
        ari=round(table.ari, 4),
    )
