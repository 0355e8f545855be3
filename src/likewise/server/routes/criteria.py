"""Routes of criteria: list, create, change, status, and the comparison of two."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response

from likewise.server.models import (
    AgreementResponse,
    CellResponse,
    ComparisonResponse,
    CriterionResponse,
    StatusResponse,
)
from likewise.server.presenters import Presenter, group_name, json_response
from likewise.server.requests import CriterionChangeRequest, NewCriterionRequest
from likewise.server.routes import By
from likewise.session.criteria import Criterion
from likewise.workspace.gallery import Comparison, compare
from likewise.workspace.team import agreement
from likewise.workspace.workspace import Workspace

CellLimit = Annotated[int, Query(ge=0, le=50, description="Images per cell.")]
Second = Annotated[str, Query(max_length=200, description="Name of the second criterion.")]


def criteria_router(workspace: Workspace) -> APIRouter:
    """Return the routes for criteria."""
    router, presenter = APIRouter(tags=["criteria"]), Presenter(workspace)

    @router.get("/criteria")
    def list_criteria() -> list[CriterionResponse]:
        """Return the criteria of the session, the oldest first."""
        session = workspace.session
        return [_criterion(one, session.graph(one.name).n_answers) for one in session.criteria]

    @router.post("/criteria", status_code=201)
    def create_criterion(request: NewCriterionRequest) -> CriterionResponse:
        """Add a criterion for the same collection; all criteria share the embeddings."""
        made = workspace.add_criterion(request.name, request.n_clusters)
        changed = workspace.change_criterion(
            made.name, pair_text=request.pair_text, choice_text=request.choice_text
        )
        return _criterion(changed, 0)

    @router.patch("/criteria")
    def change_criterion(request: CriterionChangeRequest) -> CriterionResponse:
        """Change the number of groups or the wording of the questions; answers are kept."""
        changes = request.model_dump(exclude={"criterion"}, exclude_unset=True)
        name = workspace.criterion(request.criterion).name
        changed = workspace.change_criterion(name, **changes)
        return _criterion(changed, workspace.session.graph(name).n_answers)

    @router.get("/status", response_model=StatusResponse)
    def get_status(by: By = "") -> Response:
        """Return counts, estimated accuracy, conflicts and the state of the worker."""
        return json_response(presenter.status(workspace.criterion(by)))

    @router.get("/agreement")
    def get_agreement(by: By = "") -> list[AgreementResponse]:
        """Return the agreement of any two people with a name on the criterion."""
        name = workspace.criterion(by).name
        return [AgreementResponse(**asdict(one)) for one in agreement(workspace.session, name)]

    @router.get("/compare")
    def compare_criteria(
        second: Second, first: By = "", limit: CellLimit = 6
    ) -> ComparisonResponse:
        """Return the contingency table of two criteria, with some images in each cell."""
        one, other = workspace.criterion(first), workspace.criterion(second)
        table = compare(one.status.gallery(), other.status.gallery(), limit)
        return _comparison(table, one.name, other.name)

    return router


def _criterion(criterion: Criterion, n_answers: int) -> CriterionResponse:
    return CriterionResponse(
        name=criterion.name,
        n_clusters=criterion.n_clusters,
        n_answers=n_answers,
        pair_text=criterion.pair_text,
        choice_text=criterion.choice_text,
    )


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
