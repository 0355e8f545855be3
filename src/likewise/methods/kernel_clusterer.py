"""What `Likewise` learns, and from what: facets, answers, doubts; how it is read out and saved."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, VectorData
from likewise.estimators.params import check_between
from likewise.methods.choosing import checked_kinds
from likewise.methods.doubting import Doubts
from likewise.methods.experience import Experience, tempered
from likewise.methods.facets import FacetSpace, side_by_side
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.seeds_of_groups import Seeds, seeds_of
from likewise.methods.self_training import first_lesson, second_lesson
from likewise.methods.targeted_learner import TargetedLearner
from likewise.methods.unguided import guess_n_clusters
from likewise.methods.vocabulary import Vocabulary
from likewise.progress import Progress
from likewise.types import Floats

_ENOUGH = 5_000  # images from which centres are found
_MANY, _MOSTLY = 10, 0.8  # images of the only group known; share of them that lies together


class KernelClusterer(InteractiveClusterer):
    """Ready vectors, learned by a kernel from few answers; what it asks is open."""

    # -- building -----------------------------------------------------------

    def _check_clusters(self, n_images: int) -> None:
        if self._settings.n_clusters is not None:
            super()._check_clusters(n_images)

    @property
    def _n_clusters(self) -> int:
        return int(self._settings.n_clusters or 0)

    def _build(self) -> None:
        check_between("number of directions", "width", self._settings.width, 1)
        check_between("share of images", "self_training", self._settings.self_training, 0, 1)
        self._kinds = checked_kinds(self._settings.kinds)
        self._expectations: list[bool] = []
        self.experience_, self._temperature = Experience(), 1.0
        self._doubts = Doubts(self.constraints_, self._settings.n_clusters, self._kinds)
        self._words = Vocabulary(self._settings.n_words, self._seed)
        self._centres: Floats | None = None
        if isinstance(self._source, VectorData):
            self._words.fit(self._source.places)
            raw = self._raw(self._source)
            self._space = self._empty_space().fit(raw)
            self._facets = self._space(raw)
            self._learner = self._empty_learner(self._facets, self._space.n_views)
            self._find_centres()
        else:
            self._space, self._learner = self._empty_space(), self._empty_learner({}, 1)

    def _empty_space(self) -> FacetSpace:
        return FacetSpace([*self._source.slices, *self._words.names], self._settings.width)

    def _empty_learner(self, facets: Mapping[str, Floats], n_views: int) -> TargetedLearner:
        return TargetedLearner(facets, n_views, targeted=self._settings.targeted)

    def _raw(self, source: VectorData) -> dict[str, Any]:
        """Return all facets as they come: those of the vectors, and what is read in places."""
        return source.facets() | self._words(source.places)

    def _find_centres(self) -> None:
        rows = side_by_side(self._space.alone(self._facets))
        k = self._n_clusters or guess_n_clusters(rows, self._seed)
        self._centres = fit_centres(rows[:: -(-len(rows) // _ENOUGH)], k, self._seed)

    # -- learning -----------------------------------------------------------

    @property
    def _seeds(self) -> Seeds:
        seeds = seeds_of(self.constraints_, self._settings.n_clusters)
        return seeds.facing(self._doubts.foretold)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        seeds = self._seeds
        if self._is_taught(seeds):
            n_classes = max(len(seeds.keys), self._n_clusters, 2)
            lesson = first_lesson(seeds, self._facets, n_classes)
            slipped = self._learner.weigh(lesson)
            left = self._doubts.learn(lesson.images.tolist(), slipped.tolist())
            share = self._settings.self_training
            self._learner.learn(
                lesson.doubting(np.array(left)),
                lambda lesson, believe: second_lesson(lesson, seeds, believe, share, self._seed),
            )
        self.history_.append({"n_answers": float(self.constraints_.n_answers)})
        progress(1, 1)

    def _is_taught(self, seeds: Seeds) -> bool:
        """Return whether answers know better than the centres: by two groups, or a scattered one.

        One group that answers find nearly everywhere is most of the collection; centres, which
        make clusters of like size, would cut it up against all that was said.
        """
        if len(seeds.keys) != 1:
            return len(seeds.keys) > 1
        images = np.flatnonzero(seeds.classes >= 0)
        if len(images) < _MANY:
            return False
        rows = side_by_side(self._space.alone({n: x[images] for n, x in self._facets.items()}))
        assert self._centres is not None  # found when the collection was taken in
        clusters = nearness(rows, self._centres).argmax(axis=1)
        return bool(np.bincount(clusters).max() < _MOSTLY * len(images))

    # -- reading it out -------------------------------------------------------

    def _read_out(self, source: Data) -> tuple[Floats, Floats]:
        facets = None
        if source is not self._source:
            assert isinstance(source, VectorData)  # this method reads vectors only
            facets = self._space(self._raw(source))
        if self._learner.tuning is None:
            assert self._centres is not None  # found when the collection was taken in
            rows = side_by_side(self._space.alone(self._facets if facets is None else facets))
            beliefs = nearness(rows, self._centres)
        else:
            rows, beliefs = self._learner.read_out(facets)
        if source is self._source:
            self._beliefs = beliefs  # in the order of the classes, as questions need them
        return rows, beliefs

    def _assign(self) -> None:
        self._temperature = self.experience_.temperature()
        super()._assign()

    def _tempered(self, probabilities: Floats) -> Floats:
        return tempered(probabilities, self._temperature)

    def _rows_to_compare(self) -> None:
        """Remember nothing: what is asked follows from the embeddings themselves."""

    # -- on disk ----------------------------------------------------------------

    def _extra_arrays(self) -> dict[str, Any]:
        space = {f"space.{name}": array for name, array in self._space.arrays.items()}
        words = {f"words.{name}": array for name, array in self._words.arrays.items()}
        told = np.array(self._expectations, dtype=bool)
        return {
            "centres": self._centres,
            "expectations": told,
            "beliefs": self._beliefs,
            "temperature": np.array(self._temperature),
            **self.experience_.arrays(),
            **self._doubts.arrays(),
            **space,
            **words,
            **self._learner.arrays(),
        }

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
        self._expectations = arrays["expectations"].tolist()
        self._beliefs, self._temperature = arrays["beliefs"], float(arrays["temperature"])
        self.experience_.take_arrays(arrays)
        self._doubts.take_arrays(arrays)
        self._words.arrays = _below("words.", arrays)
        self._space = self._empty_space()
        self._space.arrays = _below("space.", arrays)
        self._learner.take_arrays(arrays)


def _below(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin so, under the rest of their names."""
    return {k[len(prefix) :]: array for k, array in arrays.items() if k.startswith(prefix)}
