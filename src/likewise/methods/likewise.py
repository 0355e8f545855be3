"""Likewise: our own method, for people: few answers, ready vectors, retrained in seconds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Answer, Question
from likewise.errors import PoolExhaustedError, UnknownNameError
from likewise.methods.advice import Advice, advise
from likewise.methods.base import Watch
from likewise.methods.checks import check_between
from likewise.methods.choosing import KINDS, Phrasing, coverage
from likewise.methods.facets import overview, side_by_side
from likewise.methods.foretelling import asked_about, columns_left, was_foretold
from likewise.methods.interview import Interview
from likewise.methods.kernel_clusterer import KernelClusterer
from likewise.methods.plan import Plan
from likewise.methods.source import VectorSource
from likewise.methods.suspects import Suspect
from likewise.methods.told import as_answers
from likewise.methods.vocabulary import COLOURS
from likewise.oracles.base import Oracle
from likewise.progress import Progress, silent


class Likewise(KernelClusterer):
    r"""Sort pictures by a criterion that a few answers show.

    Parameters
    ----------
    n_clusters : int, optional
        How many groups; None lets them grow from the answers.
    kinds : str or sequence of str
        Kinds of questions, of ``pair``, ``choice`` and ``label``; ``"pair"`` alone
        is what the papers ask, and where labels are allowed every image is asked for its label.
    strategy : {None, "random"}
        ``"random"`` asks about images drawn at random, for comparison.
    n_cover : int, optional
        Questions for coverage before the unsure ones, at least two a cluster; by default half the
        root of the number of images, 25 to 60.
    cover_learned : bool
        Whether coverage goes on in the learned space once every group has been seen; False is for
        comparison.
    questions_per_training : int
        Answers after which `fit` trains again; later on, a tenth of all so far.
    self_training : float
        Share of the most confident images of each group that teach as well,
        with little trust; 0 switches it off.
    targeted : bool
        Whether what varies within groups counts less (`take_aim`); False is for comparison.
    width : int
        Directions kept of each facet.
    n_words : int
        Words of the collection's own for parts and for colours (`Vocabulary`), where the encoder
        tells what each place shows; 0 looks at vectors only, as the other methods do.
    parity : bool
        With two clusters: different from different is same.
    encoder : str or Encoder
    plan : Plan, optional
        Not used; every method has one.
    random_state : int, optional

    Notes
    -----
    1. *Coverage*: one question for the middle of each super-instance; once every group has
       been seen, of super-instances of the learned space, the most telling first.
    2. *Learning*: `TargetedLearner` on all facets; which facets matter follows from how well
       answers foretell each other. What then still varies within groups counts less, and it learns
       once more. Each time with self-training on confident images.
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
    uses_plan: ClassVar[bool] = False

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kinds: str | Sequence[str] = "pair,choice",
        strategy: Literal["random"] | None = None,
        n_cover: int | None = None,
        cover_learned: bool = True,
        questions_per_training: int = 5,
        self_training: float = 0.3,
        targeted: bool = True,
        width: int = 128,
        n_words: int = 128,
        parity: bool = True,
        preset: str | None = None,
        encoder: Any = "bundled",
        plan: Plan | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters  # type: ignore[assignment]  # None: from the answers
        self.kinds = kinds
        self.strategy = strategy
        self.n_cover = n_cover
        self.cover_learned = cover_learned
        self.questions_per_training = questions_per_training
        self.self_training = self_training
        self.targeted = targeted
        self.width = width
        self.n_words = n_words
        self.parity = parity
        self.preset = preset
        self.encoder = encoder
        self.plan = plan
        self.random_state = random_state

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": {}}

    # -- asking -------------------------------------------------------------

    def _build(self) -> None:
        if self._settings.strategy not in (None, "random"):
            raise UnknownNameError("strategy of likewise", self._settings.strategy, ["random"])
        at_once, n_cover = self._settings.questions_per_training, self._settings.n_cover
        check_between("number of answers", "questions_per_training", at_once, 1)
        if n_cover is not None:
            check_between("number of questions", "n_cover", n_cover, 1)
        super()._build()
        if isinstance(self._source, VectorSource):  # else it was loaded, without its images
            anew = self._settings.cover_learned and self._settings.strategy != "random"
            self._interview = Interview(self._cover(), 2 * at_once, anew=anew)

    def _cover(self) -> npt.NDArray[np.intp]:
        """Return the images to ask about first; at random means all of them in any order."""
        if self._settings.strategy == "random":
            return self._rng("random questions").permutation(len(self._source))
        wanted = self._settings.n_cover or int(np.clip(len(self._source) ** 0.5 / 2, 25, 60))
        n_cover = max(wanted, 2 * self._n_clusters)
        shown = {n: rows for n, rows in self._space.alone(self._facets).items() if n != COLOURS}
        return coverage(overview(side_by_side(shown)), n_cover + 1, self._seed)

    def ask(self, n: int = 1) -> list[Question]:
        """Return the next `n` questions; each is about another image.

        Raises
        ------
        PoolExhaustedError
            If answers have settled every image.
        """
        questions = self._interview.ask(n, self._phrasing, self._embeddings, self._n_answered)
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
        self._interview.line_up(n, self._phrasing, self._embeddings, self._n_answered)
        return self

    @property
    def _n_answered(self) -> int:
        """Return how many of its questions were answered; a page holds many that never will be."""
        return min(self._asker.n_asked, self._asker.n_heard)

    @property
    def _phrasing(self) -> Phrasing:
        return Phrasing(self._kinds, self._seeds, self._beliefs, self.constraints_)

    def tell(self, questions: Any, answers: Sequence[Any]) -> Self:
        """Take in answers, and note which of them the model had foretold."""
        check_is_fitted(self, "constraints_")
        for answer in as_answers(questions, answers):
            self.hear(answer)
        return self

    def hear(self, answer: Answer) -> AnswerResult:
        """Take in one answer, and return what became of it."""
        self._check_against(answer)
        self._asker.n_heard += 1
        return self.constraints_.tell(answer)

    def _check_against(self, answer: Answer) -> None:
        """Note what the model believes of an answer that it has not heard yet."""
        if not hasattr(self, "labels_") or self._learner.tuning is None:
            return
        if (foretold := was_foretold(answer, self._beliefs)) is not None:
            self._expectations.append(foretold)
        image, others = asked_about(answer, self._beliefs)
        believed, places = self._beliefs[image], self._columns[self.labels_[others]]
        self.experience_.note(believed, columns_left(answer, places, len(believed)))

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
            is_over = self._asker.n_asked >= total or self._asker.n_asked == before
            progress(max(total, 1) if is_over else self._asker.n_asked, max(total, 1))
            if watch is not None:
                watch(self)
            if is_over:
                return

    def _converse(self, oracle: Oracle, n: int) -> None:
        """Ask one by one: an answer may show a group that the next question can offer."""
        n_again = self._doubts.look_again(oracle, n // 2, lambda: self._seeds)
        self._asker.n_asked += n_again
        self._asker.n_heard += n_again
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
        """The few answers worth a second look, most doubtful first; they stand until taken back."""
        tuning = self._learner.tuning
        return () if tuning is None else self._doubts.to_offer(self._seeds, tuning.slips)

    def confirm(self, images: Iterable[int]) -> Self:
        """Say which images are where they belong, all of them: these are not doubted any more.

        An image that was confirmed before and is not named now may be doubted again.
        """
        self._doubts.confirmed = set(images)
        return self

    @property
    def taken_back_(self) -> list[Answer]:
        """Answers that `fit` took back: a second opinion, or very many others, contradict them."""
        return self._doubts.taken_back

    def advice(self) -> Advice:
        """Return how well the model understood, and what more answers would change."""
        n_settled = int((self._seeds.classes >= 0).sum())
        return advise(self._expectations, self.probabilities_, n_settled)
