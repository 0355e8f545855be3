"""Contrast of all text and marks, computed from the colours in the style sheet (WCAG 2.2 AA)."""

import re
from importlib.resources import files

import pytest

from likewise.session.groups import COLOURS

PAGE = files("likewise.server").joinpath("page")
STYLE = "".join(PAGE.joinpath(f"{name}.css").read_text() for name in ("tokens", "layout"))
LIGHT_DARK = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
SCHEMES = {
    name: {variable: (light, dark)[place] for variable, light, dark in LIGHT_DARK.findall(STYLE)}
    for place, name in enumerate(("light", "dark"))
}
TEXT = [
    (ink, ground)
    for ink in ("ink", "quiet", "accent", "good", "warn")
    for ground in ("back", "sheet", "raised", "tint")
]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_agrees_with_wcag_examples() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_contrast(scheme: str, ink: str, ground: str) -> None:
    colours = SCHEMES[scheme]
    assert contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_contrast_of_focus_and_pressed_buttons(scheme: str) -> None:
    colours = SCHEMES[scheme]
    assert contrast(colours["accent"], colours["back"]) >= 4.5
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5  # text of a pressed button
    problem = re.search(r"\.problem \{.*color: light-dark\((#\w+), (#\w+)\)", STYLE)
    assert problem is not None
    ink = problem[1 if scheme == "light" else 2]
    ink = "#" + "".join(2 * digit for digit in ink[1:]) if len(ink) == 4 else ink
    assert contrast(ink, colours["warn"]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("colour", COLOURS)
def test_contrast_of_group_colours(scheme: str, colour: str) -> None:
    # The colour is a stripe beside the name, never the only sign, so a contrast of 1.5 is enough.
    assert contrast(colour, SCHEMES[scheme]["sheet"]) >= 1.5
    assert contrast(colour, SCHEMES[scheme]["back"]) >= 1.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_contrast_of_borders(scheme: str) -> None:
    """Borders of fields reach a contrast of 3 (WCAG 1.4.11); buttons are known by their text."""
    colours = SCHEMES[scheme]
    assert contrast(colours["edge"], colours["sheet"]) >= 3
    assert contrast(colours["edge"], colours["back"]) >= 3
    assert "border: 1px solid var(--edge)" in STYLE
