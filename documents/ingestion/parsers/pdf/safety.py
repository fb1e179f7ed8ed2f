"""What a PDF carries besides its pages' text: scripts, files, links, forms, comments, labels.

`inspect` reads the object graph with pypdf, once, inside a budget. It tells what acts
(`ActiveContent`), what a person sees in form fields, and what hides in notes. A file that is too
large or too broken to be looked through says so as dangerous content: a person then decides.
"""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pypdf import PasswordType, PdfReader, apply_configuration
from pypdf.generic import DictionaryObject

from documents.ingestion.parsers.pdf import rawscan
from documents.ingestion.parsers.pdf.actions import active_content, shown
from documents.ingestion.parsers.pdf.attachments import embedded_file
from documents.ingestion.parsers.pdf.forms import (
    FormText,
    form_text,
    hidden_text,
    is_comment,
    page_frame,
)
from documents.ingestion.parsers.pdf.graph import UNREADABLE, Budget, entry, resolved, walk
from documents.records import ActiveContent, HiddenText, Notice

_MAX_OBJECTS = 200_000  # about 1 kB each as Python objects
_MAX_STREAM = 32 * 1024 * 1024  # bytes of one decoded stream
_MAX_FOUND = 200  # of one kind; a handbook with more links than this is known by these
_MAX_TEXTS = 20_000  # form fields or notes
_MAX_METADATA = 2_000  # characters of one entry
_START = re.compile(rb"startxref\s+(\d{1,12})")
_AT_START = re.compile(rb"\s*(?:xref\b|\d+\s+\d+\s+obj\b)")
# Encryption that leaves strings and streams as they are, and locks attached files.
_TEXT_IS_OPEN = (re.compile(rb"/StmF\s*/Identity\b"), re.compile(rb"/StrF\s*/Identity\b"))
_log = logging.getLogger("pypdf")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What `inspect` found. Boxes of `form_texts` are in shown coordinates.

    `is_damaged`: the table of objects is not where it must be, or broken, as in many files that
    open all the same. `is_truncated`: the file ends before its end mark, so text may be lost.
    `page_labels` is empty where the file has none of its own.
    """

    is_encrypted_with_password: bool = False
    is_damaged: bool = False
    is_truncated: bool = False
    active_content: tuple[ActiveContent, ...] = ()
    attachments: tuple[str, ...] = ()
    form_texts: tuple[FormText, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    has_xfa: bool = False
    has_comments: bool = False
    page_labels: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()


def inspect(data: bytes) -> Inspection:
    """Look through a PDF's objects; never raises for what is in the file."""
    with (
        _quiet(),
        apply_configuration(
            zlib_maximum_output_length=_MAX_STREAM,
            lzw_maximum_output_length=_MAX_STREAM,
            run_length_maximum_output_length=_MAX_STREAM,
            array_based_stream_maximum_output_length=_MAX_STREAM,
            jbig2dec_binary=None,
        ),
    ):
        try:
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
                return _locked(data)
        except UNREADABLE:
            return _by_bytes(data, is_damaged=True)
        return _Inspector(reader, data).inspection()


def _locked(data: bytes) -> Inspection:
    """A file that wants a password: for its text, or for an attached file alone."""
    if not all(pattern.search(data) for pattern in _TEXT_IS_OPEN):
        return Inspection(is_encrypted_with_password=True)
    attached = ActiveContent("embedded_file", "a file under a password", is_dangerous=True)
    return _by_bytes(data, attached)


def _by_bytes(data: bytes, *found: ActiveContent, is_damaged: bool = False) -> Inspection:
    found = (*found, *rawscan.scan(data))
    return Inspection(
        is_damaged=is_damaged,
        is_truncated=_is_truncated(data),
        active_content=found,
        warnings=_warnings(found),
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without pypdf's log lines: they quote the file, and our logs carry no document text."""
    level = _log.level
    _log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        _log.setLevel(level)


class _Inspector:
    """One walk over one file, page by page and then what no page leads to."""

    def __init__(self, reader: PdfReader, data: bytes) -> None:
        self._reader = reader
        self._budget = Budget(_MAX_OBJECTS)
        self._is_damaged = _is_off(data)
        self._data = data
        self._found: dict[tuple[str, str], ActiveContent] = {}
        self._kinds: Counter[str] = Counter()
        self._attachments: list[str] = []
        self._texts: list[FormText] = []
        self._hidden: list[HiddenText] = []
        self._has_comments = False

    def inspection(self) -> Inspection:
        """What the whole file holds."""
        try:
            self._look_at_pages()
            self._look(self._reader.root_object, None)
        except UNREADABLE:
            self._is_damaged = True
        if self._is_damaged:
            self._add(*rawscan.scan(self._data))
        if self._budget.is_spent:
            self._add(ActiveContent("uninspected", "more objects than are looked at", True))
        found = tuple(self._found.values())
        return Inspection(
            is_damaged=self._is_damaged,
            is_truncated=_is_truncated(self._data),
            active_content=found,
            attachments=tuple(self._attachments),
            form_texts=tuple(self._texts),
            hidden=tuple(self._hidden),
            has_xfa=any(item.kind == "xfa" for item in found),
            has_comments=self._has_comments,
            page_labels=self._page_labels(),
            metadata=self._metadata(),
            warnings=_warnings(found, has_comments=self._has_comments),
        )

    def _look_at_pages(self) -> None:
        pages = list(self._reader.pages)
        # A link leads to other pages: without this they would count as parts of its own.
        self._budget.seen.update(
            page.indirect_reference.idnum for page in pages if page.indirect_reference
        )
        for number, page in enumerate(pages, 1):
            self._look(page, number)
            self._read_annotations(page, number)

    def _look(self, start: DictionaryObject, page: int | None) -> None:
        for node, number in walk([start], self._budget, page=page):
            self._add(*active_content(node, number))
            if "/EF" in node:
                self._attach(node, number)

    def _attach(self, spec: DictionaryObject, page: int | None) -> None:
        attached = embedded_file(spec, page)
        if attached:
            self._attachments.append(attached.detail)
            self._add(attached)

    def _add(self, *found: ActiveContent) -> None:
        for item in found:
            if self._kinds[item.kind] < _MAX_FOUND and (item.kind, item.detail) not in self._found:
                self._found[item.kind, item.detail] = item
                self._kinds[item.kind] += 1

    def _read_annotations(self, page: DictionaryObject, number: int) -> None:
        listed = entry(page, "/Annots")
        frame = page_frame(page)
        for item in listed if isinstance(listed, list) else []:
            annotation = resolved(item)
            if len(self._texts) + len(self._hidden) >= _MAX_TEXTS:
                return
            if not isinstance(annotation, DictionaryObject):
                continue
            text = form_text(annotation, number, frame)
            if text:
                self._texts.append(text)
            self._hidden += hidden_text(annotation, number)
            self._has_comments = self._has_comments or is_comment(annotation)

    def _page_labels(self) -> tuple[str, ...]:
        try:
            has_labels = "/PageLabels" in self._reader.root_object
            return tuple(self._reader.page_labels) if has_labels else ()
        except UNREADABLE:
            return ()

    def _metadata(self) -> dict[str, str]:
        """The entries of the information dictionary, by their names in lower case."""
        try:
            info: Mapping[str, object] = self._reader.metadata or {}
        except UNREADABLE:
            return {}
        pairs = ((key.lstrip("/").lower(), resolved(value)) for key, value in info.items())
        texts = {key: value for key, value in pairs if isinstance(value, str)}
        return {key: shown(text, limit=_MAX_METADATA) for key, text in texts.items() if text}


def _is_off(data: bytes) -> bool:
    """Whether the table of objects is not where the end of the file says that it is."""
    starts = _START.findall(data[-2048:])
    first_byte = max(data.find(b"%PDF-", 0, 1024), 0)
    places = {int(start) + offset for start in starts[-1:] for offset in (0, first_byte)}
    return not any(_AT_START.match(data, place) for place in places if place < len(data))


def _is_truncated(data: bytes) -> bool:
    """Whether objects stand after the last end mark. Junk after it is common and harmless."""
    return data.rfind(b"%%EOF") < data.rfind(b"endobj")


def _warnings(
    found: tuple[ActiveContent, ...], *, has_comments: bool = False
) -> tuple[Notice, ...]:
    """What the owner should know about what was found, one notice a kind of thing."""
    notices = []
    dangerous = [item for item in found if item.is_dangerous]
    if dangerous:
        kinds = ", ".join(sorted({item.kind.replace("_", " ") for item in dangerous}))
        message = f"The file holds active content ({kinds}). Print it to a new PDF and upload that."
        pages = tuple(sorted({item.page for item in dangerous if item.page}))
        notices.append(Notice("active_content", message, pages))
    files = [item.detail for item in found if item.kind in ("embedded_file", "macro")]
    if files:
        names = ", ".join(files[:10]) + (", …" if len(files) > 10 else "")
        message = f"Files inside the PDF are not read: {names}. Upload them on their own."
        notices.append(Notice("embedded_files", message))
    if any(item.kind == "xfa" for item in found):
        message = "The file is an XFA form, of which pages may show only part. Print it to a PDF."
        notices.append(Notice("xfa_form", message))
    if has_comments:
        notices.append(Notice("has_comments", "Comments on the pages are left out of the text."))
    return tuple(notices)
