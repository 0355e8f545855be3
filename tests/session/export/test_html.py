from base64 import b64decode
from html.parser import HTMLParser

from likewise.session.export.html import GroupTiles, Page, Section, Tile, html

NASTY = "<script>alert(\"x\")</script> & 'quotes'"


class Read(HTMLParser):
    """What a browser would see: tags with attributes, and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def _page(text: str = "x", n_images: int = 1) -> str:
    tile = Tile(b"\x00picture\xff", text, "odd")
    group = GroupTiles(text, '#0072b2"><b>', n_images, [tile], note=text)
    return html(Page(text, [Section(text, [group], note=text)], [text]))


def test_thumbnails_are_inside_the_page() -> None:
    (picture,) = [attributes for tag, attributes in Read(_page()).tags if tag == "img"]
    kind, content = picture["src"].split(",", 1)
    assert kind == "data:image/webp;base64"
    assert b64decode(content) == b"\x00picture\xff"
    assert picture["class"] == "odd"


def test_every_text_is_escaped_wherever_it_stands() -> None:
    seen = Read(_page(NASTY))
    tags = {tag for tag, _ in seen.tags}
    assert "script" not in tags
    assert "b" not in tags  # the colour did not break out of its attribute
    assert seen.texts.count(NASTY) == 7  # title, three headings, paragraph, two notes
    (picture,) = [attributes for tag, attributes in seen.tags if tag == "img"]
    assert picture["title"] == picture["alt"] == NASTY


def test_nothing_is_loaded_and_nothing_runs() -> None:
    seen = Read(_page())
    policies = [a["content"] for tag, a in seen.tags if a.get("http-equiv")]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    assert not {"script", "link", "iframe"} & {tag for tag, _ in seen.tags}
    assert all(a["src"].startswith("data:") for tag, a in seen.tags if "src" in a)


def test_a_very_wide_picture_stays_on_the_page() -> None:
    (style,) = [text for text in Read(_page()).texts if ".tiles img {" in text]
    rule = style.split(".tiles img {")[1].split("}")[0]
    assert "height: 56px" in rule
    assert "max-width: min(100%, 18rem)" in rule
    assert "object-fit: cover" in rule  # narrower than it is, it must not be squeezed


def test_counts_are_of_all_pictures_not_of_those_shown() -> None:
    texts = Read(_page(n_images=1200)).texts
    assert "1,200 pictures" in texts
    assert "… and 1,199 more." in texts
    assert "1 picture" in Read(_page()).texts
    assert not [text for text in Read(_page()).texts if "more" in text]
