"""ZIP archives of documents: what is in one, and one member's bytes, within limits.

Nothing is unpacked to disk and no name of a member becomes a path. The directory of the archive
is bounded before it is read, since each of its entries costs memory; a member is bounded by
what the directory says and by what really comes out. Nothing here trusts either number alone.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from documents.errors import ParseError
from documents.ingestion.names import shown_name
from documents.ingestion.parsers.encoding import decode

# Formats that are ZIP files themselves: Office, OpenDocument and EPUB, Java.
_OWN_FORMAT = ("[Content_Types].xml", "mimetype", "META-INF/MANIFEST.MF")
_ARCHIVES = frozenset({".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst"})
_OF_THE_SYSTEM = frozenset({"__macosx", "thumbs.db", "desktop.ini"})
_READ_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40
_NAME_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY_BYTES = 512  # of the directory, for each file that an archive may hold
_RATIO_FROM_BYTES = 1024 * 1024  # smaller members do no harm, however well they were packed
_CJK = frozenset({"big5", "big5hkscs", "cp950", "gb18030", "gbk", "cp932", "shift_jis", "cp949"})
_BLOCK = 1024 * 1024
_MOST_OF_A_NAME = 480


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much one archive may hold."""

    files: int
    total_bytes: int  # of all members, unpacked
    member_bytes: int
    ratio: int = 200  # unpacked to packed; prose packs about four times, spaces a thousand times


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive; with a `code`, it is not to be taken, and `reason` says why.

    `index` is its place in the archive's directory and `name` its path there as it may be shown.
    """

    index: int
    name: str
    size_bytes: int
    code: str = ""
    reason: str = ""


def is_archive(file: IO[bytes]) -> bool:
    """Whether a file is a ZIP archive of files, and no document whose format is a ZIP itself."""
    file.seek(0)
    if file.read(4) not in (b"PK\x03\x04", _END):
        return False
    file.seek(0)
    head = file.read(200)
    name_length = struct.unpack("<H", head[26:28])[0] if len(head) >= 30 else 0
    first = head[30 : 30 + name_length].decode("cp437")
    return first not in _OWN_FORMAT and not _has_own_format(file)


def _has_own_format(file: IO[bytes]) -> bool:
    """Whether its directory names a part that only such a document has."""
    size = _directory_bytes(file)
    if size is None or size > _ENTRY_BYTES * 10_000:
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name in archive.NameToInfo for name in _OWN_FORMAT)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def list_members(file: IO[bytes], limits: ArchiveLimits) -> tuple[Member, ...]:
    """The files of an archive in the order of its directory; folders are left out.

    Raises:
        ParseError: `refused` when it is damaged, holds too much or nothing.
    """
    with opened(file, limits) as archive:
        infos = archive.infolist()
        names = _names(infos)
        members = tuple(_members(infos, names, limits))
    if not members:
        raise ParseError("The archive holds no file. Pack the documents themselves.", code="empty")
    total = sum(member.size_bytes for member in members)
    if total > limits.total_bytes:
        raise ParseError(
            f"Unpacked, the archive holds {total // _BLOCK:,} MB, more than the "
            f"{limits.total_bytes // _BLOCK:,} MB that are taken at once. Split it.",
            code="refused",
        )
    return members


@contextmanager
def opened(file: IO[bytes], limits: ArchiveLimits) -> Iterator[zipfile.ZipFile]:
    """The archive, its directory bounded before it is read.

    Raises:
        ParseError: it is damaged, or holds too many files.
    """
    size = _directory_bytes(file)
    if size is None:
        raise ParseError("The archive is damaged: its end is missing. Pack it again.")
    if size > limits.files * _ENTRY_BYTES:
        raise _too_many(limits)
    try:
        with zipfile.ZipFile(file) as archive:
            if len(archive.infolist()) > limits.files:
                raise _too_many(limits)
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise ParseError("The archive is damaged. Pack it again.") from error


def _too_many(limits: ArchiveLimits) -> ParseError:
    return ParseError(
        f"The archive holds more than {limits.files:,} files. Split it into smaller ones."
    )


def read_member(archive: zipfile.ZipFile, index: int, limits: ArchiveLimits) -> bytes:
    """The bytes of one member, no more than it was said to hold.

    Raises:
        ParseError: it is damaged, encrypted, or larger than allowed.
    """
    info = archive.infolist()[index]
    parts, size = [], 0
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK):
                size += len(block)
                if size > limits.member_bytes:
                    raise ParseError(_too_large(limits), code="too_large")
                parts.append(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ParseError("It is damaged in the archive. Pack it again.") from error
    return b"".join(parts)


def _directory_bytes(file: IO[bytes]) -> int | None:
    """How long the directory says it is; None where the file has no end record."""
    file.seek(0, 2)
    size = file.tell()
    tail_at = max(0, size - 65_557 - 20)
    file.seek(tail_at)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or at + 22 > len(tail):
        return None
    length: int = struct.unpack("<L", tail[at + 12 : at + 16])[0]
    locator = tail[at - 20 : at] if at >= 20 else b""
    if locator[:4] == _LOCATOR64:
        file.seek(max(0, struct.unpack("<Q", locator[8:16])[0]))
        record = file.read(56)
        if record[:4] != _END64 or len(record) < 56:
            return None
        length = max(length if length != 0xFFFFFFFF else 0, struct.unpack("<Q", record[40:48])[0])
    return length


def _members(
    infos: Sequence[zipfile.ZipInfo], names: Sequence[str], limits: ArchiveLimits
) -> Iterator[Member]:
    seen: set[str] = set()
    for index, (info, name) in enumerate(zip(infos, names, strict=True)):
        if name.endswith("/"):
            continue
        code, reason = _why_not(info, name, limits)
        if not code and name in seen:
            code, reason = "name_taken", "The archive holds another file of this name."
        seen.add(name)
        yield Member(index, _shown(name), 0 if code else info.file_size, code, reason)


def _why_not(info: zipfile.ZipInfo, name: str, limits: ArchiveLimits) -> tuple[str, str]:
    """A code and a sentence when a member is not to be taken; two empty texts otherwise."""
    parts = PurePosixPath(name).parts
    if _is_of_the_system(parts):
        return "passed_over", "A file of the system that packed the archive."
    if not _is_safe(name, parts):
        return "unsafe_name", "Its name leads out of the archive. Pack the folder again."
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "not_a_file", "A link or device, not a file. Pack what it points to."
    if info.flag_bits & _ENCRYPTED or info.compress_type == 99:
        return "encrypted", "It is encrypted. Pack it without a password."
    if PurePosixPath(name).suffix.lower() in _ARCHIVES:
        return "unsupported", "An archive within an archive. Unpack it, and pack its files."
    if info.compress_type not in _READ_METHODS:
        return "unsupported", "It is packed in a way that is not read. Pack it as an ordinary ZIP."
    if not info.file_size:
        return "empty", "It is empty."
    if info.file_size > limits.member_bytes:
        return "too_large", _too_large(limits)
    if info.file_size > max(_RATIO_FROM_BYTES, limits.ratio * info.compress_size):
        return "refused", "It unpacks to far more than a document would: upload it by itself."
    return "", ""


def _too_large(limits: ArchiveLimits) -> str:
    return f"It is larger than {limits.member_bytes // _BLOCK} MB. Split it."


def _is_of_the_system(parts: Sequence[str]) -> bool:
    return any(
        part.lower() in _OF_THE_SYSTEM or (part.startswith(".") and part not in (".", ".."))
        for part in parts
    )


def _is_safe(name: str, parts: Sequence[str]) -> bool:
    has_drive = len(name) > 1 and name[1] == ":"
    is_clean = not any(letter in name for letter in "\x00\n\r")
    return bool(parts) and is_clean and not (name.startswith("/") or has_drive or ".." in parts)


def _shown(name: str) -> str:
    return "/".join(shown_name(part) for part in name.split("/") if part)[-_MOST_OF_A_NAME:]


def _names(infos: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The names as they were meant, with `/` between folders.

    Only some packers say which encoding a name is in. For the others the names of the whole
    archive are judged together, since one alone is too short.
    """
    told = [_told_name(info) for info in infos]
    bare = [_raw(info) for info, name in zip(infos, told, strict=True) if name is None]
    encoding = _encoding(bare)
    names = [
        name if name is not None else _decoded(_raw(info), encoding)
        for info, name in zip(infos, told, strict=True)
    ]
    return [name.replace("\\", "/") for name in names]


def _told_name(info: zipfile.ZipInfo) -> str | None:
    """The name where its encoding is known: marked, told in an extra field, or plain ASCII."""
    if info.flag_bits & _NAME_IS_UTF8 or info.orig_filename.isascii():
        return info.orig_filename
    return _unicode_path(info)


def _unicode_path(info: zipfile.ZipInfo) -> str | None:
    """The UTF-8 name that Info-ZIP puts beside the other, where it belongs to that one."""
    extra = info.extra
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + length], extra[4 + length :]
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            if struct.unpack("<L", field[1:5])[0] != zlib.crc32(_raw(info)):
                return None
            return field[5:].decode("utf-8", "replace")
    return None


def _raw(info: zipfile.ZipInfo) -> bytes:
    return info.orig_filename.encode("cp437")  # how zipfile decoded it: every byte has a letter


def _encoding(names: Sequence[bytes]) -> str:
    joined = b"\n".join(names)
    try:
        joined.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    try:
        found = decode(joined).encoding.lower().replace("-", "")
    except ParseError:
        return "cp437"
    return found if found.replace("-", "_") in _CJK else "cp437"


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return raw.decode("cp437")
