"""likewise: interactive clustering of images by a criterion given as answers to a few questions.

Public names are loaded when they are first used, so that ``likewise --help``
never waits for torch.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

# Some virtual machines announce AMX and then kill the process that uses it (an illegal
# instruction in the backward pass of a bf16 convolution). AVX-512 is the most we ask
# oneDNN for, unless the user sets another value. See docs/development/decisions/0002-no-amx.md.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

if TYPE_CHECKING:
    from likewise.estimators.deep.cc import CC
    from likewise.estimators.deep.dsac import DSAC
    from likewise.estimators.deep.occ import OCC
    from likewise.estimators.deep.pcl import PCL
    from likewise.estimators.kernel.likewise import Likewise
    from likewise.oracles.base import LabelOracle

__version__ = "0.2.0"

_HOME = {
    "CC": "likewise.estimators.deep.cc",
    "DSAC": "likewise.estimators.deep.dsac",
    "Likewise": "likewise.estimators.kernel.likewise",
    "OCC": "likewise.estimators.deep.occ",
    "PCL": "likewise.estimators.deep.pcl",
    "LabelOracle": "likewise.oracles.base",
}
__all__ = ["CC", "DSAC", "OCC", "PCL", "LabelOracle", "Likewise"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'likewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
