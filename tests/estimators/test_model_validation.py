"""A model folder from anybody: one error for whatever is wrong with it, before it is used."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from likewise.errors import EncoderError, ModelFileError
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kmeans import KMeans
from likewise.estimators.persistence import ARRAYS_FILE, MODEL_FILE
from likewise.estimators.registry import load_method
from likewise.images.in_memory import ArrayCollection
from tests.estimators.made_data import two_factors

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]
Change = Callable[[Any], object]


@pytest.fixture(params=["kmeans", "likewise"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    X, _, _ = two_factors(60)
    method = KMeans if request.param == "kmeans" else Likewise
    model = method(n_clusters=3, random_state=0).fit(X, ml=[(0, 1)], cl=[(0, 40)])
    model.save(tmp_path / "model")
    load_method(tmp_path / "model")  # it is valid before it is changed
    return tmp_path / "model"


def change_json(folder: Path, change: Change) -> None:
    saved = json.loads((folder / MODEL_FILE).read_text())
    change(saved)
    (folder / MODEL_FILE).write_text(json.dumps(saved))


def change_arrays(folder: Path, change: Change) -> None:
    arrays = load_file(folder / ARRAYS_FILE)
    change(arrays)
    save_file({k: np.ascontiguousarray(a) for k, a in arrays.items()}, folder / ARRAYS_FILE)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("answers"),
        lambda m: m.update(answers={}),
        lambda m: m.update(not_saved=[1]),
        lambda m: m.pop("method"),
        lambda m: m.update(method=0.5),
        lambda m: m["answers"].append(["pair", [0, 10**6], [], "same", "", "", None]),
        lambda m: m["answers"].append(["pair", [0, "x"], [], "same", "", "", None]),
        lambda m: m["answers"].append(["pair", [0, 3], [], "perhaps", "", "", None]),
        lambda m: m["answers"].append([1, 2]),
        lambda m: m.update(pseudo_links=[[0, 1, 7]]),
        lambda m: m.update(history=[{"loss": "low"}]),
        lambda m: m["numbers"].update(seed_="0"),
        lambda m: m["numbers"].update(image_names_=["one"]),
        lambda m: m["input"].update(n_images=10**12),
        lambda m: m["input"].update(n_images=-1),
        lambda m: m["input"].update(n_columns=10**12),
        lambda m: m["input"].update(slices={"all": [0, 10**9]}),
        lambda m: m["input"].pop("slices"),
        lambda m: m["parameters"].update(n_clusters="many"),
        lambda m: m["parameters"].update(colour="red"),
        lambda m: m["parameters"].update(encoder=["a"]),
        lambda m: m.update(parameters=[]),
    ],
)
def test_a_wrong_description_is_one_error(folder: Path, change: Change) -> None:
    change_json(folder, change)
    with pytest.raises(ModelFileError, match=r"is damaged \(.+\); save the model again"):
        load_method(folder)


@pytest.mark.parametrize("text", ["[]", "3", "null", '{"format": "x"}', "[" * 100_000])
def test_a_description_that_is_not_an_object_is_one_error(folder: Path, text: str) -> None:
    (folder / MODEL_FILE).write_text(text)
    with pytest.raises(ModelFileError, match="is damaged"):
        load_method(folder)


def set_nan(name: str) -> Change:
    def change(arrays: Arrays) -> None:
        array = arrays[name].astype(np.float32)
        array.flat[0] = np.nan
        arrays[name] = array

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_nan("probabilities_"),
        set_nan("embeddings_"),
        lambda a: a.pop("labels_"),
        lambda a: a.update(labels_=a["labels_"][:-1]),
        lambda a: a.update(labels_=a["labels_"] + 1000),
        lambda a: a.update(labels_=a["labels_"].astype(np.float32)),
        lambda a: a.update(columns_=np.zeros(3, np.int64)),
        lambda a: a.update(probabilities_=a["probabilities_"][:, 0]),
        lambda a: a.update(surprise=np.zeros(3, np.float32)),
        lambda a: [a.pop(name) for name in list(a) if name.startswith("learner/")],
    ],
)
def test_wrong_arrays_are_one_error(folder: Path, change: Change) -> None:
    change_arrays(folder, change)
    with pytest.raises(ModelFileError, match=r"is damaged \(.+\); save the model again"):
        load_method(folder)


def test_an_array_of_the_learner_with_another_shape_is_found_before_a_prediction(
    folder: Path,
) -> None:
    names = {"learner/centres", "learner/gp.alpha"}

    def cut(arrays: Arrays) -> None:
        for name in names & arrays.keys():
            arrays[name] = arrays[name][:-1]

    change_arrays(folder, cut)
    with pytest.raises(ModelFileError, match="is damaged"):
        load_method(folder)


def test_only_listed_attributes_are_set(folder: Path) -> None:
    change_json(folder, lambda m: m["numbers"].update(predict=0, __class__=1, asks=["x"]))
    model = load_method(folder)
    assert callable(model.predict)
    assert "asks" not in vars(model)


def test_an_encoder_named_in_a_file_is_not_downloaded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    requested: list[str] = []
    monkeypatch.setattr("likewise.embedding.hub._downloaded", lambda name: None)
    monkeypatch.setattr("likewise.embedding.hub._download", requested.append)
    change_json(folder, lambda m: m["parameters"].update(encoder="hf:someone/else"))
    model = load_method(folder)
    images = ArrayCollection(np.zeros((2, 8, 8, 3), np.uint8))
    with pytest.raises(EncoderError, match=r"hf:someone/else is named in a file and is not on"):
        model.predict(images)
    assert not requested
    named_again = load_method(folder, encoder="hf:someone/else")
    with pytest.raises(Exception):  # noqa: B017, PT011  # the download above returns nothing
        named_again.predict(images)
    assert requested == ["someone/else"]
