import hypothesis.strategies as st
from hypothesis import given

from likewise.session.answers import Entry
from likewise.session.ledger import Ledger


def pair(number: int, who: str = "") -> Entry:
    return Entry(number, 1, "pair", answer="same", who=who)


def take_back(number: int, target: int, who: str = "") -> Entry:
    return Entry(number, 1, "take_back", takes_back=target, who=who)


def ledger_of(*entries: Entry) -> Ledger:
    ledger = Ledger()
    for entry in entries:
        ledger.add(entry)
    return ledger


def standing_ids(ledger: Ledger) -> list[int]:
    return [entry.id for entry in ledger.standing()]


def naive_standing(targets: list[int | None]) -> list[int]:
    """Return which of the entries 1, 2, … stand: the last word about each, latest first.

    `targets` holds None for an answer, else the entry that is taken back. An
    entry falls if a later one that stands takes it back; slow on purpose.
    """
    stands: dict[int, bool] = {}
    for number in range(len(targets), 0, -1):
        takers = [i for i in range(number + 1, len(targets) + 1) if targets[i - 1] == number]
        stands[number] = not any(stands[taker] for taker in takers)
    return [n for n, target in enumerate(targets, start=1) if target is None and stands[n]]


@given(st.data())
def test_knows_what_stands_after_any_take_backs(data: st.DataObject) -> None:
    ledger, targets = Ledger(), list[int | None]()
    for number in range(1, data.draw(st.integers(1, 12)) + 1):
        open_ids = [i for i in range(1, number) if ledger.stands(i)]
        target = data.draw(st.sampled_from([None, *open_ids]))
        ledger.add(pair(number) if target is None else take_back(number, target))
        targets.append(target)
        assert standing_ids(ledger) == naive_standing(targets)


def test_says_which_entry_a_take_back_concerns_in_the_end() -> None:
    ledger = ledger_of(pair(1), take_back(2, 1))
    assert ledger.add(take_back(3, 2)).id == 1
    assert ledger.taken_back_by(2) == 3
    assert ledger.taken_back_by(1) is None


def test_undo_goes_back_to_the_beginning_and_redo_to_the_end() -> None:
    ledger = ledger_of(pair(1), pair(2), pair(3))
    number = 4
    undone, redone = [], []
    while (entry := ledger.to_undo()) is not None:
        undone.append(entry.id)
        ledger.add(take_back(number, entry.id))
        number += 1
    while (entry := ledger.to_redo()) is not None:
        redone.append(ledger.add(take_back(number, entry.id)).id)
        number += 1
    assert undone == [3, 2, 1]
    assert redone == [1, 2, 3]
    assert standing_ids(ledger) == [1, 2, 3]
    newest = ledger.to_undo()
    assert newest is not None
    assert newest.id == 3


def test_nothing_can_be_redone_once_something_new_was_said() -> None:
    assert ledger_of(pair(1), take_back(2, 1), pair(3)).to_redo() is None


def test_each_person_undoes_and_redoes_their_own() -> None:
    ledger = ledger_of(pair(1, "ann"), pair(2, "bob"))
    assert getattr(ledger.to_undo("ann"), "id", None) == 1
    assert getattr(ledger.to_undo("bob"), "id", None) == 2
    assert [entry.id for entry in ledger.standing("bob")] == [2]
    ledger.add(take_back(3, 1, "ann"))
    assert ledger.to_undo("ann") is None
    assert getattr(ledger.to_redo("ann"), "id", None) == 3
    assert ledger.to_redo("bob") is None
