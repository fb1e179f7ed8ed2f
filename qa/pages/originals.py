"""Page images as pages show them, with boxes over them: to whom, `documents.access` decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, urlencode

from documents import access
from documents.access import PageView, ReadableSection, Reader, Reading

MOST_PAGES = 20  # of one section, that are looked up for its page


@dataclass(frozen=True, slots=True)
class ShownBox:
    """A box to be drawn over the image, in the page's points, as SVG writes numbers."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of the file for the templates."""

    number: int
    label: str
    title: str  # of the policy
    width: str
    height: str
    boxes: tuple[ShownBox, ...]
    image_url: str
    url: str
    before_url: str = ""
    after_url: str = ""


def pages_of(
    reader: Reader, section: ReadableSection, as_of: date, span: tuple[int, int] | None
) -> tuple[ShownPage, ...]:
    """The pages of a readable section that may be seen too, with the cited words' boxes."""
    if not section.pages:
        return ()
    slug, number = section.policy_slug, section.version_number
    wanted = section.pages[:MOST_PAGES]
    found = access.readable_pages(reader, slug, number, wanted, as_of=as_of, span=span)
    return tuple(_shown(found[k], slug, number, as_of, span) for k in wanted if k in found)


def page_of(
    reader: Reader,
    slug: str,
    version_number: int,
    number: int,
    *,
    as_of: date | None,
    span: tuple[int, int] | None,
) -> ShownPage | None:
    """One page with the addresses of those beside it, or None."""
    wanted = (number - 1, number, number + 1)
    found = access.readable_pages(reader, slug, version_number, wanted, as_of=as_of, span=span)
    if number not in found:
        return None
    before, after = (
        _address(slug, version_number, found[k].number, _day(as_of, found[k]), None)
        if k in found
        else ""
        for k in (number - 1, number + 1)
    )
    view = found[number]
    return _shown(view, slug, version_number, _day(as_of, view), span, before, after)


def _day(as_of: date | None, view: PageView) -> date:
    return as_of or view.effective_from


def _shown(
    view: PageView,
    slug: str,
    version_number: int,
    as_of: date,
    span: tuple[int, int] | None,
    before_url: str = "",
    after_url: str = "",
) -> ShownPage:
    base = _base(slug, version_number)
    return ShownPage(
        number=view.number,
        label=view.label or str(view.number),
        title=view.policy_title,
        width=_number(view.width),
        height=_number(view.height),
        boxes=tuple(
            ShownBox(_number(left), _number(top), _number(right - left), _number(bottom - top))
            for left, top, right, bottom in view.boxes
        ),
        image_url=f"{base}/pages/{view.number}.png?as_of={as_of.isoformat()}",
        url=_address(slug, version_number, view.number, as_of, span),
        before_url=before_url,
        after_url=after_url,
    )


def _base(slug: str, version_number: int) -> str:
    return f"/policies/{quote(slug)}/versions/{version_number}"


def _address(
    slug: str, version_number: int, number: int, as_of: date, span: tuple[int, int] | None
) -> str:
    query: dict[str, object] = {"as_of": as_of.isoformat()}
    if span:
        query |= {"start": span[0], "end": span[1]}
    return f"{_base(slug, version_number)}/pages/{number}/?{urlencode(query)}"


def _number(points: float) -> str:
    return f"{points:.2f}"  # as SVG wants it, whatever the reader's language


def file_url(reading: Reading, section: ReadableSection) -> str:
    """The address of the file, or nothing where this reader may not have it; after a reading."""
    slug, number = section.policy_slug, section.version_number
    found = access.readable_file(reading.reader, slug, number, as_of=reading.as_of)
    return f"{_base(slug, number)}/file?as_of={reading.as_of.isoformat()}" if found else ""
