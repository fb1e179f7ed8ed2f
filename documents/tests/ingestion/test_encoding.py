"""Which encoding a file is in, told by its letters; a guess is called a guess."""

from __future__ import annotations

import codecs
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded, decode

TEXTS = {
    "zh-Hant": "出差人員應於返回後七日內檢附單據辦理核銷，逾期者不予受理，但經主管核准者不在此限。",
    "zh-Hans": "出差人员应当在返回后七日内提交票据办理报销，逾期不予受理，但经主管批准的除外。",
    "ja": "社員は、出張から戻った後、七日以内に領収書を添えて精算を行わなければならない。",
    "ko": "직원은 출장에서 돌아온 후 칠 일 이내에 영수증을 첨부하여 정산하여야 한다.",
    "ru": "Работник обязан представить отчёт о командировке в течение семи дней после возвращения.",
    "uk": "Працівник зобов'язаний подати звіт про відрядження протягом семи днів після повернення.",
    "bg": "Служителят е длъжен да представи отчет за командировката в срок от седем дни.",
    "el": "Ο εργαζόμενος υποχρεούται να υποβάλει τα έξοδα του ταξιδιού μέσα σε επτά ημέρες.",
    "he": "העובד חייב להגיש את הוצאות הנסיעה בתוך שבעה ימים מיום שובו למשרד.",
    "ar": "يجب على الموظف أن يقدم نفقات السفر خلال سبعة أيام من تاريخ عودته إلى المكتب.",
    "th": "พนักงานต้องส่งใบเสร็จค่าเดินทางภายในเจ็ดวันหลังจากกลับถึงสำนักงาน",
    "tr": "Çalışan, yolculuk giderlerini dönüşünden sonraki yedi gün içinde bildirmek zorundadır.",
    "pl": "Pracownik jest zobowiązany przedłożyć rachunki w ciągu siedmiu dni od powrotu.",
    "cs": "Zaměstnanec je povinen předložit účty z cesty do sedmi dnů po návratu zpět.",
    "hu": "A munkavállaló köteles az útiköltséget a visszatérését követő héten belül elszámolni.",
    "lt": "Darbuotojas privalo pateikti kelionės išlaidų ataskaitą per septynias dienas grįžus.",
    "fr": "Le salarié présente ses frais de déplacement dans les sept jours après son retour.",
    "de": "Die Beschäftigten müssen die Reisekosten binnen sieben Tagen nach Rückkehr abrechnen.",
    "es": "El empleado presentará los gastos del viaje en los siete días después de su regreso.",
}
ENCODINGS = {
    "zh-Hant": ["big5", "gb18030", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"],
    "zh-Hans": ["gb2312", "gbk", "gb18030", "hz", "utf-16-le", "utf-32-be"],
    "ja": ["shift_jis", "euc_jp", "iso2022_jp", "utf-16-be", "utf-8-sig"],
    "ko": ["euc_kr", "cp949", "iso2022_kr", "utf-16"],
    "ru": ["cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic", "utf-7"],
    "uk": ["cp1251", "koi8_u"],
    "bg": ["cp1251", "iso8859_5"],
    "el": ["cp1253", "iso8859_7", "cp737"],
    "he": ["cp1255", "iso8859_8", "cp862"],
    "ar": ["cp1256", "iso8859_6"],
    "th": ["cp874", "tis_620"],
    "tr": ["cp1254", "iso8859_9"],
    "pl": ["cp1250", "iso8859_2", "cp852"],
    "cs": ["cp1250", "iso8859_2", "cp852"],
    "hu": ["cp1250", "iso8859_2"],
    "lt": ["cp1257", "iso8859_13"],
    "fr": ["cp1252", "cp850", "mac_roman"],
    "de": ["cp1252", "iso8859_15", "cp850"],
    "es": ["cp1252", "mac_roman", "utf-7"],
}
SHARED = Path(os.environ.get("LEGALQA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))


def codes(decoded: Decoded) -> list[str]:
    return [notice.code for notice in decoded.warnings]


@pytest.mark.parametrize(
    ("language", "encoding"),
    [(language, encoding) for language, found in ENCODINGS.items() for encoding in found],
)
def test_encoding_is_told_by_its_letters(language: str, encoding: str) -> None:
    text = TEXTS[language].replace("’", "'")
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_sure_readings_carry_no_warning(encoding: str) -> None:
    text = "The fee is 5 € – “not more” – in §4, at 5°."
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.warnings == ()


def test_short_guess_is_called_a_guess() -> None:
    decoded = decode("naïf".encode("cp1252"))
    assert codes(decoded) == ["doubtful_encoding"]
    assert decoded.encoding in decoded.warnings[0].message


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0" encoding="{}"?><a>',
        "<html><meta charset='{}'><p>",
        '<html><!-- charset=x --><meta http-equiv="Content-Type" content="text/html; charset={}">',
        '@charset "{}"; /*',
    ],
)
@pytest.mark.parametrize(("encoding", "text"), [("koi8-r", "ага"), ("iso-8859-2", "řád")])
def test_declared_encoding_counts(head: str, encoding: str, text: str) -> None:
    page = head.format(encoding) + text
    decoded = decode(page.encode(encoding))
    assert decoded.text == page
    assert codes(decoded) == []


@pytest.mark.parametrize(
    ("declared", "real", "language"),
    [
        ("utf-8", "cp1252", "de"),
        ("big5", "gb18030", "zh-Hans"),
        ("iso-8859-1", "utf-8", "zh-Hant"),
        ("windows-1252", "cp1251", "ru"),
        ("gb2312", "shift_jis", "ja"),
        ("shift_jis", "euc_jp", "ja"),
        ("utf-16", "cp1253", "el"),
    ],
)
def test_wrong_declaration_is_noticed(declared: str, real: str, language: str) -> None:
    page = f"<html><meta charset={declared}><p>{TEXTS[language]}"
    decoded = decode(page.encode(real))
    assert decoded.text == page
    assert codes(decoded) == ["doubtful_encoding"]


def test_unknown_declaration_is_ignored() -> None:
    page = "<html><meta charset=x-nothing><p>" + TEXTS["ru"]
    assert decode(page.encode("cp1251")).text == page


@pytest.mark.parametrize(
    ("data", "text", "warnings"),
    [
        ("条例规定。".encode()[:-1], "条例规定", ["doubtful_encoding", "broken_characters"]),
        (codecs.BOM_UTF16_LE + "déf".encode("utf-16-le")[:-1], "dé", None),
        (codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00", "ab", None),
        (b"ok \xed\xa0\xbd\xed\xb8\x80 \xed\xa0\x80\xc3\xa4", "ok 😀 ä", None),
        (codecs.BOM_UTF8 + b"abc \xfc", "abc ü", ["doubtful_encoding"]),
        ("Gebühr für Prüfung ".encode() * 2 + "Größe".encode("cp1252"),
         "Gebühr für Prüfung " * 2 + "Größe", ["doubtful_encoding"]),
        (b"Lockers are emptied.\x00\x07", "Lockers are emptied.", ["control_characters"]),
        (b"a\r\nb\rc\x0cd\xc2\x85e", "a\nb\nc\nd\ne", []),
        (("差旅管理规定第一条" * 60).encode("gb18030") + b"\xff", "差旅管理规定第一条" * 60, None),
    ],
)  # fmt: skip
def test_damaged_and_mixed_files(data: bytes, text: str, warnings: list[str] | None) -> None:
    decoded = decode(data)
    assert decoded.text == text
    if warnings is None:
        assert "broken_characters" in codes(decoded)
    else:
        assert codes(decoded) == warnings


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("The leave policy applies to all staff.\n".encode("cp037") * 3, "refused"),
        (bytes(range(256)) * 8, "refused"),
        (b"\x00" * 64, "empty"),
        (codecs.BOM_UTF16_LE, "empty"),
        (b"\xe2\x80\x8b \n", "empty"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as raised:
        decode(data)
    assert raised.value.code in (code, "refused")
    assert raised.value.message.endswith(".")


def test_plus_signs_are_no_utf_7() -> None:
    text = "Use C++ and A+B+C- or +abc- now, a+b/c+d-e."
    assert decode(text.encode()).text == text


@given(st.text(max_size=200))
def test_utf8_is_read_as_it_is(text: str) -> None:
    try:
        decoded = decode(text.encode("utf-8", "ignore"))
    except ParseError:
        return
    assert decoded.encoding in ("utf-8", "utf-7", "hz", "utf-16", "utf-16-le", "utf-16-be",
                                "utf-32-le", "utf-32-be", "iso2022_jp_2", "iso2022_kr",
                                "iso2022_jp_ext")  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_clean_text_or_a_parse_error(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ParseError:
        return
    assert not re.search("[\x00-\x08\r\x0b\x0c\ud800-\udfff]", decoded.text)
    decoded.text.encode("utf-8")


# The shared files, whose manifest names their encodings as their authors knew them.

COMPATIBLE = {
    "big5": "big5hkscs", "gb2312": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949",
    "tis-620": "cp874", "maccyrillic": "mac_cyrillic", "iso-8859-1": "cp1252",
    "iso-8859-2": "cp1250", "iso-8859-7": "cp1253", "iso-8859-9": "cp1254",
}  # fmt: skip


def _manifest() -> list[dict[str, str]]:
    path = SHARED / "encodings" / "manifest.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+", "", text)


def _readings(data: bytes, named: str) -> list[str]:
    name = re.sub(r"-(russian|greek|turkish|hebrew|hungarian|bulgarian)$", "", named.lower())
    found = []
    for encoding in (name, COMPATIBLE.get(name, name)):
        try:
            found.append(_squeezed(data.decode(encoding)))
        except (UnicodeDecodeError, LookupError):
            continue
    return found


@pytest.mark.skipif(not _manifest(), reason="LEGALQA_SHARED_DATA has no encodings folder")
@pytest.mark.parametrize("entry", _manifest(), ids=lambda entry: entry["file"].split("/")[-1])
def test_shared_file_is_read_in_its_encoding(entry: dict[str, str]) -> None:
    data = (SHARED / "encodings" / entry["file"]).read_bytes()
    expected = _readings(data, entry["encoding"])
    assert expected, "the manifest names an encoding that does not fit"
    assert _squeezed(decode(data).text) in expected
