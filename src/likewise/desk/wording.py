"""What was said, in words for people; the log keeps names that programs agreed on."""

from collections.abc import Sequence

from likewise.constraints.question import MAX_GROUPS, RESERVED
from likewise.session.groups import Groups
from likewise.session.log import CONFIRM, Entry
from likewise.workspace.question_queue import UNNAMED

_SAYS = {
    "same": "same",
    "different": "different",
    "cannot_tell": "can't tell",
    "bad_image": "bad picture",
    "none": "none of these",
    "new": "another group",
}


def says(entry: Entry, groups: Groups) -> str:
    """Return in words what an entry of the log says."""
    if entry.kind == "rename":
        return f"a group is called {entry.answer}"
    if entry.kind == "colour":
        return f"{groups.name(entry.group or '')} has another colour"
    if entry.kind == "merge":
        key = entry.group or ""
        name = groups[key].name if key in groups else key  # its own, not of what it became
        return f"{name} and {groups.name(entry.groups[0])} are one"
    if entry.kind == CONFIRM:
        return " ".join([*(f"“{_word(said, groups)}”" for said in entry.groups), "is right"])
    return _word(entry.answer, groups)


def _word(answer: str, groups: Groups) -> str:
    if answer in RESERVED:
        return _SAYS[answer]
    return "like this" if answer.startswith(UNNAMED) else groups.name(answer)


def digits_of(offered: Sequence[str], all_keys: Sequence[str]) -> dict[str, int]:
    """Return the digit that chooses each group of a question: its number, whoever is left out.

    A hand that has learned "3 is the sea" must never say something else. Groups that have no
    number yet, or none below ten, take digits that nobody uses in this question, those after the
    last first.

    Examples
    --------
    >>> digits_of(["g1", "g3", "like 7"], ["g1", "g2", "g3"])
    {'g1': 1, 'g3': 3, 'like 7': 4}
    """
    numbers = {key: number for number, key in enumerate(all_keys[:MAX_GROUPS], start=1)}
    digits = {key: numbers[key] for key in offered if key in numbers}
    last, used = max(digits.values(), default=0), set(digits.values())
    free = (n for n in [*range(last + 1, MAX_GROUPS + 1), *range(1, last)] if n not in used)
    return {key: digits[key] if key in digits else next(free) for key in offered}
