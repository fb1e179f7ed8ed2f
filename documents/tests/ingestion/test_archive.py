"""Archives: what is in one, in whatever encoding, and nothing that could do harm."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

import pytest

from documents.errors import ParseError
from documents.ingestion import archive
from documents.ingestion.archive import ArchiveLimits, Member

LIMITS = ArchiveLimits(files=50, total_bytes=4_000_000, member_bytes=3_000_000)
TEXT = "# Leave\n\nStaff receive 27 days of leave.\n"


def packed(files: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return kept.getvalue()


def listed(data: bytes, limits: ArchiveLimits = LIMITS) -> list[Member]:
    return list(archive.list_members(io.BytesIO(data), limits))


def read(data: bytes, index: int, limits: ArchiveLimits = LIMITS) -> bytes:
    with archive.opened(io.BytesIO(data), limits) as opened:
        return archive.read_member(opened, index, limits)


def named(*names: bytes) -> bytes:
    """An archive with members of these names, in no encoding that it tells of."""
    stand_ins = [bytes([65 + n]) * len(name) for n, name in enumerate(names)]
    data = packed({stand_in.decode(): TEXT for stand_in in stand_ins})
    for stand_in, name in zip(stand_ins, names, strict=True):
        data = data.replace(stand_in, name)
    return data


def test_members_are_listed_with_their_folders_and_read_back():
    data = packed({"hr/": "", "hr/leave.md": TEXT, "it\\vpn.md": "# VPN\n\nAsk IT.\n"})

    assert [(m.name, m.code) for m in listed(data)] == [("hr/leave.md", ""), ("it/vpn.md", "")]
    assert read(data, 1) == TEXT.encode()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../../etc/passwd", "unsafe_name"),
        ("a/../../b.md", "unsafe_name"),
        ("/etc/passwd", "unsafe_name"),
        ("C:\\Windows\\a.md", "unsafe_name"),
        ("\\\\server\\share\\a.md", "unsafe_name"),
        ("a\nb.md", "unsafe_name"),
        ("inner.zip", "unsupported"),
        ("inner.tar.gz", "unsupported"),
        ("__MACOSX/._leave.md", "passed_over"),
        ("hr/.DS_Store", "passed_over"),
        ("hr/Thumbs.db", "passed_over"),
    ],
)
def test_a_member_of_such_a_name_is_not_taken_and_the_others_are(name, code):
    found = listed(packed({name: TEXT, "leave.md": TEXT}))

    assert [m.code for m in found] == [code, ""]
    assert found[0].reason
    assert ".." not in found[0].name
    assert "\n" not in found[0].name


def test_a_link_and_a_device_are_not_taken():
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as made:
        for name, kind in (("link.md", 0o120777), ("device.md", 0o020666), ("file.md", 0o100644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = kind << 16
            made.writestr(info, "/etc/passwd")

    assert [m.code for m in listed(kept.getvalue())] == ["not_a_file", "not_a_file", ""]


def test_an_encrypted_an_empty_and_a_strangely_packed_member_are_not_taken():
    data = bytearray(packed({"secret.md": TEXT}))
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1

    assert [m.code for m in listed(bytes(data))] == ["encrypted"]
    assert [m.code for m in listed(packed({"empty.md": ""}))] == ["empty"]
    assert [m.code for m in listed(packed({"a.md": TEXT}, zipfile.ZIP_LZMA))] == ["unsupported"]


def test_two_members_of_one_name_are_told_apart():
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as made:
        made.writestr("leave.md", TEXT)
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("leave.md", "# Another\n\nText.\n")

    assert [m.code for m in listed(kept.getvalue())] == ["", "name_taken"]


def test_a_bomb_is_known_by_its_ratio_before_anything_is_unpacked():
    data = packed({"bomb.md": b" " * 2_500_000, "leave.md": TEXT})

    assert len(data) < 10_000
    assert [m.code for m in listed(data)] == ["refused", ""]


def test_many_members_that_are_harmless_alone_are_refused_together():
    data = packed({f"{n}.md": bytes(range(256)) * 4_000 for n in range(5)}, zipfile.ZIP_STORED)

    with pytest.raises(ParseError, match="Unpacked, the archive holds") as caught:
        listed(data)
    assert caught.value.code == "refused"


def test_members_that_share_their_bytes_cannot_hide_their_total():
    """The directory names one stretch of the file many times, as the densest bombs do."""
    data = packed({"0.md": bytes(range(256)) * 4_000}, zipfile.ZIP_STORED)
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    directory = b"".join(entry.replace(b"0.md", b"%d.md" % n) for n in range(9))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, len(directory), start, 0)

    with pytest.raises(ParseError, match="Unpacked"):
        listed(data[:start] + directory + tail)


def test_more_files_than_allowed_are_refused_by_the_directory_alone():
    with pytest.raises(ParseError, match="more than 50 files"):
        listed(packed({f"{n}.md": "x" for n in range(51)}))
    huge = bytearray(packed({"a.md": TEXT}))
    at = huge.index(b"PK\x05\x06")
    huge[at + 12 : at + 16] = struct.pack("<L", 900_000_000)
    with pytest.raises(ParseError, match="more than 50 files"):
        listed(bytes(huge))


def test_a_member_that_holds_more_than_it_says_gives_nothing():
    data = bytearray(packed({"a.md": "x" * 5_000}))
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.index(signature)
        data[at + offset : at + offset + 4] = struct.pack("<L", 10)

    assert listed(bytes(data))[0].size_bytes == 10
    with pytest.raises(ParseError, match="damaged in the archive"):
        read(bytes(data), 0)


def test_a_damaged_member_and_a_damaged_archive_say_so():
    data = packed({"a.md": TEXT})
    at = data.index(TEXT[:4].encode()[:2]) if TEXT[:2].encode() in data else 40
    broken = data[:at] + bytes(8) + data[at + 8 :]
    with pytest.raises(ParseError, match="damaged"):
        read(broken, 0)
    with pytest.raises(ParseError, match="its end is missing"):
        listed(data[:-30])
    with pytest.raises(ParseError, match="holds no file"):
        listed(packed({"only/": ""}))


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("utf-8", ["員工特別休假辦法.md", "Grüße.md"]),
        ("cp950", ["員工特別休假辦法.md", "差旅費用報支規則.md"]),
        ("cp932", ["年次有給休暇規程について.md", "出張旅費のきまりとその手続き.md"]),
        ("cp437", ["Übersicht.md", "Prüfung größer.md"]),
    ],
)
def test_names_are_read_in_the_encoding_that_they_are_in(encoding, names):
    data = named(*(name.encode(encoding) for name in names))

    assert [m.name for m in listed(data)] == names


def test_a_name_told_in_the_extra_field_counts_only_beside_the_name_that_it_belongs_to():
    for crc, expected in ((zlib.crc32(b"\x81.md"), "特休.md"), (1, "ü.md")):
        field = struct.pack("<BL", 1, crc) + "特休.md".encode()
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w") as made:
            info = zipfile.ZipInfo("A.md")
            info.extra = struct.pack("<HH", 0x7075, len(field)) + field
            made.writestr(info, TEXT)
        data = kept.getvalue().replace(b"A.md", b"\x81.md")

        assert [m.name for m in listed(data)] == [expected]


def test_documents_that_are_zip_files_themselves_are_no_archives():
    assert archive.is_archive(io.BytesIO(packed({"leave.md": TEXT})))
    word = {"_rels/.rels": "<x/>", "[Content_Types].xml": "<x/>"}
    assert not archive.is_archive(io.BytesIO(packed(word)))
    assert not archive.is_archive(io.BytesIO(packed({"mimetype": "application/epub+zip"})))
    assert not archive.is_archive(io.BytesIO(TEXT.encode()))
    assert not archive.is_archive(io.BytesIO(b""))
