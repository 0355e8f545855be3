"""What was said, in words for people; the log keeps names that programs agreed on."""

from likewise.constraints.question import RESERVED
from likewise.desk.inquiry import LIKE
from likewise.session.answers import STAND_BY, Entry
from likewise.session.groups import Groups

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
    if entry.kind == STAND_BY:
        return " ".join([*(f"“{_word(said, groups)}”" for said in entry.groups), "is right"])
    return _word(entry.answer, groups)


def _word(answer: str, groups: Groups) -> str:
    if answer in RESERVED:
        return _SAYS[answer]
    return "like this" if answer.startswith(LIKE) else groups.name(answer)
