"""Formats told by their bytes: what is read, what is refused by name, and what is two at once.

Nothing is unpacked and nothing decoded; of an archive only the list of names is read, within
limits. The leading signature decides. A signature of another format that programs act on, in a
place where they look for it, makes a file that each reader takes for something else: it is
named, and held for a person.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from documents.errors import ParseError
from documents.records import MediaType

UPLOAD_INSTEAD = "Upload a PDF, Word (.docx), HTML, Markdown or plain text file."
_HEAD_BYTES = 1024  # a PDF may begin after some other bytes (ISO 32000-1, annex H)
_MAX_MEMBERS = 20_000
_END_OF_ARCHIVE = b"PK\x05\x06"
_END_RECORD = struct.Struct("<4s4H2LH")
_MEMBER = struct.Struct("<4s6H3L5H2L")
_ENCRYPTED = "The file is protected by a password. Remove the password and upload it again."
_DAMAGED = "The file is a damaged Office document or archive. Save it again, then upload it."
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|script|body|svg|iframe)[\s>]", re.IGNORECASE)

# Signature at the start, and what such a file is.
_UNREAD = (
    (b"{\\rtf", "an RTF document: save it as .docx"),
    (b"%!PS", "a PostScript file: save it as PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF87a", "an image"),
    (b"GIF89a", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
    (b"8BPS", "an image"),
    (b"AT&TFORM", "a DjVu document: save it as PDF"),
    (b"\x1f\x8b", "a compressed file: unpack it"),
    (b"BZh", "a compressed file: unpack it"),
    (b"\xfd7zXZ\x00", "a compressed file: unpack it"),
    (b"\x28\xb5\x2f\xfd", "a compressed file: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "an archive: unpack it"),
    (b"Rar!\x1a\x07", "an archive: unpack it"),
    (b"MSCF\x00\x00\x00\x00", "an archive: unpack it"),
    (b"PK\x05\x06", "an empty archive"),
    (b"OggS\x00", "a sound or film"),
    (b"ID3\x03", "a sound or film"),
    (b"ID3\x04", "a sound or film"),
    (b"SQLite format 3\x00", "a database"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xfe\xed\xfa\xce", "a program"),
    (b"\xfe\xed\xfa\xcf", "a program"),
    (b"\xce\xfa\xed\xfe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x00asm\x01", "a program"),
    (b"L\x00\x00\x00\x01\x14\x02\x00", "a shortcut to a program"),
    (b"ITSF\x03\x00", "a help file"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Streams of the old Office container (MS-CFB), by which one tells what is in it.
_STREAMS = (
    ("WordDocument", "an old Word document: save it as .docx"),
    ("Workbook", "an old Excel workbook: save the text as .docx or PDF"),
    ("Book", "an old Excel workbook: save the text as .docx or PDF"),
    ("PowerPoint Document", "an old PowerPoint presentation: save it as PDF"),
    ("__properties_version1.0", "an Outlook message: save it as PDF or text"),
    ("VisioDocument", "a Visio drawing: save it as PDF"),
)
# How names in an archive begin, and what such an archive is.
_ARCHIVES = (
    ("xl/", "an Excel workbook: save the text as .docx or PDF"),
    ("ppt/", "a PowerPoint presentation: save it as PDF"),
    ("visio/", "a Visio drawing: save it as PDF"),
    ("Index/Document.iwa", "a Pages document: save it as .docx or PDF"),
    ("Index/", "an iWork document: save it as PDF"),
    ("AndroidManifest.xml", "a program"),
    ("META-INF/MANIFEST.MF", "a program"),
    ("FixedDocSeq.fdseq", "an XPS document: save it as PDF"),
)
_MIMETYPES = (
    (b"application/vnd.oasis.opendocument.text", "an OpenDocument text: save it as .docx"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file: save it as PDF"),
    (b"application/epub+zip", "an e-book: save it as PDF or .docx"),
)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A format told by its bytes; `also` names a second one that they would pass for."""

    media_type: MediaType
    also: str | None = None


def recognise(data: bytes) -> Recognised | None:
    """What the bytes say; None where no signature leads, so that it may be text.

    Raises:
        ParseError: `unsupported`, `encrypted` or `refused`, naming what the file is.
    """
    name = _unread(data)
    if name is not None:
        raise _unsupported(name)
    if data.startswith(_OLD_OFFICE):
        raise _old_office(data)
    if data.startswith(b"PK\x03\x04"):
        _require_word(data)
        return Recognised(MediaType.DOCX, "a PDF" if b"%PDF-" in data[:_HEAD_BYTES] else None)
    return _pdf(data)


def _pdf(data: bytes) -> Recognised | None:
    at = data.find(b"%PDF-", 0, _HEAD_BYTES)
    if at < 0:
        return None
    markup = _MARKUP.search(data, 0, _HEAD_BYTES)
    if markup is not None and markup.start() < at:
        return Recognised(MediaType.HTML, "a PDF")
    if markup is not None:
        return Recognised(MediaType.PDF, "a web page")
    if _ends_as_archive(data):
        return Recognised(MediaType.PDF, "a zip archive")
    return Recognised(MediaType.PDF)


def _unread(data: bytes) -> str | None:
    for signature, name in _UNREAD:
        if data.startswith(signature):
            return name
    if data.startswith(b"RIFF") and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "an image, a sound or a film"
    if data.startswith(b"BM") and data[6:10] == bytes(4):
        return "an image"
    if data[4:8] == b"ftyp" and data[:2] == bytes(2):
        return "an image, a sound or a film"
    if data[257:262] == b"ustar":
        return "an archive: unpack it"
    return "a program" if _is_dos_program(data) else None


def _is_dos_program(data: bytes) -> bool:
    """A header in the layout of DOS that points to the one of Windows; text may begin `MZ`."""
    if not data.startswith(b"MZ") or len(data) < 64:
        return False
    at = int.from_bytes(data[60:64], "little")
    return data[at : at + 4] == b"PE\x00\x00"


def _unsupported(name: str) -> ParseError:
    what, colon, remedy = name.partition(": ")
    if not colon:
        return ParseError(f"The file is {what}. {UPLOAD_INSTEAD}", code="unsupported")
    advice = remedy[0].upper() + remedy[1:]
    return ParseError(f"The file is {what}. {advice}, then upload that.", code="unsupported")


def _old_office(data: bytes) -> ParseError:
    if _has_stream(data, "EncryptedPackage"):
        return ParseError(_ENCRYPTED, code="encrypted")
    for stream, name in _STREAMS:
        if _has_stream(data, stream):
            if stream == "WordDocument" and _is_locked_word(data):
                return ParseError(_ENCRYPTED, code="encrypted")
            return _unsupported(name)
    return _unsupported("an old Office document: save it as .docx or PDF")


def _has_stream(data: bytes, name: str) -> bool:
    """Whether a directory entry has this name; entries are 128 bytes, and aligned so."""
    wanted = name.encode("utf-16-le") + bytes(2)
    at = data.find(wanted)
    while at >= 0:
        if at % 128 == 0:
            return True
        at = data.find(wanted, at + 1)
    return False


def _is_locked_word(data: bytes) -> bool:
    """The flag fEncrypted of the header of a Word 97 document (MS-DOC 2.5.2)."""
    sectors = range(512, len(data) - 12, 512)
    start = next((at for at in sectors if data[at : at + 2] == b"\xec\xa5"), None)
    return start is not None and bool(data[start + 11] & 0x01)


def _require_word(data: bytes) -> None:
    """Refuse an archive that is no Word document.

    Raises:
        ParseError: `unsupported` with what it is, or `refused` where it is damaged.
    """
    for mimetype, name in _MIMETYPES:
        if data[30 : 38 + len(mimetype)] == b"mimetype" + mimetype:
            raise _unsupported(name)
    names = member_names(data)
    if any(name.lower().startswith("word/") for name in names):
        return
    for start, name in _ARCHIVES:
        if any(member.startswith(start) for member in names):
            raise _unsupported(name)
    raise _unsupported("an archive: unpack it, and choose the documents in it")


def member_names(data: bytes) -> list[str]:
    """The names in an archive's directory; nothing is unpacked.

    Raises:
        ParseError: `refused`: the directory is damaged, or longer than any document's.
    """
    at, size = _directory(data)
    names: list[str] = []
    end = at + size
    while at < end:
        if len(names) >= _MAX_MEMBERS or at + _MEMBER.size > end:
            raise ParseError(_DAMAGED)
        fields = _MEMBER.unpack_from(data, at)
        if fields[0] != b"PK\x01\x02":
            raise ParseError(_DAMAGED)
        name, extra, comment = fields[10:13]
        names.append(data[at + _MEMBER.size : at + _MEMBER.size + name].decode("utf-8", "replace"))
        at += _MEMBER.size + name + extra + comment
    return names


def _directory(data: bytes) -> tuple[int, int]:
    """Where an archive's directory begins, and its length."""
    end = data.rfind(_END_OF_ARCHIVE, max(0, len(data) - 65_557))
    if end < 0 or end + _END_RECORD.size > len(data):
        raise ParseError(_DAMAGED)
    size = int(_END_RECORD.unpack_from(data, end)[5])
    if size > end:
        raise ParseError(_DAMAGED)
    return end - size, size


def _ends_as_archive(data: bytes) -> bool:
    """Whether a reader of archives, which looks from the end, would take these bytes for one."""
    try:
        at, size = _directory(data)
    except ParseError:
        return False
    return size > 0 and data[at : at + 4] == b"PK\x01\x02"
