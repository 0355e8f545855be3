"""What a batch knows: answers, what follows from them, and guesses, kept apart."""

import numpy as np
import torch

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.estimators.deep.objective import relations_of

CPU = torch.device("cpu")


def test_answers_and_what_follows_are_relations_in_the_order_of_the_batch() -> None:
    graph = ConstraintGraph(10)
    graph.add(9, 4, Relation.SAME)
    graph.add(4, 2, Relation.DIFFERENT)
    known = relations_of(graph, np.array([2, 9, 7, 4]), CPU)
    assert known.relations.tolist() == [[0, -1, 0, -1], [-1, 0, 0, 1], [0, 0, 0, 0], [-1, 1, 0, 0]]
    assert not known.guesses.any()


def test_pseudo_links_and_their_closure_are_separate_and_overridden_by_answers() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, Relation.SAME)
    graph.add_pseudo(1, 2, Relation.SAME)
    before = relations_of(graph, np.arange(4), CPU)
    assert before.guesses[0, 2] == before.guesses[1, 2] == Relation.SAME
    assert before.relations[0, 1] == Relation.SAME
    assert before.guesses[0, 1] == Relation.UNKNOWN
    graph.add(0, 2, Relation.DIFFERENT)
    after = relations_of(graph, np.arange(4), CPU)
    assert after.relations[1, 2] == Relation.DIFFERENT
    assert not after.guesses.any()
    assert not after.all.diagonal().any()
