"""Array types used throughout the package."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
Pairs = npt.NDArray[np.intp]
