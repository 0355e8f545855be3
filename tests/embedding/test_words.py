"""Words as a prior: encoders that know text, with a tiny CLIP that was trained on a few words."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise
from likewise.constraints.question import Answer, Question
from likewise.embedding.embed import embed
from likewise.embedding.registry import knows_text, make_encoder
from likewise.embedding.words import as_words
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.files import read_folder
from tests.embedding.tiny_clip import COLOURS, MARKS, paint_folder, save_tiny_clip
from tests.embedding.tiny_models import PREPROCESSOR, save_tiny


class Painted:
    """A folder with photos, their true colours and marks, and a tiny CLIP beside it."""

    def __init__(self, folder: Path) -> None:
        self.clip, self.photos = str(folder / "clip"), str(folder / "photos")
        self.network: Any = save_tiny_clip(folder / "clip")
        self.colours, self.marks = map(np.array, paint_folder(folder / "photos"))

    def fit(self, n_questions: int = 0, **given: Any) -> Likewise:
        """Fit to the photos; questions are about colours."""
        model = Likewise(**{"encoder": self.clip, "random_state": 0, **given})
        return model.fit(self.photos, oracle=LabelOracle(self.colours), n_questions=n_questions)


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Painted:
    return Painted(tmp_path_factory.mktemp("painted"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))


@torch.inference_mode()
def test_similarities_are_those_of_the_model(painted: Painted) -> None:
    images = read_folder(painted.photos)
    encoder: Any = make_encoder(painted.clip)
    found = encoder.similarities(embed(images, encoder).blocks["last"], MARKS)
    pixels = np.stack([images.pixels(i) for i in range(len(images))]) / 127.5 - 1
    x = torch.tensor(pixels, dtype=torch.float32).permute(0, 3, 1, 2)
    vectors = painted.network.get_image_features(x).pooler_output
    texts = []
    for word in (10, 11):  # with the start, the end and padding; "a photo of" is 4 5 6
        ids = torch.tensor([[1, word, 2, *[0] * 5], [1, 4, 5, 6, word, 2, 0, 0]])
        mask = (ids > 0).long()
        both = painted.network.get_text_features(ids, mask).pooler_output
        texts.append((both / both.norm(dim=1, keepdim=True)).mean(dim=0))
    expected = torch.nn.functional.cosine_similarity(vectors[:, None], torch.stack(texts), dim=2)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_words_decide_the_grouping_before_any_answer(
    painted: Painted, n_clusters: int | None
) -> None:
    without = painted.fit(n_clusters=2)
    assert adjusted_rand_score(painted.marks, without.labels_) < 0.3  # colours are more visible
    model = painted.fit(n_clusters=n_clusters, words="white, black")
    assert adjusted_rand_score(painted.marks, model.labels_) > 0.85
    assert (model.labels_ == painted.marks).mean() > 0.95  # in the order of the words
    assert model.probabilities_.shape == (len(painted.marks), 2)


def test_the_first_answers_keep_what_words_have_found(painted: Painted) -> None:
    for n_answers in (1, 2, 4):
        answers = [
            Answer(Question.pair(0, i), "same" if same else "different")
            for i, same in enumerate(painted.marks[1:] == painted.marks[0], start=1)
        ][:n_answers]
        model = Likewise(n_clusters=2, words=MARKS, encoder=painted.clip, random_state=0)
        model.fit(painted.photos, answers=answers)
        assert adjusted_rand_score(painted.marks, model.labels_) > 0.85


def test_a_word_without_an_image_may_have_one_later(painted: Painted) -> None:
    names = sorted(Path(painted.photos).iterdir())
    some = [str(p) for p, c in zip(names, painted.colours, strict=True) if c != 2]  # not blue
    pair = Answer(Question.pair(0, 1), "same")
    model = Likewise(n_clusters=3, words=tuple(COLOURS), encoder=painted.clip, random_state=0)
    model.fit(some, answers=[pair])
    assert model.predict_proba(painted.photos).shape[0] == len(names)


def test_answers_correct_words_that_mislead(painted: Painted) -> None:
    misled = painted.fit(n_clusters=3, words=MARKS)
    assert adjusted_rand_score(painted.colours, misled.labels_) < 0.7
    corrected = painted.fit(n_clusters=3, words=MARKS, n_questions=12)
    assert adjusted_rand_score(painted.colours, corrected.labels_) > 0.95


def test_words_that_fit_count_most_after_few_answers(painted: Painted) -> None:
    weights = painted.fit(n_clusters=3, words=tuple(COLOURS), n_questions=2).learner_.block_weights
    of_words = weights["words"] + weights["words smoothed"]
    assert of_words > 0.4 > 1.5 / 4  # five blocks


def test_a_model_with_words_predicts_the_same_after_saving(
    painted: Painted, tmp_path: Path
) -> None:
    for n_questions in (0, 3):
        model = painted.fit(n_clusters=3, words=tuple(COLOURS), n_questions=n_questions)
        model.save(tmp_path / f"{n_questions}")
        loaded = Likewise.load(tmp_path / f"{n_questions}", encoder=painted.clip)
        expected = model.predict_proba(painted.photos)
        np.testing.assert_array_equal(loaded.predict_proba(painted.photos), expected)


def test_which_encoders_know_text(painted: Painted, tmp_path: Path) -> None:
    save_tiny("dinov2", tmp_path / "dinov2", PREPROCESSOR)
    names = [painted.clip, str(tmp_path / "dinov2"), "bundled", "net.onnx"]
    assert [knows_text(name) for name in names] == [True, False, False, False]
    for encoder in ("bundled", str(tmp_path / "dinov2")):
        with pytest.raises(EncoderError, match="words need an encoder that knows text, got"):
            painted.fit(encoder=encoder, words="a,b", n_clusters=2)


def test_a_model_without_its_tokenizer_is_named(painted: Painted, tmp_path: Path) -> None:
    shutil.copytree(painted.clip, tmp_path / "bare")
    for file in (tmp_path / "bare").glob("tokenizer*"):
        file.unlink()
    with pytest.raises(EncoderError, match=r"bare cannot embed words without its tokenizer"):
        painted.fit(encoder=str(tmp_path / "bare"), words="red,green", n_clusters=2)


def test_vectors_alone_have_no_words() -> None:
    with pytest.raises(InvalidParameterError, match=r"words need images, .* got vectors alone"):
        Likewise(n_clusters=2, words="red,green").fit(np.eye(6))


@pytest.mark.parametrize(
    "given",
    ["red", "red,,green", "red,red", ["red", 1], ["a,b", "c"], [str(i) for i in range(101)]],
)
def test_words_must_be_different_texts(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match="words must be 2 to 100 different texts"):
        as_words(given)


def test_words_may_be_left_out() -> None:
    assert as_words(None) == as_words("") == as_words([]) == ()
