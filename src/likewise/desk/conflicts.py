"""Contradictions as small questions: the answer set aside, and those it cannot stand beside."""

from dataclasses import dataclass

from likewise.session.log import Entry
from likewise.session.session import Session


@dataclass(frozen=True)
class Conflict:
    """An answer that was set aside, and the earlier ones from which the opposite follows.

    Parameters
    ----------
    entry : Entry
    against : tuple of Entry
        The shortest chain.
    images : tuple of int
        Every picture on the cycle.
    """

    entry: Entry
    against: tuple[Entry, ...]
    images: tuple[int, ...]


def compared(entry: Entry) -> tuple[str, ...]:
    """Return the pictures of an entry; of a choice the one that was chosen stands second."""
    if entry.kind != "choice" or entry.group not in entry.groups:
        return entry.images
    image, *faces = entry.images
    chosen = faces.pop(entry.groups.index(entry.group))
    return image, chosen, *faces


def conflicts(session: Session, orientation: str) -> list[Conflict]:
    """Return every contradiction that is still open, the newest first."""
    with session.lock:
        graph = session.graph(orientation)
        if not graph.conflicts:
            return []
        entries = {entry.id: entry for entry in session.answers(orientation)}
        positions = session.images.positions
        found = []
        for number, proof in reversed(list(graph.conflicts.items())):
            ids = dict.fromkeys(fact.answer_id for fact in proof)
            against = tuple(entries[i] for i in ids if i in entries)
            if number not in entries:
                continue
            all_entries = (entries[number], *against)
            hashes = dict.fromkeys(h for entry in all_entries for h in compared(entry)[:2])
            images = tuple(positions[h] for h in hashes if h in positions)
            found.append(Conflict(entries[number], against, images))
        return found
