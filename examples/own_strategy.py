"""A query strategy of one's own: one class with one method, usable by every method that asks."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_blobs

from likewise import PCL, LabelOracle
from likewise.types import Pairs
from likewise.methods.plan import Plan
from likewise.queries.base import FloatArray, Pool


@dataclass(frozen=True)
class NearestFirst:
    """Ask about the most similar pairs first: many will be the same."""

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        first, second = pool.embeddings[pairs].transpose(1, 0, 2)  # each (m, d)
        similarity: FloatArray = np.einsum("md,md->m", first, second)
        return similarity


X, y = make_blobs(120, n_features=8, centers=3, random_state=0)
plan = Plan(n_rounds=2, epochs_per_round=5, batch_size=64)
model = PCL(n_clusters=3, strategy=NearestFirst(), plan=plan, random_state=0)
model.fit(X, oracle=LabelOracle(y), n_questions=20)
said = [answer.answer for answer in model.constraints_.answers.values()]
print(f"{said.count('same')} of {len(said)} answers were 'same'")
