"""Group a collection of pictures the way you mean it.

Public names are loaded when they are first used, so that ``likewise --help``
never waits for torch.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

# Some virtual machines announce AMX and then kill the process that uses it (an illegal
# instruction in the backward pass of a bf16 convolution). AVX-512 is the most we ask
# oneDNN for, unless the user says otherwise. See docs/decisions/0002-no-amx.md.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

if TYPE_CHECKING:
    from likewise.estimators.kernel.likewise import Likewise
    from likewise.methods.cc import CC
    from likewise.methods.dsac import DSAC
    from likewise.methods.occ import OCC
    from likewise.methods.pcl import PCL
    from likewise.oracles.simulated import LabelOracle

__version__ = "0.1.0.dev0"

_HOME = {
    "CC": "likewise.methods.cc",
    "DSAC": "likewise.methods.dsac",
    "Likewise": "likewise.estimators.kernel.likewise",
    "OCC": "likewise.methods.occ",
    "PCL": "likewise.methods.pcl",
    "LabelOracle": "likewise.oracles.simulated",
}
__all__ = ["CC", "DSAC", "OCC", "PCL", "LabelOracle", "Likewise"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'likewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
