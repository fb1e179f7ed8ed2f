"""Automatic numbers: against what the standard says, and against a model written apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.parsers.docx import parse_docx
from documents.ingestion.parsers.docx.number_formats import format_number
from documents.tests.ingestion.docx_files import docx, level, lists, p, parse, texts

LEGAL = (
    level(0, "decimal", "%1.")
    + level(1, "decimal", "%1.%2")
    + level(2, "lowerLetter", "(%3)")
    + level(3, "lowerRoman", "(%4)")
)


def labels(body: str, numbering: str, styles: str = "") -> list[str]:
    """What is printed before `x` in each paragraph."""
    parts = {"numbering": numbering, "styles": styles}
    return [text.removesuffix("x").strip() for text in texts(parse(body, parts=parts))]


def numbers(body: str, numbering: str, styles: str = "") -> list[str | None]:
    document = parse(body, parts={"numbering": numbering, "styles": styles})
    return [block.number for block in document.blocks]


def items(*places: tuple[int, int]) -> str:
    return "".join(p("x", num=place) for place in places)


def test_levels_count_and_start_again_below_a_new_parent() -> None:
    body = items((1, 0), (1, 1), (1, 2), (1, 2), (1, 3), (1, 1), (1, 2), (1, 0), (1, 1))
    numbering = lists({0: LEGAL}, {1: (0, "")})

    assert labels(body, numbering) == [
        "1.", "1.1", "(a)", "(b)", "(i)", "1.2", "(a)", "2.", "2.1",
    ]  # fmt: skip
    assert numbers(body, numbering) == [
        "1", "1.1", "1.1(a)", "1.1(b)", "1.1(b)(i)", "1.2", "1.2(a)", "2", "2.1",
    ]  # fmt: skip


def test_lists_with_one_definition_count_on_and_an_override_starts_anew() -> None:
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbering = lists({0: LEGAL}, {1: (0, ""), 2: (0, ""), 3: (0, override)})

    assert labels(items((1, 0), (2, 0), (3, 0), (3, 0), (1, 0)), numbering) == [
        "1.", "2.", "1.", "2.", "3.",
    ]  # fmt: skip


def test_an_override_may_redefine_a_level() -> None:
    override = f'<w:lvlOverride w:ilvl="0">{level(0, "upperRoman", "Part %1")}</w:lvlOverride>'
    numbering = lists({0: LEGAL}, {1: (0, ""), 2: (0, override)})

    assert labels(items((1, 0), (2, 0)), numbering) == ["1.", "Part II"]


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        ("", ["1", "1.1", "(a)", "1.2", "(a)", "2", "2.1", "(a)"]),
        ('<w:lvlRestart w:val="0"/>', ["1", "1.1", "(a)", "1.2", "(b)", "2", "2.1", "(c)"]),
        ('<w:lvlRestart w:val="1"/>', ["1", "1.1", "(a)", "1.2", "(b)", "2", "2.1", "(a)"]),
    ],
)
def test_a_level_restarts_where_it_says(restart: str, expected: list[str]) -> None:
    levels = level(0, "decimal", "%1") + level(1, "decimal", "%1.%2")
    numbering = lists({0: levels + level(2, "lowerLetter", "(%3)", extra=restart)}, {1: (0, "")})
    body = items((1, 0), (1, 1), (1, 2), (1, 1), (1, 2), (1, 0), (1, 1), (1, 2))

    assert labels(body, numbering) == expected


def test_legal_numbering_prints_digits_only() -> None:
    levels = level(0, "upperRoman", "Article %1.") + level(
        1, "decimalZero", "Section %1.%2", extra="<w:isLgl/>"
    )
    numbering = lists({0: levels}, {1: (0, "")})

    assert labels(items((1, 0), (1, 0), (1, 1)), numbering) == [
        "Article I.", "Article II.", "Section 2.01",
    ]  # fmt: skip


def test_a_level_that_was_passed_over_shows_its_start() -> None:
    numbering = lists({0: LEGAL}, {1: (0, "")})

    assert labels(items((1, 1), (1, 1), (1, 0)), numbering) == ["1.1", "1.2", "2."]
    # No one has seen a clause 1 or 1.1: they are no part of the label.
    assert numbers(items((1, 2)), numbering) == ["(a)"]


def test_a_start_other_than_one() -> None:
    numbering = lists({0: level(0, "lowerRoman", "%1)", start=4)}, {1: (0, "")})

    assert labels(items((1, 0), (1, 0)), numbering) == ["iv)", "v)"]
    assert numbers(items((1, 0)), numbering) == ["(iv)"]


def test_list_number_zero_takes_the_number_away() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="N"><w:name w:val="N"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    numbering = lists({0: LEGAL}, {1: (0, "")})
    body = p("x", style="N") + p("x", style="N", num=(0, 0)) + p("x", style="N")

    assert labels(body, numbering, styles) == ["1.", "", "2."]


def test_styles_give_list_and_level() -> None:
    """Level by the style's link in the list, list through the style it is based on."""
    levels = level(0, "decimal", "%1", extra='<w:pStyle w:val="H1"/>') + level(
        1, "decimal", "%1.%2", extra='<w:pStyle w:val="H2"/>'
    )
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/>'
        '<w:basedOn w:val="H1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    document = parse(
        p("One", style="H1") + p("Two", style="H2") + p("Three", style="H2"),
        parts={"numbering": lists({0: levels}, {1: (0, "")}), "styles": styles},
    )

    assert texts(document) == ["1 One", "1.1 Two", "1.2 Three"]
    assert [block.level for block in document.blocks] == [1, 2, 2]


def test_a_list_style_is_followed_to_its_definition() -> None:
    abstracts = {
        0: f'<w:styleLink w:val="L"/>{LEGAL}',
        1: '<w:numStyleLink w:val="L"/>',
    }
    styles = (
        '<w:style w:type="numbering" w:styleId="L"><w:name w:val="L"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    numbering = lists(abstracts, {1: (0, ""), 2: (1, "")})

    assert labels(items((2, 0), (2, 1)), numbering, styles) == ["1.", "1.1"]


def test_removed_paragraphs_and_hidden_ones_do_not_count() -> None:
    removed = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
        '<w:rPr><w:del w:id="1" w:author="a"/></w:rPr></w:pPr>'
        '<w:del w:id="2" w:author="a"><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>'
    )
    hidden = p(
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>",
        num=(1, 0),
        properties="<w:rPr><w:vanish/></w:rPr>",
    )
    body = items((1, 0)) + removed + hidden + items((1, 0))

    assert labels(body, lists({0: LEGAL}, {1: (0, "")})) == ["1.", "2."]


def test_empty_numbered_paragraphs_count() -> None:
    body = items((1, 0)) + p(num=(1, 0)) + items((1, 0))

    assert labels(body, lists({0: LEGAL}, {1: (0, "")})) == ["1.", "3."]


def test_items_of_another_list_hang_below_the_heading_and_by_indent() -> None:
    numbering = lists(
        {
            0: level(0, "decimal", "%1") + level(1, "decimal", "%1.%2"),
            1: level(0, "lowerLetter", "(%1)", left=720),
            2: level(0, "lowerRoman", "(%1)", left=1440),
            3: level(0, "decimal", "%1.", left=720),
        },
        {1: (0, ""), 2: (1, ""), 3: (2, ""), 4: (3, "")},
    )
    styles = (
        '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 2"/>'
        '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    body = p("Scope", style="H", num=(1, 1)) + items((2, 0), (3, 0), (3, 0), (2, 0))
    assert numbers(body, numbering, styles) == [
        "1.1", "1.1(a)", "1.1(a)(i)", "1.1(a)(ii)", "1.1(b)",
    ]  # fmt: skip

    body = p("Scope", style="H", num=(1, 1)) + items((4, 0), (4, 0))
    assert numbers(body, numbering, styles) == ["1.1", "1.1(1)", "1.1(2)"]

    body = p("7 Scope", style="H") + items((2, 0))
    assert numbers(body, numbering, styles) == [None, "7(a)"]

    body = p("Scope", style="H", num=(1, 1)) + p("More", style="H") + items((2, 0))
    assert numbers(body, numbering, styles) == ["1.1", None, "(a)"]


def test_items_hang_below_a_number_that_the_author_typed() -> None:
    numbering = lists(
        {0: level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)")}, {1: (0, "")}
    )
    body = items((1, 0)) + p("1.1 First.") + items((1, 1), (1, 1)) + p("1.2 Next.") + items((1, 1))

    assert numbers(body, numbering) == ["1", None, "1.1(a)", "1.1(b)", None, "1.2(c)"]


def test_nested_items_are_indented_and_bullets_are_dashes() -> None:
    levels = level(0, "bullet", "\uf0b7") + level(1, "bullet", "o") + level(2, "decimal", "%3.")
    document = parse(
        items((1, 0), (1, 1), (1, 2), (1, 0)),
        parts={"numbering": lists({0: levels}, {1: (0, "")})},
    )

    assert document.text == "- x\n  - x\n\n    1. x\n- x"
    assert [block.number for block in document.blocks] == [None, None, "1", None]


def test_what_stands_between_number_and_text() -> None:
    numbering = lists(
        {
            0: level(0, "chineseCountingThousand", "第%1條", extra='<w:suff w:val="nothing"/>'),
            1: level(0, "decimal", "%1", extra='<w:suff w:val="nothing"/>'),
        },
        {1: (0, ""), 2: (1, "")},
    )
    document = parse(p("目的", num=(1, 0)) + p("Scope", num=(2, 0)), parts={"numbering": numbering})

    assert texts(document) == ["第一條目的", "1 Scope"]


def test_a_list_or_level_that_is_not_defined_prints_nothing() -> None:
    numbering = lists({0: level(0, "decimal", "%1.")}, {1: (0, ""), 9: (77, "")})

    assert labels(items((5, 0), (9, 0), (1, 4), (1, 0)), numbering) == ["", "", "", "2."]


@pytest.mark.parametrize(
    ("kind", "counts", "printed"),
    [
        ("decimal", (1, 12), "1 12"),
        ("decimalZero", (1, 12), "01 12"),
        ("upperRoman", (4, 9, 1999), "IV IX MCMXCIX"),
        ("lowerLetter", (1, 26, 27, 53), "a z aa aaa"),
        ("upperLetter", (28,), "BB"),
        ("ordinal", (1, 2, 3, 4, 11, 22, 113), "1st 2nd 3rd 4th 11th 22nd 113th"),
        ("cardinalText", (7, 21, 100), "Seven Twenty-one One hundred"),
        ("ordinalText", (1, 12, 20, 21), "First Twelfth Twentieth Twenty-first"),
        ("numberInDash", (3,), "- 3 -"),
        ("hex", (255,), "FF"),
        ("chicago", (1, 2, 5), "* † **"),
        ("chineseCounting", (1, 10, 11, 20, 99, 100, 105), "一 十 十一 二十 九十九 一〇〇 一〇五"),
        ("chineseCountingThousand", (10, 110, 101, 1010), "十 一百一十 一百零一 一千零一十"),
        ("taiwaneseCountingThousand", (12, 53, 240), "十二 五十三 二百四十"),
        ("taiwaneseCounting", (3, 14), "三 十四"),
        ("ideographDigital", (10, 25), "一〇 二五"),
        ("ideographTraditional", (1, 4, 10), "甲 丁 癸"),
        ("ideographZodiac", (1, 12), "子 亥"),
        ("ideographLegalTraditional", (3, 12, 100), "參 壹拾貳 壹佰"),
        ("chineseLegalSimplified", (2, 30), "贰 叁拾"),
        ("japaneseCounting", (10, 111, 1001), "十 百十一 千一"),
        ("decimalEnclosedCircle", (1, 20, 21, 51), "① ⑳ ㉑ 51"),
        ("decimalEnclosedParen", (2,), "⑵"),
        ("decimalFullWidth", (10,), "１０"),
        ("ganada", (1, 3), "가 다"),
        ("koreanCounting", (1, 12, 20), "일 십이 이십"),
        ("iroha", (1, 2), "イ ロ"),
        ("aiueo", (1, 6), "ア カ"),
        ("hebrew1", (1, 15, 21), "א טו כא"),
        ("arabicAbjad", (2,), "ب"),
        ("russianLower", (2,), "б"),
        ("thaiNumbers", (12,), "๑๒"),
        ("none", (3,), ""),
        ("something new", (3,), "3"),
    ],
)  # fmt: skip
def test_counters_are_printed_in_their_format(
    kind: str, counts: tuple[int, ...], printed: str
) -> None:
    assert " ".join(format_number(count, kind) for count in counts) == printed


def test_a_custom_format_says_how_many_digits() -> None:
    assert format_number(7, "custom", "001, 002, 003, ...") == "007"


class Model:
    """Numbers as the standard describes them, kept per paragraph as a whole list of counts."""

    def __init__(self, starts: list[int], overrides: dict[int, dict[int, int]]) -> None:
        self.starts, self.overrides = starts, overrides
        self.last: list[int] = []
        self.done: set[tuple[int, int]] = set()

    def step(self, num: int, ilvl: int) -> str:
        override = self.overrides.get(num, {})
        first = override.get(ilvl, self.starts[ilvl])
        above = [
            self.last[i] if i < len(self.last) else override.get(i, self.starts[i])
            for i in range(ilvl)
        ]
        is_new = ilvl in override and (num, ilvl) not in self.done
        self.done.add((num, ilvl))
        goes_on = len(self.last) > ilvl and not is_new
        self.last = [*above, self.last[ilvl] + 1 if goes_on else first]
        return ".".join(str(count) for count in self.last)


@settings(max_examples=60, deadline=None)
@given(
    starts=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    overrides=st.dictionaries(
        st.integers(2, 3), st.dictionaries(st.integers(0, 3), st.integers(0, 9), max_size=3)
    ),
    places=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=25),
)
def test_numbers_agree_with_a_model_written_apart(
    starts: list[int], overrides: dict[int, dict[int, int]], places: list[tuple[int, int]]
) -> None:
    levels = "".join(
        level(i, "decimal", ".".join(f"%{n + 1}" for n in range(i + 1)), start=start)
        for i, start in enumerate(starts)
    )
    nums = {
        num: (
            0,
            "".join(
                f'<w:lvlOverride w:ilvl="{ilvl}"><w:startOverride w:val="{start}"/></w:lvlOverride>'
                for ilvl, start in overrides.get(num, {}).items()
            ),
        )
        for num in (1, 2, 3)
    }
    data = docx(items(*places), parts={"numbering": lists({0: levels}, nums)})
    model = Model(starts, overrides)

    printed = [text.split()[0] for text in texts(parse_docx(data))]

    assert printed == [model.step(num, ilvl) for num, ilvl in places]
