"""What a Word file says about itself: title, author, dates, language."""

from __future__ import annotations

from collections.abc import Mapping

from documents.errors import ParseError
from documents.ingestion.parsers.docx.markup import local
from documents.ingestion.parsers.docx.package import Package

_NAMES = {
    "title": "title",
    "subject": "subject",
    "creator": "author",
    "keywords": "keywords",
    "category": "category",
    "created": "created",
    "modified": "modified",
    "lastModifiedBy": "last_modified_by",
    "language": "language",
    "version": "version",
    "contentStatus": "status",
}
_MAX_CHARACTERS = 1000


def read_properties(package: Package) -> Mapping[str, str]:
    """The core properties that say something; a damaged part says nothing."""
    found: dict[str, str] = {}
    for name in package.related("", "core-properties"):
        try:
            root = package.xml(name)
        except ParseError:
            continue  # the text can be read without it
        for element in root:
            key = _NAMES.get(local(element))
            text = " ".join((element.text or "").split())
            if key and text:
                found.setdefault(key, text[:_MAX_CHARACTERS])
    return found
