"""Sort vectors by a criterion that an unguided method does not choose, from 40 answers."""

import numpy as np

from likewise import LabelOracle, Likewise
from likewise.embedding.embeddings import Embeddings
from likewise.metrics import accuracy

# A collection that can be sorted in two independent ways: one loud, one quiet.
rng = np.random.default_rng(0)
loud, quiet = rng.integers(0, 3, 300), rng.integers(0, 3, 300)
facets = {
    "loud": 6 * rng.normal(size=(3, 10))[loud] + rng.normal(size=(300, 10)),
    "quiet": 2 * rng.normal(size=(3, 10))[quiet] + rng.normal(size=(300, 10)),
}
collection = Embeddings({name: rows.astype(np.float32) for name, rows in facets.items()})

# Left alone, the method finds the loud way.
alone = Likewise(n_clusters=3, random_state=0).fit(collection)
print(f"without a word: {accuracy(quiet, alone.labels_):.2f} of the quiet way")

# A person answers; here, someone who knows the quiet labels. Only the oracle sees them.
model = Likewise(n_clusters=3, random_state=0)
model.fit(collection, oracle=LabelOracle(quiet), n_questions=40)
print(f"after 40 answers: {accuracy(quiet, model.labels_):.2f}")
estimate = model.progress_estimate()
print(f"predicted {estimate.agreement:.0%} of the last {estimate.n_checked} answers")
