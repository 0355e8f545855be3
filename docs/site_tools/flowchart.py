"""Render a small subset of Mermaid flowcharts as inline SVG.

The pages contain ordinary Mermaid code, which code-hosting sites draw themselves. MkDocs Material
would load Mermaid from a CDN; this renderer keeps the built site free of external resources.
Supported: ``flowchart LR`` or ``TD``, nodes ``id["text"]`` (``<br>`` breaks a line), edges ``-->``
and ``-->|label|``, chains of edges on one line, and ``subgraph id["title"]`` to ``end``, drawn with
dashed boxes. Anything else is an error, so that a page never shows an incomplete diagram.
"""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_NODE = re.compile(r'\s*(\w+)(?:\["([^"]+)"\])?\s*')
_EDGE = re.compile(r"(-->|-\.->)(?:\|([^|]+)\|)?")
_SUBGRAPH = re.compile(r'\s*subgraph \w+\["([^"]+)"\]\s*')
_WIDEST = 1000  # pixels; a wider diagram is drawn downwards, so that its text stays readable
_CHAR, _LINE, _PAD, _GAP_ALONG, _GAP_ACROSS = 7.2, 17, 8, 26, 18
_Point = tuple[float, float]


@dataclass
class Flowchart:
    """A parsed diagram: texts of the nodes, edges as (source, target, label, dashed), frames."""

    direction: str
    texts: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str, bool]] = field(default_factory=list)
    frames: dict[str, set[str]] = field(default_factory=dict)


def parse(source: str) -> Flowchart:
    """Return the diagram that Mermaid code describes.

    Raises
    ------
    ValueError
        If a line is not in the supported subset.
    """
    lines = [line for line in source.splitlines() if line.strip() and "%%" not in line]
    head = re.fullmatch(r"flowchart (LR|TD)", lines[0].strip())
    if head is None:
        raise ValueError(f"A diagram must begin with 'flowchart LR' or 'TD', got {lines[0]!r}.")
    chart = Flowchart(head.group(1))
    title = None
    for line in lines[1:]:
        subgraph = _SUBGRAPH.fullmatch(line)
        if subgraph:
            title = subgraph.group(1)
            chart.frames[title] = set()
        elif line.strip() == "end":
            title = None
        elif not re.fullmatch(r"\s*direction (LR|TD)", line):
            names = _parse_line(chart, line)
            if title is not None:
                chart.frames[title] |= names
    return chart


def _parse_line(chart: Flowchart, line: str) -> set[str]:
    """Add the nodes and edges of a line, and return the names of the nodes."""
    previous, edge, at, names = "", None, 0, set()
    while at < len(line):
        node = _NODE.match(line, at)
        if node is None:
            raise ValueError(f"Expected a node in the diagram line {line!r}.")
        name, text = node.groups()
        names.add(name)
        chart.texts[name] = text or chart.texts.get(name, name)
        if edge is not None:
            chart.edges.append((previous, name, edge.group(2) or "", edge.group(1) == "-.->"))
        previous, at = name, node.end()
        edge = _EDGE.match(line, at)
        if edge is None and at < len(line):
            raise ValueError(f"Expected an edge in the diagram line {line!r}.")
        at = edge.end() if edge else at
    return names


def layers_of(chart: Flowchart) -> list[list[str]]:
    """Return the nodes by layer: the longest path from a start, edges back to a start left out."""
    order = {name: number for number, name in enumerate(chart.texts)}
    depth = dict.fromkeys(order, 0)
    forward = [(a, b) for a, b, _, _ in chart.edges if order[a] < order[b]]
    for a, b in sorted(forward, key=lambda edge: order[edge[0]]):
        depth[b] = max(depth[b], depth[a] + 1)
    for a in reversed(order):  # a start that is declared late stands just before its successors
        later = [depth[end] for start, end in forward if start == a]
        if later and not any(end == a for _, end in forward):
            depth[a] = min(later) - 1
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, level in depth.items():
        layers[level].append(name)
    rank: dict[str, float] = {}
    for layer in layers:  # near the nodes that lead to it, so that fewer edges cross
        before = {n: [rank[a] for a, b in forward if b == n and a in rank] for n in layer}
        layer.sort(key=lambda n: sum(before[n]) / len(before[n]) if before[n] else 0.0)
        rank |= {name: position - len(layer) / 2 for position, name in enumerate(layer)}
    return layers


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    def anchor(self, side: str) -> tuple[float, float]:
        across, down = self.x + self.width / 2, self.y + self.height / 2
        sides = {
            "left": (self.x, down),
            "right": (self.x + self.width, down),
            "top": (across, self.y),
            "bottom": (across, self.y + self.height),
        }
        return sides[side]


def _place(chart: Flowchart) -> dict[str, _Box]:
    """Return the box of every node; layers are centred on a common axis."""
    sizes = {}
    for name, text in chart.texts.items():
        lines = text.split("<br>")
        width = max(len(line) for line in lines) * _CHAR + 2 * _PAD
        sizes[name] = (width, len(lines) * _LINE + 1.4 * _PAD)
    flat = chart.direction == "LR"
    labels = max((len(label) for _, _, label, _ in chart.edges), default=0)
    gap = max(_GAP_ALONG, labels * _CHAR + 20) if flat else _GAP_ALONG
    along, boxes, extents = 0.0, {}, []
    for layer in layers_of(chart):
        extents.append(sum(sizes[n][flat] for n in layer) + _GAP_ACROSS * (len(layer) - 1))
    for layer, extent in zip(layers_of(chart), extents, strict=True):
        across = (max(extents) - extent) / 2
        thick = max(sizes[name][not flat] for name in layer)
        for name in layer:
            width, height = sizes[name]
            offset = along + (thick - sizes[name][not flat]) / 2
            x, y = (offset, across) if flat else (across, offset)
            boxes[name] = _Box(x, y, width, height)
            across += sizes[name][flat] + _GAP_ACROSS
        along += thick + gap
    return boxes


def _is_clear(start: _Point, end: _Point, boxes: Iterable[_Box]) -> bool:
    """Return whether the line between two points meets none of the boxes."""
    for step in range(1, 24):
        x = start[0] + (end[0] - start[0]) * step / 24
        y = start[1] + (end[1] - start[1]) * step / 24
        for box in boxes:
            if box.x < x < box.x + box.width and box.y < y < box.y + box.height:
                return False
    return True


def _detour(start: _Box, end: _Box, flat: bool, at: float, forward: bool) -> tuple[str, _Point]:
    """Return a path around all boxes: above or below them, in a TD diagram left or right."""
    side = ("top" if forward else "bottom") if flat else ("left" if forward else "right")
    (x1, y1), (x2, y2) = start.anchor(side), end.anchor(side)
    if flat:
        corners, label = f"L{x1:.0f},{at:.0f} L{x2:.0f},{at:.0f}", ((x1 + x2) / 2, at)
    else:
        corners, label = f"L{at:.0f},{y1:.0f} L{at:.0f},{y2:.0f}", (at, (y1 + y2) / 2)
    return f"M{x1:.0f},{y1:.0f} {corners} L{x2:.0f},{y2:.0f}", label


def _curve(start: _Point, end: _Point, flat: bool) -> tuple[str, _Point]:
    """Return the path between neighbouring layers, and the place of its label."""
    (x1, y1), (x2, y2) = start, end
    mid = ((x1 + x2) / 2, (y1 + y2) / 2)
    first, second = ((mid[0], y1), (mid[0], y2)) if flat else ((x1, mid[1]), (x2, mid[1]))
    bend = f"C{first[0]:.0f},{first[1]:.0f} {second[0]:.0f},{second[1]:.0f}"
    return f"M{x1:.0f},{y1:.0f} {bend} {x2:.0f},{y2:.0f}", mid


class _Router:
    """Finds the paths of edges; each detour has its own distance from the boxes."""

    def __init__(self, boxes: Mapping[str, _Box], flat: bool) -> None:
        self.boxes, self.flat, self.low = boxes, flat, 0.0
        self.right = max(box.x + box.width for box in boxes.values())
        self.bottom = max(box.y + box.height for box in boxes.values())
        self.high = self.bottom if flat else self.right

    def path(self, a: str, b: str) -> tuple[str, _Point]:
        """Return the path from one node to another, and the place of its label."""
        start, end = self.boxes[a], self.boxes[b]
        if end.x <= start.x if self.flat else end.y <= start.y:
            self.high += 12
            return _detour(start, end, self.flat, self.high, forward=False)
        sides = ("right", "left") if self.flat else ("bottom", "top")
        ends = (start.anchor(sides[0]), end.anchor(sides[1]))
        others = [box for name, box in self.boxes.items() if name not in (a, b)]
        if _is_clear(*ends, others):
            return _curve(*ends, self.flat)
        self.low -= 12
        return _detour(start, end, self.flat, self.low, forward=True)


def to_svg(source: str) -> str:
    """Return the SVG element of a diagram in Mermaid code."""
    chart = parse(source)
    boxes = _place(chart)
    if max(box.x + box.width for box in boxes.values()) > _WIDEST:
        chart.direction = "TD"
        boxes = _place(chart)
    router = _Router(boxes, chart.direction == "LR")
    parts = []
    for a, b, label, dashed in chart.edges:
        path, (x, y) = router.path(a, b)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        parts.append(f'<path d="{path}" class="edge"{dash} marker-end="url(#arrow)"/>')
        if label:
            place = f'x="{x:.0f}" y="{y - 4:.0f}"'
            parts.append(f'<text {place} class="label">{html.escape(label)}</text>')
    framed = set().union(*chart.frames.values())
    parts += [_node(chart.texts[name], box, name in framed) for name, box in boxes.items()]
    left, top = (0.0, router.low) if router.flat else (router.low, 0.0)
    right, bottom = router.right, router.bottom
    right, bottom = (right, router.high) if router.flat else (router.high, bottom)
    for title in chart.frames:
        bottom += 20
        place = f'x="{left:.0f}" y="{bottom:.0f}" style="text-anchor:start"'
        parts.append(f'<text {place} class="label">dashed: {html.escape(title)}</text>')
    width, height = right - left + 8, bottom - top + 8
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>'
    )
    return (
        f'<svg class="flowchart" role="img" '
        f'viewBox="{left - 4:.0f} {top - 4:.0f} {width:.0f} {height:.0f}" '
        f'style="max-width:{1.15 * width:.0f}px">{marker}{"".join(parts)}</svg>'
    )


def _node(text: str, box: _Box, is_framed: bool) -> str:
    lines = text.split("<br>")
    rows = "".join(
        f'<text x="{box.x + box.width / 2:.0f}" '
        f'y="{box.y + 0.7 * _PAD + _LINE * (number + 0.72):.0f}">{html.escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    style = ' class="frame"' if is_framed else ""
    frame = (
        f'<rect{style} x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" '
        f'height="{box.height:.0f}" rx="5"/>'
    )
    return f"<g>{frame}{rows}</g>"
