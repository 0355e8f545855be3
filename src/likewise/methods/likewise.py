"""Likewise: our own method, for people: few answers, ready vectors, retrained in seconds."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, PoolExhaustedError, UnknownNameError
from likewise.methods.advice import Advice, advise
from likewise.methods.base import Floats, PersonalClusterer, Watch
from likewise.methods.choosing import Phrasing, coverage
from likewise.methods.facets import FacetSpace, leading
from likewise.methods.foretelling import was_foretold
from likewise.methods.interview import Interview
from likewise.methods.kernel_learner import KernelLearner
from likewise.methods.plan import Plan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.second_opinion import second_opinion
from likewise.methods.seeds_of_groups import Seeds, seeds_of
from likewise.methods.self_training import first_lesson, second_lesson
from likewise.methods.source import Source, VectorSource
from likewise.methods.suspects import Suspect, at_fault, blamed, doubts_of, find_suspects
from likewise.methods.told import as_answers
from likewise.methods.unguided import guess_n_clusters
from likewise.oracles.oracle import Oracle
from likewise.progress import Progress, silent

KINDS = ("pair", "choice", "label")
_ENOUGH = 5_000  # images from which centres are found
_LISTEN_FIRST = 30  # answers before any of them is doubted


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

    Attributes
    ----------
    suspects_ : tuple of Suspect
        Answers that the rest contradicts, the most doubtful first.
    taken_back_ : list of Answer
        What `fit` took back because a second opinion, or most other answers, contradicted it.

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
        self._kinds = _checked_kinds(self._settings.kinds)
        self._expectations: list[bool] = []
        self.taken_back_: list[Answer] = []
        self._confirmed: set[int] = set()  # images whose doubtful place was confirmed
        self._taught, self._slipped = np.empty(0, np.intp), np.empty(0)
        self._space = FacetSpace(self._source.slices, self._settings.width)
        self._centres: Floats | None = None
        if isinstance(self._source, VectorSource):
            self._facets = self._space.fit(self._source.matrix)(self._source.matrix)
            self._learner = KernelLearner(self._facets)
            self._find_centres()
        else:
            self._learner = KernelLearner({})

    def _find_centres(self) -> None:
        rows = _side_by_side(self._facets)
        k = self._n_clusters or guess_n_clusters(rows, self._seed)
        self._centres = fit_centres(rows[:: -(-len(rows) // _ENOUGH)], k, self._seed)
        n_cover = max(self._settings.n_cover, 2 * self._n_clusters)
        cover = coverage(_overview(rows), n_cover + 1, self._seed)
        self._interview = Interview(cover, 2 * self._settings.questions_per_training)

    # -- learning -----------------------------------------------------------

    @property
    def _seeds(self) -> Seeds:
        return seeds_of(self.constraints_, self._settings.n_clusters)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        seeds = self._seeds
        if len(seeds.keys) >= 2:
            n_classes = max(len(seeds.keys), self._n_clusters)
            lesson = first_lesson(seeds, self._facets, n_classes)
            self._taught = lesson.images
            slipped = self._learner.fit(
                lesson.images, lesson.classes, n_classes, trust=lesson.trust
            )
            self._slipped = np.where(np.isin(self._taught, list(self._confirmed)), 0.0, slipped)
            lesson = lesson.doubting(self._slipped)
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
            rows = _side_by_side(facets)
            return rows, nearness(rows, self._centres)
        rows = self._learner.rows(facets)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)
        return rows, self._learner.predict(facets)

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
            foretold = (was_foretold(answer, self._raw_probabilities) for answer in said)
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
        n -= self._look_again(oracle, n // 2)
        for _ in range(n):
            try:
                questions = self.ask(1)
            except PoolExhaustedError:
                return
            self.tell(questions, oracle.answer(questions))

    def _look_again(self, oracle: Oracle, n: int) -> int:
        """Have at most `n` doubtful answers confirmed or corrected; return how many."""
        graph, n_put = self.constraints_, 0
        while (wrong := blamed(graph)) is not None:
            self._take_back({wrong})
        for suspect in self.suspects_:
            seeds = self._seeds
            question = second_opinion(suspect, seeds, self._kinds, turn=len(graph.set_aside))
            if n_put == n:
                break
            if question is None:
                continue
            super().tell([question], oracle.answer([question]))
            n_put += 1
            proof = graph.set_aside.get(max(graph.answers), ())
            wrong_ones = at_fault(suspect, proof, seeds)
            if wrong_ones or not proof:
                self._confirmed.add(suspect.image)
            self._take_back(wrong_ones)
        self._asker.n_asked += n_put
        return n_put

    def _take_back(self, numbers: Collection[int]) -> None:
        for number in numbers:
            self.taken_back_.append(self.constraints_.answers[number])
            self.constraints_.retract(number)

    # -- what people want to know ---------------------------------------------

    @property
    def suspects_(self) -> tuple[Suspect, ...]:
        """Answers that the rest contradicts, most doubtful first; they stand until taken back."""
        if self.constraints_.n_answers < _LISTEN_FIRST:
            return ()
        doubts, k = doubts_of(self._taught, self._slipped), self._settings.n_clusters
        return find_suspects(self._seeds, doubts, self.constraints_, k, self._confirmed)

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
            "confirmed": np.array(sorted(self._confirmed), dtype=np.intp),
            "taught": self._taught,
            "slipped": self._slipped,
            **space,
            **self._learner.arrays(),
        }

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
        self._expectations = arrays["expectations"].tolist()
        self._confirmed = set(arrays["confirmed"].tolist())
        self._taught, self._slipped = arrays["taught"], arrays["slipped"]
        prefix = "space."
        self._space.arrays = {
            k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)
        }
        self._learner.take_arrays(arrays, list(self._space.slices))


def _side_by_side(facets: Mapping[str, Floats]) -> Floats:
    """Return unit rows in which every facet counts the same."""
    rows: Floats = np.concatenate(list(facets.values()), axis=1) / len(facets) ** 0.5
    return rows


def _overview(rows: Floats) -> Floats:
    """Return few columns that keep most of the distances, for quick coverage."""
    if rows.shape[1] <= 96:
        return rows
    centred = rows - rows.mean(axis=0)
    step = -(-len(rows) // 4000)
    found: Floats = centred @ leading(centred[::step], 64)
    return found


def _checked_kinds(kinds: str | Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(kinds.split(",")) if isinstance(kinds, str) else tuple(kinds)
    for kind in chosen:
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)
    if not chosen:
        raise InvalidParameterError("kinds is empty; allow at least one of pair, choice, label.")
    return chosen
