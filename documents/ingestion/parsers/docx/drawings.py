"""Shapes: the text boxes in them, where they stand, and what lies behind their text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from documents.ingestion.parsers.docx.markup import WP, WPS, A, Element, V, W

_POINTS = {"in": 72.0, "px": 0.75, "": 0.75, "cm": 28.35, "mm": 2.835}
_FAR_POINTS = 72 * 30
_FAR_EMU = 914_400 * 30  # no sheet of paper is 30 inches long
_FAR_OFFSET = re.compile(
    r"(?:left|top|margin-left|margin-top)\s*:\s*-?(\d{1,9})(?:\.\d+)?(pt|in|px|cm|mm|)(?=;|\s|\Z)"
)


def text_boxes(drawing: Element) -> Iterator[Element]:
    """The text boxes of a drawing; one inside another is left to the outer one."""
    for box in drawing.iter(W + "txbxContent"):
        if not _is_inside_box(box, drawing):
            yield box


def _is_inside_box(box: Element, drawing: Element) -> bool:
    for ancestor in box.iterancestors():
        if ancestor is drawing:
            return False
        if ancestor.tag == W + "txbxContent":
            return True
    return False


def place_of(drawing: Element) -> str | None:
    """How a drawing hides its text, if it does."""
    for described in drawing.iter(WP + "docPr"):
        if described.get("hidden") in ("1", "true"):
            return "hidden"
    for offset in drawing.iter(WP + "posOffset"):
        text = (offset.text or "").strip()
        if re.fullmatch(r"-?\d{1,18}", text) and abs(int(text)) > _FAR_EMU:
            return "off_page"
    for shape in drawing.iter(V + "shape", V + "rect", V + "group", WPS + "wsp"):
        style = shape.get("style", "")
        if re.search(r"visibility\s*:\s*hidden|display\s*:\s*none", style):
            return "hidden"
        in_group = any(ancestor.tag == V + "group" for ancestor in shape.iterancestors())
        if not in_group and any(_is_far(match) for match in _FAR_OFFSET.finditer(style)):
            return "off_page"
    return None


def _is_far(match: re.Match[str]) -> bool:
    points = _POINTS.get(match[2], 1.0) * float(match[1])
    return points > _FAR_POINTS


def is_filled(box: Element) -> bool:
    """Whether the shape around a text box has a fill of its own."""
    for ancestor in box.iterancestors():
        if ancestor.tag == WPS + "wsp":
            properties = ancestor.find(WPS + "spPr")
            has_fill = properties is not None and any(
                properties.find(A + name) is not None
                for name in ("solidFill", "gradFill", "blipFill", "pattFill")
            )
            has_style = ancestor.find(f"{WPS}style/{A}fillRef") is not None
            is_clear = properties is not None and properties.find(A + "noFill") is not None
            return has_fill or (has_style and not is_clear)
        color = ancestor.get("fillcolor")
        if color and color.lower() not in ("white", "#ffffff", "#fff"):
            return ancestor.get("filled") not in ("f", "false")
    return False
