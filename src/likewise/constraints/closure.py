"""Transitive closure of must-links and cannot-links (union-find); the same for pseudo-links.

Must-link is an equivalence relation, so linked nodes form components. A
cannot-link between two nodes holds for all nodes of their components. With two
groups only, everything that differs from one component is the same, so a
component has at most one other that it differs from.
"""

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Self

import numpy as np

from likewise.constraints.question import Relation, Relations
from likewise.types import Indexes, Pairs


class Closure:
    """Components of must-linked nodes, and cannot-links between components.

    The nodes ``0 .. n_images - 1`` are the images; later nodes represent group
    names. A component contains at most one name, and components with different
    names differ: this holds as a rule and is not stored as cannot-links.

    The component of a node is one look-up; a merge moves the smaller component
    into the larger one. Arrays keep a million images in eight megabytes.

    Parameters
    ----------
    n_images : int
    two_groups : bool
        Whether two components that differ from a third are the same.
    """

    def __init__(self, n_images: int, *, two_groups: bool = False) -> None:
        self.n_images = n_images
        self.two_groups = two_groups
        self._component = array("q")  # (n_nodes,) the component of each node: one of its nodes
        self._component.frombytes(np.arange(n_images, dtype=np.int64).tobytes())
        self._members: dict[int, list[int]] = {}  # of components with two or more nodes
        self._sizes: dict[int, int] = {}  # images in a component, if not one
        self._cannot: dict[int, set[int]] = {}  # component -> components it is cannot-linked to
        self._named: dict[int, int] = {}  # component -> the node of its name
        self._n_named = 0  # images in components with a name

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = type(self)(0, two_groups=self.two_groups)
        twin.n_images, twin._n_named = self.n_images, self._n_named
        twin._component = self._component[:]
        twin._members = {component: nodes[:] for component, nodes in self._members.items()}
        twin._cannot = {component: others.copy() for component, others in self._cannot.items()}
        twin._sizes, twin._named = self._sizes.copy(), self._named.copy()
        return twin

    def add_name(self) -> int:
        """Add a node that represents a group name (both names if there are two groups)."""
        node = len(self._component)
        self._component.append(node)
        self._sizes[node] = 0
        if not self.two_groups:
            self._named[node] = node
        return node

    @property
    def n_nodes(self) -> int:
        """Return the number of images and names."""
        return len(self._component)

    def set_components(self, labels: Indexes, first: Indexes, second: Indexes) -> None:
        """Link all nodes with equal labels, and add cannot-links; nothing was linked before.

        Parameters
        ----------
        labels : array of shape (n_nodes,)
            With two groups, nodes that differ from the same node have equal labels.
        first, second : array of shape (m,)
            The nodes of the cannot-links.
        """
        _, one_node, inverse, n_inside = np.unique(
            labels, return_index=True, return_inverse=True, return_counts=True
        )
        components = one_node[inverse].astype(np.int64)
        self._component = array("q", components.tobytes())
        order = np.argsort(inverse, kind="stable")
        ends = np.cumsum(n_inside)
        for one in np.flatnonzero(n_inside > 1).tolist():
            nodes = order[ends[one] - n_inside[one] : ends[one]].tolist()
            self._members[nodes[0]] = nodes
        n_images = np.bincount(components[: self.n_images], minlength=self.n_nodes)
        used = np.flatnonzero(n_images > 1)
        self._sizes.update(zip(used.tolist(), n_images[used].tolist(), strict=True))
        names = list(self._named)
        self._named = {int(components[name]): name for name in names}
        for name in names:
            component = int(components[name])
            self._sizes.pop(name, None)
            self._sizes[component] = int(n_images[component])
        self._n_named = sum(self._sizes[component] for component in self._named)
        self._set_cannot(components[first], components[second])

    def _set_cannot(self, first: Indexes, second: Indexes) -> None:
        """Add cannot-links between components."""
        if not len(first):
            return
        n = self.n_nodes
        codes = np.unique(np.concatenate([first * n + second, second * n + first]))
        left, right = np.divmod(codes, n)
        components, starts = np.unique(left, return_index=True)
        ends = [*starts[1:].tolist(), len(right)]
        for component, start, end in zip(components.tolist(), starts.tolist(), ends, strict=True):
            self._cannot[component] = set(right[start:end].tolist())

    def is_linked(self, first: int, second: int) -> bool:
        """Return whether two nodes are in one component."""
        return self._component[first] == self._component[second]

    def name_of(self, node: int) -> int | None:
        """Return the name node in the component of `node`, if there is one."""
        return self._named.get(self._component[node])

    def relation(self, first: int, second: int) -> int:
        """Return the relation of two nodes."""
        a, b = self._component[first], self._component[second]
        if a == b:
            return 1
        others = self._cannot.get(a)
        if others is not None and b in others:
            return -1
        return -1 if a in self._named and b in self._named else 0

    def link(self, first: int, second: int, relation: int) -> int:
        """Add a constraint that does not contradict the closure.

        Returns
        -------
        n_settled : int
            Number of pairs of images whose relation is known now and was not before.
        """
        a, b = self._component[first], self._component[second]
        if relation > 0:
            return self._merge(a, b) if a != b else 0
        others = self._cannot.setdefault(a, set())
        if b in others:
            return 0
        others.add(b)
        self._cannot.setdefault(b, set()).add(a)
        is_implied = a in self._named and b in self._named
        n_settled = 0 if is_implied else self._size(a) * self._size(b)
        if self.two_groups:
            n_settled += self._merge_opposites(a)
            n_settled += self._merge_opposites(self._component[second])
        return n_settled

    def matrix(self, images: Indexes) -> Relations:
        """Return the relations between all given images, (b, b)."""
        components, inverse = np.unique(self._view()[images], return_inverse=True)
        position = {component: i for i, component in enumerate(components.tolist())}
        small = np.eye(len(components), dtype=np.int8)
        cannot = [self._cannot.get(component, set()) & position.keys() for component in position]
        columns = np.fromiter(map(position.__getitem__, chain.from_iterable(cannot)), dtype=np.intp)
        small[np.repeat(np.arange(len(components)), [len(row) for row in cannot]), columns] = -1
        named = np.fromiter((c in self._named for c in position), dtype=bool, count=len(position))
        small[np.outer(named, named) & ~np.eye(len(components), dtype=bool)] = -1
        return small[np.ix_(inverse, inverse)]

    def pairs(self, pairs: Pairs) -> Relations:
        """Return the relation of each pair of images, (m,)."""
        first, second = self._view()[pairs].T
        found: Relations = (first == second).astype(np.int8)
        cannot, named = self._cannot, self._named
        unknown = np.flatnonzero(found == 0)
        if len(unknown) > len(cannot) + len(named):  # skip components without cannot-links
            has_any = np.zeros(len(self._component), dtype=bool)
            has_any[list(cannot.keys() | named.keys())] = True
            unknown = unknown[has_any[first[unknown]] & has_any[second[unknown]]]
        empty: set[int] = set()
        couples = zip(first[unknown].tolist(), second[unknown].tolist(), strict=True)
        differ = [b in cannot.get(a, empty) or (a in named and b in named) for a, b in couples]
        found[unknown[np.array(differ, dtype=bool)]] = Relation.DIFFERENT
        return found

    def groups(self) -> Indexes:
        """Return the first image of the component of each image, (n,)."""
        return self._first_images()[self._view()[: self.n_images]]

    def cannot_links(self) -> Pairs:
        """Return the pairs of components that differ, each as its first image, sorted."""
        first_image, cannot = self._first_images(), self._cannot
        components = np.fromiter(cannot, dtype=np.intp, count=len(cannot))
        left = np.repeat(components, [len(others) for others in cannot.values()])
        right = np.fromiter(chain.from_iterable(cannot.values()), dtype=np.intp, count=len(left))
        names = np.fromiter(self._named, dtype=np.intp, count=len(self._named))
        i, j = np.triu_indices(len(names), 1)
        one = first_image[np.append(left, names[i])]
        other = first_image[np.append(right, names[j])]
        low, high = np.minimum(one, other), np.maximum(one, other)
        codes = np.unique((low * self.n_images + high)[high < self.n_images])
        return np.stack(np.divmod(codes, self.n_images), axis=1)

    def _view(self) -> Indexes:
        """Return the component of each node; it shares memory, so use it at once."""
        return np.frombuffer(self._component, dtype=np.int64)

    def _first_images(self) -> Indexes:
        """Return the first image of each component, `n_images` if it contains none."""
        first = np.full(len(self._component), self.n_images, dtype=np.intp)
        backwards = np.arange(self.n_images - 1, -1, -1)
        first[self._view()[backwards]] = backwards  # the value written last remains
        return first

    def _size(self, component: int) -> int:
        """Return the number of images in a component."""
        return self._sizes.get(component, 1)

    def _nodes(self, component: int) -> Sequence[int]:
        """Return the nodes of a component."""
        return self._members.get(component) or (component,)

    def _merge(self, a: int, b: int) -> int:
        """Merge two components; return how many pairs of images this settles."""
        cannot, empty = self._cannot, set[int]()
        if self._cost_of_moving(a) > self._cost_of_moving(b):
            a, b = b, a
        size_a, size_b = self._size(a), self._size(b)
        n_different_a, n_different_b = self._n_different(a), self._n_different(b)
        n_known = self._n_known(a, n_different_a) + self._n_known(b, n_different_b)
        shared = cannot.get(a, empty) & cannot.get(b, empty)
        moved = self._nodes(a)
        for node in moved:
            self._component[node] = b
        self._members.setdefault(b, [b]).extend(moved)
        self._members.pop(a, None)
        self._sizes.pop(a, None)
        self._sizes[b] = size_a + size_b
        if a in self._named or b in self._named:
            self._n_named += size_a if b in self._named else size_b
            self._named[b] = self._named.pop(a, self._named.get(b, -1))
        if a in cannot:
            others = cannot.pop(a)
            for other in others:
                cannot[other].remove(a)
                cannot[other].add(b)
            cannot.setdefault(b, set()).update(others)
        n_different = n_different_a + n_different_b - sum([self._size(other) for other in shared])
        n_settled = self._n_known(b, n_different) - n_known
        return n_settled + self._merge_opposites(b) if self.two_groups else n_settled

    def _cost_of_moving(self, component: int) -> int:
        """Return the number of nodes and cannot-links to change if a component is merged."""
        return len(self._nodes(component)) + len(self._cannot.get(component, ()))

    def _merge_opposites(self, component: int) -> int:
        """Merge the components that differ from `component`; there are two groups only."""
        others = self._cannot.get(component, ())
        if len(others) < 2:
            return 0
        one, other = others
        return self._merge(one, other)

    def _n_different(self, component: int) -> int:
        """Return the number of images in components with a cannot-link to `component`."""
        sizes = self._sizes
        return sum([sizes.get(other, 1) for other in self._cannot.get(component, ())])

    def _n_known(self, component: int, n_different: int) -> int:
        """Return the number of pairs with an image in `component` and a known relation."""
        size = self._size(component)
        if component in self._named:  # differs from all others with a name, some counted before
            counted = self._cannot.get(component, set()) & self._named.keys()
            n_different += self._n_named - size - sum([self._size(other) for other in counted])
        return size * (size - 1) // 2 + size * n_different


class PseudoLinks:
    """Predicted relations in the order they were added.

    The closure of the answers has precedence, whenever an answer was added: a
    pseudo-link that contradicts it, or an earlier pseudo-link, has no effect.
    """

    def __init__(self) -> None:
        self._links: dict[tuple[int, int], int] = {}
        self._closure: Closure | None = None  # of the answers and the pseudo-links
        self._version = -1  # of the answers in it

    def add(self, first: int, second: int, relation: int) -> None:
        """Add a pseudo-link in place of an earlier one of this pair; ``UNKNOWN`` removes it."""
        pair = (min(first, second), max(first, second))
        if self._links.pop(pair, None) is not None:
            self._closure = None
        if relation:
            self._links[pair] = relation
            if self._closure is not None:
                _link_if_unknown(self._closure, *pair, relation)

    def links(self) -> dict[tuple[int, int], int]:
        """Return all pseudo-links in the order they were added."""
        return dict(self._links)

    def clear(self) -> None:
        """Remove all pseudo-links."""
        self._links.clear()
        self._closure = None

    def closure(self, answers: Closure, version: int) -> Closure:
        """Return the closure of the answers and the pseudo-links.

        Parameters
        ----------
        answers : Closure
            It is not changed.
        version : int
            A number that changes whenever `answers` does.
        """
        if not self._links:
            return answers
        if self._closure is None or version != self._version:
            self._closure, self._version = answers.copy(), version
            for (first, second), relation in self._links.items():
                _link_if_unknown(self._closure, first, second, relation)
        return self._closure


def _link_if_unknown(closure: Closure, first: int, second: int, relation: int) -> None:
    """Add a relation to the closure unless the relation of the pair is known."""
    if not closure.relation(first, second):
        closure.link(first, second, relation)
