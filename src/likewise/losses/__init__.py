"""Loss functions: plain functions of tensors, of the whole batch, with no state.

Similarities are computed in float32 at least, whatever autocast says. Rows of
several processes are gathered before they come here.
"""

from likewise.losses.active_contrast import active_contrast
from likewise.losses.balance import balance
from likewise.losses.centre import centre, class_means
from likewise.losses.compactness import compactness
from likewise.losses.constrained_contrast import constrained_contrast
from likewise.losses.contrast import contrast
from likewise.losses.pair_likelihood import pair_likelihood
from likewise.losses.positive_weights import positive_weights
from likewise.losses.self_paced import pace_of, self_paced, self_paced_weights
from likewise.losses.student_t import sharpen, student_t, target_divergence
from likewise.losses.weighted_class import weighted_class

__all__ = [
    "active_contrast",
    "balance",
    "centre",
    "class_means",
    "compactness",
    "constrained_contrast",
    "contrast",
    "pace_of",
    "pair_likelihood",
    "positive_weights",
    "self_paced",
    "self_paced_weights",
    "sharpen",
    "student_t",
    "target_divergence",
    "weighted_class",
]
