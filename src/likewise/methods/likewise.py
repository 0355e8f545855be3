"""Likewise: our own method, for people: few answers, ready vectors, retrained in seconds."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from likewise.constraints.question import Answer, Question
from likewise.errors import PoolExhaustedError
from likewise.methods.advice import Advice, advise
from likewise.methods.base import Floats, PersonalClusterer, Watch
from likewise.methods.choosing import KINDS, Phrasing, checked_kinds, coverage
from likewise.methods.doubting import Doubts
from likewise.methods.facets import FacetSpace, overview, side_by_side
from likewise.methods.foretelling import was_foretold
from likewise.methods.interview import Interview
from likewise.methods.kernel_learner import KernelLearner
from likewise.methods.plan import Plan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.seeds_of_groups import Seeds, seeds_of
from likewise.methods.self_training import first_lesson, second_lesson
from likewise.methods.source import Source, VectorSource
from likewise.methods.suspects import Suspect
from likewise.methods.told import as_answers
from likewise.methods.unguided import guess_n_clusters
from likewise.oracles.oracle import Oracle
from likewise.progress import Progress, silent

_ENOUGH = 5_000  # images from which centres are found


class Likewise(PersonalClusterer):
    r"""Sort pictures by a criterion that a few answers show.

    Parameters
    ----------
    n_clusters : int, optional
        How many groups; None lets them grow from the answers.
    kinds : str or sequence of str
        Kinds of questions, of ``pair``, ``choice`` and ``label``; ``"pair"`` alone
        is what the papers ask.
    n_cover : int
        Questions for coverage before the unsure ones; at least two a cluster.
    questions_per_training : int
        Answers after which `fit` trains again; later on, a tenth of all so far.
    self_training : float
        Share of the most confident images of each group that teach as well,
        with little trust; 0 switches it off.
    width : int
        Directions kept of each facet.
    parity : bool
        With two clusters: different from different is same.
    encoder : str or Encoder
    plan : Plan, optional
        Not used; every method has one.
    random_state : int, optional

    Notes
    -----
    1. *Coverage*: one question for the middle of each super-instance.
    2. *Learning*: `KernelLearner` on all facets; which facets matter follows from how well
       answers foretell each other. Then self-training on confident images.
    3. *Asking*: the middles of regions of which the model is unsure, each compared with one
       representative of every likely group: one choice says more than a pair.
    4. *Doubting*: answers that all others contradict count less, and some questions are spent
       on a second opinion; see `suspects_`.
    5. Answers hold for the images they name; see `labels_` of the base class.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from likewise import LabelOracle
    >>> X, y = make_blobs(90, n_features=8, centers=3, random_state=0)
    >>> model = Likewise(n_clusters=3, random_state=0)
    >>> model.fit(X, oracle=LabelOracle(y), n_questions=10).labels_.shape
    (90,)
    """

    asks: ClassVar[tuple[str, ...]] = KINDS

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kinds: str | Sequence[str] = "pair,choice",
        n_cover: int = 25,
        questions_per_training: int = 5,
        self_training: float = 0.3,
        width: int = 128,
        parity: bool = True,
        preset: str | None = None,
        encoder: Any = "bundled",
        plan: Plan | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters  # type: ignore[assignment]  # None: from the answers
        self.kinds = kinds
        self.n_cover = n_cover
        self.questions_per_training = questions_per_training
        self.self_training = self_training
        self.width = width
        self.parity = parity
        self.preset = preset
        self.encoder = encoder
        self.plan = plan
        self.random_state = random_state

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": {}}

    # -- building -----------------------------------------------------------

    def _check_clusters(self, n_images: int) -> None:
        if self._settings.n_clusters is not None:
            super()._check_clusters(n_images)

    @property
    def _n_clusters(self) -> int:
        return int(self._settings.n_clusters or 0)

    def _build(self) -> None:
        self._kinds = checked_kinds(self._settings.kinds)
        self._expectations: list[bool] = []
        self._doubts = Doubts(self.constraints_, self._settings.n_clusters, self._kinds)
        self._space = FacetSpace(self._source.slices, self._settings.width)
        self._centres: Floats | None = None
        if isinstance(self._source, VectorSource):
            self._facets = self._space.fit(self._source.matrix)(self._source.matrix)
            self._learner = KernelLearner(self._facets, self._space.n_views)
            self._find_centres()
        else:
            self._learner = KernelLearner({})

    def _find_centres(self) -> None:
        rows = side_by_side(self._space.alone(self._facets))
        k = self._n_clusters or guess_n_clusters(rows, self._seed)
        self._centres = fit_centres(rows[:: -(-len(rows) // _ENOUGH)], k, self._seed)
        n_cover = max(self._settings.n_cover, 2 * self._n_clusters)
        cover = coverage(overview(rows), n_cover + 1, self._seed)
        self._interview = Interview(cover, 4 * self._settings.questions_per_training)

    # -- learning -----------------------------------------------------------

    @property
    def _seeds(self) -> Seeds:
        seeds = seeds_of(self.constraints_, self._settings.n_clusters)
        return seeds.facing(self._doubts.foretold)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        seeds = self._seeds
        if len(seeds.keys) >= 2:
            n_classes = max(len(seeds.keys), self._n_clusters)
            lesson = first_lesson(seeds, self._facets, n_classes)
            slipped = self._learner.fit(
                lesson.images, lesson.classes, n_classes, trust=lesson.trust
            )
            left = self._doubts.learn(lesson.images.tolist(), slipped.tolist())
            lesson = lesson.doubting(np.array(left))
            share = self._settings.self_training
            more = second_lesson(lesson, seeds, self._learner.believe, share, self._seed)
            self._learner.refit(more.images, more.classes, trust=more.trust)
        self.history_.append({"n_answers": float(self.constraints_.n_answers)})
        progress(1, 1)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        if source is self._source:
            facets = self._facets
        else:
            assert isinstance(source, VectorSource)  # this method reads vectors only
            facets = self._space(source.matrix)
        if self._learner.tuning is None:
            assert self._centres is not None  # found when the collection was taken in
            rows = side_by_side(self._space.alone(facets))
            return rows, nearness(rows, self._centres)
        return self._learner.rows(facets), self._learner.predict(facets)

    def _rows_to_compare(self) -> None:
        """Remember nothing: `Interview` looks at the embeddings themselves."""

    # -- asking -------------------------------------------------------------

    def ask(self, n: int = 1) -> list[Question]:
        """Return the next `n` questions; each is about another image.

        Raises
        ------
        PoolExhaustedError
            If answers have settled every image.
        """
        questions = self._interview.ask(n, self._phrasing, self._embeddings, self._asker.n_asked)
        if not questions:
            raise PoolExhaustedError(
                f"{n} questions were asked for but the answers so far settle every image; "
                "there is nothing left to ask."
            )
        self._asker.n_asked += len(questions)
        return questions

    def train(self, n_epochs: int | None = None, *, progress: Progress = silent) -> Self:
        """Train on all answers so far, assign anew, and prepare the next questions."""
        super().train(n_epochs, progress=progress)
        n = self._settings.questions_per_training
        self._interview.line_up(n, self._phrasing, self._embeddings, self._asker.n_asked)
        return self

    @property
    def _phrasing(self) -> Phrasing:
        return Phrasing(self._kinds, self._seeds, self._raw_probabilities, self.constraints_)

    @property
    def _raw_probabilities(self) -> Floats:
        """Return the probabilities with columns in the order of the classes."""
        raw: Floats = self.probabilities_[:, np.argsort(self._columns)]
        return raw

    # -- the walk -----------------------------------------------------------

    def tell(self, questions: Any, answers: Sequence[Any]) -> Self:
        """Take in answers, and note which of them the model had foretold."""
        said = as_answers(questions, answers)
        if hasattr(self, "labels_") and self._learner.tuning is not None:
            foretold = (was_foretold(answer, self.probabilities_) for answer in said)
            self._expectations += [right for right in foretold if right is not None]
        return super().tell([a.question for a in said], said)

    def _walk(
        self, oracle: Oracle | None, n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        total = n_questions if oracle is not None else 0
        while True:
            n = min(max(self._settings.questions_per_training, self._asker.n_asked // 10), total)
            before = self._asker.n_asked
            if oracle is not None:
                self._converse(oracle, min(n, total - before))
            self.train()
            self._round += 1
            self._keep_checkpoint()
            progress(self._asker.n_asked, max(total, 1))
            if watch is not None:
                watch(self)
            if self._asker.n_asked >= total or self._asker.n_asked == before:
                return

    def _converse(self, oracle: Oracle, n: int) -> None:
        """Ask one by one: an answer may show a group that the next question can offer."""
        n_again = self._doubts.look_again(oracle, n // 2, lambda: self._seeds)
        self._asker.n_asked += n_again
        n -= n_again
        for _ in range(n):
            try:
                questions = self.ask(1)
            except PoolExhaustedError:
                return
            self.tell(questions, oracle.answer(questions))

    # -- what people want to know ---------------------------------------------

    @property
    def suspects_(self) -> tuple[Suspect, ...]:
        """Answers that the rest contradicts, most doubtful first; they stand until taken back."""
        return self._doubts.suspects(self._seeds)

    @property
    def taken_back_(self) -> list[Answer]:
        """Answers that `fit` took back: a second opinion, or very many others, contradict them."""
        return self._doubts.taken_back

    def advice(self) -> Advice:
        """Return how well the model understood, and what more answers would change."""
        n_settled = int((self._seeds.classes >= 0).sum())
        return advise(self._expectations, self.probabilities_, n_settled)

    def _extra_arrays(self) -> dict[str, Any]:
        space = {f"space.{name}": array for name, array in self._space.arrays.items()}
        told = np.array(self._expectations, dtype=bool)
        return {
            "centres": self._centres,
            "expectations": told,
            **self._doubts.arrays(),
            **space,
            **self._learner.arrays(),
        }

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
        self._expectations = arrays["expectations"].tolist()
        self._doubts.take_arrays(arrays)
        prefix = "space."
        self._space.arrays = {
            k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)
        }
        self._learner.take_arrays(arrays, self._space.names)
