"""Query schedule and questions: representative images first, then uncertain regions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import MAX_GROUPS, Question
from likewise.errors import (
    InvalidParameterError,
    LikewiseError,
    PoolExhaustedError,
    UnknownNameError,
)
from likewise.estimators.kernel.features import concat_blocks, reduce_dims
from likewise.estimators.kernel.learner import KernelLearner
from likewise.estimators.kernel.query_selection import (
    Mask,
    representative_images,
    representative_in_learned_space,
    uncertain_regions,
)
from likewise.estimators.kernel.training_set import LabeledGroups
from likewise.estimators.kernel.visual_words import COLORS
from likewise.estimators.parts import Prediction, QueryState, Questioner
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

KINDS = ("pair", "choice", "label")
_SKIPPED_ANSWERS = 50  # during which an image answered "can't tell" is not asked about again
_MIN_LEARNED = 10  # answers from which representatives are selected in the learned space


class KernelQuestioner(Questioner):
    """Asks about representative images, then about the centres of uncertain regions.

    The first `n_coverage` questions are about representative images; once every group has been
    seen, these are selected in the learned space. Images are queued in batches, so that they
    differ from each other; the queue is refilled after each training and whenever it is empty.

    Parameters
    ----------
    learner : KernelLearner
        Gives the known groups and the current predictions.
    kinds : sequence of str
        Allowed kinds of questions, of ``pair``, ``choice`` and ``label``.
    n_clusters : int
        0 if unknown.
    n_coverage : int, optional
        Representative images; by default half the square root of the number of images, 25 to 60.
    batch_size : int
        Images queued together, at least.
    learned_coverage : bool
        Whether representatives are selected in the learned space later on.
    is_random : bool
        Ask about images drawn at random instead, for comparison.
    """

    def __init__(
        self,
        learner: KernelLearner,
        kinds: Sequence[str],
        *,
        n_clusters: int,
        n_coverage: int | None,
        batch_size: int,
        learned_coverage: bool,
        is_random: bool,
    ) -> None:
        self._learner, self._kinds, self._n_clusters = learner, kinds, n_clusters
        self._n_coverage, self._batch_size = n_coverage, batch_size
        self._learned_coverage, self._is_random = learned_coverage and not is_random, is_random
        self._representatives: Indexes | None = None
        self._queue: list[int] = []

    def update(self, prediction: Prediction, state: QueryState) -> None:
        """Select representative images at the start; after each training, refill the queue."""
        if self._representatives is None:
            self._representatives = self._select_representatives(state)
        else:
            builder = self._builder(state)
            self._fill(self._batch_size // 2, builder, state, _open_images(builder), 0)

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return up to `n` questions, each about another image.

        Raises
        ------
        PoolExhaustedError
            If the answers determine the group of every image, unless `allow_fewer`.
        """
        builder, questions = self._builder(state), list[Question]()
        is_open = _open_images(builder)
        while len(questions) < n:
            if not self._queue:
                self._fill(n - len(questions), builder, state, is_open, len(questions))
            if not self._queue:
                break
            question = self._ask_about(self._queue.pop(0), builder, is_open)
            if question is not None:
                questions.append(question)
        if not questions and not allow_fewer:
            raise PoolExhaustedError(
                f"{n} questions were requested, but the answers already determine the group of "
                "every image; nothing is left to ask."
            )
        return questions

    # -- which image ----------------------------------------------------------

    def _select_representatives(self, state: QueryState) -> Indexes:
        n_images = state.constraints.n_images
        if self._is_random:
            return stream(state.seed, "random questions").permutation(n_images)
        wanted = self._n_coverage or int(np.clip(n_images**0.5 / 2, 25, 60))
        blocks = self._learner.unsmoothed_blocks()
        without_colors = {name: rows for name, rows in blocks.items() if name != COLORS}
        rows = reduce_dims(concat_blocks(without_colors))
        return representative_images(rows, max(wanted, 2 * self._n_clusters) + 1, state.seed)

    def _fill(
        self,
        n: int,
        builder: "QuestionBuilder",
        state: QueryState,
        is_open: Mask,
        n_proposed: int,
    ) -> None:
        if self._representatives is None:
            raise LikewiseError(
                "This model was loaded without its images, so it cannot ask questions. "
                "To continue, call fit with the images and checkpoint=."
            )
        # Only answered questions count: the page requests many that are never answered.
        n_asked = min(state.n_asked, state.n_answered) + n_proposed
        images = self._representatives[:0]
        if n_asked < len(self._representatives):
            images = self._uncovered(builder, state.embeddings, is_open, n_asked)
        if not len(images):
            n_wanted = max(n, self._batch_size)
            images = uncertain_regions(builder.probabilities, state.embeddings, is_open, n_wanted)
        self._queue = [int(image) for image in images]

    def _uncovered(
        self, builder: "QuestionBuilder", embeddings: Floats, is_open: Mask, n_asked: int
    ) -> Indexes:
        """Return representative open images of what no answer mentions.

        Not in the learned space while a group has not been seen: its images lie among those of the
        known groups there, and would never be selected.
        """
        assert self._representatives is not None  # checked by `_fill`
        is_learned = len(builder.groups.keys) >= builder.probabilities.shape[1]
        if not (self._learned_coverage and is_learned and n_asked >= _MIN_LEARNED):
            return self._representatives[is_open[self._representatives]]
        is_covered = ~is_open
        for images, _ in builder.groups.undecided:
            is_covered[images] = True
        n = len(self._representatives)
        return representative_in_learned_space(embeddings, is_covered, n, is_open)

    # -- which question -------------------------------------------------------

    def _builder(self, state: QueryState) -> "QuestionBuilder":
        groups = self._learner.label_issues.groups()
        return QuestionBuilder(self._kinds, groups, self._learner.probabilities, state.constraints)

    def _ask_about(self, image: int, builder: "QuestionBuilder", is_open: Mask) -> Question | None:
        if not is_open[image]:
            return None
        if builder.groups.keys or "label" in builder.kinds:
            is_open[image] = False  # not twice in one call
            return builder.question(image)
        # No group is known yet: compare with the next image of the queue.
        other = next((i for i in self._queue if is_open[i] and i != image), None)
        if other is None:
            is_open[image] = False
            return None
        self._queue.insert(0, image)
        self._queue.remove(other)
        is_open[other] = False
        if "pair" in builder.kinds:
            return Question.pair(image, other)
        return Question.choice(other, (image,), ("group 1",))


def _open_images(builder: "QuestionBuilder") -> Mask:
    """Return which images may be asked about: their group does not follow from the answers."""
    is_open: Mask = builder.groups.classes < 0
    is_open[list(builder.graph.bad_images)] = False
    for answer in list(builder.graph.answers.values())[-_SKIPPED_ANSWERS:]:
        if answer.answer == "cannot_tell":
            is_open[answer.question.images[0]] = False
    return is_open


@dataclass(frozen=True)
class QuestionBuilder:
    """Makes the most informative question about an image.

    Parameters
    ----------
    kinds : sequence of str
        Allowed kinds, of ``pair``, ``choice``, ``label``.
    groups : LabeledGroups
    probabilities : array of shape (n, k)
    graph : ConstraintGraph
    """

    kinds: Sequence[str]
    groups: LabeledGroups
    probabilities: Floats
    graph: ConstraintGraph

    def question(self, image: int) -> Question | None:
        """Return a question about `image`; None if there is no group to compare it with."""
        if "label" in self.kinds:  # one answer determines the group: no comparison tells more
            return Question.label(image)
        likely = self._possible_classes(image)
        if not likely:
            return None
        prototypes, keys = self.groups.prototypes, self.groups.keys
        if "choice" in self.kinds and (len(likely) > 1 or "pair" not in self.kinds):
            shown = dict([(prototypes[c], keys[c]) for c in likely][: MAX_GROUPS - 1])
            shown |= self._unassigned_group(image)
            return Question.choice(image, tuple(shown), tuple(shown.values()))
        return Question.pair(image, prototypes[likely[0]])

    def _unassigned_group(self, image: int) -> dict[int, str]:
        """Return the largest set of images that answers exclude from all classes, as one more.

        If one of the classes is a mistake, the missing class can grow this way. A few such images
        are more likely mistakes themselves: they must outnumber the smallest class.
        """
        n_classes = len(self.groups.keys)
        outside = [x for x, excluded in self.groups.undecided if len(excluded) == n_classes]
        labeled = self.groups.classes[self.groups.classes >= 0]
        if sum(map(len, outside)) <= np.bincount(labeled, minlength=n_classes).min():
            return {}
        related = self.graph.relation
        possible = (images for images in outside if not related(image, int(images[0])))
        largest: npt.NDArray[np.intp] | None = max(possible, key=len, default=None)
        return {} if largest is None else {int(largest[0]): f"group {n_classes + 1}"}

    def _possible_classes(self, image: int) -> list[int]:
        """Return the classes that the image may still belong to, most likely first.

        Classes established after the last training have no column yet, and come last.
        """
        predicted = self.probabilities[image, : len(self.groups.keys)]
        chances = np.pad(predicted, (0, len(self.groups.keys) - len(predicted)))
        prototypes = self.groups.prototypes
        return [
            int(c)
            for c in np.argsort(-chances, kind="stable")
            if prototypes[c] != image and self.graph.relation(image, prototypes[c]) == 0
        ]


def check_kinds(kinds: str | Sequence[str]) -> tuple[str, ...]:
    """Return kinds of questions given as a sequence or separated by commas.

    Raises
    ------
    UnknownNameError
        If one of them does not exist.
    InvalidParameterError
        If there is none.
    """
    given = kinds.split(",") if isinstance(kinds, str) else kinds
    chosen = tuple(kind.strip() for kind in given)
    for kind in chosen:
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)
    if not chosen:
        raise InvalidParameterError(
            "kinds must name at least one of pair, choice, label; got none."
        )
    return chosen
