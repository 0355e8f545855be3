"""Learning from a stream: each part is seen once and forgotten, as [CC]_ says it can be."""

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.methods.asking import Asker

if TYPE_CHECKING:
    from likewise.methods.cc import CC


def learn_from_part(model: "CC", X: Any) -> None:
    """Train one epoch on `X` and assign it.

    The first part decides scaling and network, so it should be like those to come; it is at
    least one batch, and larger is better. Clusters keep their numbers from part to part,
    also where a part shows none of some cluster.

    Raises
    ------
    InvalidParameterError
        If clusters are read out by k-means, which needs all images at once.
    """
    if model.heads == "instance":
        raise InvalidParameterError(
            "heads='instance' is read out by k-means over all images, and a stream never has "
            "them; choose heads='both' or 'cluster'."
        )
    if not hasattr(model, "labels_"):
        model._extra_images = None
        model.start(X)
    else:
        model._source = model._read(X, reset=False)
        model.constraints_ = ConstraintGraph(len(model._source))
        model._asker = Asker(model._settings, model.constraints_, model._seed)
    model._extra = None
    model._epochs_due = 1
    model._train_one_epoch()
    model._embeddings, model.probabilities_ = model._read_out(model._source)
    model._columns = np.arange(model._n_clusters)
    model.labels_ = model.probabilities_.argmax(axis=1)
    model.violations_ = 0
