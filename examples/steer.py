"""Group vectors by a criterion that an unsupervised method does not find, with 40 answers."""

import numpy as np

from likewise import LabelOracle, Likewise
from likewise.embedding.embeddings import Embeddings
from likewise.metrics import accuracy

# A collection with two independent groupings: one strong, one weak.
rng = np.random.default_rng(0)
strong, weak = rng.integers(0, 3, 300), rng.integers(0, 3, 300)
blocks = {
    "strong": 6 * rng.normal(size=(3, 10))[strong] + rng.normal(size=(300, 10)),
    "weak": 2 * rng.normal(size=(3, 10))[weak] + rng.normal(size=(300, 10)),
}
collection = Embeddings({name: rows.astype(np.float32) for name, rows in blocks.items()})

# Without answers the method finds the strong grouping.
unsupervised = Likewise(n_clusters=3, random_state=0).fit(collection)
print(f"without answers: ACC {accuracy(weak, unsupervised.labels_):.2f} for the weak grouping")

# A person answers; here a simulated one. Only the oracle sees the labels.
model = Likewise(n_clusters=3, random_state=0)
model.fit(collection, oracle=LabelOracle(weak), n_questions=40)
print(f"with 40 answers: ACC {accuracy(weak, model.labels_):.2f}")
found = model.accuracy_estimate_
print(f"estimated ACC {found.estimate:.2f}, 90 % interval {found.low:.2f} to {found.high:.2f}")
