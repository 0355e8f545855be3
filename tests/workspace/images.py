"""Small red and blue images and a session of them; the file names contain the right answers."""

from pathlib import Path

import numpy as np
from PIL import Image

from likewise.constraints.question import Question
from likewise.images.files import read_folder
from likewise.random_streams import stream
from likewise.session import Session, save_results

COLOURS = {"red": (210, 40, 40), "blue": (40, 60, 210)}


def paint_folder(folder: Path, n: int = 12) -> Path:
    """Write red and blue images in turn: ``00red.png``, ``01blue.png``, …"""
    folder.mkdir(parents=True)
    for number in range(n):
        name = list(COLOURS)[number % 2]
        grain = stream(number, "grain").normal(0, 20, (48, 64, 3))
        pixels = np.clip(np.array(COLOURS[name]) + grain, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02}{name}.png")
    return folder


def make_session(folder: Path, k: int | None = 2, *, two_groups: bool = False) -> Session:
    """Return a session of the folder with the criterion "colour", open for writing."""
    session = Session.create(folder.with_suffix(".likewise"), read_folder(folder))
    session.add_criterion("colour", k, two_groups=two_groups)
    return session


def colour(session: Session, image: int) -> str:
    """Return the colour of an image, from its file name."""
    return session.images.names[image].strip("0123456789").removesuffix(".png")


def right_answer(session: Session, question: Question) -> str:
    """Return the right answer to a pair or a choice."""
    first, *others = (colour(session, i) for i in question.images)
    if question.kind == "pair":
        return "same" if first == others[0] else "different"
    return next((key for key, o in zip(question.groups, others, strict=True) if o == first), "none")


def save_half_results(session: Session, n_answers: int = 0, low: float = 0.55) -> None:
    """Save results with red images in group g1 and blue ones in g2, with rising confidence."""
    n = len(session.images)
    probabilities = np.zeros((n, 2), dtype=np.float32)
    for i in range(n):
        high = low + (0.03 * i if n <= 12 else (0.99 - low) * i / n)
        probabilities[i] = (high, 1 - high) if colour(session, i) == "red" else (1 - high, high)
    save_results(session, "colour", probabilities, keys=("g1", "g2"), n_answers=n_answers)
