from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.law_json import parse_law
from documents.ingestion.structure import build_sections
from documents.records import BlockKind, MediaType, ParsedDocument, SectionRecord

NAME = "風箏管理法"
ADDRESS = "https://law.moj.gov.tw/LawClass/LawAll.aspx?pcode=Z0990001"


def article(number: str, content: str) -> dict[str, str]:
    return {"ArticleType": "A", "ArticleNo": number, "ArticleContent": content}


def heading(content: str) -> dict[str, str]:
    return {"ArticleType": "C", "ArticleNo": "", "ArticleContent": f"   {content}"}


def law(**changes: object) -> dict[str, Any]:
    return {
        "LawLevel": "法律",
        "LawName": NAME,
        "LawURL": ADDRESS,
        "LawCategory": "行政＞風箏局",
        "LawModifiedDate": "20240305",
        "LawEffectiveDate": "20240701",
        "LawEffectiveNote": "",
        "LawAbandonNote": "",
        "LawHasEngVersion": "N",
        "EngLawName": "Kite Act",
        "LawAttachements": [],
        "LawHistories": "1.中華民國一百年一月一日制定公布全文 5 條",
        "LawForeword": "為天空之安全，制定本法。",
        "LawArticles": [
            heading("第 一 章 總則"),
            article("第 1 條", "本法所稱風箏，指以線繫之者。\r\n前項之線，長度不得逾三十公尺。"),
            article("第 1-1 條", "主管機關為風箏局。"),
            heading("第 二 章 放飛"),
            heading("   第 一 節 場地"),
            article("第 2 條", "放飛者，應備下列文件：\r\n一、身分證明。\r\n二、場地同意書。"),
            article("第 3 條", "（刪除）"),
        ],
    } | changes


SPLIT_KEYS = {
    "LawLevel": "法規性質", "LawName": "法規名稱", "LawURL": "法規網址", "LawCategory": "法規類別",
    "LawModifiedDate": "最新異動日期", "LawEffectiveDate": "生效日期",
    "LawEffectiveNote": "生效內容", "LawAbandonNote": "廢止註記", "EngLawName": "英文法規名稱",
    "LawHistories": "沿革內容", "LawForeword": "前言", "LawArticles": "法規內容",
}  # fmt: skip


def split_layout(record: dict[str, Any]) -> dict[str, Any]:
    """The same law under Chinese keys."""
    parts = [
        {"條號": part["ArticleNo"], "條文內容": part["ArticleContent"]}
        if part["ArticleType"] == "A"
        else {"編章節": part["ArticleContent"]}
        for part in record["LawArticles"]
    ]
    renamed = {SPLIT_KEYS[key]: value for key, value in record.items() if key in SPLIT_KEYS}
    return renamed | {"法規內容": parts}


def english_layout() -> dict[str, Any]:
    """A translation, as the database hands it out."""
    return {
        "LawName": NAME,
        "EngLawName": "Kite Act",
        "EngLawURL": ADDRESS,
        "EngLawModifiedDate": "20240305",
        "EngLawAbandonNote": "",
        "EngLawArticles": [
            {
                "EngArticleType": "C",
                "EngArticleNo": "",
                "EngArticleContent": "Chapter I General Provisions",
            },
            {
                "EngArticleType": "A",
                "EngArticleNo": "Article 1",
                "EngArticleContent": "A kite is held by a line.\r\nThe line is short.",
            },
            {
                "EngArticleType": "A",
                "EngArticleNo": "Article 1-1",
                "EngArticleContent": "The Kite Office is the competent authority.",
            },
        ],
    }


def read(record: object, *, escaped: bool = False) -> ParsedDocument:
    data = json.dumps(record, ensure_ascii=escaped, indent=1).encode()
    return parse(data, file_name="kites.json")


def sections(parsed: ParsedDocument) -> tuple[SectionRecord, ...]:
    return build_sections(parsed, fallback_title="T")


LAYOUTS = [
    pytest.param(law(), id="database"),
    pytest.param({"UpdateDate": "2024/7/1", "Laws": [law()]}, id="list-of-one"),
    pytest.param([law()], id="bare-list"),
    pytest.param(split_layout(law()), id="split"),
]


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("record", LAYOUTS)
def test_every_layout_gives_the_same_document(record: object, escaped: bool) -> None:
    parsed = read(record, escaped=escaped)
    assert parsed.media_type is MediaType.LAW_JSON
    assert parsed.text == (
        f"{NAME}\n\n為天空之安全，制定本法。\n\n第 一 章 總則\n\n第 1 條\n\n"
        "本法所稱風箏，指以線繫之者。\n前項之線，長度不得逾三十公尺。\n\n第 1-1 條\n\n"
        "主管機關為風箏局。\n\n第 二 章 放飛\n\n第 一 節 場地\n\n第 2 條\n\n"
        "放飛者，應備下列文件：\n一、身分證明。\n二、場地同意書。\n\n第 3 條\n\n（刪除）"
    )
    assert parsed.title == NAME
    assert parsed.language == "zh-Hant"


def test_articles_stand_under_their_chapters_with_exact_numbers() -> None:
    found = sections(read(law()))
    assert [section.path[1:] for section in found if section.number] == [
        ("第一章 總則",),
        ("第一章 總則", "第1條"),
        ("第一章 總則", "第1-1條"),
        ("第二章 放飛",),
        ("第二章 放飛", "第一節 場地"),
        ("第二章 放飛", "第一節 場地", "第2條"),
        ("第二章 放飛", "第一節 場地", "第3條"),
    ]


def test_all_five_container_levels_nest() -> None:
    names = ["第 一 編 甲", "第 一 章 乙", "第 一 節 丙", "第 一 款 丁", "第 一 目 戊"]
    parts = [*map(heading, names), article("第 1 條", "本文。")]
    last = sections(read(law(LawArticles=parts)))[-1]
    assert last.path == (
        NAME, "第一編 甲", "第一章 乙", "第一節 丙", "第一款 丁", "第一目 戊", "第1條",
    )  # fmt: skip


def test_repealed_article_keeps_its_number() -> None:
    parsed = read(law())
    last = sections(parsed)[-1]
    assert (last.number, parsed.text[last.body_start : last.end].strip()) == ("第3條", "（刪除）")


def test_translation_is_read_under_its_own_title() -> None:
    parsed = read(english_layout())
    assert parsed.title == "Kite Act"
    assert [section.number for section in sections(parsed)] == [
        None, "Chapter I", "Article 1", "Article 1-1",
    ]  # fmt: skip
    assert {link.url for link in parsed.source_links} == {
        "https://law.moj.gov.tw/ENG/LawClass/LawAll.aspx?pcode=Z0990001"
    }


def test_each_article_is_tied_to_its_official_page() -> None:
    parsed = read(law())
    page = "https://law.moj.gov.tw/LawClass/LawSingle.aspx?pcode=Z0990001&flno="
    assert {parsed.text[link.start : link.end].split("\n")[0]: link.url
            for link in parsed.source_links} == {
        NAME: ADDRESS,
        "第 1 條": f"{page}1",
        "第 1-1 條": f"{page}1-1",
        "第 2 條": f"{page}2",
        "第 3 條": f"{page}3",
    }  # fmt: skip


@pytest.mark.parametrize("address", ["", "https://elsewhere.example/law?id=7", None, 7])
def test_no_page_is_made_up_where_the_file_does_not_name_the_law(address: object) -> None:
    assert read(law(LawURL=address)).source_links == ()


def test_foreign_address_never_becomes_a_link() -> None:
    parsed = read(law(LawURL="https://elsewhere.example/LawAll.aspx?pcode=Z0990001"))
    assert all(link.url.startswith("https://law.moj.gov.tw/") for link in parsed.source_links)
    assert "elsewhere" not in parsed.metadata["url"]


def test_dates_and_history_are_metadata_and_no_text() -> None:
    parsed = read(law())
    assert parsed.metadata["effective"] == "2024-07-01"
    assert parsed.metadata["last_changed"] == "2024-03-05"
    assert "制定公布全文" in parsed.metadata["history"]
    assert "制定公布全文" not in parsed.text
    assert parsed.metadata["category"] == "行政＞風箏局"


def test_repealed_law_is_flagged() -> None:
    parsed = read(law(LawAbandonNote="廢"))
    assert [notice.code for notice in parsed.warnings] == ["repealed"]


def test_effective_date_that_is_still_open_is_no_date() -> None:
    parsed = read(law(LawEffectiveDate="99991231", LawEffectiveNote="施行日期另定"))
    assert "effective" not in parsed.metadata
    assert [notice.code for notice in parsed.warnings] == ["effective_date_open"]


def test_attachments_that_the_file_does_not_hold_are_named() -> None:
    parsed = read(law(LawAttachements=[{"FileName": "附表一.pdf", "FileURL": "x"}]))
    assert "附表一.pdf" in parsed.warnings[0].message


def test_several_laws_in_one_file_are_refused_with_what_to_do() -> None:
    with pytest.raises(ParseError) as raised:
        read({"UpdateDate": "", "Laws": [law(), law(LawName="風向法")]})
    assert raised.value.code == "refused"
    assert "2 laws" in raised.value.message
    assert "Split it by law" in raised.value.message


@pytest.mark.parametrize(
    "text",
    ['{"LawName": "x", "LawArticles": [', '{"LawName": "x", "LawArticles": 3}', "[" * 100_000,
     '{"Laws": [], "LawName": "", "LawArticles": ""}', "7", "null"],
)  # fmt: skip
def test_broken_file_is_refused(text: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse_law(Decoded(text, "utf-8"))
    assert raised.value.code == "refused"


def test_drawn_table_stays_in_one_block() -> None:
    table = "┌──┬──┐\r\n│長度│罰鍰│\r\n├──┼──┤\r\n│三十│百元│\r\n└──┴──┘"
    parsed = read(law(LawArticles=[article("第 4 條", f"罰鍰如下表：\r\n{table}\r\n逾期加倍。")]))
    blocks = [block for block in parsed.blocks if block.kind is BlockKind.CODE]
    assert [parsed.text[b.start : b.end] for b in blocks] == [table.replace("\r\n", "\n")]


def test_characters_that_no_text_may_hold_are_dropped() -> None:
    data = json.dumps(law(LawForeword="前\ud800言\u0000。")).encode()
    parsed = parse(data, file_name="kites.json")
    assert "前言。" in parsed.text
    parsed.text.encode()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["LawName", "LawArticles", "Laws", "ArticleNo", "ArticleContent", "前言",
                         "ArticleType", "編章節", "條號", "LawURL", "LawEffectiveDate", "附件"]),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON_VALUES)
def test_any_json_is_a_document_or_refused(value: object) -> None:
    try:
        parsed = parse_law(Decoded(json.dumps(value), "utf-8"))
    except ParseError:
        return
    for block in parsed.blocks:
        assert parsed.text[block.start : block.end].strip()
    for link in parsed.source_links:
        assert 0 <= link.start < link.end <= len(parsed.text)
