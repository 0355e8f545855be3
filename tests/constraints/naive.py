"""The constraint graph again, slow on purpose: replay all, apply the rules till nothing changes."""

import itertools

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, SAME, Answer

Matrix = npt.NDArray[np.bool_]
Node = int | str
NaiveFact = tuple[int, Node, int]
FAR = 10**6


def naive_facts(answer: Answer) -> list[NaiveFact]:
    image, word = answer.question.images[0], answer.answer
    if word in (CANNOT_TELL, BAD_IMAGE):
        return []
    if answer.question.kind == "label":
        return [(image, word, 1)]
    if answer.question.kind == "pair":
        return [(image, answer.question.images[1], 1 if word == SAME else -1)]
    shown = zip(answer.question.images[1:], answer.question.groups, strict=True)
    return [(image, other, 1 if key == word else -1) for other, key in shown]


class Naive:
    """Answers by id; every question is answered from scratch."""

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self.n_images, self.two_groups = n_images, two_groups
        self.answers: dict[int, Answer] = {}
        self.replay()

    def replay(self) -> None:
        """An answer stands if no contradiction follows from it and those standing."""
        self.standing: list[int] = []
        for number, answer in self.answers.items():
            facts = self.facts(self.standing) + naive_facts(answer)
            if not self.contradict(facts):
                self.standing.append(number)
        same, different = self.close(self.facts(self.standing))
        everything = same.astype(np.int8) - different.astype(np.int8)
        self.relations = everything[: self.n_images, : self.n_images]

    def facts(self, numbers: list[int]) -> list[NaiveFact]:
        return [fact for number in numbers for fact in naive_facts(self.answers[number])]

    def contradict(self, facts: list[NaiveFact]) -> bool:
        same, different = self.close(facts)
        return bool((same & different).any())

    def close(self, facts: list[NaiveFact]) -> tuple[Matrix, Matrix]:
        """Apply the rules until nothing changes; names in use differ from each other."""
        nodes = self.nodes(facts)
        same = np.eye(len(nodes), dtype=bool)
        different = np.zeros_like(same)
        for first, second, relation in facts:
            matrix = same if relation == 1 else different
            matrix[nodes[first], nodes[second]] = matrix[nodes[second], nodes[first]] = True
        different[self.n_images :, self.n_images :] |= ~np.eye(
            len(nodes) - self.n_images, dtype=bool
        )
        while True:
            before = same.sum() + different.sum()
            same, different = same | same @ same, different | same @ different | different @ same
            if self.two_groups:
                same |= different @ different
            if same.sum() + different.sum() == before:
                return same, different

    def nodes(self, facts: list[NaiveFact]) -> dict[Node, int]:
        names = sorted({second for _, second, _ in facts if isinstance(second, str)})
        return {node: place for place, node in enumerate([*range(self.n_images), *names])}

    def names(self) -> dict[int, str]:
        facts = self.facts(self.standing)
        same, _ = self.close(facts)
        return {
            int(np.flatnonzero(same[place, : self.n_images])[0]): node
            for node, place in self.nodes(facts).items()
            if isinstance(node, str)
        }

    def distance(self, first: Node, second: Node, relation: int, numbers: list[int]) -> int:
        """Return the length of the shortest chain for a relation, by relaxing all triples."""
        facts = self.facts(numbers)
        nodes = self.nodes([*facts, (0, second, 1)])
        n, n_images = len(nodes), self.n_images
        length = {1: np.full((n, n), FAR), -1: np.full((n, n), FAR)}
        np.fill_diagonal(length[1], 0)
        length[-1][n_images:, n_images:] = np.where(np.eye(n - n_images), FAR, 0)
        for a, b, sign in facts:
            i, j = nodes[a], nodes[b]
            length[sign][i, j] = length[sign][j, i] = 1
        steps = [(1, 1, 1), (1, -1, -1), (-1, 1, -1)] + [(-1, -1, 1)] * self.two_groups
        for _, (left, right, whole) in itertools.product(range(n), steps):
            via = (length[left][:, :, None] + length[right][None]).min(axis=1)
            length[whole] = np.minimum(length[whole], via)
        return int(length[relation][nodes[first], nodes[second]])
