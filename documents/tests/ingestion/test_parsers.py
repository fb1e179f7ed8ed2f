from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.records import BlockKind, MediaType, ParsedDocument

CHINESE = "圖書室管理要點\n第 1 條 借書期限為二十一日。\n第 2 條 許功蓋廳不得飲食。\n"
SIMPLIFIED = "差旅管理规定\n第一条　出差须事前审批。\n第二条　住宿标准为每晚四百五十元。\n"
JAPANESE = "就業規則\n第一条　この規則は、すべての社員に適用する。\n休暇は年二十日とする。\n"
FRENCH = "Règlement intérieur\nLe télétravail est autorisé pour les employés, après accord.\n"


def markdown(text: str) -> ParsedDocument:
    return parse(text.encode(), file_name="a.md")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "big5"),
        (SIMPLIFIED, "gb18030"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (FRENCH, "cp1252"),
        (FRENCH, "utf-16-be"),
        ("A “quoted” rule – it’s €5.\nMore of it.\n", "cp1252"),
        ("Der Schlüssel für die Tür muß zurück.\n", "latin-1"),
    ],
)
def test_encoding_is_found(text: str, encoding: str) -> None:
    parsed = parse(text.encode(encoding), file_name="a.txt")
    assert parsed.text == text.strip()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (CHINESE, "zh-Hant"),
        (SIMPLIFIED, "zh-Hans"),
        (JAPANESE, "ja"),
        (FRENCH, "fr"),
        ("All of the staff must lock the door.", "en"),
        ("Сотрудники должны закрывать двери.", "ru"),
        ("12345", None),
    ],
)
def test_language_is_found(text: str, language: str | None) -> None:
    assert parse(text.encode(), file_name="a.txt").language == language


def test_control_characters_go_with_a_warning_and_line_ends_are_one() -> None:
    parsed = parse(b"Lockers are emptied.\x00\x07 Padlocks\r\nare cut.\r", file_name="a.txt")
    assert parsed.text == "Lockers are emptied. Padlocks\nare cut."
    assert [notice.code for notice in parsed.warnings] == ["control_characters"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b" \n\t \n", "empty"),
        ("\ufeff\u200b\u00a0\n".encode(), "empty"),
        (b"%PDF-1.7\n1 0 obj", "refused"),
        (b"PK\x03\x04word/document.xml", "refused"),
        (b"\x89PNG\r\n\x1a\n", "unsupported"),
        (bytes(range(256)) * 20, "refused"),
        (b"\x00" * 500, "refused"),
    ],
)
def test_unusable_file_is_refused_with_its_code(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse(data, file_name="policy.md")
    assert raised.value.code == code
    assert raised.value.message.endswith(".")


@given(st.binary(max_size=400), st.sampled_from(["a.md", "a.txt"]))
def test_any_bytes_give_text_or_a_parse_error(data: bytes, name: str) -> None:
    try:
        parsed = parse(data, file_name=name)
    except ParseError:
        return
    assert (
        "\ufffd" not in parsed.text
        or b"\xef\xbf\xbd" in data
        or b"\xff\xfd" in data
        or b"\xfd\xff" in data
    )
    assert "\r" not in parsed.text
    assert "\x00" not in parsed.text


def test_blocks_are_slices_in_order() -> None:
    parsed = markdown(
        "# A\n\ntext\n\n- one\n- two\n  - three\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n> q\n"
    )
    texts = [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks]
    assert texts == [
        (BlockKind.HEADING, "A"),
        (BlockKind.PARAGRAPH, "text"),
        (BlockKind.LIST_ITEM, "- one"),
        (BlockKind.LIST_ITEM, "- two"),
        (BlockKind.LIST_ITEM, "- three"),
        (BlockKind.TABLE_ROW, "a: 1; b: 2"),
        (BlockKind.QUOTE, "q"),
    ]
    assert parsed.text == "A\n\ntext\n\n- one\n- two\n  - three\n\na: 1; b: 2\n\nq"


def test_marks_and_targets_go_and_words_stay() -> None:
    parsed = markdown(
        'See *the* **[guide](https://x.example "a title")** and `code_a`, <b>bold</b>.'
    )
    assert parsed.text == "See the guide and code_a, bold."
    assert [(hidden.text, hidden.where) for hidden in parsed.hidden] == [("a title", "link_title")]


def test_template_tags_stay() -> None:
    assert markdown("Use {% data variables.product.name %} now.").text == (
        "Use {% data variables.product.name %} now."
    )


def test_printed_numbers_of_list_items_stay() -> None:
    assert markdown("3. three\n4. four\n\n1) one\n").text == "3. three\n4. four\n\n1) one"


def test_fence_is_text_and_never_a_heading() -> None:
    parsed = markdown("# A\n\n```bash\n# not a heading\nrun\n```\n\n    # nor this\n")
    headings = [b for b in parsed.blocks if b.kind is BlockKind.HEADING]
    assert len(headings) == 1
    assert "# not a heading\nrun" in parsed.text
    assert "# nor this" in parsed.text


def test_front_matter_is_metadata() -> None:
    parsed = markdown(
        "---\ntitle: Visitor policy\neffective: 2024-05-01\ntags: [a, b]\n---\n\n# Other\n"
    )
    assert parsed.title == "Visitor policy"
    assert parsed.metadata == {
        "title": "Visitor policy",
        "effective": "2024-05-01",
        "tags": "a, b",
    }
    assert parsed.text == "Other"
    assert any(hidden.where == "metadata" for hidden in parsed.hidden)


def test_front_matter_with_aliases_is_not_expanded() -> None:
    parsed = markdown("---\na: &a [x, x]\nb: [*a, *a]\n---\n\n# T\n")
    assert parsed.metadata == {}
    assert [notice.code for notice in parsed.warnings] == ["bad_front_matter"]


def test_title_is_the_first_heading_of_level_one_if_it_stands_first() -> None:
    assert markdown("# Leave\n\n## A\n").title == "Leave"
    assert markdown("## A\n\n# Leave\n").title is None


def test_html_table_becomes_rows_once() -> None:
    parsed = markdown(
        "## Colours\n\n<table><tr><th>Pipe</th><th>Colour</th></tr>\n<tr><td>Water</td><td>"
        "green</td></tr>\n\n<tr><td>Acid<td>vio<b>let</b></table>\n\nAfter.\n"
    )
    assert (
        parsed.text == "Colours\n\nPipe: Water; Colour: green\nPipe: Acid; Colour: violet\n\nAfter."
    )


def test_header_that_no_row_shows_is_not_lost() -> None:
    assert markdown("| Name | Phone |\n|-|-|\n| Ann | |\n").text == "Name; Phone\nName: Ann"
    assert markdown("| Name | Phone |\n|-|-|\n").text == "Name; Phone"


@pytest.mark.parametrize(
    "hiding",
    [
        '<div style="display: none">SECRET</div>',
        "<p hidden>SECRET</p>",
        '<span aria-hidden="true">SECRET</span>',
        '<div style="display:none">\n\nSECRET\n\n</div>',
        "<!-- SECRET -->",
        "![SECRET](x.png)",
        '<img src="x" alt="SECRET">',
        '[//]: # "SECRET"',
        "<script>SECRET</script>",
    ],
)
def test_hidden_text_is_kept_apart(hiding: str) -> None:
    parsed = markdown(f"Before it.\n\n{hiding}\n\nAfter it.\n")
    assert parsed.text.startswith("Before it.")
    assert parsed.text.endswith("After it.")
    assert "SECRET" not in parsed.text
    assert any("SECRET" in hidden.text for hidden in parsed.hidden)


def test_hidden_inline_element_hides_only_its_own_text() -> None:
    parsed = markdown('Seen <span style="visibility:hidden">not</span> seen.')
    assert parsed.text == "Seen seen."
    assert [hidden.text for hidden in parsed.hidden] == ["not"]


def test_html_headings_and_lists_inside_markdown() -> None:
    parsed = markdown("<h2>Rules</h2>\n<ul><li>one</li><li>two</li></ul>\n")
    assert parsed.text == "Rules\n\n- one\n- two"
    assert parsed.blocks[0].level == 2


def test_text_file_with_two_marked_headings_is_markdown() -> None:
    text = "# Leave\n\nDays.\n\n## Carry-over\n\nFive.\n"
    assert parse(text.encode(), file_name="a.txt").media_type is MediaType.MARKDOWN
    assert parse(b"# note\nx = 1\n", file_name="a.txt").media_type is MediaType.PLAIN


def test_plain_title_is_a_first_line_that_stands_alone() -> None:
    assert parse(b"Leave policy\n\nStaff get days.\n", file_name="a.txt").title == "Leave policy"
    assert parse(b"Staff get days.\n\nMore.\n", file_name="a.txt").title is None


def test_deep_nesting_and_unclosed_tags_do_no_harm() -> None:
    assert "end" in markdown("> " * 300 + "end").text
    assert "end" in markdown("<div>" * 500 + "\n\nend").text
    assert "end" in markdown("<table><tr><td>" * 50 + "end").text
