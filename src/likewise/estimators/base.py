"""The base class of all methods: start, ask, tell, train; fit, predict, transform; save, load."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.constraints.assignment import constrained_assignment
from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, constraints_to_answers, to_answers
from likewise.errors import PoolExhaustedError
from likewise.estimators.data import Data, InputSpec, MissingData, check_same_kind
from likewise.estimators.fit_rounds import (
    BatchQuestions,
    Watch,
    ask_oracle,
    run_rounds,
    warn_conflicts,
    warn_exhausted,
)
from likewise.estimators.params import check_n_clusters, draw_seed, preset_values, resolve
from likewise.estimators.parts import Learner, QueryState, Questioner, ScikitLearnEstimator
from likewise.types import Floats, Indexes, Progress, silent

if TYPE_CHECKING:
    from likewise.oracles.base import Oracle


class InteractiveClusterer(ScikitLearnEstimator):
    """Base class of all methods: a learner and a questioner behind scikit-learn's interface.

    A method has constructor parameters and `_make_parts`; everything else is optional.

    Attributes
    ----------
    labels_ : array of shape (n_images,)
        Clusters, numbered from 0 without gaps; they satisfy all active constraints.
    probabilities_ : array of shape (n_images, n_clusters)
        The model's own prediction, before constraints are applied.
    embeddings_ : array of shape (n_images, d)
        The learned representation.
    columns_ : array of shape (n_clusters,)
        The learner's column behind each column of `probabilities_`.
    constraints_ : ConstraintGraph
        All answers and what follows from them.
    violations_ : int
        Active constraints that the model's own prediction violates.
    history_ : list of dict
        Metrics of each epoch.
    image_names_, images_ : list of str, ImageCollection
        The image of each label, if images were given.
    learner_, questioner_ : Learner, Questioner
    settings_ : InteractiveClusterer
        The parameters in force: an unfitted estimator with its preset applied.
    n_asked_, n_answered_, round_ : int
        Questions asked, answers given, rounds finished.
    """

    n_clusters: Any  # int, or None if `finds_n_clusters`
    encoder: Any
    random_state: int | None
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    asks: ClassVar[tuple[str, ...]] = ("pair",)  # kinds of questions; empty: asks nothing
    renamed_parameters: ClassVar[Mapping[str, str | None]] = {}  # of release 0.1; None: ignored
    finds_n_clusters: ClassVar[bool] = False  # whether n_clusters may be None

    labels_: Indexes
    probabilities_: Floats
    embeddings_: Floats
    columns_: Indexes
    violations_: int
    constraints_: ConstraintGraph
    history_: list[dict[str, float]]
    image_names_: list[str]
    settings_: Self
    learner_: Learner
    questioner_: Questioner
    seed_: int
    n_asked_: int
    n_answered_: int
    budget_: int
    round_: int
    _data: Data
    _is_warm: bool
    _checkpoint: Path | None
    _allow_download: bool = True  # False if the name of the encoder is from a file

    # -- what a method defines --------------------------------------------------

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        """Return the untrained learner and the questioner; parameters are in `settings_`."""
        raise NotImplementedError(f"{type(self).__name__} must define _make_parts.")

    def _input_spec(self) -> InputSpec:
        """Return what to make of images: by default they are embedded by `encoder`."""
        return InputSpec(encoder=self.settings_.encoder)

    def _make_constraints(self, n_images: int) -> ConstraintGraph:
        """Return an empty constraint graph."""
        return ConstraintGraph(n_images)

    def _questions_per_round(self, n_questions: int) -> Iterator[int]:
        """Yield the number of questions before each training, for the rounds still to do."""
        plan = self.learner_.plan
        while self.round_ < plan.n_rounds:
            yield plan.questions_in_round(n_questions, self.round_)

    @classmethod
    def from_preset(cls, preset: str, **changes: Any) -> Self:
        """Return the method with the values of a preset, except for `changes`.

        In ``PCL(preset="paper", norm="global")`` the preset wins, for an estimator cannot
        know that a value equal to the default was given. Here the change wins.

        Examples
        --------
        >>> from likewise import OCC
        >>> OCC.from_preset("paper", extension=0.0).extension
        0.0
        """
        return cls(**{**preset_values(cls, preset), **changes})

    # -- start, ask, tell, train --------------------------------------------------

    def start(self, X: Any) -> Self:
        """Begin with a collection; nothing is trained or asked yet.

        Parameters
        ----------
        X : array of shape (n, d), images of shape (n, h, w, 3), a folder, paths or a collection
        """
        self.settings_ = resolve(self)
        self.seed_ = draw_seed(self.random_state)
        self._prepare(self._read(X, reset=True))
        self._assign()
        return self

    def ask(self, n: int = 1) -> list[Question]:
        """Return the `n` most useful questions.

        Raises
        ------
        PoolExhaustedError
            If fewer are open.
        """
        check_is_fitted(self, "constraints_")
        questions = self.questioner_.propose(n, self.query_state())
        self.n_asked_ += len(questions)
        return questions

    def tell(self, questions: Iterable[Any], answers: Sequence[Any]) -> Self:
        """Add answers: `Answer` objects, relations, +1/-1/0, or words such as "same".

        One that contradicts earlier answers is kept but not used, and gives a warning.
        """
        check_is_fitted(self, "constraints_")
        warn_conflicts([self.tell_one(answer) for answer in to_answers(questions, answers)])
        return self

    def tell_one(self, answer: Answer) -> AnswerResult:
        """Add one answer; return its result."""
        self.n_answered_ += 1
        return self.constraints_.tell(answer)

    def train(self, n_epochs: int | None = None, *, progress: Progress = silent) -> Self:
        """Train on the images and on all answers so far, then assign clusters."""
        check_is_fitted(self, "constraints_")

        def after_epoch(done: int, total: int) -> None:
            progress(done, total)
            if done < total:  # the end of a round is saved by `run_rounds`, which counts it
                self.save_checkpoint(mid_round=True)

        self.learner_.train(self.constraints_, n_epochs, after_epoch)
        self._assign()
        return self

    # -- fit ------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        oracle: "Oracle | None" = None,
        n_questions: int = 0,
        answers: Iterable[Answer] = (),
        progress: Progress = silent,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
        **constraints: Any,
    ) -> Self:
        """Cluster `X`, asking `oracle` if one is given.

        Parameters
        ----------
        X : see `start`
        y : ignored
            Labels are never used.
        oracle : Oracle, optional
            Answers questions. Without one, nothing is asked.
        n_questions : int
            Number of questions to ask.
        answers : iterable of Answer
            Answers collected before.
        progress, watch : callables
            `progress` is called during training, `watch` with the estimator after each round.
        checkpoint : path, optional
            Folder written during training. If it exists, training continues from it and
            gives the same result as if it had never stopped.
        pairs, relations : arrays of shape (m, 2) and (m,)
            Index pairs and +1/-1.
        ml, cl : lists of pairs that must be, and must not be, in one cluster
        """
        given = [*answers, *constraints_to_answers(**constraints)]
        self.start(X)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        if self._checkpoint is not None and self._checkpoint.exists():
            from likewise.estimators.persistence import restore

            restore(self, self._checkpoint)
        else:
            self.tell([answer.question for answer in given], given)
        self.budget_ = n_questions
        with self.learner_.fitting():
            self.run_rounds(oracle, n_questions, progress, watch)
        return self

    def run_rounds(
        self, oracle: "Oracle | None", n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        """Warm up, then ask and train in rounds; called by `fit`."""
        run_rounds(self, oracle, n_questions, progress, watch)

    def ask_oracle(self, oracle: "Oracle", n: int) -> None:
        """Have `oracle` answer `n` questions, or as many as are open."""
        n_left = n
        while n_left > 0:
            try:
                questions = self.ask(min(n_left, self.questioner_.ask_again_after or n_left))
            except PoolExhaustedError:
                questions = self.questioner_.propose(n_left, self.query_state(), allow_fewer=True)
                self.n_asked_ += len(questions)
                warn_exhausted(n, n - n_left + self.put(questions, oracle))
                return
            n_put = self.put(questions, oracle)
            n_left = n_left - n_put if n_put else 0  # nothing was left to ask

    def put(self, questions: Sequence[Question], oracle: "Oracle") -> int:
        """Have `oracle` answer questions that earlier answers do not imply; return how many."""
        n_put = ask_oracle(questions, oracle, self.constraints_, self.tell)
        self.n_asked_ -= len(questions) - n_put
        return n_put

    def save_checkpoint(self, *, mid_round: bool = False) -> None:
        """Write a checkpoint, if `fit` was given a folder for them.

        Inside a round only every `checkpoint_every` epochs.
        """
        is_due = not mid_round or self.learner_.is_checkpoint_due
        if self._checkpoint is not None and is_due:
            self.save(self._checkpoint)

    def query_state(self) -> QueryState:
        """Return what the questioner may know."""
        return QueryState(
            self.constraints_,
            self.embeddings_,
            self.probabilities_,
            self.columns_,
            self.seed_,
            n_asked=self.n_asked_,
            n_answered=self.n_answered_,
            budget=self.budget_,
        )

    # -- predict --------------------------------------------------------------------

    def predict(self, X: Any) -> Indexes:
        """Return the cluster of each image of `X`; images are predicted independently."""
        found: Indexes = self.predict_proba(X).argmax(axis=1)
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each cluster for each image of `X`."""
        check_is_fitted(self, "labels_")
        prediction = self.learner_.predict(self._read(X, reset=False))
        probabilities: Floats = prediction.reported[:, self.columns_]
        return probabilities

    def transform(self, X: Any) -> Floats:
        """Return the learned representation of each image of `X`, as unit vectors."""
        check_is_fitted(self, "labels_")
        return self.learner_.predict(self._read(X, reset=False)).embeddings

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Floats:
        """Fit to `X` and return its learned representation."""
        return self.fit(X, y, **fit_params).transform(X)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> Indexes:
        """Fit to `X` and return `labels_`."""
        return self.fit(X, y, **fit_params).labels_

    def renumber(self, order: Indexes) -> Self:
        """Renumber the clusters: ``order[i]`` becomes `i`, until the next training."""
        self.columns_ = self.columns_[order]
        self.probabilities_ = self.probabilities_[:, order]
        self.labels_ = np.argsort(order)[self.labels_]
        return self

    def save(self, path: str | Path) -> None:
        """Write the model to the folder `path`: safetensors and JSON, no pickle."""
        check_is_fitted(self, "labels_")
        from likewise.estimators.persistence import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> Self:
        """Return a saved model; give `parameters` that could not be saved as JSON."""
        from likewise.estimators.persistence import load

        model = load(Path(path), cls, parameters)
        assert isinstance(model, cls)  # `load` checks the class
        return model

    # -- inside -----------------------------------------------------------------------

    def _prepare(self, data: Data) -> None:
        """Make the parts for `data`, untrained."""
        self._data = data
        k = self.settings_.n_clusters
        if k is not None or not self.finds_n_clusters:
            check_n_clusters(k, len(data))
        self.constraints_ = self._make_constraints(len(data))
        self.n_asked_ = self.n_answered_ = self.budget_ = self.round_ = 0
        self._is_warm = False
        self._checkpoint = None
        self.learner_, self.questioner_ = self._make_parts(data)
        BatchQuestions.check(self)
        self.history_ = self.learner_.history = []
        self.learner_.build(data, int(k or 0), self.seed_)

    def _prepare_without_data(self, description: Mapping[str, Any]) -> None:
        """Make the parts of a model that is being loaded."""
        self.settings_, self.seed_ = cast(Self, resolve(self)), 0
        self._prepare(MissingData(description))

    def _assign(self) -> None:
        """Predict all images and assign clusters that satisfy the constraints."""
        prediction = self.learner_.predict(self._data)
        assigned = constrained_assignment(prediction.probabilities, self.constraints_)
        used = np.unique(assigned.labels)
        unused = np.setdiff1d(np.arange(prediction.probabilities.shape[1]), used)
        # scikit-learn wants labels from 0 without gaps: empty clusters come last.
        self.columns_ = np.concatenate([used, unused])
        self.embeddings_ = prediction.embeddings
        self.probabilities_ = prediction.reported[:, self.columns_]
        self.labels_ = np.argsort(self.columns_)[assigned.labels]
        self.violations_ = assigned.n_violations
        self.questioner_.update(prediction, self.query_state())

    def _read(self, X: Any, *, reset: bool) -> Data:
        """Return `X` as data, checked; with `reset` it is the collection to learn from."""
        spec = self._input_spec()
        check = partial(validate_data, self, reset=reset, dtype=np.float32, copy=False)
        data, images = spec.read(X, check, allow_download=self._allow_download)
        if reset:
            for name in ("image_names_", "images_"):
                self.__dict__.pop(name, None)
            if images is not None:
                self.images_ = images
                self.image_names_ = [images.name(i) for i in range(len(images))]
        else:
            check_same_kind(data, self._data)
        return data

    # -- for notebooks and scikit-learn ---------------------------------------------------

    def ask_widget(self, images: Any = None, *, train_after: int = 5, by: str = "") -> Any:
        """Return a notebook widget that asks the model's questions; needs ``likewise[notebook]``.

        Call `start` before. `images` are those to show if the model was started with vectors; the
        model trains after `train_after` answers each; `by` names the criterion.
        """
        widget = import_module("likewise.notebook.widget")
        return widget.AskWidget(self, images, train_after=train_after, by=by)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram of the parameters, and the groups of a fitted model."""
        parameters = super()._html_repr()
        if not hasattr(self, "labels_"):
            return parameters
        summary: str = import_module("likewise.notebook.display").summary_html(self)
        return parameters + summary

    @property
    def _n_features_out(self) -> int:
        return int(self.embeddings_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")
