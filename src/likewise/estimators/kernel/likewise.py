"""`Likewise`, the default method: a GP classifier on embeddings, trained in seconds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import KINDS, Answer
from likewise.embedding.words import as_words
from likewise.errors import PoolExhaustedError, UnknownNameError
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.fit_rounds import Watch
from likewise.estimators.kernel.accuracy_estimate import (
    AccuracyEstimate,
    Advice,
    advise,
    estimate_accuracy,
)
from likewise.estimators.kernel.label_issues import LabelIssue, LabelIssues
from likewise.estimators.kernel.learner import KernelLearner
from likewise.estimators.kernel.questioner import KernelQuestioner, check_kinds
from likewise.estimators.params import check_range
from likewise.estimators.release_0_1 import RENAMED_LIKEWISE_PARAMETERS
from likewise.types import Progress

if TYPE_CHECKING:
    from likewise.oracles.base import Oracle

_FIRST_TRAININGS = (1, 2, 3, 5, 8, 10)  # answers


@dataclass(eq=False, repr=False)
class Likewise(InteractiveClusterer):
    r"""Group images by the criterion that a few answers show.

    Parameters
    ----------
    n_clusters : int, optional
        Number of groups; None lets it grow with the answers.
    kinds : str or sequence of str
        Kinds of questions, of ``pair``, ``choice``, ``grid`` and ``label``. The next question is
        the one whose answer is expected to tell most per second of a person. The papers ask
        ``pair`` only; with ``label``, every question asks for the name of a group.
    strategy : {None, "random"}
        ``"random"`` asks about images drawn at random, for comparison.
    n_coverage_questions : int, optional
        Questions about representative images before those about uncertain ones, at least two per
        cluster; by default half the square root of the number of images, 25 to 60.
    learned_coverage : bool
        Select representative images in the learned space once every group has been seen.
    questions_per_training : int
        Answers after which `fit` trains again, a grid counted by its images; sooner up to ten
        answers, and later a tenth of all answers so far.
    pseudo_label_fraction : float
        Fraction of the most confident images of each group that are trained on as well, with a
        small weight; 0 turns pseudo-labels off.
    within_class_whitening : bool
        Scale down directions that vary within groups, and train once more.
    n_components : int
        Principal components kept of each feature block.
    n_visual_words : int
        Visual words of patches and of patch colours, where the encoder provides local features;
        0 uses the embeddings only, as the other methods do.
    two_groups : bool
        With ``n_clusters=2``, infer that two images that differ from a third are the same.
    words : str or sequence of str, optional
        What groups may be called, for an encoder that knows text (CLIP, SigLIP): ``"red,green"``.
        The similarity of images to the words decides the grouping before any answer, and is one
        more feature block, which counts as far as the answers agree with it.
    encoder : str or Encoder
        Turns images into embeddings.
    random_state : int, optional

    Notes
    -----
    1. *Features*: each feature block of the embedding, and histograms of visual words, are scaled,
       reduced by PCA, L2-normalised and smoothed over neighbours (`FeatureBlocks`, `VisualWords`).
    2. *Start*: before any answer, k-means clusters the images (`InitialClusters`). With few answers
       a partition that starts from k-means in the feature spaces which the answers make likely,
       with a number of groups that they make likely, gives pseudo-labels (`FeatureSpaces`,
       `SeededPartition`).
    3. *Labels*: answers become constraints, and groups known to differ become classes
       (`LabeledGroups`).
    4. *Training*: a Gaussian-process classifier learns by leave-one-out how much each feature block
       counts, and which labels are probably wrong (`GPClassifier`). Directions that vary within
       the groups found are scaled down (`fit_whitening`), and a second classifier is trained on
       the result (`TwoStageLearner`). Both are trained on confident predictions too.
    5. *Questions*: first representative images, then the centres of regions where the model is
       uncertain, each compared with a prototype of every likely group; once the groups are known,
       also grids of images that may belong to one group (`KernelQuestioner`).
    6. *Label issues*: answers that the others make unlikely count less; `fit` spends some
       questions on asking again, a person is offered them for review (`label_issues_`).
    7. *Calibration*: temperature scaling on predictions for each answer without it
       (`fit_temperature`). The same predictions estimate the accuracy (`estimate_accuracy`).
    8. Labels satisfy all active constraints; see `labels_`. Steps 3 to 8 repeat.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from likewise import LabelOracle
    >>> X, y = make_blobs(90, n_features=8, centers=3, random_state=0)
    >>> model = Likewise(n_clusters=3, random_state=0)
    >>> model.fit(X, oracle=LabelOracle(y), n_questions=10).labels_.shape
    (90,)
    """

    n_clusters: int | None = None
    _: KW_ONLY
    kinds: str | Sequence[str] = "pair,choice,grid"
    strategy: Literal["random"] | None = None
    n_coverage_questions: int | None = None
    learned_coverage: bool = True
    questions_per_training: int = 5
    pseudo_label_fraction: float = 0.3
    within_class_whitening: bool = True
    n_components: int = 128
    n_visual_words: int = 128
    two_groups: bool = True
    words: str | Sequence[str] | None = None
    encoder: Any = "bundled"
    random_state: int | None = None
    learner_: KernelLearner = field(init=False)
    questioner_: KernelQuestioner = field(init=False)

    asks: ClassVar[tuple[str, ...]] = KINDS
    renamed_parameters: ClassVar[Mapping[str, str | None]] = RENAMED_LIKEWISE_PARAMETERS
    finds_n_clusters: ClassVar[bool] = True

    # -- the two parts --------------------------------------------------------

    def _make_parts(self, data: Data) -> tuple[KernelLearner, KernelQuestioner]:
        given = self.settings_
        self._check_parameters()
        kinds = check_kinds(given.kinds)
        learner = KernelLearner(
            LabelIssues(self.constraints_, given.n_clusters, kinds),
            n_components=given.n_components,
            n_visual_words=given.n_visual_words,
            pseudo_label_fraction=given.pseudo_label_fraction,
            within_class_whitening=given.within_class_whitening,
        )
        questioner = KernelQuestioner(
            learner,
            kinds,
            n_clusters=int(given.n_clusters or 0),
            n_coverage=given.n_coverage_questions,
            batch_size=2 * given.questions_per_training,
            learned_coverage=given.learned_coverage,
            is_random=given.strategy == "random",
        )
        return learner, questioner

    def _input_spec(self) -> InputSpec:
        return InputSpec(encoder=self.settings_.encoder, words=as_words(self.settings_.words))

    def _check_parameters(self) -> None:
        given = self.settings_
        if given.strategy not in (None, "random"):
            raise UnknownNameError("strategy of likewise", given.strategy, ["random"])
        check_range("questions_per_training", given.questions_per_training, 1)
        if given.n_coverage_questions is not None:
            check_range("n_coverage_questions", given.n_coverage_questions, 1)
        check_range("n_components", given.n_components, 1)
        check_range("pseudo_label_fraction", given.pseudo_label_fraction, 0, 1)

    def _make_constraints(self, n_images: int) -> ConstraintGraph:
        two_groups = bool(self.settings_.two_groups) and self.settings_.n_clusters == 2
        return ConstraintGraph(n_images, two_groups=two_groups)

    # -- asking and training --------------------------------------------------

    def run_rounds(
        self, oracle: "Oracle | None", n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        """Ask and train in rounds of `questions_per_training` answers; called by `fit`."""
        total = n_questions if oracle is not None else 0
        is_over = False
        while not is_over:
            n_before = self.n_asked_
            if oracle is not None:
                self.ask_oracle(oracle, min(self._answers_until_training(), total - n_before))
            self.train()
            self.round_ += 1
            self.save_checkpoint()
            is_over = self.n_asked_ >= total or self.n_asked_ == n_before
            progress(max(total, 1) if is_over else self.n_asked_, max(total, 1))
            if watch is not None:
                watch(self)

    def _answers_until_training(self) -> int:
        """Return the number of answers before the next training, a grid counted by its images."""
        most, n = self.settings_.questions_per_training, self.n_asked_
        first = next((point - n for point in _FIRST_TRAININGS if point > n), most)
        return max(min(first, most), n // 10)

    def ask_oracle(self, oracle: "Oracle", n: int) -> None:
        """Have `oracle` answer `n` questions, at most half of them about label issues.

        One at a time: an answer may establish a group that the next question can show. A grid
        counts as one question for each of its images, except if that were less than one answer.
        """
        n_requeried = self.learner_.label_issues.requery(oracle, n // 2)
        self.n_asked_ += n_requeried
        self.n_answered_ += n_requeried
        while n > n_requeried:
            try:
                questions = self.ask(1)
            except PoolExhaustedError:
                return
            self.tell(questions, oracle.answer(questions))
            n -= len(questions[0].asked) if questions[0].kind == "grid" else 1

    # -- what the model knows about its answers -------------------------------

    @property
    def label_issues_(self) -> tuple[LabelIssue, ...]:
        """The few answers to review, most doubtful first; they stay active until retracted."""
        if not self.learner_.is_trained:
            return ()
        return self.learner_.label_issues.for_review(self.learner_.label_noise)

    def confirm(self, images: Iterable[int]) -> Self:
        """Set which images have been reviewed and are in the right group; they are not doubted.

        An image that was confirmed before and is not in `images` may become a label issue again.
        """
        self.learner_.label_issues.confirmed = set(images)
        return self

    @property
    def retracted_(self) -> list[Answer]:
        """Answers that `fit` retracted because repeated or very many answers contradict them."""
        return self.learner_.label_issues.retracted

    @property
    def n_determined_(self) -> int:
        """Number of images whose group follows from the answers alone."""
        return self.learner_.label_issues.groups().n_labeled

    @property
    def accuracy_estimate_(self) -> AccuracyEstimate:
        """The estimated accuracy of `labels_`, with a 90 % interval."""
        learner = self.learner_
        own = self.probabilities_[np.arange(len(self.labels_)), self.labels_]
        is_determined = learner.label_issues.groups().classes >= 0
        return estimate_accuracy(
            learner.checked,
            learner.temperature,
            own,
            is_determined,
            learner.label_noise,
            self.seed_,
        )

    @property
    def advice_(self) -> Advice:
        """Whether more answers are worth their time."""
        return advise(self.accuracy_estimate_, len(self.labels_))
