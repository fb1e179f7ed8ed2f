from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.chunk import build_chunks
from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections
from documents.records import (
    Block,
    BlockKind,
    ChunkRecord,
    MediaType,
    PageRecord,
    ParsedDocument,
    SectionRecord,
    WordBox,
)

Made = tuple[ParsedDocument, tuple[SectionRecord, ...], tuple[ChunkRecord, ...]]


def count_tokens(text: str) -> int:
    """Words, marks and Chinese characters, as a tokenizer counts them or more."""
    return len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text))


def make(text: str, *, max_tokens: int = 254, name: str = "a.txt") -> Made:
    parsed = parse(text.encode(), file_name=name)
    sections = build_sections(parsed, fallback_title="T")
    chunks = build_chunks(parsed, sections, count_tokens=count_tokens, max_tokens=max_tokens)
    return parsed, sections, chunks


def check(made: Made, max_tokens: int) -> None:
    parsed, sections, chunks = made
    covered = [False] * len(parsed.text)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end <= after.start + after.overlap
    for ordinal, chunk in enumerate(chunks):
        section = sections[chunk.section]
        assert chunk.ordinal == ordinal
        assert chunk.text == parsed.text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip()
        assert section.body_start <= chunk.start < chunk.end <= section.end
        assert chunk.tokens <= max_tokens
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    for section in sections:
        for index in range(section.body_start, section.end):
            assert covered[index] or parsed.text[index].isspace()


WORDS = st.sampled_from(
    ["staff", "must", "keep", "logs", "x" * 40, "e.g.", "第三條", "應", "30", "B."]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=14).map(lambda words: " ".join(words) + ". ")
PARAGRAPHS = st.lists(SENTENCES, min_size=1, max_size=6).map("".join)
PIECES = st.one_of(
    PARAGRAPHS,
    SENTENCES.map(lambda text: f"(a) {text}"),
    SENTENCES.map(lambda text: f"- {text}"),
    st.sampled_from(
        ["1. Scope", "2. Rules", "## Head", "| a | b |\n|---|---|\n| c | d |", "```\nx\n```"]
    ),
    st.text(alphabet="ab。！ \n:", min_size=1, max_size=60),
)


@settings(deadline=None)
@given(
    st.lists(PIECES, min_size=1, max_size=12),
    st.sampled_from(["\n", "\n\n"]),
    st.integers(min_value=4, max_value=40),
    st.sampled_from(["a.txt", "a.md"]),
)
def test_no_text_is_lost_and_no_chunk_is_too_long(
    pieces: list[str], gap: str, max_tokens: int, name: str
) -> None:
    text = gap.join([*pieces, "the end"])
    check(make(text, max_tokens=max_tokens, name=name), max_tokens)


def test_section_that_fits_is_one_chunk() -> None:
    _, _, chunks = make("1. Scope\nAll staff.\n\nAlso guests.\n2. Rules\nBe kind.\n")
    assert [chunk.text for chunk in chunks] == ["All staff.\n\nAlso guests.", "Be kind."]


def test_clause_keeps_its_number_and_heading_is_in_no_chunk() -> None:
    _, _, chunks = make("4 Retention\n4.1 Logs are kept for a year.\n4.2 Mail is deleted.\n")
    assert [chunk.text for chunk in chunks] == [
        "4.1 Logs are kept for a year.",
        "4.2 Mail is deleted.",
    ]


def test_section_without_body_has_no_chunk() -> None:
    _, _, chunks = make("# Handbook\n\n## 1 Security\n\n### 1.1 Doors\n\nStay shut.\n", name="a.md")
    assert [chunk.text for chunk in chunks] == ["Stay shut."]


def test_sub_clauses_stay_whole_and_keep_their_lead_in() -> None:
    items = "\n".join(f"({letter}) the person agrees to point {letter};" for letter in "abcdefgh")
    _, _, chunks = make(f"3.1 Data is used only where:\n{items}\n", max_tokens=24)
    assert len(chunks) > 1
    assert chunks[0].text.startswith("3.1 Data is used only where:\n(a)")
    assert all(re.match(r"3\.1|\([a-h]\)", chunk.text) for chunk in chunks)
    assert all(chunk.text.endswith(";") for chunk in chunks)


def test_lead_in_is_not_left_behind() -> None:
    filler = "Some words stand here first. " * 3
    items = "- lock the door of each room\n- switch off lights\n"
    _, _, chunks = make(f"{filler}\n\nStaff must:\n\n{items}", max_tokens=24)
    assert not any(chunk.text.endswith("must:") for chunk in chunks)


def test_sentences_overlap_by_one_where_a_paragraph_is_cut() -> None:
    text = " ".join(f"Lamp {n} is checked by fitter {n} in week {n}." for n in range(1, 40))
    _, _, chunks = make(text, max_tokens=60)
    for before, after in pairwise(chunks):
        assert after.overlap > 0
        repeated = after.text[: after.overlap].strip()
        assert before.text.endswith(repeated)
        assert repeated.count("Lamp") == 1
    assert chunks[0].overlap == 0


def test_end_of_a_long_clause_is_in_a_chunk() -> None:
    text = "1.1 " + "The processor keeps a record of each step. " * 400 + "Retention is 7 years."
    _, sections, chunks = make(text)
    assert chunks[-1].text.endswith("Retention is 7 years.")
    assert all(sections[chunk.section].number == "1.1" for chunk in chunks)


def test_table_row_is_never_cut_and_keeps_its_heads() -> None:
    rows = "\n".join(f"| Room {n} | {n} seats by the window |" for n in range(60))
    _, _, chunks = make(
        f"# Rooms\n\n| Room | Seats |\n|---|---|\n{rows}\n", name="a.md", max_tokens=40
    )
    lines = [line for chunk in chunks for line in chunk.text.split("\n")]
    assert lines == [f"Room: Room {n}; Seats: {n} seats by the window" for n in range(60)]


def test_stub_at_the_end_takes_a_neighbour() -> None:
    paragraphs = [f"Paragraph {n} says a few words about doors and locks." for n in range(10)]
    text = "\n\n".join([*paragraphs, "Ends."])
    _, _, chunks = make(text, max_tokens=100)
    assert chunks[-1].text != "Ends."


@pytest.mark.timeout(120)  # a quadratic step would take hours
@pytest.mark.parametrize(
    "line",
    [
        "A" * 200_000,
        "word " * 25_000,
        "Short words. " * 6_000,
        "字" * 50_000,
        "a: b; " * 20_000,
    ],
    ids=["letters", "words", "sentences", "ideographs", "marks"],
)
def test_one_endless_line_takes_seconds(line: str) -> None:
    _, _, chunks = make(f"4 Codes\n{line} END-OF-CODES\n")
    assert "END-OF-CODES" in chunks[-1].text
    assert max(chunk.tokens for chunk in chunks) <= 254


def test_word_of_one_token_is_still_limited_in_length() -> None:
    parsed = parse(b"x" * 50_000, file_name="a.txt")
    sections = build_sections(parsed, fallback_title="T")
    chunks = build_chunks(parsed, sections, count_tokens=lambda _: 1, max_tokens=10)
    assert max(len(chunk.text) for chunk in chunks) <= 80
    assert "".join(chunk.text for chunk in chunks) == parsed.text


def test_long_sentence_is_cut_after_a_semicolon() -> None:
    lamps = range(9)
    parts = [f"the steward of lamp {n} writes down what was lit and by whom" for n in lamps]
    text = "1. Lamps\n" + "; ".join(parts) + "."
    _, _, chunks = make(text, max_tokens=60)
    assert len(chunks) > 1
    assert all(chunk.text.endswith((";", ".")) for chunk in chunks)


def test_footnote_stays_with_the_paragraph_that_it_explains() -> None:
    lines = [f"Paragraph {n} says some words about lamps and oil." for n in range(6)]
    notes = [f"{n} Note {n} says more words." for n in range(6)]
    text, blocks = "", []
    for line, note in zip(lines, notes, strict=True):
        for kind, words in ((BlockKind.PARAGRAPH, line), (BlockKind.FOOTNOTE, note)):
            blocks.append(Block(kind, len(text), len(text) + len(words)))
            text += words + "\n\n"
    parsed = ParsedDocument(MediaType.DOCX, text.strip(), tuple(blocks))
    sections = build_sections(parsed, fallback_title="T")
    chunks = build_chunks(parsed, sections, count_tokens=count_tokens, max_tokens=26)
    assert len(chunks) > 1
    for line, note in zip(lines, notes, strict=True):
        assert any(line in chunk.text and note in chunk.text for chunk in chunks)


def test_chunk_and_section_know_their_pages() -> None:
    text = "1. Lamps\nLit at dusk.\n\n2. Oil\nFilled at dawn. Kept cold.\n"
    parsed = parse(text.encode(), file_name="a.txt")
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", parsed.text)]
    pages = [
        PageRecord(
            number,
            595,
            842,
            tuple(WordBox(a, b, (0, 0, 1, 1)) for a, b in words if low <= a < high),
        )
        for number, low, high in ((1, 0, 30), (2, 30, 45), (3, 45, 99))
    ]
    parsed = replace(parsed, pages=tuple(pages))
    sections = build_sections(parsed, fallback_title="T")
    chunks = build_chunks(parsed, sections, count_tokens=count_tokens)
    assert [section.pages for section in sections] == [(1,), (1, 2, 3)]
    assert [chunk.pages for chunk in chunks] == [(1,), (2, 3)]
