"""What in a PDF acts when it is opened or clicked, one dictionary at a time.

Scripts, started programs, sent or imported form data and links that would run something or log
on to another machine are dangerous: a person decides. A link to a web page or another file is
not; nothing here follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypdf.generic import DictionaryObject, StreamObject

from documents.ingestion.parsers.pdf.graph import (
    as_text,
    entry,
    resolved,
    stream_bytes,
    text_entry,
)
from documents.records import ActiveContent

_MAX_DETAIL = 200  # characters
_ACTIONS = {
    "/JavaScript": ("javascript", True),
    "/Launch": ("launch", True),
    "/SubmitForm": ("form_submit", True),
    "/ImportData": ("form_import", True),
    "/URI": ("external_link", False),
    "/GoToR": ("external_link", False),
    "/GoToE": ("external_link", False),
    "/Rendition": ("rich_media", False),
    "/Movie": ("rich_media", False),
    "/Sound": ("rich_media", False),
    "/RichMediaExecute": ("rich_media", False),
}
_MEDIA_ANNOTATIONS = frozenset({"/RichMedia", "/3D", "/Screen", "/Movie", "/Sound"})
_RUNS = re.compile(r"\s*(?:javascript|vbscript|data|file|smb|mhtml|ms-\w+):", re.IGNORECASE)
_OTHER_MACHINE = re.compile(r"\s*(?:\\\\|//|/{3,})[\w.]")  # \\server\share asks for a log-in
_XFA_SCRIPT = re.compile(rb"<(?:\w+:)?(?:script|submit|execute)\b")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_MAX_XFA = 16 * 1024 * 1024  # bytes


def active_content(node: DictionaryObject, page: int | None) -> Iterator[ActiveContent]:
    """What this dictionary does: itself, not what it points at."""
    action = entry(node, "/S")
    kind, is_dangerous = _ACTIONS.get(str(action), ("", False))
    if "/JS" in node:
        kind, is_dangerous = "javascript", True
    if kind:
        target = _target(node)
        runs = is_dangerous or bool(_RUNS.match(target) or _OTHER_MACHINE.match(target))
        yield ActiveContent(kind, shown(target), runs, page)
    elif str(entry(node, "/Subtype")) in _MEDIA_ANNOTATIONS:
        yield ActiveContent("rich_media", str(entry(node, "/Subtype")).lstrip("/"), False, page)
    if "/XFA" in node:
        yield _xfa(entry(node, "/XFA"))


def shown(text: str, *, limit: int = _MAX_DETAIL) -> str:
    """Text from the file, made fit for a list: one line, no controls, bounded."""
    return _CONTROLS.sub(" ", text[: 2 * limit]).strip()[:limit]


def _target(node: DictionaryObject) -> str:
    """The script, program, address or file that an action names."""
    for key in ("/JS", "/URI", "/F", "/Win", "/Unix", "/Mac", "/N"):
        value = entry(node, key)
        if isinstance(value, DictionaryObject) and not isinstance(value, StreamObject):
            text = text_entry(value, "/UF") or text_entry(value, "/F")
        else:
            text = as_text(value)
        if text:
            return text
    return ""


def _xfa(packets: object) -> ActiveContent:
    """An XFA form, dangerous where it holds scripts or sends data."""
    parts = packets if isinstance(packets, list) else [packets]
    left, has_script = _MAX_XFA, False
    for part in parts:
        value = resolved(part)
        data = stream_bytes(value) if isinstance(value, StreamObject) else b""
        has_script = has_script or bool(_XFA_SCRIPT.search(data))
        left -= len(data)
        if left < 0:
            has_script = True  # too large to look through: a person decides
            break
    return ActiveContent("xfa", "a form with scripts" if has_script else "a form", has_script)
