"""Training of one criterion in the worker process: read new answers, train, save, ask."""

import contextlib
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints.question import Answer, Question
from likewise.constraints.serialization import question_to_json
from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings
from likewise.embedding.registry import make_encoder
from likewise.errors import PoolExhaustedError, SessionError
from likewise.estimators.kernel.likewise import Likewise
from likewise.session.atomic import write_atomic
from likewise.session.create import EMBEDDINGS
from likewise.session.criteria import Criterion
from likewise.session.session import Session
from likewise.types import Floats, Indexes
from likewise.workspace.cluster_matching import align_clusters, group_keys, save_matched_results
from likewise.workspace.map2d import project_2d, save_map
from likewise.workspace.thumbnails import image_files
from likewise.workspace.worker_process import Message, Send

CALIBRATION, CALIBRATION_0_1 = "calibration.npz", "experience.npz"
_N_QUESTIONS = 48  # sent at a time
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
    """

    embeddings: Embeddings
    positions: Indexes
    n_known: int

    @classmethod
    def load(cls, session: Session, encoder: str, send: Send) -> "SessionVectors":
        """Load the embeddings of all present images; those without one are embedded now."""
        positions, n_known = session.images.askable, len(session.images)
        cache = EmbeddingCache(session.path / EMBEDDINGS)

        def progress(done: int, total: int) -> None:
            send({"event": "embedding", "done": done, "total": total})

        files = image_files(session, positions.tolist())
        found = embed(files, make_encoder(encoder), cache, progress)
        for one in found.skipped:
            send({"event": "skipped", "name": one.name, "reason": one.reason})
        embedded = positions if found.positions is None else positions[found.positions]
        return cls(found, embedded, n_known)


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
        self._merges = self._read_merges()
        self._confirmed: set[int] = set()  # rows
        self.model = Likewise(
            criterion.n_clusters, two_groups=criterion.two_groups, random_state=_SEED
        )
        self.model.start(self._vectors.embeddings)
        load_calibration(self._session.model_folder(criterion.name), self.model)

    def run(self, criterion: Criterion) -> None:
        """Add the new answers, send questions at once, then train, save, and send questions."""
        if criterion != self._criterion or self._read_merges() != self._merges:
            self._start(criterion)  # older answers have another meaning now
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

    def _keys(self) -> tuple[str, ...]:
        n_clusters = self.model.probabilities_.shape[1]
        return group_keys(self._session, self._criterion.name, n_clusters)

    # -- answers ----------------------------------------------------------------

    def _sync_answers(self) -> bool:
        """Make the model's answers equal to the active ones; return whether any changed."""
        active = self._session.graph(self._criterion.name).answers
        retracted = [number for number in self._model_id if number not in active]
        for number in retracted:
            self.model.constraints_.retract(self._model_id.pop(number))
        n_new = 0
        for number in [number for number in active if number not in self._model_id]:
            answer = self._to_rows(active[number])
            if answer is not None:
                self._model_id[number] = self.model.tell_one(answer).id
                n_new += 1
        return self._sync_confirmed() or bool(retracted or n_new)

    def _sync_confirmed(self) -> bool:
        """Pass the images of confirmed answers to the model; return whether they changed."""
        confirmed = self._session.confirmed(self._criterion.name)
        conflicts = self.model.constraints_.conflicts  # an answer in conflict confirms nothing
        accepted = {number for number, own in self._model_id.items() if own not in conflicts}
        images = {i for number in confirmed.keys() & accepted for i in confirmed[number]}
        rows = {int(self._row[i]) for i in images if 0 <= i < len(self._row)} - {-1}
        has_changed = rows != self._confirmed
        self._confirmed = rows
        self.model.confirm(rows)
        return has_changed

    def _to_rows(self, answer: Answer) -> Answer | None:
        """Return an answer about rows of the embeddings; None if one of its images has no row."""
        rows = [int(self._row[i]) for i in answer.question.images]
        if min(rows) < 0:
            return None
        images = sorted(rows) if answer.question.kind == "pair" else rows
        return replace(answer, question=replace(answer.question, images=tuple(images)))

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
        images = sorted(positions) if question.kind == "pair" else positions
        return replace(question, images=tuple(images))

    def _save(self) -> None:
        """Save results, calibration and map, and send that the training has finished."""
        session, name, model = self._session, self._criterion.name, self.model
        positions, n_answers = self._vectors.positions, len(self._model_id)
        results = save_matched_results(
            session, name, model, positions, n_answers=n_answers, keys=self._keys()
        )
        save_calibration(session.model_folder(name), model)
        rows: Floats = model.embeddings_
        save_map(session, name, positions, project_2d(rows, model.labels_))
        log_ids = {own: number for number, own in self._model_id.items()}
        self._send(
            {
                "event": "trained",
                "criterion": name,
                "n_answers": n_answers,
                "n_moved": int(results.moved.sum()),
                "n_violations": int(model.violations_),
                "n_determined": model.n_determined_,
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


def save_calibration(folder: Path, model: Likewise) -> None:
    """Save the state of the temperature scaler, if possible; without it, scaling starts again."""

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            np.savez(stream, allow_pickle=False, **model.temperature_scaler_.get_state())

    with contextlib.suppress(SessionError):
        write_atomic(folder / CALIBRATION, write)


def load_calibration(folder: Path, model: Likewise) -> None:
    """Load the state of the temperature scaler; a missing or damaged file is ignored."""
    path = folder / CALIBRATION
    with (
        contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile),
        open(path if path.exists() else folder / CALIBRATION_0_1, "rb") as stream,
        np.load(stream, allow_pickle=False) as file,
    ):
        model.temperature_scaler_.set_state(file)
