"""The zip archive around a Word document: opened with limits, read part by part.

Names, sizes and ratios are checked from the archive's directory before anything is unpacked,
nothing is ever written to disk, and a target outside the archive is never fetched.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from documents.errors import ParseError
from documents.ingestion.parsers.docx.markup import (
    Element,
    common_type,
    has_document_type,
    parse_part,
)

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024  # of all members together, as the directory says
MAX_XML_BYTES = 40 * 1024 * 1024  # of one part; lxml needs about eight times as much
MAX_ALL_XML_BYTES = 120 * 1024 * 1024
# Text of the same few rows shrinks to a hundredth; only what was made to swell goes beyond.
_MAX_RATIO = 250
_SMALL_BYTES = 16 * 1024 * 1024
_ODD_NAME = re.compile(r"\A/|\A[A-Za-z]:|(?:\A|/)\.\.(?:/|\Z)|\0")
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/"
_RELATIONSHIP = f"{_PACKAGE}relationships}}Relationship"
_DEFAULT_MAIN = "word/document.xml"
_DAMAGED = "The Word file is damaged and cannot be unpacked. Save it again, then upload it."


@dataclass(frozen=True, slots=True)
class Relationship:
    """A link from one part to another (`target` is then its name), or to the outside."""

    id: str
    kind: str  # the last word of its type: "footnotes", "image", "hyperlink"
    target: str
    is_external: bool


class Package:
    """The parts of one file, by name."""

    def __init__(self, data: bytes) -> None:
        self._archive = _open(data)
        self._members = _checked_members(self._archive)
        self._relationships: dict[str, Mapping[str, Relationship]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parts, as they stand in the archive."""
        return tuple(info.filename for info in self._members.values())

    @cached_property
    def main(self) -> str:
        """The name of the document's main part, found by its relationship."""
        for link in self.relationships("").values():
            if link.kind == "officeDocument" and not link.is_external and self.has(link.target):
                return link.target
        if self.has(_DEFAULT_MAIN):
            return _DEFAULT_MAIN
        message = "The file is no Word document: it has no main part."
        raise ParseError(message, code="unsupported")

    @cached_property
    def content_types(self) -> Mapping[str, str]:
        """Content type of each part that has one of its own, and of each extension (`.xml`)."""
        if not self.has("[Content_Types].xml"):
            return {}
        types = {}
        for entry in self.xml("[Content_Types].xml"):
            kind = entry.get("ContentType", "")
            name = (entry.get("PartName") or "").lstrip("/") or f".{entry.get('Extension', '')}"
            types[name.lower()] = kind
        return types

    def has(self, name: str) -> bool:
        """Whether there is a part of that name, letter case apart."""
        return name.lower() in self._members

    def size(self, name: str) -> int:
        """Unpacked size of a part in bytes, as the directory says."""
        return self._members[name.lower()].file_size

    def read(self, name: str, *, limit: int = MAX_XML_BYTES) -> bytes:
        """The bytes of a part.

        Raises:
            ParseError: it is too large, or damaged.
        """
        info = self._members[name.lower()]
        if info.file_size > limit:
            message = f"The Word file's part {_shown(name)} is too large. Divide the document."
            raise ParseError(message, code="refused")
        try:
            with self._archive.open(info) as stream:
                data = stream.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
            raise ParseError(_DAMAGED, code="refused") from error
        except (NotImplementedError, RuntimeError) as error:
            raise ParseError(_DAMAGED, code="refused") from error
        if len(data) > limit:
            raise ParseError(_DAMAGED, code="refused")
        return data

    def xml(self, name: str) -> Element:
        """The root of an XML part; see `parse_part`."""
        return parse_part(self.read(name), _shown(name))

    def relationships(self, source: str) -> Mapping[str, Relationship]:
        """The links of a part (`""`: of the package) by id."""
        if source not in self._relationships:
            self._relationships[source] = self._read_relationships(source)
        return self._relationships[source]

    def related(self, source: str, kind: str) -> list[str]:
        """Names of the parts that a part links to by that kind, as far as they exist."""
        links = self.relationships(source).values()
        return [
            link.target
            for link in links
            if link.kind == kind and not link.is_external and self.has(link.target)
        ]

    def refuse_document_types(self) -> None:
        """Refuse a declaration in any XML part, also in those that are not read further."""
        for info in self._members.values():
            is_xml = info.filename.lower().endswith((".xml", ".rels", ".vml"))
            if is_xml and has_document_type(self._head(info)):
                message = (
                    f"The Word file declares a document type in {_shown(info.filename)}, "
                    "which is not safe to read."
                )
                raise ParseError(message, code="refused")

    def _head(self, info: zipfile.ZipInfo) -> bytes:
        try:
            with self._archive.open(info) as stream:
                return stream.read(8192)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
            raise ParseError(_DAMAGED, code="refused") from error
        except (NotImplementedError, RuntimeError) as error:
            raise ParseError(_DAMAGED, code="refused") from error

    def _read_relationships(self, source: str) -> Mapping[str, Relationship]:
        folder, name = posixpath.split(source)
        path = posixpath.join(folder, "_rels", f"{name}.rels")
        if not self.has(path):
            return {}
        links = {}
        for entry in self.xml(path).iter(_RELATIONSHIP):
            is_external = entry.get("TargetMode") == "External"
            target = entry.get("Target", "")
            if not is_external:
                target = _resolve(folder, target)
            key = entry.get("Id", "")
            links[key] = Relationship(key, common_type(entry.get("Type", "")), target, is_external)
        return links


def _open(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ParseError(_DAMAGED, code="refused") from error


def _checked_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise _refused("holds too many parts")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.filename.replace("\\", "/")
        if _ODD_NAME.search(name):
            raise _refused("names a part outside itself")
        if name.endswith("/"):
            continue
        if name.lower() in members:
            raise _refused("holds two parts of the same name")
        _check_member(info, name)
        members[name.lower()] = info
    if sum(info.file_size for info in members.values()) > MAX_UNPACKED_BYTES:
        raise _refused("unpacks to more than is allowed")
    return members


def _check_member(info: zipfile.ZipInfo, name: str) -> None:
    if info.flag_bits & 0x1:
        message = "The Word file is protected by a password. Remove it and upload the file again."
        raise ParseError(message, code="encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _refused("is packed in a way that Word does not use")
    swells = info.file_size > _MAX_RATIO * max(info.compress_size, 1)
    is_xml = name.lower().endswith((".xml", ".rels"))
    if (swells and info.file_size > _SMALL_BYTES) or (is_xml and info.file_size > MAX_XML_BYTES):
        raise _refused("unpacks to more than is allowed")


def _refused(reason: str) -> ParseError:
    return ParseError(
        f"The Word file {reason}. Save it again as .docx, then upload it.", code="refused"
    )


def _resolve(folder: str, target: str) -> str:
    path = unquote(target.partition("#")[0].replace("\\", "/"))
    joined = path if path.startswith("/") else posixpath.join("/", folder, path)
    return posixpath.normpath(joined).lstrip("/")


def _shown(name: str) -> str:
    """A part's name as it may stand in a message."""
    return "".join(char for char in name if char.isprintable())[:80]
