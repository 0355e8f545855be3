"""TrainingJob: in the worker process, reads new answers, trains the model, saves results."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Answer, Question
from likewise.constraints.serialization import question_to_json
from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings, Encoder
from likewise.embedding.registry import make_encoder
from likewise.embedding.words import MAX_WORDS, TextEncoder, add_similarities
from likewise.errors import PoolExhaustedError
from likewise.estimators.kernel.likewise import Likewise
from likewise.random_streams import stream
from likewise.session.create import EMBEDDINGS
from likewise.session.criteria import Criterion
from likewise.session.groups import Groups
from likewise.session.session import Session
from likewise.types import Floats, Indexes, Progress, silent
from likewise.workspace.cluster_matching import align_clusters, group_keys, save_matched_results
from likewise.workspace.gallery import project_2d, save_map
from likewise.workspace.status import DEFAULT_NAME
from likewise.workspace.thumbnails import image_files
from likewise.workspace.vector_session import StoredVectors
from likewise.workspace.worker_process import Message, Send

_N_QUESTIONS = 48  # sent at a time
_FIRST_SECONDS = 3.0  # for embedding before the first training
_FIRST_STEP, _MIN_FIRST = 32, 64  # images
_STEP_SECONDS = 2.0  # of embedding, after which training can run
_GROWTH = 2  # the model is trained again when the number of images has grown by this factor
_SEED = 0


@dataclass(frozen=True)
class SessionVectors:
    """The embeddings of a session.

    Parameters
    ----------
    embeddings : Embeddings
    positions : array of shape (n,)
        The position in the session of each row.
    n_known : int
        The number of images of the session when they were loaded.
    text_encoder : TextEncoder, optional
        The encoder, if it knows text: names of groups are a prior of the model then.
    """

    embeddings: Embeddings
    positions: Indexes
    n_known: int
    text_encoder: TextEncoder | None = None

    @classmethod
    def load(cls, session: Session, encoder: str, send: Send) -> "SessionVectors":
        """Load the embeddings of all present images; those without one are embedded now."""

        def progress(done: int, total: int) -> None:
            send({"event": "embedding", "done": done, "total": total})

        loaded = cls.of(session, _encoder(session, encoder), session.images.askable, progress)
        loaded.send_skipped(send)
        return loaded

    @classmethod
    def of(
        cls,
        session: Session,
        encoder: Encoder | StoredVectors,
        positions: Indexes,
        progress: Progress = silent,
    ) -> "SessionVectors":
        """Load the embeddings of the images at `positions`; those without one are embedded now."""
        if isinstance(encoder, StoredVectors):
            found = encoder.embeddings(session, positions)
            return cls(found, positions[found.positions], len(session.images))
        cache = EmbeddingCache(session.path / EMBEDDINGS)
        files, n_known = image_files(session, positions.tolist()), len(session.images)
        found = embed(files, encoder, cache, progress)
        embedded = positions if found.positions is None else positions[found.positions]
        text_encoder = encoder if isinstance(encoder, TextEncoder) else None
        return cls(found, embedded, n_known, text_encoder)

    def send_skipped(self, send: Send) -> None:
        """Send the name of each image that could not be embedded, and the reason."""
        for one in self.embeddings.skipped:
            send({"event": "skipped", "name": one.name, "reason": one.reason})


def _encoder(session: Session, name: str) -> Encoder | StoredVectors:
    """Return the encoder of a session, or the vectors that it was created with."""
    return StoredVectors.find(session) or make_encoder(name)


class GrowingVectors:
    """The embeddings of a session, computed in steps: questions are asked before all are there.

    Images are embedded in a random order, so that the first ones are from all parts of the folder.

    Parameters
    ----------
    session : Session
        Open for reading.
    encoder : str
    send : callable
        Sends a message to the parent process.
    """

    def __init__(self, session: Session, encoder: str, send: Send) -> None:
        self._session, self._encoder, self._send = session, _encoder(session, encoder), send
        askable = session.images.askable
        self._order = stream(_SEED, "embedding order").permutation(askable)
        self._done = self._loaded = 0
        self._step = _FIRST_STEP

    @property
    def is_complete(self) -> bool:
        """Return whether all images are embedded and loaded."""
        return self._loaded == len(self._order)

    def first(self) -> SessionVectors:
        """Return the embeddings that exist, or can be computed in `_FIRST_SECONDS`."""
        end = time.monotonic() + _FIRST_SECONDS
        while self._done < len(self._order):
            is_enough = self._done >= _MIN_FIRST
            if is_enough and time.monotonic() > end:
                break
            self._embed_more()
        return self._load()

    def grow(self) -> SessionVectors | None:
        """Embed some more images; return the embeddings if there are many more than before."""
        self._embed_more()
        is_due = self._done >= _GROWTH * self._loaded or self._done == len(self._order)
        return self._load() if is_due else None

    def _embed_more(self) -> None:
        """Embed one step, which takes a few seconds; cached embeddings take no time."""
        start = time.monotonic()
        chunk = self._order[self._done : self._done + self._step]
        SessionVectors.of(self._session, self._encoder, np.sort(chunk))
        self._done += len(chunk)
        seconds = time.monotonic() - start
        self._step = max(_FIRST_STEP, int(self._step * np.clip(_STEP_SECONDS / seconds, 0.5, 4)))
        self._send({"event": "embedding", "done": self._done, "total": len(self._order)})

    def _load(self) -> SessionVectors:
        self._loaded = self._done
        positions = np.sort(self._order[: self._done])
        loaded = SessionVectors.of(self._session, self._encoder, positions)
        if self.is_complete:  # so that each image is sent once
            loaded.send_skipped(self._send)
        return loaded


class TrainingJob:
    """A model that is kept up to date with the answers of one criterion.

    Parameters
    ----------
    session : Session
        Open for reading.
    criterion : Criterion
    vectors : SessionVectors
    send : callable
        Sends a message to the parent process.

    Attributes
    ----------
    model : Likewise
        Its clusters have the numbers of the session's groups.
    """

    def __init__(
        self, session: Session, criterion: Criterion, vectors: SessionVectors, send: Send
    ) -> None:
        self._session, self._vectors, self._send = session, vectors, send
        self._row = np.full(vectors.n_known, -1, dtype=np.intp)  # of each position
        self._row[vectors.positions] = np.arange(len(vectors.positions))
        self._start(criterion)

    def _start(self, criterion: Criterion) -> None:
        """Start with a new model that has no answers yet."""
        self._criterion = criterion
        self._model_id: dict[int, int] = {}  # id in the log -> id in the model's graph
        self._labels: dict[int, list[int]] = {}  # id in the log -> ids of `_label_placed`
        self._merges, self._words = self._read_merges(), self._read_words()
        self._confirmed: set[int] = set()  # rows
        self.model: Likewise = Likewise(
            criterion.n_clusters,
            two_groups=criterion.two_groups,
            words=self._words,
            random_state=_SEED,
        )
        embeddings = self._vectors.embeddings
        if self._words:
            embeddings = add_similarities(embeddings, self._vectors.text_encoder, self._words)
        self.model.start(embeddings)

    def run(self, criterion: Criterion) -> None:
        """Add the new answers, send questions at once, then train, save, and send questions.

        The messages are handled by `Workspace._receive` in the process of the server.
        """
        before = self._criterion, self._merges, self._words
        if (criterion, self._read_merges(), self._read_words()) != before:
            self._start(criterion)  # older answers, or the features, have another meaning now
        has_new = self._sync_answers()
        self._send_questions()
        if has_new:
            self._send({"event": "training", "criterion": criterion.name})
            self.model.train()
        self._save()
        self._send_questions()

    def fit_only(self) -> tuple[str, ...]:
        """Train on all answers without sending questions and without saving anything.

        Returns
        -------
        keys : tuple of str
            The key of the group of each cluster of the model.
        """
        if self._sync_answers():
            self.model.train()
        keys = self._keys()
        name = self._criterion.name
        align_clusters(self._session, name, self.model, self._vectors.positions, keys)
        return keys

    def _read_merges(self) -> dict[str, str | None]:
        """Return the groups that were merged, each with the key of the other."""
        groups = self._session.groups(self._criterion.name).all()
        return {group.key: group.merged_into for group in groups if group.merged_into}

    def _read_words(self) -> tuple[str, ...] | None:
        """Return the names that a person gave to groups, if the encoder knows text."""
        if self._vectors.text_encoder is None:
            return None
        names = (group.name for group in self._session.groups(self._criterion.name).shown())
        given = dict.fromkeys(name for name in names if not DEFAULT_NAME.fullmatch(name))
        return tuple(given)[:MAX_WORDS] if len(given) > 1 else None

    def _keys(self) -> tuple[str, ...]:
        n_clusters = self.model.probabilities_.shape[1]
        return group_keys(self._session, self._criterion.name, n_clusters)

    # -- answers ----------------------------------------------------------------

    def _sync_answers(self) -> bool:
        """Make the model's answers equal to the active ones; return whether any changed."""
        active = self._session.graph(self._criterion.name).answers
        retracted = [number for number in self._model_id if number not in active]
        for number in retracted:
            for own in (self._model_id.pop(number), *self._labels.pop(number, ())):
                self.model.constraints_.retract(own)
        n_new = 0
        groups = self._session.groups(self._criterion.name)
        for number in [number for number in active if number not in self._model_id]:
            answer = self._to_rows(active[number])
            if answer is not None:
                told = self.model.tell_one(answer)
                self._model_id[number] = told.id
                self._labels[number] = self._label_placed(answer, told, groups)
                n_new += 1
        return self._sync_confirmed() or bool(retracted or n_new)

    def _label_placed(self, answer: Answer, told: AnswerResult, groups: Groups) -> list[int]:
        """Label the images that an answer places in a group, and return the ids of these labels.

        A choice or a grid compares with the example that is shown, and others are shown later. So
        without labels, images that a person placed in one group would not be known to be the same.
        """
        if answer.question.kind == "label" or not told.accepted:
            return []
        graph, labels = self.model.constraints_, []
        for image, key in answer.placed.items():
            if key in groups and image not in told.excluded:
                labeled = graph.label(image, groups.resolve(key))
                if labeled.accepted:
                    labels.append(labeled.id)
                else:
                    graph.retract(labeled.id)
        return labels

    def _sync_confirmed(self) -> bool:
        """Pass the images of confirmed answers to the model; return whether they changed."""
        confirmed = self._session.confirmed(self._criterion.name)
        active = self.model.constraints_.active_answers  # an answer in conflict confirms nothing
        accepted = {number for number, own in self._model_id.items() if own in active}
        images = {i for number in confirmed.keys() & accepted for i in confirmed[number]}
        rows = {int(self._row[i]) for i in images if 0 <= i < len(self._row)} - {-1}
        has_changed = rows != self._confirmed
        self._confirmed = rows
        self.model.confirm(rows)
        return has_changed

    def _to_rows(self, answer: Answer) -> Answer | None:
        """Return an answer about rows of the embeddings; None if an image it needs has no row."""
        return answer.at_positions([int(self._row[i]) for i in answer.question.images])

    # -- questions and results ----------------------------------------------------

    def _send_questions(self) -> None:
        try:
            questions = self.model.ask(_N_QUESTIONS)
        except PoolExhaustedError:
            questions = []
        lines = [question_to_json(self._to_positions(question)) for question in questions]
        name = self._criterion.name
        self._send({"event": "questions", "criterion": name, "questions": lines})

    def _to_positions(self, question: Question) -> Question:
        """Return a question about positions in the session."""
        positions = [int(self._vectors.positions[row]) for row in question.images]
        return question.with_images(positions)

    def _save(self) -> None:
        """Save results and map, and send that the training has finished."""
        session, name, model = self._session, self._criterion.name, self.model
        positions, n_answers = self._vectors.positions, len(self._model_id)
        quality = {"accuracy": asdict(model.accuracy_estimate_), "advice": asdict(model.advice_)}
        results = save_matched_results(
            session,
            name,
            model,
            positions,
            n_answers=n_answers,
            keys=self._keys(),
            quality=quality,
        )
        rows: Floats = model.embeddings_
        save_map(session, name, positions, project_2d(rows, model.labels_))
        log_ids = {own: number for number, own in self._model_id.items()}
        log_ids |= {own: number for number, ids in self._labels.items() for own in ids}
        self._send(
            {
                "event": "trained",
                "criterion": name,
                "n_answers": n_answers,
                "n_moved": int(results.moved.sum()),
                "n_violations": int(model.violations_),
                "label_issues": label_issue_messages(model.label_issues_, log_ids, positions),
            }
        )


def label_issue_messages(
    issues: Iterable[Any], log_ids: Mapping[int, int], positions: Sequence[int] | Indexes
) -> list[Message]:
    """Return the label issues of a model as JSON, with ids of the log and session positions.

    Parameters
    ----------
    issues : iterable of LabelIssue
    log_ids : mapping of int to int
        From the model's ids of answers to those of the log.
    positions : sequence of int
        From the model's images to their positions in the session.
    """
    return [
        {
            "answer": log_ids[issue.answer_id],
            "image": int(positions[issue.image]),
            "probability": round(float(issue.probability), 4),
            "evidence": [log_ids[c.answer_id] for c in issue.proof if c.answer_id in log_ids],
        }
        for issue in issues
        if issue.answer_id in log_ids
    ]
