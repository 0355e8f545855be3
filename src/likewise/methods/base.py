"""Base of all methods: the verbs start · ask · tell · train, and `fit`, the walk over them."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.honour import honour
from likewise.constraints.question import Answer, Question
from likewise.encoders.embeddings import Embeddings
from likewise.errors import InvalidParameterError, LikewiseWarning, PoolExhaustedError
from likewise.methods.asking import Asker
from likewise.methods.plan import Plan
from likewise.methods.putting import put
from likewise.methods.saving import load, restore, save
from likewise.methods.settings import resolve
from likewise.methods.source import (
    AbsentSource,
    Source,
    VectorSource,
    encode_pictures,
    is_vectors,
    source_facts,
)
from likewise.methods.told import as_answers, from_constraints
from likewise.oracles.oracle import Oracle
from likewise.progress import Progress, silent
from likewise.seeds import stream

Floats = npt.NDArray[np.float32]
Watch = Callable[["PersonalClusterer"], None]


class PersonalClusterer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
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

    @abstractmethod
    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        """Return embeddings ``(n, d)`` and probabilities ``(n, k)``, image by image."""

    # -- the four verbs -----------------------------------------------------

    def start(self, X: Any) -> Self:
        """Take in the collection, forget all else; nothing is trained or asked yet.

        Parameters
        ----------
        X : array of shape (n, d), pictures of shape (n, h, w, 3), a folder, paths or a collection
        """
        self._settings = resolve(self, self.presets)
        self._seed = self._draw_seed()
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
        collected = [*answers, *from_constraints(**_checked(constraints))]
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
                questions = self.ask(n)
            except PoolExhaustedError as error:
                questions, n = self._ask_what_is_left(n), 0
                told = f"{error} Asked the {len(questions)} that were left."
                warnings.warn(told, LikewiseWarning, stacklevel=4)
            n -= self._put(questions, oracle)

    def _put(self, questions: Sequence[Question], oracle: Oracle) -> int:
        """Have questions answered, none that answers before it settle; return how many."""
        n_put = put(questions, oracle, self.constraints_, self.tell)
        self._asker.n_asked -= len(questions) - n_put
        return n_put

    def _ask_what_is_left(self, n: int) -> list[Question]:
        """Return at most `n` open questions, whatever their score."""
        return self._asker.ask_what_is_left(n, self.probabilities_)

    # -- reading it out -----------------------------------------------------

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the cluster of each image of `X`; no image depends on the others."""
        found: npt.NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each cluster for each image of `X`."""
        check_is_fitted(self, "labels_")
        return self._read_out(self._read(X, reset=False))[1][:, self._columns]

    def transform(self, X: Any) -> Floats:
        """Return the learned representation of each image of `X`, unit rows."""
        check_is_fitted(self, "labels_")
        return self._read_out(self._read(X, reset=False))[0]

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Floats:
        """Fit to `X` and return its learned representation."""
        return self.fit(X, y, **fit_params).transform(X)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> npt.NDArray[np.intp]:
        """Fit to `X` and return `labels_`."""
        labels: npt.NDArray[np.intp] = self.fit(X, y, **fit_params).labels_
        return labels

    def save(self, path: str | Path) -> None:
        """Write the model to the folder `path`: safetensors and JSON, never pickle."""
        check_is_fitted(self, "labels_")
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, **parts: Any) -> Self:
        """Return a model written by `save`; `parts` are parameters that are no JSON."""
        model = load(Path(path), cls, parts)
        assert isinstance(model, cls)  # `load` refuses models of another method
        return model

    # -- on disk: see saving.py ---------------------------------------------

    def _wake(self, facts: Mapping[str, Any]) -> None:
        """Be as after `start`, without the images."""
        self._settings = resolve(self, self.presets)
        self._seed = 0
        self._prepare(AbsentSource(facts))

    def _input_facts(self) -> dict[str, Any]:
        return source_facts(self._source)

    def _modules_to_save(self) -> dict[str, Any]:
        """Return networks and optimisers by name."""
        return {}

    def _extra_arrays(self) -> dict[str, Any]:
        """Return further arrays that belong to the fitted state; None is left out."""
        return {}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `_extra_arrays` returned."""

    # -- inside -------------------------------------------------------------

    @property
    def _plan(self) -> Plan:
        plan = self._settings.plan
        return self.default_plan if plan is None else plan

    @property
    def _n_clusters(self) -> int:
        return int(self._settings.n_clusters)

    @property
    def _n_features_out(self) -> int:
        return int(self._embeddings.shape[1])

    def _draw_seed(self) -> int:
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**31))
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(self.random_state)

    def _check_clusters(self, n_images: int) -> None:
        k = self._settings.n_clusters
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise InvalidParameterError(
                f"n_clusters={k!r} is no number of groups; choose a whole number of at least 2."
            )
        if k == 1:  # scikit-learn's checks demand that it works
            warnings.warn(
                "n_clusters=1 leaves nothing to sort, every image goes into one cluster; "
                "choose at least 2.",
                LikewiseWarning,
                stacklevel=4,
            )
        if k > n_images:
            raise InvalidParameterError(
                f"n_clusters={k} is more than the n_samples={n_images} images given; "
                f"choose at most {n_images} clusters, or add pictures."
            )

    def _read(self, X: Any, *, reset: bool) -> Source:
        """Return the source for `X`, checked; `reset` when it is the collection to learn from."""
        if is_vectors(X):
            return self._read_vectors(X, reset=reset)
        embeddings = encode_pictures(X, self._settings.encoder)
        return self._read_vectors(embeddings, reset=reset)

    def _read_vectors(self, X: Any, *, reset: bool) -> Source:
        slices = X.slices if isinstance(X, Embeddings) else None
        matrix = X.matrix() if isinstance(X, Embeddings) else X
        checked = validate_data(self, matrix, reset=reset, dtype=np.float32, copy=False)
        return VectorSource(checked, slices)

    def _assign(self) -> None:
        """Read out all images; honour the answers; remember which columns are in use."""
        self._embeddings, probabilities = self._read_out(self._source)
        self._asker.remember(np.arange(len(self._embeddings)), self._rows_to_compare())
        honoured = honour(probabilities, self.constraints_)
        used = np.unique(honoured.labels)
        unused = np.setdiff1d(np.arange(probabilities.shape[1]), used)
        # scikit-learn wants labels compact from 0: columns without an image go last.
        self._columns = np.concatenate([used, unused])
        self.probabilities_ = probabilities[:, self._columns]
        self.labels_ = np.argsort(self._columns)[honoured.labels]
        self.violations_ = honoured.n_violations

    def _rows_to_compare(self) -> Floats:
        """Return the embeddings in which strategies compare images."""
        return self._embeddings

    def _rng(self, *names: str | int) -> np.random.Generator:
        return stream(self._seed, *names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")


def _checked(constraints: dict[str, Any]) -> dict[str, Any]:
    known = ("pairs", "relations", "ml", "cl")
    for name in constraints:
        if name not in known:
            raise InvalidParameterError(
                f"fit got an unknown argument {name!r}; constraints are given as "
                f"{', '.join(known)}."
            )
    return {name: constraints.get(name) for name in known}
