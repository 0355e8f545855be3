"""What every method owes its users, whatever it is inside."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning, ModelFileError
from likewise.estimators.base import InteractiveClusterer
from likewise.oracles.base import LabelOracle
from tests.estimators.contract_methods import METHODS

Make = Callable[..., InteractiveClusterer]
Blobs = tuple[npt.NDArray[Any], npt.NDArray[Any]]


@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
class TestEveryMethod:
    def test_sorts_every_image_and_names_clusters_from_zero(self, make: Make, blobs: Blobs) -> None:
        model = make(n_clusters=3, random_state=0).fit(blobs[0])
        assert model.labels_.shape == (120,)
        assert set(model.labels_) == set(range(len(set(model.labels_))))
        np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1, rtol=1e-5)

    def test_progress_ends_at_its_end(self, make: Make, blobs: Blobs) -> None:
        told: list[tuple[int, int]] = []
        make(n_clusters=3, random_state=0).fit(blobs[0], progress=lambda *at: told.append(at))
        assert not told or told[-1][0] == told[-1][1]  # a quick one may say nothing

    def test_the_same_seed_gives_the_same_result_bit_for_bit(
        self, make: Make, blobs: Blobs
    ) -> None:
        first, again = (
            make(n_clusters=3, random_state=4).fit(
                blobs[0], oracle=LabelOracle(blobs[1]), n_questions=8
            )
            for _ in range(2)
        )
        np.testing.assert_array_equal(first.probabilities_, again.probabilities_)
        assert list(first.constraints_.answers.values()) == list(
            again.constraints_.answers.values()
        )

    def test_a_prediction_does_not_depend_on_the_other_images(
        self, make: Make, blobs: Blobs
    ) -> None:
        model = make(n_clusters=3, random_state=0).fit(blobs[0])
        together = model.predict_proba(blobs[0])
        alone = np.concatenate([model.predict_proba(blobs[0][i : i + 1]) for i in range(5)])
        np.testing.assert_allclose(together[:5], alone, rtol=1e-4, atol=1e-5)
        shuffled = model.predict_proba(blobs[0][::-1])[::-1]
        np.testing.assert_allclose(together, shuffled, rtol=1e-4, atol=1e-5)

    def test_a_method_never_sees_labels(self, make: Make, blobs: Blobs) -> None:
        with_labels = make(n_clusters=3, random_state=0).fit(blobs[0], blobs[1])
        without = make(n_clusters=3, random_state=0).fit(blobs[0])
        np.testing.assert_array_equal(with_labels.labels_, without.labels_)

    def test_labels_satisfy_all_answers_for_any_prediction(self, make: Make, blobs: Blobs) -> None:
        """Told nonsense: images of one blob apart, images of two blobs together."""
        X, y = blobs
        one, other = np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]
        model = make(n_clusters=3, random_state=0).fit(X, cl=[one], ml=[(one[0], other[0])])
        assert model.labels_[one[0]] != model.labels_[one[1]]
        assert model.labels_[one[0]] == model.labels_[other[0]]

    def test_a_grid_becomes_its_constraints(self, make: Make, blobs: Blobs) -> None:
        """Also one that no method would believe: of images of two blobs, and one that is ticked."""
        X, y = blobs
        shown, ticked, *rest = np.flatnonzero(y == 0)[:4].tolist()
        asked = (ticked, *rest, int(np.flatnonzero(y == 1)[0]))
        grid = Answer(Question.grid(asked, shown, "group 1"), "ticked", ticked=(ticked,))
        model = make(n_clusters=3, random_state=0).fit(X, answers=[grid])
        assert len(set(model.labels_[[shown, *asked[1:]]])) == 1
        assert model.labels_[ticked] != model.labels_[shown]

    def test_saved_and_loaded_it_predicts_the_same(
        self, make: Make, blobs: Blobs, tmp_path: Path
    ) -> None:
        model = make(n_clusters=3, random_state=0).fit(blobs[0])
        model.save(tmp_path / "m.likewise-model")
        loaded = type(model).load(tmp_path / "m.likewise-model")
        np.testing.assert_array_equal(loaded.predict_proba(blobs[0]), model.predict_proba(blobs[0]))
        np.testing.assert_array_equal(loaded.labels_, model.labels_)

    def test_a_model_of_another_method_is_refused_by_name(
        self, make: Make, blobs: Blobs, tmp_path: Path
    ) -> None:
        make(n_clusters=3, random_state=0).fit(blobs[0]).save(tmp_path / "m")

        class Other(type(make())):  # type: ignore[misc]  # made up on the spot
            """Another method."""

        with pytest.raises(ModelFileError, match="not a Other; load it with"):
            Other.load(tmp_path / "m")

    @pytest.mark.parametrize("k", [0, -3, 2.5, "many"])
    def test_a_senseless_number_of_clusters_is_refused(
        self, make: Make, blobs: Blobs, k: Any
    ) -> None:
        with pytest.raises(
            InvalidParameterError, match=f"n_clusters must be an integer >= 2, got {k!r}"
        ):
            make(n_clusters=k).fit(blobs[0])

    def test_one_cluster_works_with_a_warning(self, make: Make, blobs: Blobs) -> None:
        with pytest.warns(LikewiseWarning, match="n_clusters=1 puts all images into one cluster"):
            model = make(n_clusters=1).fit(blobs[0])
        assert set(model.labels_) == {0}

    def test_more_clusters_than_images_are_refused(self, make: Make, blobs: Blobs) -> None:
        with pytest.raises(InvalidParameterError, match="got n_clusters=7 for n_samples=5"):
            make(n_clusters=7).fit(blobs[0][:5])

    def test_vectors_that_are_not_numbers_and_ragged_rows_are_refused(
        self, make: Make, blobs: Blobs
    ) -> None:
        broken = blobs[0].copy()
        broken[3, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            make().fit(broken)
        with pytest.raises(InvalidParameterError, match=r"different lengths \(1, 2"):
            make().fit([[1.0, 2.0], [3.0]])

    def test_the_four_verbs_do_what_fit_does(self, make: Make, blobs: Blobs) -> None:
        model = make(n_clusters=3, random_state=0)
        model.start(blobs[0])
        if model.asks:
            questions = model.ask(4)
            model.tell(questions, LabelOracle(blobs[1]).answer(questions))
            assert model.constraints_.n_answers == 4
        model.train()
        assert model.labels_.shape == (120,)

    def test_tell_accepts_answers_in_several_forms(self, make: Make, blobs: Blobs) -> None:
        model = make(n_clusters=3, random_state=0).start(blobs[0])
        model.tell([(0, 1), Question.pair(2, 3)], [+1, "different"])
        model.tell([(4, 5)], [Answer(Question.pair(4, 5), "cannot_tell")])
        assert model.constraints_.relation(0, 1) == 1
        assert model.constraints_.relation(2, 3) == -1
        assert model.constraints_.relation(4, 5) == 0
        with pytest.raises(InvalidParameterError, match="got 2 questions and 1 answers"):
            model.tell([(0, 1), (2, 3)], [1])

    def test_a_contradiction_gives_a_warning_and_is_not_used(
        self, make: Make, blobs: Blobs
    ) -> None:
        model = make(n_clusters=3, random_state=0)
        with pytest.warns(LikewiseWarning, match="must not contradict earlier ones, got 1 of 3"):
            model.fit(blobs[0], ml=[(0, 1), (1, 2)], cl=[(0, 2)])
        assert len(model.constraints_.conflicts) == 1
        assert model.labels_[0] == model.labels_[2]
