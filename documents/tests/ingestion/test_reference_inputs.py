"""The minimal inputs that other systems got wrong (REFERENCE.md, A1 to A21 and A33)."""

from __future__ import annotations

import re

import pytest

from documents.ingestion.process import process_document
from documents.records import ChunkKind, ClauseRecord, ProcessedDocument, SectionRecord

MAX_TOKENS = 254
Outline = list[tuple[str | None, str | None]]


def count_tokens(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text))


def process(text: str, name: str = "policy.txt") -> ProcessedDocument:
    document = process_document(
        text.encode(), file_name=name, title=None, count_tokens=count_tokens, screen=lambda *_: ()
    )
    check_nothing_is_lost(document)
    return document


def check_nothing_is_lost(document: ProcessedDocument) -> None:
    """Every character is in a heading or a chunk, and every chunk an exact slice."""
    text = document.parsed.text
    kept = [False] * len(text)
    for section in document.sections:
        kept[section.start : section.body_start] = [True] * (section.body_start - section.start)
    for chunk in document.chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.tokens <= MAX_TOKENS
        kept[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    assert all(is_kept or char.isspace() for is_kept, char in zip(kept, text, strict=True))


def outline(document: ProcessedDocument) -> Outline:
    return [(s.number, s.title) for s in document.sections if s.number or s.title]


def section(document: ProcessedDocument, number: str) -> SectionRecord:
    return next(each for each in document.sections if each.number == number)


def words(document: ProcessedDocument, each: SectionRecord | ClauseRecord) -> str:
    return document.parsed.text[each.start : each.end].strip()


def kind_of(text: str) -> ChunkKind:
    document = process(text)
    return document.chunks[-1].kind


OUTLINES = [
    pytest.param(
        "1. Introduction\nThis policy governs data.\n2. Scope\nAll staff.\n",
        [("1", "Introduction"), ("2", "Scope")],
        id="A1",
    ),
    pytest.param(
        '2.4 "Controller" means the entity.\n\n3. Data Collection\n3.1 We shall collect little.\n',
        [("2.4", None), ("3", "Data Collection"), ("3.1", None)],
        id="A2",
    ),
    pytest.param(
        '2. Terms\n2.4 "Controller" means the entity.\n\n3. Data Collection\n3.1 We shall act.\n',
        [("2", "Terms"), ("2.4", None), ("3", "Data Collection"), ("3.1", None)],
        id="A2-below-a-heading",
    ),
    pytest.param(
        "3.1 The Company shall collect personal data only for stated purposes.",
        [("3.1", None)],
        id="A3",
    ),
    pytest.param(
        "PRIVACY POLICY\nEffective Date: 1 January 2025\n\n1.1 All staff must read this.\n",
        [("1.1", None)],
        id="A4",
    ),
    pytest.param(
        "5.1 Access is given within\n30 days of a written request by the person.\n",
        [("5.1", None)],
        id="A5",
    ),
    pytest.param(
        "5.1 Access is given within\n30 days of a written request by the person.\n5.2 No fee.\n",
        [("5.1", None), ("5.2", None)],
        id="A5-between-clauses",
    ),
    pytest.param(
        "1.1 The Act of\n2018 applies to every processor in scope.\n", [("1.1", None)], id="A6"
    ),
    pytest.param(
        "4.1 Data is encrypted at rest.\n\n12\n\nand in transit between sites.\n",
        [("4.1", None)],
        id="A7",
    ),
    pytest.param(
        "6.1 Limits are as follows:\n1 Hotel 180 EUR a night\n2 Meals 40 EUR a day\n",
        [("6.1", None)],
        id="A8",
    ),
    pytest.param(
        "2.1 Security of systems\n2.1.1 Keys must be rotated.\n2.1.3 Logs must be kept.\n",
        [("2.1", "Security of systems"), ("2.1.1", None), ("2.1.3", None)],
        id="A9",
    ),
    pytest.param(
        "1.1 Main rule for all.\nANNEX A\n1.1 Annex rule for some.\n",
        [("1.1", None), ("ANNEX A", None), ("1.1", None)],
        id="A10",
    ),
    pytest.param(
        "Article 5\nPersonal data shall be processed lawfully.\n", [("Article 5", None)], id="A11"
    ),
    pytest.param(
        "§ 12 Retention\nLogs are kept for a year.\n\nSection 4 Breach notice\nTell us.\n",
        [("§ 12", "Retention"), ("Section 4", "Breach notice")],
        id="A12",
    ),
    pytest.param(
        "IV. Sanctions\nBreaches are punished.\n", [("IV", "Sanctions")], id="A14-roman"
    ),
    pytest.param(
        "A.1 Approved vendors\nOnly these are used.\n",
        [("A.1", "Approved vendors")],
        id="A14-lettered",
    ),
    pytest.param(
        "  2.1 Access to rooms\nBadges open doors.\n", [("2.1", "Access to rooms")], id="A15-indent"
    ),
    pytest.param(
        "第 53 條\n汽車駕駛人闖紅燈者，處罰鍰。\n", [("第53條", None)], id="A16-article"
    ),
    pytest.param(
        "2.5 No bribes.\n2.6 Gifts over 50 EUR must be declared.\n",
        [("2.5", None), ("2.6", None)],
        id="A17",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OUTLINES)
def test_outline_is_right_and_nothing_is_lost(text: str, expected: Outline) -> None:
    assert outline(process(text)) == expected


def test_a2_clause_does_not_end_with_the_next_heading() -> None:
    document = process('2.4 "Controller" means the entity.\n\n3. Data Collection\n3.1 Little.\n')
    assert words(document, section(document, "2.4")) == '2.4 "Controller" means the entity.'
    assert section(document, "3.1").path == ("3 Data Collection", "3.1")


def test_a3_clause_is_shown_under_its_parents_heading_never_its_own_words() -> None:
    document = process("3 Purpose\n3.1 The Company shall collect personal data for few ends.\n")
    clause = section(document, "3.1")
    assert (clause.title, clause.display_title) == (None, "Purpose")


def test_a4_preamble_and_effective_date_are_kept() -> None:
    document = process("PRIVACY POLICY\nEffective Date: 1 January 2025\n\n1.1 Read this.\n")
    assert "Effective Date: 1 January 2025" in document.chunks[0].text
    assert document.sections[0].number is None


def test_a5_clause_over_a_line_break_stays_whole() -> None:
    text = "5.1 Access is given within\n30 days of a written request.\n5.2 It is free.\n"
    document = process(text)
    assert words(document, section(document, "5.1")).endswith("30 days of a written request.")


def test_a7_page_number_does_not_cut_the_clause() -> None:
    document = process("4.1 Data is encrypted at rest.\n\n12\n\nand in transit between sites.\n")
    assert words(document, section(document, "4.1")).endswith("and in transit between sites.")


def test_a9_third_level_can_be_cited() -> None:
    document = process(
        "2.1 Security of systems\n2.1.1 Keys must be rotated.\n2.1.3 Logs must be kept.\n"
    )
    assert words(document, section(document, "2.1.3")) == "2.1.3 Logs must be kept."
    assert section(document, "2.1.3").path == ("2.1 Security of systems", "2.1.3")


def test_a10_same_number_in_an_annex_is_another_section() -> None:
    document = process("1.1 Main rule for all.\nANNEX A\n1.1 Annex rule for some.\n")
    paths = [each.path for each in document.sections if each.number == "1.1"]
    assert paths == [("1.1",), ("ANNEX A", "1.1")]


def test_a13_sub_clauses_can_be_cited() -> None:
    document = process(
        "4 Lawfulness\nProcessing is lawful where:\n(a) the data subject consents;\n"
        "(b) a contract needs it.\n"
    )
    assert [(each.label, words(document, each)) for each in document.clauses] == [
        ("4(a)", "(a) the data subject consents;"),
        ("4(b)", "(b) a contract needs it."),
    ]


def test_a13_sub_clauses_without_any_section() -> None:
    document = process("(a) the data subject consents;\n(b) a contract needs it.\n")
    assert [each.label for each in document.clauses] == ["(a)", "(b)"]


@pytest.mark.parametrize("mark", ["## 1 Scope", "  ## 1 Scope", "# 1. Scope"])
def test_a15_marked_heading(mark: str) -> None:
    assert outline(process(f"{mark}\nAll staff.\n", "policy.md")) == [("1", "Scope")]


def test_a18_end_of_a_long_clause_is_in_a_chunk_of_its_clause() -> None:
    document = process("1.1 " + "The processor keeps a record. " * 400 + "Retention is 7 years.")
    assert document.chunks[-1].text.endswith("Retention is 7 years.")
    assert {document.sections[chunk.section].number for chunk in document.chunks} == {"1.1"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param('7.1 By means of the "portal" staff report breaches.', None, id="A19"),
        pytest.param("7.2 A shallow review is not enough here.", ChunkKind.GENERAL, id="A20"),
        pytest.param(
            "7.3 Staff shall not share personal data.", ChunkKind.PROHIBITION, id="A21-not"
        ),
        pytest.param("8.1 Staff may work from home.", ChunkKind.PERMISSION, id="A21-may"),
        pytest.param(
            '2.4 "Controller" means the entity.', ChunkKind.DEFINITION, id="A2-definition"
        ),
    ],
)
def test_kind(text: str, kind: ChunkKind | None) -> None:
    found = kind_of(text)
    assert found is kind if kind else found is not ChunkKind.DEFINITION


def test_a33_last_sentence_of_a_long_clause_has_a_chunk_like_that_of_a_short_one() -> None:
    answer = "The archive keeps signed forms for eleven years."
    filler = "Each desk files its own copies by date and by name of the person. " * 115
    document = process(f"1 Archive\n1.1 {filler}{answer}\n1.2 {answer}\n")
    holders = [chunk for chunk in document.chunks if answer in chunk.text]
    assert [document.sections[chunk.section].number for chunk in holders] == ["1.1", "1.2"]
    assert all(chunk.tokens <= MAX_TOKENS for chunk in holders)
