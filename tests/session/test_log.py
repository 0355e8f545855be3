import hypothesis.strategies as st
from hypothesis import given

from likewise.session.log import Entry
from likewise.session.replay import Entries


def pair(number: int, who: str = "") -> Entry:
    return Entry(number, 1, "pair", answer="same", who=who)


def retract(number: int, target: int, who: str = "") -> Entry:
    return Entry(number, 1, "retract", retracts=target, who=who)


def entries_of(*added: Entry) -> Entries:
    entries = Entries()
    for entry in added:
        entries.add(entry)
    return entries


def active_ids(entries: Entries) -> list[int]:
    return [entry.id for entry in entries.active()]


def naive_active(targets: list[int | None]) -> list[int]:
    """Return which of the entries 1, 2, … are active, checked from the last to the first.

    `targets` has None for an answer, else the entry that is retracted. An entry
    is inactive if a later active one retracts it; slow on purpose.
    """
    is_active: dict[int, bool] = {}
    for number in range(len(targets), 0, -1):
        takers = [i for i in range(number + 1, len(targets) + 1) if targets[i - 1] == number]
        is_active[number] = not any(is_active[taker] for taker in takers)
    return [n for n, target in enumerate(targets, start=1) if target is None and is_active[n]]


@given(st.data())
def test_active_entries_after_any_retractions(data: st.DataObject) -> None:
    entries, targets = Entries(), list[int | None]()
    for number in range(1, data.draw(st.integers(1, 12)) + 1):
        open_ids = [i for i in range(1, number) if entries.is_active(i)]
        target = data.draw(st.sampled_from([None, *open_ids]))
        entries.add(pair(number) if target is None else retract(number, target))
        targets.append(target)
        assert active_ids(entries) == naive_active(targets)


def test_a_chain_of_retractions_ends_at_the_first_entry() -> None:
    entries = entries_of(pair(1), retract(2, 1))
    assert entries.add(retract(3, 2)).id == 1
    assert entries.retracted_by(2) == 3
    assert entries.retracted_by(1) is None


def test_undo_goes_back_to_the_first_entry_and_can_be_undone() -> None:
    entries = entries_of(pair(1), pair(2), pair(3))
    undone = []
    for number in (4, 5, 6):
        entry = entries.last_active()
        assert entry is not None
        undone.append(entry.id)
        entries.add(retract(number, entry.id))
    assert undone == [3, 2, 1]
    assert entries.last_active() is None
    restored = [entries.add(retract(number + 3, number)).id for number in (6, 5, 4)]
    assert restored == [1, 2, 3]
    assert active_ids(entries) == [1, 2, 3]
    assert getattr(entries.last_active(), "id", None) == 3


def test_each_person_undoes_their_own() -> None:
    entries = entries_of(pair(1, "ann"), pair(2, "bob"))
    assert getattr(entries.last_active("ann"), "id", None) == 1
    assert getattr(entries.last_active("bob"), "id", None) == 2
    assert [entry.id for entry in entries.active("bob")] == [2]
    entries.add(retract(3, 1, "ann"))
    assert entries.last_active("ann") is None
