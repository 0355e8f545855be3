"""The loop of `fit`: warm up, then ask an oracle and train, in rounds or inside batches."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.types import Floats, Indexes, Progress

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer
    from likewise.estimators.questioners import PairQuestioner
    from likewise.oracles.base import Oracle

Tell = Callable[[Sequence[Question], Sequence[Answer]], Any]
Watch = Callable[["InteractiveClusterer"], None]


def run_rounds(
    estimator: "InteractiveClusterer",
    oracle: "Oracle | None",
    n_questions: int,
    progress: Progress,
    watch: Watch | None,
) -> None:
    """Warm up, then ask and train in rounds; the plan determines whether batches ask questions."""
    in_batches = BatchQuestions.of(estimator, oracle)
    if in_batches is not None:
        with in_batches:
            _run_rounds(estimator, None, n_questions, progress, watch)
    else:
        _run_rounds(estimator, oracle, n_questions, progress, watch)


def _run_rounds(
    estimator: "InteractiveClusterer",
    oracle: "Oracle | None",
    n_questions: int,
    progress: Progress,
    watch: Watch | None,
) -> None:
    """Warm up unless that is done, then ask `oracle` before the training of each round."""
    learner = estimator.learner_
    if learner.plan.warmup_epochs and not estimator._is_warm:
        estimator.train(learner.plan.warmup_epochs, progress=progress)
        estimator._is_warm = True
        estimator.save_checkpoint()
    estimator._is_warm = True
    for n in estimator._questions_per_round(n_questions if oracle is not None else 0):
        if oracle is not None and n and estimator.asks and not learner.is_mid_round:
            estimator.ask_oracle(oracle, n)
        estimator.train(progress=progress)
        estimator.round_ += 1
        estimator.save_checkpoint()
        if watch is not None:
            watch(estimator)


def ask_oracle(
    questions: Sequence[Question], oracle: "Oracle", graph: ConstraintGraph, tell: Tell
) -> int:
    """Have questions answered one after another; return how many were asked.

    Questions of one round are chosen together, so the answer to one may imply another,
    which is then not asked.
    """
    n_asked = 0
    for question in questions:
        if not is_implied(question, graph):
            tell([question], oracle.answer([question]))
            n_asked += 1
    return n_asked


def is_implied(question: Question, graph: ConstraintGraph) -> bool:
    """Return whether the answer to a pair or label question follows from the constraints."""
    if question.kind == "pair":
        return graph.relation(*question.images) != 0
    if question.kind == "label":
        return int(graph.groups()[question.images[0]]) in graph.group_names()
    return False


def warn_exhausted(n_wanted: int, n_asked: int) -> None:
    """Warn that `fit` asked fewer questions than it was allowed to."""
    warnings.warn(
        f"Of the {n_wanted} questions of this round {n_asked} were asked: nothing else is open. "
        "Lower n_questions, or give more images.",
        LikewiseWarning,
        stacklevel=6,
    )


def warn_conflicts(results: Sequence[AnswerResult]) -> None:
    """Warn about answers that contradict earlier ones."""
    n_conflicts = sum(not result.accepted for result in results)
    if n_conflicts:
        warnings.warn(
            f"Answers must not contradict earlier ones, got {n_conflicts} of {len(results)} that "
            "do; they are kept but not used. constraints_.conflicts has them with their proofs.",
            LikewiseWarning,
            stacklevel=3,
        )


class BatchQuestions:
    """Asks an oracle about pairs of the batch being trained; answers count in the same step.

    Parameters
    ----------
    estimator : InteractiveClusterer
        Its questioner is a `PairQuestioner`, its learner `supports_batch_queries`.
    oracle : Oracle
    """

    def __init__(self, estimator: "InteractiveClusterer", oracle: "Oracle") -> None:
        self._estimator, self._oracle = estimator, oracle
        self._questioner = cast("PairQuestioner", estimator.questioner_)  # see `check`

    @classmethod
    def of(cls, estimator: "InteractiveClusterer", oracle: "Oracle | None") -> Self | None:
        """Return the callback for `fit`; None if the plan asks between rounds."""
        if not _is_wanted(estimator):
            return None
        if oracle is None:
            return None
        return cls(estimator, oracle)

    @staticmethod
    def check(estimator: "InteractiveClusterer") -> None:
        """Raise if the plan has questions inside batches and the method cannot ask them."""
        can_ask = (
            estimator.learner_.supports_batch_queries
            and estimator.questioner_.supports_batch_queries
        )
        if _is_wanted(estimator) and not can_ask:
            raise InvalidParameterError(
                f"{type(estimator).__name__} asks between rounds only, got "
                "query_timing='batch'; use TrainingPlan(query_timing='round')."
            )

    def __enter__(self) -> Self:
        """Ask the questions that come before training, and register with the learner."""
        initial = self._questioner.propose_initial(self._estimator.query_state())
        self._estimator.put(self._count(initial), self._oracle)
        self._estimator.learner_.batch_questions = self
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Unregister; warn if batches had too few open pairs to ask all questions."""
        self._estimator.learner_.batch_questions = None
        n_asked, budget = self._estimator.n_asked_, self._estimator.budget_
        if error is None and n_asked < budget:
            plan = self._estimator.learner_.plan
            warnings.warn(
                f"Of {budget} questions {n_asked} were asked: at most "
                f"questions_per_batch={plan.questions_per_batch} in a batch, from epoch "
                f"{plan.first_query_epoch} on, and only about open pairs inside the batch. "
                "Train for more epochs, or raise questions_per_batch.",
                LikewiseWarning,
                stacklevel=5,
            )

    def begin_epoch(self) -> None:
        """Begin a new cycle: similarities of this epoch are compared with those of the last."""
        self._questioner.begin_cycle()

    def __call__(
        self, epoch: int, indexes: Indexes, views: tuple[Floats, Floats], probabilities: Floats
    ) -> None:
        """Ask about the most useful pairs of a batch.

        Parameters
        ----------
        epoch : int
        indexes : array of shape (b,)
        views : two arrays of shape (b, m)
            Rows in which strategies compare images, of both views.
        probabilities : array of shape (b, k)
        """
        estimator = self._estimator
        plan = estimator.learner_.plan
        n = min(plan.questions_per_batch, estimator.budget_ - estimator.n_asked_)
        if n > 0 and epoch >= plan.first_query_epoch:
            questions = self._questioner.propose_in_batch(
                n, indexes, views, probabilities, estimator.query_state()
            )
            estimator.put(self._count(questions), self._oracle)
        self._questioner.remember(indexes, views[0] + views[1])

    def _count(self, questions: list[Question]) -> list[Question]:
        self._estimator.n_asked_ += len(questions)
        return questions


def _is_wanted(estimator: "InteractiveClusterer") -> bool:
    return estimator.learner_.plan.query_timing == "batch" and bool(estimator.asks)
