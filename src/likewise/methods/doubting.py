"""What came of doubtful answers: those confirmed, those spoken against, those taken back."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer
from likewise.methods.second_opinion import second_opinion
from likewise.methods.seeds_of_groups import Seeds
from likewise.methods.suspects import Suspect, at_fault, blamed, find_suspects, worth_a_look
from likewise.oracles.base import Oracle

_LISTEN_FIRST = 30  # answers before any of them is doubted


class Doubts:
    """The memory of a method that may be told wrong things.

    Parameters
    ----------
    graph : ConstraintGraph
    n_clusters : int, optional
    kinds : sequence of str
        Kinds of questions that may be asked.
    """

    def __init__(
        self, graph: ConstraintGraph, n_clusters: int | None, kinds: Sequence[str]
    ) -> None:
        self.graph, self.n_clusters, self.kinds = graph, n_clusters, kinds
        self.chances: dict[int, float] = {}  # of labelled images: that the label is a slip
        self.foretold: dict[int, float] = {}  # the same, whoever confirmed it
        self.confirmed: set[int] = set()  # images whose doubtful place was looked at again
        self.against: Counter[int] = Counter()  # second opinions that contradict an answer
        self.taken_back: list[Answer] = []

    def learn(self, images: Sequence[int], slipped: Sequence[float]) -> list[float]:
        """Take in new chances of slips; return them, none for images that were confirmed."""
        self.foretold = dict(zip(images, slipped, strict=True))
        left = [
            0.0 if image in self.confirmed else chance
            for image, chance in zip(images, slipped, strict=True)
        ]
        self.chances = dict(zip(images, left, strict=True))
        return left

    def suspects(self, seeds: Seeds) -> tuple[Suspect, ...]:
        """Return the answers worth a question of `fit`, the most doubtful first."""
        if self.graph.n_answers < _LISTEN_FIRST:
            return ()
        return find_suspects(seeds, self.chances, self.graph, self.n_clusters, self.confirmed)

    def to_offer(self, seeds: Seeds, slips: float) -> tuple[Suspect, ...]:
        """Return the answers worth a look of a person, where `slips` is the share of slips."""
        if self.graph.n_answers < _LISTEN_FIRST:
            return ()
        known = self.graph, self.n_clusters, self.confirmed
        return worth_a_look(seeds, self.chances, *known, slips=slips)

    def look_again(self, oracle: Oracle, n: int, seeds: Callable[[], Seeds]) -> int:
        """Have at most `n` doubtful answers confirmed or corrected; return how many.

        Parameters
        ----------
        oracle : Oracle
        n : int
        seeds : callable
            Returns the classes as answers show them at that moment.
        """
        wrong, n_put = blamed(self.graph), 0
        if wrong is not None:
            self._take_back({wrong})
        for suspect in self.suspects(seeds()):
            turn = len(self.graph.conflicts)
            question = second_opinion(suspect, seeds(), self.kinds, turn)
            if n_put == n:
                break
            if question is not None:
                self.hear(suspect, oracle.answer([question])[0], seeds())
                n_put += 1
        return n_put

    def hear(self, suspect: Suspect, reply: Answer, seeds: Seeds) -> None:
        """Take in a second opinion; a whole group is not given up for one word, but for two."""
        told = self.graph.tell(reply)
        against = at_fault(suspect, told.proof, seeds)
        self.against.update(against)
        enough = 2 if suspect.image in seeds.representatives else 1
        wrong = {number for number in against if self.against[number] >= enough}
        if wrong or not against:
            self.confirmed.add(suspect.image)
        self._take_back(wrong)

    def _take_back(self, numbers: Collection[int]) -> None:
        for number in numbers:
            self.taken_back.append(self.graph.answers[number])
            self.graph.retract(number)

    def arrays(self) -> dict[str, Any]:
        """Return what a resume needs, as named arrays."""
        return {
            "doubts.images": np.array(list(self.chances), dtype=np.intp),
            "doubts.chances": np.array(list(self.chances.values()), dtype=np.float64),
            "doubts.foretold": np.array(list(self.foretold.values()), dtype=np.float64),
            "doubts.confirmed": np.array(sorted(self.confirmed), dtype=np.intp),
            "doubts.against": np.array(sorted(self.against.items()), np.intp).reshape(-1, 2),
        }

    def take_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `arrays` returned."""
        images = arrays["doubts.images"].tolist()
        self.chances = dict(zip(images, arrays["doubts.chances"].tolist(), strict=True))
        self.foretold = dict(zip(images, arrays["doubts.foretold"].tolist(), strict=True))
        self.confirmed = set(arrays["doubts.confirmed"].tolist())
        self.against = Counter(dict(arrays["doubts.against"].tolist()))
