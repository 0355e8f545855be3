"""IDC: interactive deep clustering, by choice questions about hard images."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Question
from likewise.errors import PoolExhaustedError
from likewise.estimators.data import Data
from likewise.estimators.deep.cc import CCObjective
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kernel.training_set import LabeledGroups, labeled_groups
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, Prediction, QueryState, Questioner, State
from likewise.estimators.questioners import RECENT
from likewise.oracles.base import Oracle
from likewise.random_streams import stream
from likewise.types import Indexes
from likewise_bench.baselines.choice_feedback import (
    ChoiceFeedback,
    feedback_from_groups,
    match_columns,
    most_valuable,
    value_of,
)
from likewise_bench.baselines.network_baseline import NetworkBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class IDC(NetworkBaseline):
    r"""Interactive deep clustering: choice questions about hard images.

    Parameters
    ----------
    n_clusters : int
    n_shown : int
        Groups shown in a question, at most.
    confidence : float
        Weight of the confidence loss beside the answers.
    sure : float
        Probability from which a prediction counts as confident.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. The plan's warm-up epochs train the clustering that answers correct.

    Notes
    -----
    H. Liu, P. Hu, C. Zhang, Y. Li, X. Peng: *Interactive deep clustering via value mining*.
    NeurIPS 2024. Given a clustering model, images of high value (hard to assign, in dense
    regions, unlike each other; see `choice_feedback`) are shown with the nearest five clusters:
    which one is it, or none? Then the model is tuned by three losses: *positive*,
    :math:`-\log p_{ik}` for the cluster chosen; *negative*, :math:`-\log(1 - p_{ik})` for those
    rejected; *confidence*, :math:`-\log p_{ik}` at the most likely cluster of confident images,
    which preserves correct assignments.

    Choices. The model to be tuned is `CC` on the same vectors, trained here (the paper takes TCL
    or ProPos, both of that family). A predicted cluster may be half of what a person means, or
    two groups of it; two clusters of one group give a question without a right answer. So the
    groups shown are those that answers have shown to differ, each by one image; groups are
    matched to columns by an assignment problem, anew in each round. Images with answers are in
    every batch. *Inferred:* the three parts of the value are each scaled to 0..1 and added; the
    weight of the confidence loss is 0.1, so that answers outweigh the model's own predictions.

    Published property: answers help, and choices about valuable images help more than pairs.
    """

    asks: ClassVar[tuple[str, ...]] = ("choice",)
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        warmup_epochs=30, n_rounds=5, epochs_per_round=10, batch_size=256
    )

    n_shown: int = 5
    confidence: float = 0.1
    sure: float = 0.99

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        objective = IDCObjective(s.confidence, s.sure)
        learner = self._network_learner(data, self._cluster_network(), objective)
        return learner, IDCQuestioner(s.n_clusters, s.n_shown)

    def ask_oracle(self, oracle: Oracle, n: int) -> None:
        """Ask one by one until all groups are known: the next question can then show them."""
        while n > 0:
            n_groups = len(labeled_groups(self.constraints_, self.settings_.n_clusters).keys)
            n_next = 1 if n_groups < self.settings_.n_clusters else n
            questions = self.questioner_.propose(n_next, self.query_state(), allow_fewer=True)
            if not questions:
                return
            self.n_asked_ += len(questions)
            n -= self.put(questions, oracle)


class IDCObjective(Objective):
    """The loss of `CC` while pre-training; then the feedback of answers, and confidence.

    Parameters
    ----------
    confidence : float
        Weight of the confidence loss.
    sure : float
        Probability from which a prediction counts as confident.
    """

    pretrains = True

    def __init__(self, confidence: float, sure: float) -> None:
        self.confidence, self.sure = confidence, sure
        self._pretraining = CCObjective(0.5, 1.0, "both")
        self._feedback: ChoiceFeedback | None = None

    def begin_training(self, learner: NetworkLearner) -> None:
        """Collect the answers, groups matched to columns."""
        groups = labeled_groups(learner.constraints, learner.n_clusters)
        columns = match_columns(groups, learner.forward_all().probabilities)
        self._feedback = feedback_from_groups(groups, columns, learner.n_clusters)

    def batches(self, learner: NetworkLearner) -> Iterator[Indexes]:
        """Yield batches, up to half of each images with feedback."""
        feedback = self._feedback
        answered = np.zeros(0, dtype=np.intp) if feedback is None else feedback.images
        rng = stream(learner.seed, "told", learner.epoch)
        for batch in learner.sample_batches():
            some = rng.permutation(answered)[: len(batch) // 2]
            yield np.concatenate([some, batch])[: len(batch)]

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of the present stage; without answers those of pre-training."""
        feedback = self._feedback
        if batch.learner.is_pretraining or feedback is None or not len(feedback.images):
            return self._pretraining.terms(batch)
        a, b = batch.views
        p = (a.p + b.p) / 2
        terms = feedback.terms(batch.indexes, p)
        confidence, most_likely = p.detach().max(dim=1)
        answered = feedback.has_feedback(batch.indexes).to(p.device)
        is_confident = (confidence > self.sure) & ~answered
        if is_confident.any():
            kept = -p[is_confident, most_likely[is_confident]].clamp_min(1e-8).log().mean()
            terms["confidence"] = self.confidence * kept
        return terms

    def get_state(self) -> State:
        """Return the feedback."""
        return {} if self._feedback is None else self._feedback.to_arrays()

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self._feedback = ChoiceFeedback.from_arrays(state)


class IDCQuestioner(Questioner):
    """Ask which of several groups an image of high value belongs to.

    Parameters
    ----------
    n_clusters, n_shown : int
    """

    def __init__(self, n_clusters: int, n_shown: int) -> None:
        self.n_clusters, self.n_shown = n_clusters, n_shown
        self._value: npt.NDArray[np.floating] | None = None

    def update(self, prediction: Prediction, state: QueryState) -> None:
        """Forget the values of the images: they depend on the prediction."""
        self._value = None

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return choice questions about the most valuable images.

        Raises
        ------
        PoolExhaustedError
            If fewer images are open, unless `allow_fewer`.
        """
        constraints = state.constraints
        groups = labeled_groups(constraints, self.n_clusters)
        images = self._most_valuable(groups, n + 1, state)
        if not groups.keys and len(images) > 1:  # no group is known: compare two images
            shown, keys, images = (int(images[0]),), ("group 1",), images[1:]
            made: list[Question | None] = [Question.choice(int(i), shown, keys) for i in images]
        else:
            raw = state.probabilities[:, np.argsort(state.columns)]
            p = raw[:, match_columns(groups, raw)]
            made = [self.make_question(int(i), groups, p[i], constraints) for i in images]
        questions = [question for question in made if question is not None][:n]
        if len(questions) < n and not allow_fewer:
            raise PoolExhaustedError(
                f"{n} questions were asked for but answers leave only {len(questions)} images to "
                "ask about; ask for fewer."
            )
        return questions

    def make_question(
        self, image: int, groups: LabeledGroups, p: Sequence[float], constraints: ConstraintGraph
    ) -> Question | None:
        """Return a question with the most likely groups of `image`; None if all are excluded."""
        likely = np.argsort(-np.asarray(p), kind="stable")
        shown = [
            int(c)
            for c in likely
            if groups.prototypes[c] != image
            and constraints.relation(image, groups.prototypes[c]) == 0
        ][: self.n_shown]
        if not shown:
            return None
        prototypes = tuple(groups.prototypes[c] for c in shown)
        return Question.choice(image, prototypes, tuple(groups.keys[c] for c in shown))

    def _most_valuable(self, groups: LabeledGroups, n: int, state: QueryState) -> Indexes:
        """Return the most valuable images without a group, not those recently passed."""
        if self._value is None:
            self._value = value_of(state.probabilities, state.embeddings)
        is_open = groups.classes < 0
        is_open[list(state.constraints.bad_images)] = False
        answers = list(state.constraints.answers.values())
        asked = np.array(sorted({a.question.images[0] for a in answers}), dtype=np.intp)
        for answer in answers[-RECENT:]:
            if answer.answer == CANNOT_TELL:
                is_open[answer.question.images[0]] = False
        return most_valuable(self._value, state.embeddings, is_open, asked, n)
