"""Write your own query strategy: one class with one method, for all methods that ask pairs."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_blobs

from likewise import PCL, LabelOracle
from likewise.estimators.params import TrainingPlan
from likewise.queries.base import FloatArray, Pool
from likewise.types import Pairs


@dataclass(frozen=True)
class NearestFirst:
    """Asks about the most similar pairs first; many of the answers are "same"."""

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        first, second = pool.embeddings[pairs].transpose(1, 0, 2)  # each (m, d)
        similarity: FloatArray = np.einsum("md,md->m", first, second)
        return similarity


X, y = make_blobs(120, n_features=8, centers=3, random_state=0)
plan = TrainingPlan(n_rounds=2, epochs_per_round=5, batch_size=64)
model = PCL(n_clusters=3, strategy=NearestFirst(), plan=plan, random_state=0)
model.fit(X, oracle=LabelOracle(y), n_questions=20)
given = [answer.answer for answer in model.constraints_.answers.values()]
print(f"{given.count('same')} of {len(given)} answers were 'same'")
