"""FitSession of `likewise fit`: opens the session, imports answers, trains, saves the results."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from likewise.cli.answers import print_import_problems
from likewise.cli.console import ProgressBars
from likewise.cli.predict import model_path
from likewise.cli.sessions import (
    embed_images,
    embedded_positions,
    open_to_write,
    read_images,
)
from likewise.constraints.question import Answer
from likewise.embedding.cache import EmbeddingCache
from likewise.estimators.base import InteractiveClusterer
from likewise.images.files import FolderCollection
from likewise.session.create import EMBEDDINGS, check_can_create, default_session_path
from likewise.session.database import DATABASE
from likewise.session.import_answers import Imported, import_answers
from likewise.session.results import load_results
from likewise.session.session import Session
from likewise.workspace.cluster_matching import group_keys, save_matched_results


@dataclass(frozen=True)
class Trained:
    """A trained model and the content hash of each image it was trained on, in its order."""

    model: InteractiveClusterer
    hashes: list[str]
    n_answers: int
    skipped: list[Any]


class FitSession:
    """The images of a folder and their session, which is created if it does not exist.

    The session is opened before any long step, so that an error in writing is found first.
    """

    def __init__(
        self, folder: Path, session: Path | None, by: str, n_clusters: int, bars: ProgressBars
    ) -> None:
        self.collection: FolderCollection
        path = session or default_session_path(folder)
        with ExitStack() as undo:
            if (path / DATABASE).exists():
                self.session: Session = undo.enter_context(open_to_write(path, folder))
                self.collection = read_images(folder, bars, minimum=2)
                self.session.sync(self.collection)
            else:
                check_can_create(path)
                self.collection = read_images(folder, bars, minimum=2)
                self.session = undo.enter_context(Session.create(path, self.collection))
            self.by: str = self.session.ensure_criterion(by, n_clusters).name
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def import_answers(self, answers: Path, *, strict: bool) -> Imported:
        """Import an answers file into the session; invalid lines are listed on stderr."""
        imported = import_answers(self.session, answers, into=self.by, strict=strict)
        print_import_problems(imported)
        return imported

    def active_answers(self, hashes: list[str]) -> list[Answer]:
        """Return the active answers, with images as positions in `hashes`.

        Answers about an image that is missing are not used for training; the session
        keeps them, and its export satisfies them.
        """
        position = {content: i for i, content in reversed(list(enumerate(hashes)))}
        graph, contents = self.session.graph(self.by), self.session.images.hashes
        found = []
        for answer in graph.active_answers.values():
            images = [position.get(contents[i], -1) for i in answer.question.images]
            placed = answer.at_positions(images)
            found += [] if placed is None else [placed]
        return found

    def save(self, trained: Trained, out: Path | None) -> None:
        """Save the model and its results for every image, for `export` and `predict`."""
        model = trained.model
        all_hashes = list(enumerate(self.session.images.hashes))
        position = {content: i for i, content in reversed(all_hashes)}
        positions = np.array([position[content] for content in trained.hashes], dtype=np.intp)
        n, has_groups = model.probabilities_.shape[1], bool(self.session.groups(self.by).all())
        save_matched_results(
            self.session,
            self.by,
            model,
            positions,
            n_answers=trained.n_answers,
            keys=group_keys(self.session, self.by, n) if has_groups else (),
            has_model=True,
        )
        if out is not None:
            model.save(out)
        model.save(model_path(self.session.model_folder(self.by)))

    def group_sizes(self) -> list[int]:
        """Return the number of present images in each group, largest first."""
        results = load_results(self.session, self.by)
        assert results is not None  # `save` was called before
        labels = results.labels[self.session.images.present]
        counts = np.bincount(labels[labels >= 0], minlength=results.probabilities.shape[1])
        ordered: npt.NDArray[np.intp] = np.sort(counts)[::-1]
        return [int(size) for size in ordered]


def train(
    fit_session: FitSession,
    model: InteractiveClusterer,
    bars: ProgressBars,
    checkpoint: Path | None,
) -> Trained:
    """Train the model on the images of a folder and all active answers of its session."""
    images: Any = fit_session.collection
    positions, skipped = list(range(len(images))), []
    if model.get_params().get("backbone") is None:
        store = EmbeddingCache(fit_session.session.path / EMBEDDINGS)
        images = embed_images(fit_session.collection, model.get_params()["encoder"], store, bars)
        positions = embedded_positions(images, fit_session.collection)
        skipped = list(images.skipped)
    hashes = [fit_session.collection.identity(i) for i in positions]
    answers = fit_session.active_answers(hashes)
    model.fit(images, answers=answers, progress=bars.step("training"), checkpoint=checkpoint)
    return Trained(model, hashes, len(answers), skipped)
