"""Reference implementation of the graph: replay all answers, apply the rules to a fixed point."""

import itertools

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, SAME, Answer

Matrix = npt.NDArray[np.bool_]
Node = int | str
NaiveConstraint = tuple[int, Node, int]
UNREACHABLE = 10**6


def naive_constraints(answer: Answer) -> list[NaiveConstraint]:
    image, value = answer.question.images[0], answer.answer
    if value in (CANNOT_TELL, BAD_IMAGE):
        return []
    if answer.question.kind == "label":
        return [(image, value, 1)]
    if answer.question.kind == "pair":
        return [(image, answer.question.images[1], 1 if value == SAME else -1)]
    shown = zip(answer.question.images[1:], answer.question.groups, strict=True)
    return [(image, other, 1 if key == value else -1) for other, key in shown]


class Naive:
    """Answers by id; everything is computed from scratch."""

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self.n_images, self.two_groups = n_images, two_groups
        self.answers: dict[int, Answer] = {}
        self.replay()

    def replay(self) -> None:
        """An answer is active if it and the active ones before it imply no contradiction."""
        self.active: list[int] = []
        for number, answer in self.answers.items():
            constraints = self.constraints(self.active) + naive_constraints(answer)
            if not self.contradict(constraints):
                self.active.append(number)
        same, different = self.close(self.constraints(self.active))
        everything = same.astype(np.int8) - different.astype(np.int8)
        self.relations = everything[: self.n_images, : self.n_images]

    def constraints(self, numbers: list[int]) -> list[NaiveConstraint]:
        return [
            constraint
            for number in numbers
            for constraint in naive_constraints(self.answers[number])
        ]

    def contradict(self, constraints: list[NaiveConstraint]) -> bool:
        same, different = self.close(constraints)
        return bool((same & different).any())

    def close(self, constraints: list[NaiveConstraint]) -> tuple[Matrix, Matrix]:
        """Apply the rules to a fixed point; names in use differ from each other."""
        nodes = self.nodes(constraints)
        same = np.eye(len(nodes), dtype=bool)
        different = np.zeros_like(same)
        for first, second, relation in constraints:
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

    def nodes(self, constraints: list[NaiveConstraint]) -> dict[Node, int]:
        names = sorted({second for _, second, _ in constraints if isinstance(second, str)})
        return {node: place for place, node in enumerate([*range(self.n_images), *names])}

    def names(self) -> dict[int, str]:
        constraints = self.constraints(self.active)
        same, _ = self.close(constraints)
        return {
            int(np.flatnonzero(same[place, : self.n_images])[0]): node
            for node, place in self.nodes(constraints).items()
            if isinstance(node, str)
        }

    def distance(self, first: Node, second: Node, relation: int, numbers: list[int]) -> int:
        """Return the length of the shortest chain for a relation, by relaxing all triples."""
        constraints = self.constraints(numbers)
        nodes = self.nodes([*constraints, (0, second, 1)])
        n, n_images = len(nodes), self.n_images
        length = {1: np.full((n, n), UNREACHABLE), -1: np.full((n, n), UNREACHABLE)}
        np.fill_diagonal(length[1], 0)
        length[-1][n_images:, n_images:] = np.where(np.eye(n - n_images), UNREACHABLE, 0)
        for a, b, sign in constraints:
            i, j = nodes[a], nodes[b]
            length[sign][i, j] = length[sign][j, i] = 1
        steps = [(1, 1, 1), (1, -1, -1), (-1, 1, -1)] + [(-1, -1, 1)] * self.two_groups
        for _, (left, right, whole) in itertools.product(range(n), steps):
            via = (length[left][:, :, None] + length[right][None]).min(axis=1)
            length[whole] = np.minimum(length[whole], via)
        return int(length[relation][nodes[first], nodes[second]])
