"""What annotations say: form values and typed notes that a person sees, comments that wait.

Page text leaves these out, since they lie over the page. Field values and free text are part of
what is read; the text of pop-up notes, marks and hidden fields is kept apart as hidden.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypdf.generic import ArrayObject, DictionaryObject

from documents.ingestion.parsers.pdf.graph import as_text, entry, resolved, text_entry
from documents.records import Box, HiddenText

_INVISIBLE = 0b100010  # annotation flags hidden (bit 2) and no view (bit 6)
_PASSWORD = 1 << 13  # field flag of a text field
_MAX_PARENTS = 32
_MAX_TEXT = 20_000  # characters of one annotation
_NO_NOTES = frozenset({"/Popup", "/Link", "/Widget", "/FileAttachment"})


@dataclass(frozen=True, slots=True)
class FormText:
    """Text that stands in a form field or typed note: what it says, where, and of which field."""

    page: int
    text: str
    box: Box
    label: str = ""


@dataclass(frozen=True, slots=True)
class PageFrame:
    """How a page's own coordinates become shown ones: its crop box and rotation."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    def shown(self, rectangle: tuple[float, float, float, float]) -> Box:
        """A rectangle of the page in points from the upper left corner as shown."""
        x0, y0, x1, y1 = rectangle
        left, right = min(x0, x1) - self.left, max(x0, x1) - self.left
        low, high = min(y0, y1) - self.bottom, max(y0, y1) - self.bottom
        width, height = self.right - self.left, self.top - self.bottom
        boxes = {
            90: (low, left, high, right),
            180: (width - right, low, width - left, high),
            270: (height - high, width - right, height - low, width - left),
        }
        return boxes.get(self.rotation, (left, height - high, right, height - low))


def form_text(annotation: DictionaryObject, page: int, frame: PageFrame) -> FormText | None:
    """The text that a person sees in this annotation, if it is one that shows text."""
    if _is_invisible(annotation):
        return None
    subtype = str(entry(annotation, "/Subtype"))
    text = ""
    if subtype == "/Widget":
        text = _field_value(annotation)
    elif subtype == "/FreeText":
        text = text_entry(annotation, "/Contents")
    if not text.strip():
        return None
    label = as_text(_inherited(annotation, "/TU")) or as_text(_inherited(annotation, "/T"))
    return FormText(page, text[:_MAX_TEXT], frame.shown(_rectangle(annotation)), label)


def hidden_text(annotation: DictionaryObject, page: int) -> Iterator[HiddenText]:
    """The text of this annotation that a person reading the page does not see."""
    subtype = str(entry(annotation, "/Subtype"))
    note = text_entry(annotation, "/Contents")[:_MAX_TEXT]
    if subtype == "/Widget" and _is_invisible(annotation):
        note, where = _field_value(annotation)[:_MAX_TEXT], "form_field"
    elif subtype == "/FreeText" and not _is_invisible(annotation):
        return
    else:
        where = "annotation"
    if note.strip():
        yield HiddenText(note, where, page)


def is_comment(annotation: DictionaryObject) -> bool:
    """Whether a person wrote a note here that the page does not show."""
    subtype = str(entry(annotation, "/Subtype"))
    has_note = bool(text_entry(annotation, "/Contents").strip())
    return has_note and subtype not in _NO_NOTES and subtype != "/FreeText"


def _is_invisible(annotation: DictionaryObject) -> bool:
    flags = entry(annotation, "/F")
    return isinstance(flags, int) and bool(flags & _INVISIBLE)


def _field_value(annotation: DictionaryObject) -> str:
    kind, flags = _inherited(annotation, "/FT"), _inherited(annotation, "/Ff")
    value = _inherited(annotation, "/V")
    if str(kind) == "/Tx":
        is_password = isinstance(flags, int) and bool(flags & _PASSWORD)
        return "" if is_password else as_text(value)
    if str(kind) == "/Ch":
        chosen = value if isinstance(value, list) else [value]
        shown = _options(annotation)
        texts = [as_text(resolved(item)) for item in chosen]
        return "; ".join(shown.get(text, text) for text in texts if text)
    return ""


def _options(annotation: DictionaryObject) -> dict[str, str]:
    """What a choice field shows for each of its values."""
    options: dict[str, str] = {}
    found = _inherited(annotation, "/Opt")
    for option in (resolved(item) for item in (found if isinstance(found, list) else [])):
        if isinstance(option, ArrayObject) and len(option) > 1:
            value, text = (as_text(resolved(item)) for item in list(option)[:2])
            options[value] = text
    return options


def _inherited(node: DictionaryObject, key: str) -> object:
    """The entry of the field or of the nearest parent that has it."""
    current: object = node
    for _ in range(_MAX_PARENTS):
        if not isinstance(current, DictionaryObject):
            return None
        if key in current:
            return entry(current, key)
        current = entry(current, "/Parent")
    return None


def page_frame(page: DictionaryObject) -> PageFrame:
    """The frame of a page; a page without a usable box is a letter page, as pdfium has it."""
    media = _numbers(_inherited(page, "/MediaBox")) or (0.0, 0.0, 612.0, 792.0)
    crop = _numbers(_inherited(page, "/CropBox")) or media
    left, bottom = max(media[0], crop[0]), max(media[1], crop[1])
    right, top = min(media[2], crop[2]), min(media[3], crop[3])
    if right <= left or top <= bottom:
        left, bottom, right, top = media
    turn = _inherited(page, "/Rotate")
    rotation = int(turn) % 360 if isinstance(turn, int | float) else 0
    return PageFrame(left, bottom, right, top, rotation)


def _rectangle(annotation: DictionaryObject) -> tuple[float, float, float, float]:
    return _numbers(entry(annotation, "/Rect")) or (0.0, 0.0, 0.0, 0.0)


def _numbers(value: object) -> tuple[float, float, float, float] | None:
    """Four numbers as a rectangle with its lower left corner first."""
    items = [resolved(item) for item in value] if isinstance(value, list) else []
    numbers = [float(item) for item in items if isinstance(item, int | float)]
    if len(items) != 4 or len(numbers) != 4 or not all(abs(n) < 1e7 for n in numbers):
        return None
    x0, y0, x1, y1 = numbers
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
