"""Label questions as DSAC asks them: representative images, difficult ones, or any."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.errors import PoolExhaustedError
from likewise.estimators.pair_questioner import RECENT
from likewise.estimators.parts import QueryState, Questioner, State
from likewise.queries.density import N_CANDIDATES
from likewise.queries.dsac import difficult, quotas, representatives, shares
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

if TYPE_CHECKING:
    from likewise.estimators.deep.seeded_kmeans import Clusters

Mask = npt.NDArray[np.bool_]
SELECTIONS = ("full", "random", "difficult", "representative")
_ONLY: dict[str, Literal["representative", "difficult"] | None] = {
    "full": None,
    "difficult": "difficult",
    "representative": "representative",
}


class LabelQuestioner(Questioner):
    """Asks for the labels of images that are chosen cluster by cluster.

    Parameters
    ----------
    clusters : callable
        Returns the embeddings of all images and their clusters.
    selection : {"full", "random", "difficult", "representative"}
    n_candidates : int
        Images of each cluster and kind, of which the most compact are chosen.
    """

    def __init__(
        self,
        clusters: "Callable[[], tuple[Floats, Clusters]]",
        selection: str = "full",
        n_candidates: int = N_CANDIDATES,
    ) -> None:
        self._clusters, self._selection, self._n_candidates = clusters, selection, n_candidates
        self.n_calls = 0

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return the `n` images whose labels are most useful.

        Raises
        ------
        PoolExhaustedError
            If fewer images have no label, unless `allow_fewer`.
        """
        if not allow_fewer:
            check_open(state.constraints, n)
        rows, found = self._clusters()
        call, self.n_calls = self.n_calls, self.n_calls + 1
        chosen = choose_images(
            self._selection,
            rows,
            found,
            closed_images(state.constraints),
            n,
            call,
            state.seed,
            n_candidates=self._n_candidates,
        )
        return [Question.label(int(image)) for image in chosen]

    def get_state(self) -> State:
        """Return the number of calls."""
        return {"n_calls": np.array(self.n_calls)}

    def set_state(self, state: State) -> None:
        """Restore the number of calls."""
        self.n_calls = int(state["n_calls"])


def choose_images(
    selection: str,
    rows: Floats,
    found: "Clusters",
    is_closed: Mask,
    n: int,
    call: int,
    seed: int,
    *,
    n_candidates: int = N_CANDIDATES,
) -> Indexes:
    """Return at most `n` open images to label, all different.

    Parameters
    ----------
    selection : {"full", "random", "difficult", "representative"}
    rows : array of shape (n_images, d)
    found : Clusters
    is_closed : array of shape (n_images,)
        Images not to ask about.
    n : int
    call : int
        Number of this call, from 0: where a cluster gets one label, calls alternate
        between representative and difficult images.
    seed : int
    n_candidates : int
        Of each cluster and kind, :math:`k_1`; the most compact of them are chosen.
    """
    open_images = np.flatnonzero(~is_closed)
    if selection == "random":
        rng = stream(seed, "label at random", call)
        return rng.permutation(open_images)[:n]
    n_open = np.bincount(found.clusters[open_images], minlength=len(found.centres))
    quota = quotas(min(n, len(open_images)), n_open)
    n_near, n_far = shares(quota, call, only=_ONLY[selection])
    near = representatives(
        rows, found.clusters, found.distances, n_near, is_closed, n_candidates=n_candidates
    )
    closed = is_closed.copy()
    closed[near] = True
    far = difficult(rows, found.clusters, found.distances, n_far, closed, n_candidates=n_candidates)
    return np.concatenate([near, far])


def closed_images(graph: ConstraintGraph) -> Mask:
    """Return which images have a label, were passed recently, or are bad, ``(n_images,)``."""
    closed: Mask = np.isin(graph.groups(), list(graph.group_names()))
    recent = list(graph.answers.values())[-RECENT:]
    passed = [a.question.images[0] for a in recent if _is_passed(a)]
    closed[[*graph.bad_images, *passed]] = True
    return closed


def check_open(graph: ConstraintGraph, n: int) -> None:
    """Raise if fewer than `n` images have no label.

    Raises
    ------
    PoolExhaustedError
    """
    n_open = int((~closed_images(graph)).sum())
    if n_open < n:
        raise PoolExhaustedError(
            f"{n} labels were asked for but only {n_open} images have none; ask for fewer."
        )


def _is_passed(answer: Answer) -> bool:
    return answer.question.kind == "label" and answer.answer == CANNOT_TELL
