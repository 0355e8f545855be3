"""Diagrams: Mermaid code becomes SVG, and unsupported code is an error."""

import xml.etree.ElementTree as ET

import pytest

from docs.site_tools.flowchart import layers_of, parse, to_svg
from tests.docs.pages import blocks, pages

SOURCE = 'flowchart LR\n    a["one<br>line"] -->|yes| b["two & three"] -.-> c\n    c --> a\n'


def test_nodes_and_edges_are_parsed() -> None:
    chart = parse(SOURCE)
    assert chart.texts == {"a": "one<br>line", "b": "two & three", "c": "c"}
    assert chart.edges == [("a", "b", "yes", False), ("b", "c", "", True), ("c", "a", "", False)]


def test_a_subgraph_is_a_frame_around_its_nodes() -> None:
    chart = parse(
        'flowchart LR\na --> b\nsubgraph s["a round"]\ndirection LR\nb --> c\nend\nc --> d'
    )
    assert chart.frames == {"a round": {"b", "c"}}
    assert set(chart.texts) == {"a", "b", "c", "d"}


def test_a_wide_diagram_is_drawn_downwards() -> None:
    chain = " --> ".join(f'n{i}["a long text in a box"]' for i in range(9))
    size = ET.fromstring(to_svg(f"flowchart LR\n{chain}")).attrib["viewBox"].split()
    assert int(size[2]) < int(size[3])


def test_an_edge_back_does_not_change_the_layers() -> None:
    assert layers_of(parse(SOURCE)) == [["a"], ["b"], ["c"]]


def test_the_picture_is_valid_xml_with_one_box_per_node() -> None:
    picture = ET.fromstring(to_svg(SOURCE))
    assert len(picture.findall(".//rect")) == 3
    assert [one.text for one in picture.findall(".//g/text")] == ["one", "line", "two & three", "c"]


@pytest.mark.parametrize(
    "source", ["graph LR\na --> b", "flowchart LR\na{b} --> c", "flowchart LR\n--> a"]
)
def test_unsupported_code_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match=r"Expected|must begin"):
        parse(source)


def test_every_diagram_of_the_documentation_is_supported() -> None:
    diagrams = [one for page in pages() for one in blocks(page.read_text(), "mermaid")]
    assert len(diagrams) >= 8
    for source in diagrams:
        ET.fromstring(to_svg(source))
