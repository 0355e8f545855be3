"""KernelQuestioner of `Likewise`: schedules the questions and builds pairs, choices and grids."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import KINDS, MAX_GROUPS, NEW, NONE, Question
from likewise.errors import (
    InvalidParameterError,
    LikewiseError,
    PoolExhaustedError,
    UnknownNameError,
)
from likewise.estimators.kernel.features import COLORS, concat_blocks, reduce_dims
from likewise.estimators.kernel.held_out import (
    apply_temperature,
    audit_sample,
    is_audit_due,
)
from likewise.estimators.kernel.learner import KernelLearner
from likewise.estimators.kernel.query_selection import (
    Mask,
    representative_images,
    representative_in_learned_space,
    uncertain_regions,
)
from likewise.estimators.kernel.question_value import best_grid, single_value
from likewise.estimators.kernel.training_set import LabeledGroups
from likewise.estimators.parts import Prediction, QueryState, Questioner
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

_SKIPPED_ANSWERS = 50  # during which an image answered "can't tell" is not asked about again
_GRID_REGIONS = 64  # uncertain regions with the candidates of grids
_MAX_OUTSIDE = 3  # answers in a row outside the groups shown, after which a grid is asked
_MIN_LABELS, _MIN_LABELS_OF_TWO = 4, 2  # of a group, before grids are asked; of one of two groups
_MIN_SHARE = 0.8  # of the images, predicted to be in groups with that many labels
_FOLLOWED_ANSWERS = 4  # latest answers, after which the other known groups are asked about
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
        self._grid_images: Indexes | None = None  # candidates, selected after each training
        self._n_trained_groups = 0  # groups that have a column
        self._group_sizes = np.zeros(0, dtype=np.float32)  # mean probability of each column

    def update(self, prediction: Prediction, state: QueryState) -> None:
        """Select representative images at the start; after each training, refill the queue."""
        if self._representatives is None:
            self._representatives = self._select_representatives(state)
        else:
            builder = self._builder(state)
            self._grid_images, self._n_trained_groups = None, len(builder.groups.keys)
            self._group_sizes = builder.probabilities.mean(axis=0)
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
        sample, audits = self._audits(n, builder, state)
        grids = self._grids(builder, state, is_open)
        follow_ups = [] if self._n_clusters else _follow_ups(builder)
        self._queue = [*follow_ups, *(i for i in self._queue if i not in follow_ups)]
        while len(questions) < n:
            is_audit = bool(audits) and is_audit_due(state.n_answered + len(questions), len(sample))
            if is_audit:
                sample.append(audits.pop(0))
                self._queue.insert(0, sample[-1])
            elif not self._queue:
                self._fill(n - len(questions), builder, state, is_open, len(questions))
            if not self._queue:
                break
            image = self._queue.pop(0)
            question = self._ask_about(image, builder, is_open)
            is_fixed = question is None or is_audit or image in follow_ups
            grid = None if is_fixed or question is None else grids.better_than(question, is_open)
            if grid is not None:  # `image` stays open, and comes next
                is_open[image] = True
                self._queue.insert(0, image)
                is_open[list(grid.asked)] = False
                question = grid
            if question is not None:
                questions.append(question)
        if not questions and not allow_fewer:
            raise PoolExhaustedError(
                f"{n} questions were requested, but the answers already determine the group of "
                "every image; nothing is left to ask."
            )
        return questions

    # -- which image ----------------------------------------------------------

    def _audits(
        self, n: int, builder: "QuestionBuilder", state: QueryState
    ) -> tuple[list[int], list[int]]:
        """Return the audit sample (see `audit_sample`) and the next audit images."""
        graph, classes = state.constraints, builder.groups.classes
        sample, following = audit_sample(graph, classes, state.seed, n)
        return sample.tolist(), following

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

    def _grids(self, builder: "QuestionBuilder", state: QueryState, is_open: Mask) -> "GridBuilder":
        """Return the grids that can be asked; none before a group has been trained."""
        n_groups = self._n_trained_groups
        is_ready = "grid" in self._kinds and not self._is_random and n_groups > 0
        if not is_ready or not self._is_grid_due(builder.groups.classes):
            return GridBuilder(builder, np.empty(0, dtype=np.intp), 0, 1.0)
        if self._grid_images is None:
            p, rows = builder.probabilities, state.embeddings
            self._grid_images = uncertain_regions(p, rows, is_open, _GRID_REGIONS)
        return GridBuilder(builder, self._grid_images, n_groups, self._learner.temperature)

    def _is_grid_due(self, classes: Indexes) -> bool:
        """Return whether most images are predicted to be in groups that have enough labels.

        Before, a grid would show one group again, and a choice may show another.
        """
        k = len(self._group_sizes)
        n_labels = np.bincount(classes[classes >= 0], minlength=k)[:k]
        has_enough = n_labels >= (_MIN_LABELS if k > 2 else _MIN_LABELS_OF_TWO)
        return bool(self._group_sizes @ has_enough >= _MIN_SHARE)

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


def _follow_ups(builder: "QuestionBuilder") -> list[int]:
    """Return images that are in none of the groups shown, but perhaps in another known one.

    With more groups than a choice can show, "none" alone would establish no further group.
    """
    latest = reversed(list(builder.graph.answers.values())[-_FOLLOWED_ANSWERS:])
    is_none = (a for a in latest if a.question.kind == "choice" and a.answer == NONE)
    n_shown = MAX_GROUPS - 1
    excluded = {int(i): len(e) for images, e in builder.groups.undecided for i in images}
    asked = dict.fromkeys(
        a.question.images[0] for a in is_none if len(a.question.groups) >= n_shown
    )
    return [i for i in asked if 0 < excluded.get(i, 0) < len(builder.groups.keys)]


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


class GridBuilder:
    """Makes the most informative grid of images in uncertain regions.

    Parameters
    ----------
    builder : QuestionBuilder
    images : array of shape (m,)
        Candidates.
    n_groups : int
        Groups with a column in the probabilities of `builder`.
    temperature : float
        Of the reported probabilities.
    """

    def __init__(
        self, builder: QuestionBuilder, images: Indexes, n_groups: int, temperature: float
    ) -> None:
        self._builder, self._images = builder, images
        self._n_groups = min(n_groups, len(builder.groups.keys))
        self._temperature = temperature
        p = apply_temperature(builder.probabilities[images], temperature)
        row_of = {image: row for row, image in enumerate(images.tolist())}
        for undecided, excluded in builder.groups.undecided if len(images) else []:
            rows = [row_of[i] for i in undecided.tolist() if i in row_of]
            p[np.ix_(rows, [c for c in excluded if c < p.shape[1]])] = 0
        self._probabilities = p
        self._n_outside = _n_latest_outside(builder.graph)

    def better_than(self, question: Question, is_open: Mask) -> Question | None:
        """Return a grid that tells more per second than a pair or choice, or None.

        After three answers in a row outside the groups shown, any grid is better.
        """
        left = np.flatnonzero(is_open[self._images])
        n_columns = self._builder.probabilities.shape[1]
        found = best_grid(self._probabilities[left], self._n_groups, n_columns)
        if found is None:
            return None
        graph, shown = self._builder.graph, self._builder.groups.prototypes[found.group]
        images = self._images[left[found.images]].tolist()
        asked = tuple(i for i in images if not graph.relation(i, shown))
        is_better = found.value > self._value(question) or self._n_outside >= _MAX_OUTSIDE
        if len(asked) < 2 or not is_better:
            return None
        self._n_outside = 0
        return Question.grid(asked, shown, self._builder.groups.keys[found.group])

    def _value(self, question: Question) -> float:
        groups = self._builder.groups
        image = next(i for i in question.images if i not in groups.prototypes)
        p = apply_temperature(self._builder.probabilities[[image]], self._temperature)[0]
        shown = [c for c, i in enumerate(groups.prototypes) if i in question.images]
        return single_value(question, p, np.array(shown, dtype=np.intp))


def _n_latest_outside(graph: ConstraintGraph) -> int:
    """Return how many of the latest answers to choices are outside the groups shown."""
    latest = reversed(list(graph.answers.values())[-_MAX_OUTSIDE:])
    is_outside = (a.question.kind == "choice" and a.answer in (NONE, NEW) for a in latest)
    return sum(1 for _ in takewhile(bool, is_outside))


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
            f"kinds must name at least one of {', '.join(KINDS)}; got none."
        )
    if set(chosen) == {"grid"}:
        raise InvalidParameterError(
            "kinds must contain pair, choice or label beside grid, got 'grid' only: a grid shows a "
            "group that is already known."
        )
    return chosen
