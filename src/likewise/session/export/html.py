"""Export groups as one HTML page with embedded thumbnails."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Mark = Literal["", "odd"]


@dataclass(frozen=True)
class Tile:
    """One image.

    Parameters
    ----------
    thumbnail : bytes
        A small WebP file.
    title : str
        Shown as a tooltip.
    mark : {"", "odd"}
        ``odd``: drawn with a frame, as an image that differs from its group.
    """

    thumbnail: bytes
    title: str
    mark: Mark = ""


@dataclass(frozen=True)
class GroupTiles:
    """One group: name, colour as ``#rrggbb``, number of images, and some of its images."""

    name: str
    colour: str
    n_images: int
    tiles: Sequence[Tile] = ()
    note: str = ""


@dataclass(frozen=True)
class Section:
    """The groups of one criterion under a heading."""

    title: str
    groups: Sequence[GroupTiles]
    note: str = ""


@dataclass(frozen=True)
class Page:
    """A page: title, introductory paragraphs, figures as HTML, and sections side by side."""

    title: str
    sections: Sequence[Section]
    paragraphs: Sequence[str] = field(default=())
    figures: Sequence[str] = field(default=())


def html(page: Page) -> str:
    """Return the page as one HTML document.

    Examples
    --------
    >>> "a &lt; b" in html(Page("a < b", []))
    True
    """
    introduction = "\n".join(f"<p>{escape(text)}</p>" for text in page.paragraphs)
    sections = "\n".join(_section(section) for section in page.sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(page.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>{escape(page.title)}</h1>
{introduction}
</header>
{"".join(page.figures)}
<main>
{sections}
</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    groups = "\n".join(_group(group) for group in section.groups)
    heading = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    return f"""<section>
{heading}
{_paragraph(section.note)}
{groups}
</section>"""


def _group(group: GroupTiles) -> str:
    hidden = group.n_images - len(group.tiles)
    more = _paragraph(f"… and {hidden:,} more.") if hidden > 0 and group.tiles else ""
    tiles = "\n".join(_tile(tile) for tile in group.tiles)
    return f"""<article style="border-color: {escape(group.colour)}">
<h3>{escape(group.name)} <small>{_count(group.n_images)}</small></h3>
{_paragraph(group.note)}
<div class="tiles">
{tiles}
</div>
{more}
</article>"""


def _tile(tile: Tile) -> str:
    title = escape(tile.title)
    kind = f' class="{tile.mark}"' if tile.mark else ""
    source = f"data:image/webp;base64,{b64encode(tile.thumbnail).decode('ascii')}"
    return f'<img{kind} src="{source}" alt="{title}" title="{title}" loading="lazy">'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _count(n_images: int) -> str:
    return f"{n_images:,} picture{'s' * (n_images != 1)}"


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #767676; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem 2rem; }
header { max-width: 48rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 1rem 0 .5rem; }
h2 { font-size: 1.2rem; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 0; }
h3 small { color: var(--quiet); font-weight: normal; margin-left: .5ch; }
p { margin: .25rem 0 .75rem; }
article p, section > p { color: var(--quiet); font-size: .9rem; }
main { display: grid; gap: 2rem; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); }
article { border-left: .4rem solid; margin: 0 0 1.25rem; padding: .1rem 0 .1rem .9rem; }
.tiles { display: flex; flex-wrap: wrap; gap: 4px; margin: .4rem 0; }
.tiles img { border-radius: 4px; height: 56px; position: relative; width: auto;
  max-width: min(100%, 18rem); object-fit: cover; }
section:only-child .tiles img { height: 96px; }
.tiles img:hover { box-shadow: 0 2px 12px #000a; transform: scale(2.2); z-index: 1; }
figure { margin: 1.5rem 0; max-width: 48rem; overflow-x: auto; }
figcaption { font-weight: 600; margin-bottom: .4rem; }
table { border-collapse: collapse; }
td, th { padding: .2rem .9rem .2rem 0; text-align: left; font-weight: normal; }
tr > td:nth-child(n + 3) { text-align: right; font-variant-numeric: tabular-nums; }
meter { width: 12rem; }
.curve { width: 100%; height: auto; }
.curve text { font-size: 12px; fill: currentColor; }
.curve line { stroke: var(--line); }
.curve polyline { fill: none; stroke: #0072b2; stroke-width: 2.5; }
.curve polyline.dashed { stroke: #d55e00; stroke-dasharray: 6 4; stroke-width: 2; }
.curve polygon { fill: #0072b2; opacity: .2; }
.tiles img.odd { outline: 3px solid #d55e00; outline-offset: -3px; }
"""
