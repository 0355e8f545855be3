"""Base of all methods: the verbs start · ask · tell · train, and `fit`, the walk over them."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likewise.constraints.assignment import constrained_assignment
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.errors import LikewiseWarning, PoolExhaustedError
from likewise.methods.asking import Asker
from likewise.methods.checks import check_clusters, drawn_seed
from likewise.methods.fitted import FittedEstimator, Floats
from likewise.methods.plan import Plan
from likewise.methods.putting import put
from likewise.methods.saving import restore
from likewise.methods.settings import resolve
from likewise.methods.source import AbsentSource, Source
from likewise.methods.told import as_answers, checked_constraints, from_constraints
from likewise.oracles.base import Oracle
from likewise.progress import Progress, silent
from likewise.seeds import stream

__all__ = ("Floats", "PersonalClusterer", "Watch")

Watch = Callable[["PersonalClusterer"], None]


class PersonalClusterer(FittedEstimator):
    """Base of all methods; a method says how it is built, improved and read out.

    Attributes
    ----------
    labels_ : array of shape (n_images,)
        The clusters, compact from 0; every answer that stands is honoured.
    probabilities_ : array of shape (n_images, n_clusters)
        What the model by itself believes.
    constraints_ : ConstraintGraph
        All answers and what follows from them.
    violations_ : int
        Standing answers that the model by itself would have violated.
    history_ : list of dict
        One entry an epoch.
    image_names_ : list of str
        The picture behind each label, where pictures were given.
    """

    n_clusters: int
    plan: Plan | None
    random_state: int | None
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    default_plan: ClassVar[Plan] = Plan()
    asks: ClassVar[tuple[str, ...]] = ("pair",)  # kinds of questions; empty: asks nothing

    # -- what a method adds -------------------------------------------------

    @abstractmethod
    def _build(self) -> None:
        """Make whatever is trained; `_source`, `_settings` and `_seed` are there."""

    @abstractmethod
    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        """Train on the images and on all answers so far."""

    # -- the four verbs -----------------------------------------------------

    def start(self, X: Any) -> Self:
        """Take in the collection, forget all else; nothing is trained or asked yet.

        Parameters
        ----------
        X : array of shape (n, d), pictures of shape (n, h, w, 3), a folder, paths or a collection
        """
        self._settings = resolve(self)
        self._seed = drawn_seed(self.random_state)
        self._prepare(self._read(X, reset=True))
        self._assign()
        return self

    def _prepare(self, source: Source) -> None:
        """Make everything that does not depend on what the images show."""
        self._source = source
        self._check_clusters(len(source))
        parity = bool(getattr(self._settings, "parity", False)) and self._n_clusters == 2
        self.constraints_ = ConstraintGraph(len(source), two_groups=parity)
        self.history_: list[dict[str, float]] = []
        self._asker = Asker(self._settings, self.constraints_, self._seed)
        self._round = 0
        self._is_warm = False  # whether the epochs before the first question are done
        self._checkpoint: Path | None = None
        self._build()

    def ask(self, n: int = 1) -> list[Question]:
        """Return the `n` questions whose answers should help most."""
        check_is_fitted(self, "constraints_")
        return self._asker.ask(n, self.probabilities_)

    def tell(self, questions: Iterable[Any], answers: Sequence[Any]) -> Self:
        """Take in answers: `Answer` objects, relations, +1/-1/0, or words."""
        check_is_fitted(self, "constraints_")
        for answer in as_answers(questions, answers):
            self.constraints_.tell(answer)
        return self

    def train(self, n_epochs: int | None = None, *, progress: Progress = silent) -> Self:
        """Train on the images and on all answers so far, then assign anew."""
        check_is_fitted(self, "constraints_")
        self._improve(n_epochs, progress)
        self._assign()
        return self

    # -- the walk -----------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        oracle: Oracle | None = None,
        n_questions: int = 0,
        answers: Iterable[Answer] = (),
        progress: Progress = silent,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
        **constraints: Any,
    ) -> Self:
        """Cluster `X`, asking `oracle` along the way if there is one.

        Parameters
        ----------
        X : see `start`
        y : ignored
            A method never sees labels.
        oracle : Oracle, optional
            Without one nothing is asked, and the method clusters as it can.
        n_questions : int
            How many answers the oracle may give.
        answers : iterable of Answer
            Collected elsewhere.
        progress, watch : callables
            `watch` is called with the estimator after every round.
        checkpoint : path, optional
            Written as training goes; where it exists, the same call goes on
            from it, bit for bit as if it had never stopped.
        pairs, relations : arrays of shape (m, 2) and (m,)
            Index pairs and +1/-1.
        ml, cl : lists of pairs
            Must-links and cannot-links.
        """
        collected = [*answers, *from_constraints(**checked_constraints(constraints))]
        self.start(X)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        if self._checkpoint is not None and self._checkpoint.exists():
            restore(self, self._checkpoint)
        else:
            self.tell([a.question for a in collected], collected)
        self._asker.budget = n_questions
        self._walk(oracle, n_questions, progress, watch)
        return self

    def _walk(
        self, oracle: Oracle | None, n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        plan = self._plan
        if plan.warmup_epochs and not self._is_warm:
            self.train(plan.warmup_epochs, progress=progress)
            self._is_warm = True
            self._keep_checkpoint()
        self._is_warm = True
        while self._round < plan.n_rounds:
            n = plan.questions_in_round(n_questions, self._round)
            if oracle is not None and n and self.asks and not self._is_mid_round:
                self._question(oracle, n)
            self.train(progress=progress)
            self._round += 1
            self._keep_checkpoint()
            if watch is not None:
                watch(self)

    @property
    def _is_mid_round(self) -> bool:
        return False

    def _keep_checkpoint(self) -> None:
        if self._checkpoint is not None:
            self.save(self._checkpoint)

    def _question(self, oracle: Oracle, n: int) -> None:
        """Have `n` questions answered, or as many as are open, and say so."""
        while n > 0:
            try:
                questions = self.ask(min(n, self._asker.at_once or n))
            except PoolExhaustedError as error:
                questions, n = self._ask_what_is_left(n), 0
                told = f"{error} Asked the {len(questions)} that were left."
                warnings.warn(told, LikewiseWarning, stacklevel=4)
            n_put = self._put(questions, oracle)
            n = n - n_put if n_put else 0  # a method with nothing to ask is not asked again

    def _put(self, questions: Sequence[Question], oracle: Oracle) -> int:
        """Have questions answered, none that answers before it settle; return how many."""
        n_put = put(questions, oracle, self.constraints_, self.tell)
        self._asker.n_asked -= len(questions) - n_put
        return n_put

    def _ask_what_is_left(self, n: int) -> list[Question]:
        """Return at most `n` open questions, whatever their score."""
        return self._asker.ask_what_is_left(n, self.probabilities_)

    def _wake(self, facts: Mapping[str, Any]) -> None:
        """Be as after `start`, without the images."""
        self._settings = resolve(self)
        self._seed = 0
        self._prepare(AbsentSource(facts))

    @property
    def _plan(self) -> Plan:
        plan = self._settings.plan
        return self.default_plan if plan is None else plan

    @property
    def _n_clusters(self) -> int:
        return int(self._settings.n_clusters)

    def _check_clusters(self, n_images: int) -> None:
        check_clusters(self._settings.n_clusters, n_images)

    def _assign(self) -> None:
        """Read out all images; honour the answers; remember which columns are in use."""
        self._embeddings, probabilities = self._read_out(self._source)
        rows = self._rows_to_compare()
        if rows is not None:
            self._asker.remember(np.arange(len(rows)), rows)
        honoured = constrained_assignment(probabilities, self.constraints_)
        used = np.unique(honoured.labels)
        unused = np.setdiff1d(np.arange(probabilities.shape[1]), used)
        # scikit-learn wants labels compact from 0: columns without an image go last.
        self._columns = np.concatenate([used, unused])
        self.probabilities_ = self._tempered(probabilities[:, self._columns])
        self.labels_ = np.argsort(self._columns)[honoured.labels]
        self.violations_ = honoured.n_violations

    def _rows_to_compare(self) -> Floats | None:
        """Return the embeddings in which strategies compare images; None if none does."""
        return self._embeddings

    def _rng(self, *names: str | int) -> np.random.Generator:
        return stream(self._seed, *names)
