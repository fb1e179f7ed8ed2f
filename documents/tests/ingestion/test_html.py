"""What an HTML page becomes: blocks, numbers, tables, notes; no page breaks the parser."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.records import BlockKind, MediaType, ParsedDocument


def page(body: str, head: str = "") -> ParsedDocument:
    markup = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    parsed = parse(markup.encode(), file_name="a.html")
    assert parsed.media_type is MediaType.HTML
    return parsed


def lines(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks]


def numbered(parsed: ParsedDocument) -> list[tuple[str, str | None]]:
    return [(parsed.text[b.start : b.end], b.number) for b in parsed.blocks]


def test_headings_paragraphs_and_title() -> None:
    parsed = page(
        "<h1>Leave <em>rules</em></h1><h2>2 Sick leave</h2><p>A doctor&rsquo;s note\nis due on "
        "day&nbsp;4.</p>",
        "<title>Leave | Intranet</title>",
    )
    assert parsed.text == "Leave rules\n\n2 Sick leave\n\nA doctor’s note is due on day 4."
    assert [(b.kind, b.level) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.HEADING, 2),
        (BlockKind.PARAGRAPH, None),
    ]
    assert parsed.title == "Leave rules"
    assert page("<p>x</p>", "<title>Leave</title>").title == "Leave"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "<ol type=a start=3><li>x<ol type=i><li>y<li value=5>z</ol><li>w</ol>",
            [("c. x", "c"), ("i. y", "c(i)"), ("v. z", "c(v)"), ("d. w", "d")],
        ),
        ("<ol reversed><li>c<li>b<li>a</ol>", [("3. c", "3"), ("2. b", "2"), ("1. a", "1")]),
        ('<ol style="list-style-type: upper-roman"><li>q</ol>', [("I. q", "I")]),
        ("<ol><li>a<ol><li>b</ol></ol>", [("1. a", "1"), ("1. b", "1.1")]),
        ("<ol><li>a<ol type=a><li>b</ol></ol>", [("1. a", "1"), ("a. b", "1(a)")]),
        ('<ol style="list-style: none"><li>(1) own</ol>', [("(1) own", None)]),
        ("<ul><li>(a) one<li>two</ul>", [("(a) one", None), ("- two", None)]),
        ("<ol start=27 type=A><li>x</ol>", [("AA. x", "AA")]),
        ("<ol start=0 type=i><li>x</ol>", [("0. x", "0")]),
        ("<ol><li><ol type=a><li>x</ol></ol>", [("1. a. x", "1(a)")]),
        ('<ol style="list-style-type:cjk-ideographic" start=12><li>x', [("十二、 x", "十二")]),
    ],
)
def test_items_show_the_numbers_that_the_page_computes(
    body: str, expected: list[tuple[str, str | None]]
) -> None:
    assert numbered(page(body)) == expected


def test_list_style_of_a_style_element_counts() -> None:
    parsed = page("<ol class=alpha><li>x</ol>", "<style>ol.alpha{list-style:lower-alpha}</style>")
    assert numbered(parsed) == [("a. x", "a")]


def test_item_that_begins_with_a_heading_is_a_section() -> None:
    parsed = page("<ol><li><h3>Scope</h3><p>Text.</p><ol type=a><li>sub</ol></li></ol>")
    assert numbered(parsed) == [("1. Scope", "1"), ("Text.", None), ("a. sub", "1(a)")]
    assert parsed.blocks[0].kind is BlockKind.HEADING
    assert parsed.blocks[1].flags == frozenset()
    assert parsed.text.endswith("\n\na. sub")  # not indented: the heading is no item


def test_nested_items_are_indented_and_tight() -> None:
    parsed = page("<p>x</p><ul><li>one<ul><li>two</ul><li>three</ul><p>y</p>")
    assert parsed.text == "x\n\n- one\n  - two\n- three\n\ny"


def test_more_paragraphs_of_an_item_are_continued() -> None:
    parsed = page("<ol><li><p>First.</p><p>Second.</p></ol>")
    assert [b.flags for b in parsed.blocks] == [frozenset(), frozenset({"continued"})]


def test_definition_list_keeps_term_and_definition_together() -> None:
    parsed = page("<dl><dt>Leave</dt><dd>Time off.</dd><dt>A<dt>B:<dd>both</dl>")
    assert lines(parsed) == ["Leave: Time off.", "A, B: both"]
    assert lines(page("<dl><dt>T<dd><ul><li>a</ul></dl>")) == ["T:", "- a"]


def test_line_breaks_and_empty_lines() -> None:
    parsed = page("<p>one<br>two<br><br>three</p><pre>a\n  b</pre>")
    assert parsed.text == "one\ntwo\n\nthree\n\na\n  b"
    assert parsed.blocks[-1].kind is BlockKind.CODE


def test_page_that_is_one_preformatted_text_is_read_as_text() -> None:
    parsed = page("<pre>SCOPE\n=====\nThis applies to all.\n\nMore of it.</pre>")
    assert parsed.blocks[0].kind is BlockKind.HEADING
    assert parsed.media_type is MediaType.HTML


# Tables


def test_table_rows_carry_their_heads() -> None:
    parsed = page(
        "<table><caption>Rates</caption><thead><tr><th rowspan=2>Type<th colspan=2>Limit</tr>"
        "<tr><th>Home<th>Abroad</tr></thead><tfoot><tr><td>All<td>1<td>2</tfoot>"
        "<tr><td rowspan=2>Hotel<td>100<td>150</tr><tr><td colspan=2>none</table>"
    )
    assert lines(parsed) == [
        "Rates",
        "Type: Hotel; Limit / Home: 100; Limit / Abroad: 150",
        "Type: Hotel; Limit / Home, Limit / Abroad: none",
        "Type: All; Limit / Home: 1; Limit / Abroad: 2",
    ]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<tr><th>Owner<td>HR<tr><th>Version<td>2", ["Owner: HR", "Version: 2"]),
        ("<tr><td>a<td>b<tr><td>c<td>d", ["a; b", "c; d"]),
        ("<tr><th colspan=2>Duck<tr><td>Class:<td>Aves", ["Duck", "Class: Aves"]),
        ("<tr><td><b>N</b><td><b>Days</b><tr><td>x<td>3", ["N: x; Days: 3"]),
        ("<tr><th>Only heads<th>Here", ["Only heads; Here"]),
        ("<tr><th>A<th>B<tr><td>1<td>", ["A; B", "A: 1"]),
        ("<tr><th>A<th>B<tr><td rowspan=0>x<td>1<tr><td>2", ["A: x; B: 1", "A: x; B: 2"]),
        ("<tr><th>A<th>B<tr><td colspan=2>Title<tr><td>1<td>2", ["Title", "A: 1; B: 2"]),
        ("<tr><th>A<tr><td>one<tr><td>two", ["A: one", "A: two"]),
        ("<tr><th>A<th>B<tr><td>1<td><table><tr><td>x<td>y</table>", ["A: 1; B: x; y"]),
        ("<tr><th>A<th>B<tr><td><ul><li>i<li>j</ul><td>2<br>3", ["A: - i - j; B: 2 3"]),
    ],
)
def test_table_shapes(table: str, expected: list[str]) -> None:
    parsed = page(f"<table>{table}</table>")
    assert lines(parsed) == expected
    assert {block.kind for block in parsed.blocks} == {BlockKind.TABLE_ROW}


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td><h2>T</h2><p>Body.</p></table>",
        "<table><tr><td><h2>T</h2><p>Body.</p></table>",
        "<table><tr><td><h2>T</h2></td><td></td></tr><tr><td>Body.<td></table>",
    ],
)
def test_layout_table_is_no_table(table: str) -> None:
    parsed = page(table)
    assert lines(parsed) == ["T", "Body."]
    assert parsed.blocks[0].kind is BlockKind.HEADING


# Notes


@pytest.mark.parametrize(
    "body",
    [
        '<p>Leave is 20<sup><a href="#fn1" id="r1">1</a></sup> days.</p><p>Next.</p><section '
        'class="footnotes"><h2>Notes</h2><ol><li id="fn1"><p>Pro rata. <a href="#r1">↩</a></p>'
        "</ol></section>",
        '<p>Leave is 20<a href="#_ftn1" name="_ftnref1"><span><sup>1</sup></span></a> days.</p>'
        '<p>Next.</p><div id=ftn1><p><a href="#_ftnref1" name="_ftn1">1</a> Pro rata.</p></div>',
        "<p>Leave is 20 days<sup>1</sup>.</p><p>Next.</p><p><sup>1</sup> Pro rata.</p>",
        '<p>Leave is 20<a class="footnote-ref" href="#x">1</a> days.</p><p>Next.</p>'
        "<p id=x>1. Pro rata.</p>",
    ],
)
def test_note_follows_the_paragraph_that_cites_it(body: str) -> None:
    parsed = page(body)
    assert lines(parsed) == ["Leave is 20 days.", "1 Pro rata.", "Next."]
    assert parsed.blocks[1].kind is BlockKind.FOOTNOTE


def test_links_back_from_a_note_make_no_note_of_the_paragraph() -> None:
    parsed = page(
        '<p>One.<sup id=cite_ref-a_0><a href="#cite_note-a">[1]</a></sup></p>'
        '<p>Two.<sup id=cite_ref-a_1><a href="#cite_note-a">[1]</a></sup></p>'
        '<ol class=references><li id=cite_note-a>^ <sup><a href="#cite_ref-a_0">a</a></sup> '
        '<sup><a href="#cite_ref-a_1">b</a></sup> Smith 1992.</ol>'
    )
    assert [line.removeprefix("[1] ^ ") for line in lines(parsed)] == [
        "One.",
        "Smith 1992.",
        "Two.",
    ]


def test_note_of_a_table_follows_the_table() -> None:
    parsed = page(
        '<table><tr><th>A<th>B<tr><td>x<sup><a href="#n">*</a></sup><td>1</table>'
        "<p>After.</p><p id=n>* Pro rata.</p>"
    )
    assert lines(parsed) == ["A: x; B: 1", "* Pro rata.", "After."]


def test_raised_numbers_keep_their_meaning() -> None:
    parsed = page(
        "<p>10<sup>6</sup> on 5 m<sup>2</sup>, CO<sub>2</sub>, the 1<sup>st</sup> for staff"
        "<sup>3</sup>.</p>"
    )
    assert parsed.text == "10^6 on 5 m², CO2, the 1st for staff."


def test_links_inside_a_text_are_no_notes() -> None:
    body = '<p>See <a href="#s2">2</a>.</p><h2 id=s2>2 Rules</h2><p>Text.</p>'
    assert lines(page(body)) == ["See 2.", "2 Rules", "Text."]


# Changes, ruby, controls


def test_deleted_and_struck_text_goes_with_a_warning() -> None:
    parsed = page(
        "<p>Days: <del>10</del> <ins>12</ins>, <s>old</s> <span style='text-decoration: "
        "line-through'>gone</span>now.</p>"
    )
    assert parsed.text == "Days: 12, now."
    assert [notice.code for notice in parsed.warnings] == ["struck_text"]
    assert [hidden.where for hidden in parsed.hidden] == ["struck"] * 3


def test_ruby_controls_and_drawings() -> None:
    parsed = page(
        "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字</p><svg><title>Logo</title>"
        "<text>Step 1</text></svg><p><label>Name <input value=Ann></label> "
        "<input type=checkbox checked> I agree <button>Send</button></p>"
        "<form><textarea>typed</textarea></form>"
    )
    assert lines(parsed) == ["漢字", "Step 1", "Name [x] I agree Send"]
    assert {hidden.text for hidden in parsed.hidden} >= {"かん", "Logo", "Ann", "typed"}


def test_summary_quote_and_bold() -> None:
    parsed = page(
        "<details><summary>May I?</summary><p>Yes.</p></details><blockquote><h2>Q</h2>"
        "</blockquote><p><b>1. Scope</b></p><p>He said <q>no</q>.</p>"
    )
    assert lines(parsed) == ["May I?", "Yes.", "Q", "1. Scope", "He said “no”."]
    assert parsed.blocks[2].kind is BlockKind.QUOTE
    assert parsed.blocks[3].flags == {"bold"}


# About the page


def test_metadata_language_and_active_content() -> None:
    markup = (
        "<!doctype html><html lang='zh-TW'><head><title>T</title><meta name=description "
        "content='About it'><meta property='article:modified_time' content='2024-05-01'>"
        "<meta http-equiv=refresh content='0;url=https://x.example'><script>var a = 1;</script>"
        "<base href='https://y.example/'></head><body onload='go()'><p>12</p>"
        "<form action='https://z.example/send'></form><form action='/here'></form>"
        "<iframe src='https://f.example'></iframe><object data='x.swf'></object></body></html>"
    )
    parsed = parse(markup.encode(), file_name="a.html")
    assert parsed.language == "zh-Hant"
    assert parsed.metadata == {
        "title": "T",
        "description": "About it",
        "modified": "2024-05-01",
        "language": "zh-TW",
    }
    kinds = [(item.kind, item.is_dangerous) for item in parsed.active_content]
    assert kinds == [
        ("redirect", False),
        ("javascript", False),
        ("javascript", False),
        ("form_submit", False),
        ("external_link", False),
        ("embedded_file", False),
    ]
    assert "active_content" in [notice.code for notice in parsed.warnings]
    assert parsed.text == "12"


# What pages do to parsers


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 10_000 + "end",
        "<ul><li>x" * 1_000 + "end",
        "<table><tr><td>x<td>" * 500 + "end",
        "<p>" + "a b " * 250_000 + "end",
        "<p>a<p>b<b>c<i>d<td>e</p></div></span>end",
        "<style>" + "a{" * 20_000 + "</style><p>end",
        "<style>" + ".a .b{display:none}" * 1_000 + "</style>" + "<p class=b>x" * 300 + "<p>end",
        "<table>" + "<tr><td rowspan=65000 colspan=900>lab<td>" * 200 + "</table>end",
        "<p>x<sup><a href=#n>1</a></sup>" * 500 + "<p id=n>1 note<p>end",
        "<ol start=99999999999999 value=x><li value=-7 type=i>end",
        "<textarea><p>x</textarea>end",
        "<![CDATA[x]]><?php echo 1 ?><!doctype x>end",
    ],
)
def test_odd_pages_are_read_in_bounded_time(body: str) -> None:
    parsed = page(body)
    assert "end" in parsed.text


def test_page_that_nests_without_end_is_refused_with_a_reason() -> None:
    with pytest.raises(ParseError) as raised:
        page("<div>" * 100_000)
    assert raised.value.code == "refused"
    assert raised.value.message.endswith(".")


def test_page_without_visible_text_is_empty() -> None:
    with pytest.raises(ParseError) as raised:
        page("<script>x</script><img src=x>")
    assert raised.value.code == "empty"


TAGS = (
    "p /p div b /b ol li /ol ul /ul table tr td th /table dl dt dd h2 /h2 br sup /sup pre /pre"
    " a /a q blockquote hr"
)
FRAGMENTS = st.sampled_from([f"<{tag}>" for tag in TAGS.split()])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(FRAGMENTS, st.text("abc 12.", min_size=1, max_size=6)), max_size=40))
def test_words_between_any_tags_are_kept_in_blocks(pieces: list[str]) -> None:
    body = "".join(pieces)
    try:
        parsed = page(f"<p>start</p>{body}")
    except ParseError:
        return
    for before, after in zip(parsed.blocks, parsed.blocks[1:], strict=False):
        assert before.end <= after.start
    covered = "".join(lines(parsed))
    assert sorted("".join(covered.split())) == sorted("".join(parsed.text.split()))
    for letter in "abc":
        wanted = sum(piece.count(letter) for piece in pieces if not piece.startswith("<"))
        assert parsed.text.count(letter) >= wanted


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_in_a_page_give_text_or_a_parse_error(data: bytes) -> None:
    try:
        parsed = parse(b"<!doctype html><p>" + data, file_name="a.html")
    except ParseError:
        return
    assert "\r" not in parsed.text
    assert "\x00" not in parsed.text
