"""The session, images and answers that `likewise fit` works on."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from likewise.cli.answers import report_import
from likewise.cli.console import Bars
from likewise.cli.predict import model_place
from likewise.cli.sessions import beside, kept_in, open_to_write, read_several, vectors
from likewise.constraints.question import Answer
from likewise.desk.keeping import group_keys, keep_found
from likewise.encoders.store import EmbeddingStore
from likewise.estimators.base import InteractiveClusterer
from likewise.images.files import FolderCollection
from likewise.session.create import EMBEDDINGS, check_can_create
from likewise.session.database import DATABASE
from likewise.session.import_answers import Imported, import_answers
from likewise.session.results import load_results
from likewise.session.session import Session


@dataclass(frozen=True)
class Trained:
    """A trained model and the content hash of each image it learned from, in its order."""

    model: InteractiveClusterer
    hashes: list[str]
    n_answers: int
    skipped: list[Any]


class FitSession:
    """The pictures of a folder and the session about them, made if there is none yet.

    The session is opened before any long work, so that what cannot be written is found first.
    """

    def __init__(
        self, folder: Path, session: Path | None, by: str, n_clusters: int, bars: Bars
    ) -> None:
        self.collection: FolderCollection
        place = session or beside(folder)
        with ExitStack() as undo:
            if (place / DATABASE).exists():
                self.session = undo.enter_context(open_to_write(place, folder))
                self.collection = read_several(folder, bars)
                self.session.sync(self.collection)
            else:
                check_can_create(place)
                self.collection = read_several(folder, bars)
                self.session = undo.enter_context(Session.create(place, self.collection))
            self.by = self.session.ensure_criterion(by, n_clusters).name
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def take_in(self, answers: Path, *, strict: bool) -> Imported:
        """Take an answers file into the session's log; bad lines are listed on stderr."""
        imported = import_answers(self.session, answers, into=self.by, strict=strict)
        report_import(imported)
        return imported

    def told(self, hashes: list[str]) -> list[Answer]:
        """Return the answers that stand, about positions in `hashes`.

        Answers that name a picture which is gone are left out here; the session keeps them,
        and its export honours them.
        """
        place = {content: i for i, content in reversed(list(enumerate(hashes)))}
        graph, contents = self.session.graph(self.by), self.session.images.hashes
        found = []
        for number, answer in graph.answers.items():
            images = [place.get(contents[i], -1) for i in answer.question.images]
            if number not in graph.set_aside and min(images) >= 0:
                question = replace(answer.question, images=_in_order(answer, images))
                found.append(replace(answer, question=question))
        return found

    def keep(self, trained: Trained, out: Path | None) -> None:
        """Save the model, and what it found for every image, for `export` and `predict`."""
        model = trained.model
        everyone = enumerate(self.session.images.hashes)
        place = {content: position for position, content in reversed(list(everyone))}
        positions = np.array([place[content] for content in trained.hashes], dtype=np.intp)
        n, are_made = model.probabilities_.shape[1], bool(self.session.groups(self.by).all())
        keep_found(
            self.session,
            self.by,
            model,
            positions,
            n_answers=trained.n_answers,
            keys=group_keys(self.session, self.by, n) if are_made else (),
            has_model=True,
        )
        if out is not None:
            model.save(out)
        model.save(model_place(self.session.model_folder(self.by)))

    def sizes(self) -> list[int]:
        """Return how many of the pictures that are there each group holds, largest first."""
        results = load_results(self.session, self.by)
        assert results is not None  # `keep` came before
        labels = results.labels[self.session.images.present]
        counts = np.bincount(labels[labels >= 0], minlength=results.probabilities.shape[1])
        ordered: npt.NDArray[np.intp] = np.sort(counts)[::-1]
        return [int(size) for size in ordered]


def train(
    place: FitSession, model: InteractiveClusterer, bars: Bars, checkpoint: Path | None
) -> Trained:
    """Train the model on the pictures of a workplace and on all answers in its session."""
    pictures: Any = place.collection
    kept, skipped = list(range(len(pictures))), []
    if model.get_params().get("backbone") is None:
        store = EmbeddingStore(place.session.path / EMBEDDINGS)
        pictures = vectors(place.collection, model.get_params()["encoder"], store, bars)
        kept, skipped = kept_in(pictures, place.collection), list(pictures.skipped)
    hashes = [place.collection.identity(i) for i in kept]
    told = place.told(hashes)
    model.fit(pictures, answers=told, progress=bars.step("training"), checkpoint=checkpoint)
    return Trained(model, hashes, len(told), skipped)


def _in_order(answer: Answer, images: list[int]) -> tuple[int, ...]:
    """Return the images of a question; a pair is sorted wherever it is born."""
    return tuple(sorted(images) if answer.question.kind == "pair" else images)
