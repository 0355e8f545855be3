"""IDC: interactive deep clustering, asking which of a few groups a hard image belongs to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from likewise.constraints.question import CANNOT_TELL, Question
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.feedback import Feedback, feedback_of
from likewise.methods.rivals.own_questions import OwnQuestions
from likewise.methods.rivals.two_views import TwoViewsRival
from likewise.methods.rivals.value_mining import mine, worth_of
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent
from likewise.oracles.base import Oracle
from likewise.progress import Progress
from likewise.seeds import stream

_SOON = 50  # answers during which an image that nobody could place is not asked again


@dataclass(eq=False, repr=False)
class IDC(OwnQuestions, TrainingParameters, TwoViewsRival):
    r"""Interactive deep clustering: choices among groups, about hard images.

    Parameters
    ----------
    n_clusters : int
    n_shown : int
        Groups shown in a question, at most.
    confidence : float
        Weight of what the model is sure of, beside the answers.
    sure : float
        Probability from which it counts as sure.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. The plan's warm-up epochs make the clustering that answers correct.

    Notes
    -----
    H. Liu, P. Hu, C. Zhang, Y. Li, X. Peng: *Interactive deep clustering via value mining*.
    NeurIPS 2024. A clustering model exists. Images of high value, hard to place, in dense
    regions, unlike each other (``value_mining.py``), are shown with the nearest five clusters:
    which is it, or none? Then the model is tuned by three losses: *positive*,
    :math:`-\log p_{ik}` for the cluster chosen; *negative*, :math:`-\log(1 - p_{ik})` for those
    refused; *confidence*, :math:`-\log p_{ik}` at the most likely cluster of images it is sure of,
    so that what was right stays.

    Choices. The model to be tuned is `CC` on the same vectors, trained here (the paper takes TCL
    or ProPos, both of that family). A cluster of ours may be half of what a person means, or two
    of it, and she cannot choose between two groups that are one to her. So the groups shown are
    those that answers have shown to differ, each by the image that stands for it; they take the
    columns that suit them best (an assignment problem, anew in each round). Images with answers
    are in every batch. *Inferred:* the three parts of the value are added as shares from 0 to 1;
    confidence weighs 0.1, as the answers should decide where they and the model differ.

    Published property: answers help, and choices about valuable images help more than pairs.
    """

    asks: ClassVar[tuple[str, ...]] = ("choice",)
    too_few: ClassVar[str] = "answers leave only {n_open} images to ask about; ask for fewer."
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        warmup_epochs=30, n_rounds=5, epochs_per_round=10, batch_size=256
    )

    n_clusters: int = 8
    _: KW_ONLY
    n_shown: int = 5
    confidence: float = 0.1
    sure: float = 0.99

    def _build(self) -> None:
        super()._build()
        self._feedback: Feedback | None = None

    # -- training -------------------------------------------------------------

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        self._pretrain(n_epochs, progress)
        self._feedback = self._collect()
        super()._improve(n_epochs, progress)

    def _collect(self) -> Feedback:
        """Return what answers say of clusters, classes at the columns that suit them best."""
        seeds = labeled_groups(self.constraints_, self._n_clusters)
        p = self._plain_views()[1]
        return feedback_of(seeds, columns_of(seeds, p), self._n_clusters)

    def _batches(self) -> Iterator[Indexes]:
        told = np.zeros(0, dtype=np.intp) if self._feedback is None else self._feedback.images
        rng = stream(self._seed, "told", self._epoch)
        for batch in super()._batches():
            some = rng.permutation(told)[: len(batch) // 2]
            yield np.concatenate([some, batch])[: len(batch)]

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        a, b = self._look_twice(number, indexes, share)
        self._count(a)
        feedback = self._feedback
        if self._is_pretraining or feedback is None or not len(feedback.images):
            return _clustering_terms(a, b)
        p = (a.p + b.p) / 2
        terms = feedback.terms(indexes, p)
        sure, likeliest = p.detach().max(dim=1)
        is_own = (sure > self._settings.sure) & ~feedback.is_told(indexes).to(p.device)
        if is_own.any():
            kept = -p[is_own, likeliest[is_own]].clamp_min(1e-8).log().mean()
            terms["confidence"] = self._settings.confidence * kept
        return terms

    # -- questions --------------------------------------------------------------

    def _assign(self) -> None:
        super()._assign()
        self._worth = worth_of(self.probabilities_, self._embeddings)

    def _ask_what_is_left(self, n: int) -> list[Question]:
        seeds = labeled_groups(self.constraints_, self._n_clusters)
        images = self._most_valuable(seeds, n + 1)
        if not seeds.keys and len(images) > 1:  # nothing to compare with but another image
            faces, keys, images = (int(images[0]),), ("group 1",), images[1:]
            found: list[Question | None] = [Question.choice(int(i), faces, keys) for i in images]
        else:
            p = self._raw[:, columns_of(seeds, self._raw)]
            found = [self._phrase(int(image), seeds, p[image]) for image in images]
        questions = [question for question in found if question is not None][:n]
        self._asker.n_asked += len(questions)
        return questions

    @property
    def _raw(self) -> Any:
        """Return the probabilities with columns as the head has them."""
        return self.probabilities_[:, np.argsort(self._columns)]

    def _most_valuable(self, seeds: LabeledGroups, n: int) -> Indexes:
        is_open = seeds.classes < 0
        is_open[list(self.constraints_.bad_images)] = False
        answers = list(self.constraints_.answers.values())
        asked = np.array(sorted({a.question.images[0] for a in answers}), dtype=np.intp)
        for answer in answers[-_SOON:]:
            if answer.answer == CANNOT_TELL:
                is_open[answer.question.images[0]] = False
        return mine(self._worth, self._embeddings, is_open, asked, n)

    def _phrase(self, image: int, seeds: LabeledGroups, p: Sequence[float]) -> Question | None:
        """Return which of the likeliest groups `image` may be in; None if none may."""
        likely = np.argsort(-np.asarray(p), kind="stable")
        shown = [
            int(c)
            for c in likely
            if seeds.representatives[c] != image
            and self.constraints_.relation(image, seeds.representatives[c]) == 0
        ][: self._settings.n_shown]
        if not shown:
            return None
        faces = tuple(seeds.representatives[c] for c in shown)
        return Question.choice(image, faces, tuple(seeds.keys[c] for c in shown))

    def _question(self, oracle: Oracle, n: int) -> None:
        """Ask one by one while groups are still being found: the next question can show them."""
        while n > 0:
            is_early = (
                len(labeled_groups(self.constraints_, self._n_clusters).keys) < self._n_clusters
            )
            questions = self._ask_what_is_left(1 if is_early else n)
            if not questions:
                return
            n -= self._put(questions, oracle)

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._worth = worth_of(self.probabilities_, self._embeddings)
        if self._is_mid_round:  # of a checkpoint: the classes keep their columns
            self._feedback = Feedback.of_arrays(arrays)

    def _extra_arrays(self) -> dict[str, Any]:
        return {} if self._feedback is None else self._feedback.arrays()


def _clustering_terms(a: NetworkOutput, b: NetworkOutput) -> dict[str, Tensor]:
    """Return the loss of `CC`."""
    return {
        "instance": nt_xent(a.z, b.z, temperature=0.5),
        "cluster": nt_xent(a.p.T, b.p.T, temperature=1.0),
        "balance": cluster_entropy_loss(a.p, b.p),
    }


def columns_of(seeds: LabeledGroups, p: Any) -> Indexes:
    """Return the column of each class: together as likely as can be for the images in them."""
    n_classes = len(seeds.keys)
    means = np.zeros((n_classes, p.shape[1]))
    for c in range(n_classes):
        means[c] = p[seeds.classes == c].mean(axis=0)
    columns: Indexes = linear_sum_assignment(-means)[1]
    return columns
