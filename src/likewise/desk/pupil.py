"""One orientation in the training child: it reads the answers, learns, and asks on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Answer, Question
from likewise.constraints.relation import Indexes
from likewise.desk.album import files_of
from likewise.desk.flat import flatten, save_map
from likewise.desk.keeping import group_keys, keep_found, number_as_before
from likewise.desk.messages import Message, from_question
from likewise.desk.past import keep, recall
from likewise.desk.suspicion import from_suspects
from likewise.encoders.embed import embed
from likewise.encoders.embeddings import Embeddings
from likewise.encoders.registry import make_encoder
from likewise.encoders.store import EmbeddingStore
from likewise.errors import PoolExhaustedError
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.training_set import labeled_groups
from likewise.session.create import EMBEDDINGS
from likewise.session.criteria import Criterion
from likewise.session.session import Session

Say = Callable[[Message], None]
Floats = npt.NDArray[np.float32]
_N_AHEAD = 48  # questions sent at a time
_SEED = 0


@dataclass(frozen=True)
class Vectors:
    """The vectors of a session, the position of each row in it, and how many positions it had."""

    embeddings: Embeddings
    positions: Indexes
    n_known: int

    @classmethod
    def of(cls, session: Session, encoder: str, say: Say) -> "Vectors":
        """Return the vectors of every picture that is there; what has none yet is embedded."""
        positions, n_known = session.images.askable, len(session.images)
        store = EmbeddingStore(session.path / EMBEDDINGS)

        def tell(done: int, total: int) -> None:
            say({"event": "embedding", "done": done, "total": total})

        files = files_of(session, positions.tolist())
        found = embed(files, make_encoder(encoder), store, tell)
        for one in found.skipped:
            say({"event": "skipped", "name": one.name, "reason": one.reason})
        kept = positions if found.kept is None else positions[found.kept]
        return cls(found, kept, n_known)


class Pupil:
    """A model that follows the answers of one orientation.

    Parameters
    ----------
    session : Session
        Open for reading.
    orientation : Criterion
    vectors : Vectors
    say : callable
        Takes the messages for the parent.

    Attributes
    ----------
    model : Likewise
        Its clusters have the numbers of the session's groups.
    """

    def __init__(
        self, session: Session, orientation: Criterion, vectors: Vectors, say: Say
    ) -> None:
        self._session, self._vectors, self._say = session, vectors, say
        self._row = np.full(vectors.n_known, -1, dtype=np.intp)
        self._row[vectors.positions] = np.arange(len(vectors.positions))
        self._begin(orientation)

    def _begin(self, orientation: Criterion) -> None:
        self._orientation = orientation
        self._told: dict[int, int] = {}  # number in the log -> number in the model's graph
        self._merged = self._merges()
        self._confirmed: set[int] = set()  # rows whose doubtful place a person stood by
        k = orientation.n_clusters
        self.model = Likewise(k, parity=orientation.two_groups, random_state=_SEED)
        self.model.start(self._vectors.embeddings)
        recall(self._session.model_folder(orientation.name), self.model.experience_)

    def study(self, orientation: Criterion) -> None:
        """Take in the answers that are new, ask at once, then train, keep it, and ask again."""
        if orientation != self._orientation or self._merges() != self._merged:
            self._begin(orientation)  # as after a restart: old answers mean something else now
        is_new = self._catch_up()
        self._ask()
        if is_new:
            self._say({"event": "training", "orientation": orientation.name})
            self.model.train()
        self._keep()
        self._ask()

    def learn(self) -> tuple[str, ...]:
        """Take in the answers and train, without asking and without keeping anything on disk.

        Returns
        -------
        keys : tuple of str
            The group that each cluster of the model is.
        """
        if self._catch_up():
            self.model.train()
        keys = self._keys()
        place = self._session, self._orientation.name
        number_as_before(*place, self.model, self._vectors.positions, keys)
        return keys

    def _merges(self) -> dict[str, str | None]:
        """Return which groups became one with which."""
        groups = self._session.groups(self._orientation.name).all()
        return {group.key: group.merged_into for group in groups if group.merged_into}

    # -- answers in -----------------------------------------------------------

    def _catch_up(self) -> bool:
        """Bring the model's graph to what stands in the log; return whether that changed it."""
        graph = self._session.graph(self._orientation.name)
        standing = graph.answers
        gone = [number for number in self._told if number not in standing]
        for number in gone:
            self.model.constraints_.retract(self._told.pop(number))
        fresh = [number for number in standing if number not in self._told]
        n_told = 0
        for number in fresh:
            answer = self._placed(standing[number])
            if answer is not None:
                self._told[number] = self.model.hear(answer).id
                n_told += 1
        return self._hear_what_is_right() or bool(gone or n_told)

    def _hear_what_is_right(self) -> bool:
        """Have the model trust what a person stood by; return whether that is news to it."""
        kept = self._session.confirmed(self._orientation.name)
        aside = self.model.constraints_.set_aside  # which place nothing
        said = {number for number, told in self._told.items() if told not in aside}
        images = {i for number in kept.keys() & said for i in kept[number]}
        confirmed = {int(self._row[i]) for i in images if 0 <= i < len(self._row)} - {-1}
        is_news = confirmed != self._confirmed
        self._confirmed = confirmed
        self.model.confirm(confirmed)
        return is_news

    def _placed(self, answer: Answer) -> Answer | None:
        """Return an answer about rows; None if one of its pictures has no vector."""
        rows = [int(self._row[i]) for i in answer.question.images]
        if min(rows) < 0:
            return None
        images = sorted(rows) if answer.question.kind == "pair" else rows
        return replace(answer, question=replace(answer.question, images=tuple(images)))

    # -- questions out --------------------------------------------------------

    def _ask(self) -> None:
        try:
            questions = self.model.ask(_N_AHEAD)
        except PoolExhaustedError:
            questions = []
        name = self._orientation.name
        asked = [from_question(self._worded(question)) for question in questions]
        self._say({"event": "questions", "orientation": name, "questions": asked})

    def _worded(self, question: Question) -> Question:
        """Return a question about positions in the session."""
        positions = [int(self._vectors.positions[row]) for row in question.images]
        if question.kind == "pair":
            return Question.pair(*positions)
        if question.kind == "label":
            return Question.label(*positions)
        return replace(question, images=tuple(positions))

    # -- results out ----------------------------------------------------------

    def _keep(self) -> None:
        session, name, model = self._session, self._orientation.name, self.model
        results = keep_found(
            session,
            name,
            model,
            self._vectors.positions,
            n_answers=len(self._told),
            keys=self._keys(),
        )
        keep(session.model_folder(name), model.experience_)
        rows = model._embeddings  # `transform` would compute them once more
        save_map(session, name, self._vectors.positions, flatten(rows, model.labels_))
        self._say(
            {
                "event": "trained",
                "orientation": name,
                "n_answers": len(self._told),
                "n_moved": int(results.moved.sum()),
                "n_violations": int(model.violations_),
                "n_settled": self._n_settled(),
                "suspects": self._suspects(),
            }
        )

    def _keys(self) -> tuple[str, ...]:
        n_clusters = self.model.probabilities_.shape[1]
        return group_keys(self._session, self._orientation.name, n_clusters)

    def _suspects(self) -> list[Message]:
        """Return the answers that the model finds doubtful, by their numbers in the log."""
        number_of = {number: entry for entry, number in self._told.items()}
        return from_suspects(self.model.suspects_, number_of, self._vectors.positions)

    def _n_settled(self) -> int:
        """Return how many images have their place by answers alone."""
        seeds = labeled_groups(self.model.constraints_, self._orientation.n_clusters)
        return int((seeds.classes >= 0).sum())
