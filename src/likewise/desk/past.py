"""What a model had said before answers came, kept for the model that follows it."""

import contextlib
import os
import zipfile
from pathlib import Path

import numpy as np

from likewise.errors import SessionError
from likewise.estimators.kernel.calibration import TemperatureScaler
from likewise.session.atomic import write_atomic

FILE = "experience.npz"


def keep(folder: Path, experience: TemperatureScaler) -> None:
    """Write it down, if that can be; losing it only makes probabilities as sure as at first."""

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            np.savez(stream, allow_pickle=False, **experience.arrays())

    with contextlib.suppress(SessionError):
        write_atomic(folder / FILE, write)


def recall(folder: Path, experience: TemperatureScaler) -> None:
    """Take back what was kept; a file that is missing or damaged counts as none."""
    with (
        contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile),
        open(folder / FILE, "rb") as stream,
        np.load(stream, allow_pickle=False) as file,
    ):
        experience.take_arrays(file)
