"""What in a Word file acts or carries something: macros, templates, embedded objects, links.

Nothing here is opened or fetched; it is named, so that a person can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from documents.ingestion.parsers.docx.fields import acting_fields
from documents.ingestion.parsers.docx.markup import OFFICE, Element, R
from documents.ingestion.parsers.docx.package import Package, Relationship
from documents.records import ActiveContent

_MAX_DETAIL = 200
_MAX_LISTED = 200
_MAX_OBJECT_BYTES = 32 * 1024 * 1024
_PROGRAM_NAME = re.compile(
    rb".*\.(?:exe|scr|com|bat|cmd|ps1|psm1|vbs|vbe|jse?|wsf|wsh|hta|lnk|msi|cpl|dll|jar|reg|sct|"
    rb"pif|inf|url|iso|img|chm|appx|msix|py|sh)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
# The head of an embedded file of any kind: its shown name and its path (MS-OLEDS 2.3.6).
_PACKED_FILE = re.compile(rb"\x02\x00([^\x00-\x1f]{1,260})\x00([^\x00-\x1f]{1,260})\x00")
_PACKED_STREAM = "\x01Ole10Native".encode("utf-16-le")
_DOS_STUB = b"This program cannot be run in DOS mode"
_SAFE_SCHEMES = ("http://", "https://", "mailto:", "tel:", "#", "ftp://")
_EXTERNAL = {
    "attachedTemplate": ("remote_template", True),
    "oleObject": ("ole_object", True),
    "package": ("ole_object", True),
    "frame": ("external_link", True),
    "subDocument": ("external_link", False),
    "aFChunk": ("external_link", True),
    "control": ("ole_object", True),
    "image": ("external_link", False),
    "video": ("external_link", False),
    "audio": ("external_link", False),
    "mailMergeSource": ("external_link", False),
    "mailMergeHeaderSource": ("external_link", False),
}


def find_active_content(
    package: Package, instructions: Iterable[str], root: Element
) -> tuple[ActiveContent, ...]:
    """Everything found, without repetition, in the order: macros, links, objects, fields."""
    found: dict[tuple[str, str], ActiveContent] = {}
    for item in _all(package, instructions, root):
        found.setdefault((item.kind, item.detail), item)
        if len(found) >= _MAX_LISTED:
            break
    return tuple(found.values())


def _all(package: Package, instructions: Iterable[str], root: Element) -> Iterator[ActiveContent]:
    yield from _macros(package)
    by_id = {part.get(R + "id", ""): part for part in root.iter(OFFICE + "OLEObject")}
    for source in _sources(package):
        for link in package.relationships(source).values():
            if link.is_external:
                yield from _external(link)
            else:
                part = by_id.get(link.id) if source == package.main else None
                yield from _internal(package, link, "" if part is None else part.get("ProgID", ""))
    for kind, detail, is_dangerous in acting_fields(instructions):
        yield ActiveContent(kind, _short(detail), is_dangerous)


def _sources(package: Package) -> list[str]:
    """Parts that have relationships, the package itself first."""
    sources = [""]
    for name in package.names:
        path = name.replace("\\", "/")
        match = re.fullmatch(r"(?:(.*)/)?_rels/(.+)\.rels", path, re.IGNORECASE)
        if match:
            sources.append(f"{match[1]}/{match[2]}" if match[1] else match[2])
    return sources


def _macros(package: Package) -> Iterator[ActiveContent]:
    for name in package.names:
        if name.lower().rpartition("/")[2] in ("vbaproject.bin", "vbadata.xml"):
            yield ActiveContent("macro", _short(name), is_dangerous=True)
            return
    for kind in package.content_types.values():
        if "vbaproject" in kind.lower():
            yield ActiveContent("macro", _short(kind), is_dangerous=True)
            return


def _external(link: Relationship) -> Iterator[ActiveContent]:
    if link.kind in _EXTERNAL:
        kind, is_dangerous = _EXTERNAL[link.kind]
        is_local = link.kind == "attachedTemplate" and not _is_remote(link.target)
        yield ActiveContent(kind, _short(link.target), is_dangerous and not is_local)
    elif link.kind == "hyperlink" and not link.target.lower().startswith(_SAFE_SCHEMES):
        scheme = link.target.partition(":")[0].lower()
        if ":" in link.target and scheme not in ("file", "c", "d") and len(scheme) > 1:
            yield ActiveContent("external_link", _short(link.target), is_dangerous=False)


def _is_remote(target: str) -> bool:
    """Whether a template comes from another machine; Word notes the author's own path too."""
    text = target.lower().replace("\\", "/")
    return text.startswith(("http:", "https:", "ftp:", "//", "file://///")) or (
        text.startswith("file://") and not text.startswith("file:///")
    )


def _internal(package: Package, link: Relationship, program: str) -> Iterator[ActiveContent]:
    if link.kind in ("oleObject", "package", "control", "activeXControlBinary"):
        is_dangerous = package.has(link.target) and _holds_program(package, link.target)
        is_file = link.kind == "package" or link.target.lower().endswith(
            (".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".pdf")
        )
        kind = "embedded_file" if is_file and not is_dangerous else "ole_object"
        detail = f"{link.target} ({program})" if program else link.target
        yield ActiveContent(kind, _short(detail), is_dangerous)
    elif link.kind == "aFChunk":
        yield ActiveContent("embedded_file", _short(link.target), is_dangerous=False)


def _holds_program(package: Package, name: str) -> bool:
    if package.size(name) > _MAX_OBJECT_BYTES:
        return True  # too large to look at: a person decides
    data = package.read(name, limit=_MAX_OBJECT_BYTES)
    if _DOS_STUB in data:
        return True
    if _PACKED_STREAM not in data:
        return False
    names = (name for match in _PACKED_FILE.finditer(data) for name in match.groups())
    return any(_PROGRAM_NAME.match(name) for name in names)


def _short(text: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in text)
    return shown[:_MAX_DETAIL]
