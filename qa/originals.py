"""Stored files and images of their pages as responses that no browser interprets.

To whom they are given, `documents.access` decides before.
"""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Iterator
from pathlib import Path, PurePath
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse

from documents.access import Original, PageView
from documents.ingestion import page_images, store
from documents.ingestion.confined.render import render_confined
from documents.records import MediaType

_PIECE = 256 * 1024
_OTHER = "application/octet-stream"  # nothing that a browser would show, whatever it holds
_SERVED_AS = {MediaType.PDF.value: MediaType.PDF.value, MediaType.DOCX.value: MediaType.DOCX.value}
_SUFFIXES = {
    MediaType.PDF.value: (".pdf",),
    MediaType.DOCX.value: (".docx",),
    MediaType.HTML.value: (".html", ".htm"),
    MediaType.MARKDOWN.value: (".md", ".markdown"),
    MediaType.PLAIN.value: (".txt",),
    MediaType.LAW_JSON.value: (".json",),
}
HEADERS = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def image_response(view: PageView) -> HttpResponse:
    """The image of a page.

    Raises:
        FileNotFoundError: the file is missing or was altered.
        ParseError: the page cannot be drawn.
    """
    image = page_images.page_image(
        view.sha256,
        view.number,
        page_images.scale_for(view.width, view.height),
        files=settings.FILES_DIR,
        cache=settings.PAGE_IMAGES_DIR,
        cache_bytes=settings.PAGE_IMAGES_MB * 1024 * 1024,
        draw=render_confined,
    )
    return HttpResponse(image, content_type="image/png", headers=HEADERS)


class FileResponse(StreamingHttpResponse):
    """A stored file as an attachment that no browser interprets, sent piece by piece.

    Raises:
        FileNotFoundError: the file is missing or was altered.
    """

    def __init__(self, original: Original) -> None:
        path = store.sound_path(settings.FILES_DIR, original.sha256)
        super().__init__(
            _pieces(path),
            content_type=_SERVED_AS.get(original.media_type, _OTHER),
            headers={
                **HEADERS,
                "Accept-Ranges": "none",
                "Content-Disposition": disposition(original),
                "Content-Length": str(original.size_bytes),
            },
        )
        self._path = path

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, read beside the event loop."""
        pieces = _pieces(self._path)
        while piece := await sync_to_async(lambda: next(pieces, b""))():
            yield piece


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def disposition(original: Original) -> str:
    """The header that names an attachment: in ASCII for old clients, and as it is (RFC 6266)."""
    suffixes = _SUFFIXES.get(original.media_type, (".bin",))
    name = original.file_name
    if PurePath(name.lower()).suffix not in suffixes:
        name += suffixes[0]  # what it was found to be, whatever it was called
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in plain).lstrip("._")
    has_stem = bool(PurePath(safe).suffix)
    ascii_name = safe if has_stem else f"policy{suffixes[0]}"
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"
