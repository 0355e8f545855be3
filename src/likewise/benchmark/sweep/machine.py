"""On what a row was made: processor, memory, versions."""

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from likewise import __version__

_PACKAGES = ("numpy", "scikit-learn", "torch", "onnxruntime")


@cache
def machine() -> dict[str, str | int | float]:
    """Return what a reader needs to know to compare seconds; no names of hosts or people."""
    facts: dict[str, str | int | float] = {
        "processor": _processor(),
        "cores": n_cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "likewise": __version__,
    }
    for package in _PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def n_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
