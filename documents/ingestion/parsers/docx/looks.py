"""Whether a run can be read by a person who looks at the page."""

from __future__ import annotations

from documents.ingestion.parsers.docx.styles import Look

TINY_HALF_POINTS = 4
_NARROW_PERCENT = 10
# Grey F2F2F2 on white has a contrast of 1.12; text that one can make out begins well above.
_INVISIBLE_CONTRAST = 1.15
MARKED = "marked"  # a fill whose colour is not known


def hiding(look: Look, background: str | None) -> str | None:
    """How text with this look hides: "hidden", "tiny", "white"; None where it can be seen.

    Args:
        look: of the run.
        background: the fill of the paragraph, cell or box, RRGGBB; None is white paper.
    """
    if look.hidden:
        return "hidden"
    is_small = look.half_points is not None and look.half_points <= TINY_HALF_POINTS
    if is_small or (look.scale is not None and look.scale <= _NARROW_PERCENT):
        return "tiny"
    if look.is_clear:
        return "white"
    fill = look.fill or background or "FFFFFF"
    if look.color is None or fill == MARKED:
        return None
    return "white" if contrast(look.color, fill) < _INVISIBLE_CONTRAST else None


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    channels = (int(color[index : index + 2], 16) / 255 for index in (0, 2, 4))
    red, green, blue = (
        channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
