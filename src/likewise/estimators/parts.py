"""Base classes of a method and of its two parts: `Learner` (trained) and `Questioner` (asks)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Question
from likewise.estimators.params import TrainingPlan
from likewise.types import Floats, Indexes, Progress

if TYPE_CHECKING:
    from likewise.estimators.data import Data
    from likewise.estimators.fit_rounds import BatchQuestions

#: What is saved of a part: arrays by name, numbers as arrays without dimensions.
State = Mapping[str, npt.NDArray[Any]]


class Prediction(NamedTuple):
    """What a learner predicts for a collection.

    Parameters
    ----------
    embeddings : array of shape (n, d)
        The learned representation, returned by `transform`.
    probabilities : array of shape (n, k)
        Of each cluster; answers are assigned by these.
    calibrated : array of shape (n, k), optional
        Probabilities to report, if they differ from those to assign by.
    query_rows : array of shape (n, m), optional
        Rows in which query strategies compare images; `embeddings` if None.
    """

    embeddings: Floats
    probabilities: Floats
    calibrated: Floats | None = None
    query_rows: Floats | None = None

    @property
    def reported(self) -> Floats:
        """Return the probabilities to report."""
        return self.probabilities if self.calibrated is None else self.calibrated


@dataclass(frozen=True)
class QueryState:
    """What a questioner may know when it chooses questions.

    Parameters
    ----------
    constraints : ConstraintGraph
        All answers and what follows from them.
    embeddings : array of shape (n, d)
    probabilities : array of shape (n, k)
        Columns in the order of `labels_`.
    columns : array of shape (k,)
        The learner's column behind each column of `probabilities`.
    seed : int
        For `likewise.random_streams.stream`.
    n_asked, n_answered : int
        Questions asked by this estimator, and answers it was told.
    budget : int
        Answers that `fit` may ask for; 0 if unknown.
    """

    constraints: ConstraintGraph
    embeddings: Floats
    probabilities: Floats
    columns: Indexes
    seed: int
    n_asked: int = 0
    n_answered: int = 0
    budget: int = 0

    @property
    def remaining(self) -> float:
        """Return the fraction of the budget that is left, 1 if there is no budget."""
        return max(1.0 - self.n_asked / self.budget, 0.0) if self.budget else 1.0


class Learner(ABC):
    """What is trained: a network, a classifier, or cluster centres.

    Attributes
    ----------
    plan : TrainingPlan
        `fit` reads its rounds, warm-up epochs and query timing.
    history : list of dict
        Metrics of each epoch or training, appended by `train`.
    is_mid_round : bool
        Whether a training was interrupted; `train` then continues it.
    is_checkpoint_due : bool
        Whether to write a checkpoint after the present epoch.
    supports_batch_queries : bool
        Whether questions can be asked inside a batch: then it has `batch_questions`, a
        `BatchQuestions` or None, to call after both views of each batch are computed.
    """

    plan: TrainingPlan = TrainingPlan()
    history: list[dict[str, float]]
    is_mid_round: bool = False
    is_checkpoint_due: bool = True
    supports_batch_queries: bool = False
    batch_questions: "BatchQuestions | None" = None

    @abstractmethod
    def build(self, data: "Data", n_clusters: int, seed: int) -> None:
        """Make everything that is trained; `data` may be `MissingData` for a loaded model."""

    @abstractmethod
    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        """Train on the data given to `build` and on all answers so far.

        `progress` is called after each epoch, when `get_state` can be saved.
        """

    @abstractmethod
    def predict(self, data: "Data") -> Prediction:
        """Return embeddings and probabilities, image by image, for any data."""

    @abstractmethod
    def get_state(self) -> State:
        """Return everything that `train` changed."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned, after `build`.

        A model of release 0.1 passes its arrays under the names they had there.
        """

    def fitting(self) -> AbstractContextManager[None]:
        """Return a context in which `fit` runs, to open and close log files."""
        return nullcontext()


class Questioner(ABC):
    """What is asked.

    Attributes
    ----------
    ask_again_after : int or None
        Answers after which `fit` proposes questions anew within a round; None: once a round.
    supports_batch_queries : bool
        Whether it can ask inside a training batch, as `PairQuestioner` can.
    """

    ask_again_after: int | None = None
    supports_batch_queries: bool = False

    @abstractmethod
    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return the `n` most useful questions, best first.

        Raises
        ------
        PoolExhaustedError
            If fewer are open, unless `allow_fewer`.
        """

    def update(self, prediction: Prediction, state: QueryState) -> None:
        """Take note of a new prediction of the collection, after `start` and each training."""
        return

    def get_state(self) -> State:
        """Return everything that must be saved to continue with the same questions."""
        return {}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned, or arrays of release 0.1 under their old names."""
        return


class NoQuestions(Questioner):
    """For methods that ask nothing."""

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return nothing."""
        return []


if TYPE_CHECKING:

    class ScikitLearnEstimator:
        """scikit-learn's base classes of a method, with the types that scikit-learn lacks."""

        n_features_in_: int
        feature_names_in_: npt.NDArray[np.object_]

        def __init__(self, *_: Any, **parameters: Any) -> None: ...

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the constructor parameters."""
            raise NotImplementedError

        def set_params(self, **params: Any) -> Self:
            """Set constructor parameters."""
            raise NotImplementedError

        def set_output(
            self, *, transform: Literal["default", "pandas", "polars"] | None = None
        ) -> Self:
            """Set in which container `transform` returns the representation."""
            raise NotImplementedError

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Set which parameters of `fit` a pipeline or search passes on."""
            raise NotImplementedError

        def get_feature_names_out(self, input_features: Any = None) -> Any:
            """Return the names of the columns of `transform`."""
            raise NotImplementedError

        def get_metadata_routing(self) -> Any:
            """Return which parameters of `fit` are passed on."""
            raise NotImplementedError

        def _html_repr(self) -> str:
            raise NotImplementedError

        def __sklearn_tags__(self) -> Any:
            raise NotImplementedError

else:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
    )

    class ScikitLearnEstimator(
        ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator
    ):
        """scikit-learn's base classes of a method, with the types that scikit-learn lacks."""
