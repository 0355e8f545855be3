"""Groups as keywords in XMP: sidecar files, and embedded in copies of JPEG and PNG images.

Three fields, which digiKam, Lightroom, darktable and others read: ``dc:subject`` has the name of
the group; ``lr:hierarchicalSubject`` and ``digiKam:TagsList`` have the criterion above it.
"""

import os
import re
import struct
import zlib
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree as ET

from likewise.errors import ImageError, SessionError
from likewise.images.decoding import HEAD, format_of
from likewise.session.assignments import Assignment, assignments, mark_unsure
from likewise.session.atomic import disk_errors, write_atomic
from likewise.session.export.annotations import class_name
from likewise.session.export.formats import Exported, not_present
from likewise.session.session import Session
from likewise.session.validation import path_below
from likewise.types import Progress, silent

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_META = "adobe:ns:meta/"
_FIELDS = {  # field -> (namespace, prefix, container, separator below the criterion)
    "subject": ("http://purl.org/dc/elements/1.1/", "dc", "Bag", ""),
    "hierarchicalSubject": ("http://ns.adobe.com/lightroom/1.0/", "lr", "Bag", "|"),
    "TagsList": ("http://www.digikam.org/ns/1.0/", "digiKam", "Seq", "/"),
}
_MAX_SIDECAR = 4_000_000  # bytes
_JPEG_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_PNG_XMP = b"XML:com.adobe.xmp\0\0\0\0\0"
_MAX_SEGMENT = 65_533

for _field in _FIELDS.values():
    ET.register_namespace(_field[1], _field[0])
ET.register_namespace("rdf", _RDF)
ET.register_namespace("x", _META)
ET.register_namespace("xmp", "http://ns.adobe.com/xap/1.0/")


def export_xmp(
    session: Session,
    target: Path | None,
    criterion: str = "",
    *,
    unsure_below: float = 0.0,
    groups: Collection[str] = (),
    progress: Progress = silent,
) -> Exported:
    """Write a sidecar ``NAME.EXTENSION.xmp`` for each image; images are not changed.

    Keywords of other programs in an existing sidecar are kept; those that an earlier export of
    the same criterion wrote are replaced.

    Parameters
    ----------
    session : Session
    target : Path, optional
        Folder for the sidecars, as a tree like that of the images; None: next to the images.
    criterion, unsure_below, groups, progress
        As in `export_folders`. Unsure images get no keyword.

    Raises
    ------
    SessionError
        If the images are not files, or a sidecar cannot be written.
    """
    root = session.root
    if root is None:
        raise SessionError("The images of this session are not files; export a table instead.")
    by, failed = session.criterion(criterion).name, list(not_present(session))
    rows = mark_unsure(assignments(session, by, groups), unsure_below)
    n_written = 0
    for n_done, row in enumerate(rows, start=1):
        reason = _write_sidecar(root, target, row, by)
        if reason is None:
            n_written += 1
        else:
            failed.append((row.path, reason))
        progress(n_done, len(rows))
    return Exported(n_written, tuple(failed))


def _write_sidecar(root: Path, target: Path | None, row: Assignment, by: str) -> str | None:
    """Write the sidecar of one image; return why it was not written."""
    try:
        image = Path(path_below(root, row.path))
    except ImageError:
        return "is outside of the image folder"
    place = image if target is None else target / row.path
    sidecar = place.with_name(f"{place.name}.xmp")
    if row.cluster < 0 and not sidecar.exists():
        return "is in no group"
    try:
        content = packet(keyword(row), by, _read_sidecar(sidecar))
    except ValueError as error:
        return f"has a sidecar that is not valid XMP ({error}); rename {sidecar.name}"
    with disk_errors(sidecar):
        sidecar.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(sidecar, lambda descriptor: _write_all(descriptor, content))
    return None if row.cluster >= 0 else "is in no group"


def _write_all(descriptor: int, content: bytes) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        stream.write(content)


def _read_sidecar(path: Path) -> bytes:
    if not path.is_file():
        return b""
    if path.stat().st_size > _MAX_SIDECAR:
        raise ValueError(f"more than {_MAX_SIDECAR:,} bytes")
    return path.read_bytes()


def keyword(row: Assignment) -> str:
    """Return the keyword of an image; empty if it is in no group."""
    name = class_name(row) if row.cluster >= 0 else ""
    return re.sub(r"[|/\x00-\x1f\ud800-\udfff]", "_", name)


# -- the XMP packet --------------------------------------------------------------------


def packet(name: str, by: str, old: bytes = b"") -> bytes:
    """Return an XMP packet with the keyword `name` of the criterion `by`.

    Parameters
    ----------
    name : str
        Empty: only keywords of the criterion are removed.
    by : str
    old : bytes
        An existing packet, whose other content is kept.

    Raises
    ------
    ValueError
        If `old` is not XMP.
    """
    by = re.sub(r"[|/]", "_", by)
    top = _parsed(old) if old.strip() else ET.Element(f"{{{_META}}}xmpmeta")
    rdf = top if top.tag == f"{{{_RDF}}}RDF" else top.find(f"{{{_RDF}}}RDF")
    if rdf is None:
        rdf = ET.SubElement(top, f"{{{_RDF}}}RDF")
    earlier = _earlier(rdf, by)
    for field, (uri, _, container, separator) in _FIELDS.items():
        listed = _list_of(rdf, f"{{{uri}}}{field}", container)
        prefix = f"{by}{separator}" if separator else ""
        _replace(listed, {prefix + value for value in earlier}, prefix + name if name else "")
    return ET.tostring(top, encoding="unicode").encode()


def _parsed(content: bytes) -> ET.Element:
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # XMP has none
        raise ValueError("it declares entities")
    try:
        top = ET.fromstring(content)
    except ET.ParseError as error:
        raise ValueError(str(error)) from error
    if top.tag not in (f"{{{_META}}}xmpmeta", f"{{{_RDF}}}RDF"):
        raise ValueError(f"its root is {top.tag}")
    return top


def _earlier(rdf: ET.Element, by: str) -> set[str]:
    """Return the keywords that earlier exports of the criterion `by` wrote."""
    found = set()
    for field, (uri, _, _, separator) in _FIELDS.items():
        if separator:
            for item in rdf.iterfind(f".//{{{uri}}}{field}//{{{_RDF}}}li"):
                above, _, name = (item.text or "").partition(separator)
                if above == by and name:
                    found.add(name)
    return found


def _list_of(rdf: ET.Element, tag: str, container: str) -> ET.Element:
    """Return the list of a field; it is added if there is none."""
    field = rdf.find(f".//{tag}")
    if field is None:
        about = f"{{{_RDF}}}about"
        description = rdf.find(f"{{{_RDF}}}Description")
        if description is None:
            description = ET.SubElement(rdf, f"{{{_RDF}}}Description", {about: ""})
        field = ET.SubElement(description, tag)
    if not len(field):
        ET.SubElement(field, f"{{{_RDF}}}{container}")
    return field[0]


def _replace(listed: ET.Element, earlier: set[str], new: str) -> None:
    """Remove `earlier` keywords from a list and add `new`, unless it is empty."""
    for item in list(listed):
        if item.text in earlier or item.text == new:
            listed.remove(item)
    if new:
        ET.SubElement(listed, f"{{{_RDF}}}li").text = new


# -- embedded in images ----------------------------------------------------------------


def with_keyword(image: bytes, name: str, by: str) -> bytes:
    """Return a JPEG or PNG file with the keyword in its XMP; pixels are not encoded again.

    Raises
    ------
    ImageError
        If the image has another format, or its metadata cannot be read; the message starts
        with the reason.
    """
    kind = format_of(image[:HEAD])
    try:
        if kind == "JPEG":
            return _tagged_jpeg(image, name, by)
        if kind == "PNG":
            return _tagged_png(image, name, by)
    except (ValueError, IndexError, struct.error) as error:
        raise ImageError(f"has metadata that cannot be changed ({error}).") from error
    raise ImageError(f"is {kind or 'no image'}; keywords are embedded only in JPEG and PNG.")


def _tagged_jpeg(image: bytes, name: str, by: str) -> bytes:
    """Replace or insert the APP1 segment with XMP after APP0 and Exif."""
    old, kept, position = b"", [image[:2]], 2
    while image[position] == 0xFF and 0xE0 <= image[position + 1] <= 0xEF:  # APPn
        (length,) = struct.unpack(">H", image[position + 2 : position + 4])
        segment = image[position : position + 2 + length]
        if segment[4:].startswith(_JPEG_XMP):
            old = segment[4 + len(_JPEG_XMP) :]
        else:
            kept.append(segment)
        position += 2 + length
    data = _JPEG_XMP + _wrapped(packet(name, by, _unwrapped(old)))
    if len(data) > _MAX_SEGMENT:
        raise ValueError(f"{len(data):,} bytes of XMP are too long")
    n_first = 1 + sum(one[4:].startswith((b"JFIF", b"Exif")) for one in kept[1:])
    kept.insert(n_first, b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data)
    return b"".join(kept) + image[position:]


def _tagged_png(image: bytes, name: str, by: str) -> bytes:
    """Replace or insert the iTXt chunk with XMP before the pixels."""
    old, kept, position = b"", [image[:8]], 8
    while (kind := image[position + 4 : position + 8]) != b"IDAT":
        (length,) = struct.unpack(">I", image[position : position + 4])
        chunk = image[position : position + 12 + length]
        if not chunk:
            raise ValueError("no pixels")
        if kind == b"iTXt" and chunk[8:].startswith(_PNG_XMP[:17]):
            old = chunk[8 + len(_PNG_XMP) : -4]
        else:
            kept.append(chunk)
        position += 12 + length
    data = b"iTXt" + _PNG_XMP + _wrapped(packet(name, by, _unwrapped(old)))
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    return b"".join(kept) + chunk + image[position:]


def _wrapped(content: bytes) -> bytes:
    begin = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'.encode()
    return begin + content + b'<?xpacket end="w"?>'


def _unwrapped(content: bytes) -> bytes:
    return re.sub(rb"<\?xpacket[^>]*\?>", b"", content).strip(b"\0 \n\r\t")
