"""Sessions of vectors: a sample is grouped, and pictures are read when they are shown."""

import shutil
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.constraints.question import Question
from likewise.embedding.vector_source import VectorSource
from likewise.errors import CollectionError, EncoderError, ImageError, SessionError
from likewise.session import Session
from likewise.workspace.training_job import GrowingVectors, SessionVectors, TrainingJob
from likewise.workspace.vector_session import create_vector_session, restore_vectors
from likewise.workspace.workspace import Workspace

N, K = 120, 3


def source_of(path: Path, n: int = N, seed: int = 0) -> VectorSource:
    """Three clear clusters; vector `i` is of cluster ``i % 3``."""
    rng = np.random.default_rng(seed)
    centers = 5 * rng.standard_normal((K, 8))
    np.save(path, (centers[np.arange(n) % K] + rng.standard_normal((n, 8))).astype(np.float32))
    return VectorSource(str(path))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    source = source_of(tmp_path / "vectors.npy")
    return create_vector_session(tmp_path / "v.likewise", source, 60, root=None)


def test_the_sample_is_grouped_by_the_answers(session: Session) -> None:
    with session:
        assert len(session.images) == 60
        session.add_criterion("kind", K)
        of = {
            c: [i for i, n in enumerate(session.images.names) if int(n) % K == c] for c in range(K)
        }
        with Workspace(session, has_worker=False) as workspace:
            criterion = workspace.criterion("kind")
            for c in range(K):
                criterion.answer(Question.pair(of[c][0], of[c][1]), "same")
                criterion.answer(Question.pair(of[c][0], of[(c + 1) % K][0]), "different")
            vectors = SessionVectors.load(session, "bundled", print)
            job = TrainingJob(session, session.criterion("kind"), vectors, lambda _: None)
            job.run(session.criterion("kind"))
            labels = job.model.labels_
            for c in range(K):
                assert len(set(labels[of[c]].tolist())) == 1
            assert (
                GrowingVectors(session, "bundled", print).first().embeddings.matrix().shape[1] == 8
            )


def test_a_card_shows_the_name_where_there_is_no_picture(session: Session) -> None:
    with Workspace(session, has_worker=False) as workspace:
        first, second = (workspace.thumbnails.thumbnail(i) for i in (0, 1))
        assert Image.open(BytesIO(first)).size == (256, 256)
        assert first != second
        assert workspace.rescan() is None


def test_pictures_are_read_by_name_when_they_are_shown(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    names = [f"{i}.png" for i in range(4)]
    source = source_of(tmp_path / "vectors.npy", n=5)
    (tmp_path / "vectors.json").write_text(
        '{"names": ["0.png", "1.png", "2.png", "3.png", "../out.png"], "blocks": {"a": [0, 8]}}'
    )
    for i, name in enumerate(names[:3]):
        Image.new("RGB", (8, 8), (60 * i, 0, 0)).save(tmp_path / "photos" / name)
    Image.new("RGB", (8, 8)).save(tmp_path / "out.png")
    source = VectorSource(source.place)
    opened = create_vector_session(tmp_path / "v.likewise", source, 9, tmp_path / "photos")
    with Workspace(opened, has_worker=False) as workspace:
        for i in range(3):
            shown = Image.open(BytesIO(workspace.thumbnails.image(i))).convert("RGB")
            red = shown.getpixel((4, 4))
            assert isinstance(red, tuple)
            assert abs(red[0] - 60 * i) < 4
        with pytest.raises(ImageError, match=r"'3\.png' does not exist"):
            workspace.thumbnails.image(3)
        with pytest.raises(ImageError, match="leads out"):
            workspace.thumbnails.image(4)
        assert workspace.rescan() is None  # other images in the folder do not belong to it
        assert len(workspace.session.images) == 5


def test_deleted_vectors_are_read_again(session: Session, tmp_path: Path) -> None:
    with session:
        place = str(tmp_path / "vectors.npy")
        before = SessionVectors.load(session, "bundled", print).embeddings.matrix()
        shutil.rmtree(session.path / "embeddings")
        restore_vectors(session, place)
        after = SessionVectors.load(session, "bundled", print).embeddings.matrix()
        np.testing.assert_array_equal(before, after)
        shutil.rmtree(session.path / "embeddings")
        other = source_of(tmp_path / "other.npy", seed=1)
        with pytest.raises(SessionError, match="is not a session of the vectors in"):
            restore_vectors(session, other.place)


def test_vectors_that_cannot_be_grouped(tmp_path: Path) -> None:
    np.save(tmp_path / "same.npy", np.ones((4, 2), np.float32))
    with pytest.raises(CollectionError, match="at least 2 different vectors, got 1"):
        create_vector_session(
            tmp_path / "a.likewise", VectorSource(str(tmp_path / "same.npy")), 9, None
        )
    rows = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    rows[2, 1] = np.nan
    np.save(tmp_path / "nan.npy", rows)
    with pytest.raises(EncoderError, match=r"1 vectors in .* contain NaN .* example '2'"):
        create_vector_session(
            tmp_path / "b.likewise", VectorSource(str(tmp_path / "nan.npy")), 9, None
        )
    assert not list(tmp_path.glob("*.likewise"))
