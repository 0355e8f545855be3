"""Names of groups as nodes: to be called so is to be SAME with the node of that name."""

from collections.abc import Callable

from likewise.constraints.given import FOREVER, Seat
from likewise.constraints.relation import Relation


class Names:
    """Which names are in use, by which answers, and which node stands for each.

    With two groups one node is enough: the first name means SAME with it, the
    second DIFFERENT from it, and a third has no seat.

    Parameters
    ----------
    new_node : callable
        Returns a fresh node.
    two_groups : bool
    """

    def __init__(self, new_node: Callable[[], int], *, two_groups: bool) -> None:
        self._new_node, self._two_groups = new_node, two_groups
        self._nodes: dict[str, int] = {}
        self.users: dict[str, dict[int, int]] = {}  # name -> {standing answer: its image}
        self.seats: dict[str, Seat] = {}  # of the names in use
        self.called: dict[int, str] = {}  # standing answer -> the name it gives

    def seat(self, name: str, before: int = FOREVER) -> Seat | None:
        """Return where `name` sits or would sit; None if two groups have other names already.

        Only names that some answer with an id below `before` uses take a seat.
        """
        if name in self.seats:
            return self.seats[name]
        key = "" if self._two_groups else name
        if key not in self._nodes:
            self._nodes[key] = self._new_node()
        node = self._nodes[key]
        if not self._two_groups:
            return node, Relation.SAME
        taken = {self.seats[other][1] for other, users in self.users.items() if min(users) < before}
        free = [side for side in (Relation.SAME, Relation.DIFFERENT) if side not in taken]
        return (node, free[0]) if free else None

    def use(self, name: str, seat: Seat, answer_id: int, image: int) -> None:
        """Note that a standing answer calls the group of `image` by `name`."""
        self.seats[name] = seat
        self.users.setdefault(name, {})[answer_id] = image
        self.called[answer_id] = name

    def disuse(self, answer_id: int) -> None:
        """Note that an answer is gone; a name nobody uses gives up its seat."""
        name = self.called.pop(answer_id)
        del self.users[name][answer_id]
        if not self.users[name]:
            del self.users[name], self.seats[name]
