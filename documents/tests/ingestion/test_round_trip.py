"""Any text through parse, structure and chunk: nothing lost, nothing moved, no sentence cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.process import process_document
from documents.ingestion.sentences import split_sentences
from documents.records import ProcessedDocument

MAX_TOKENS = 24


def count_tokens(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text))


def process(text: str, name: str, max_tokens: int = MAX_TOKENS) -> ProcessedDocument:
    return process_document(
        text.encode(),
        file_name=name,
        title=None,
        count_tokens=count_tokens,
        screen=lambda *_: (),
        max_tokens=max_tokens,
    )


def check(document: ProcessedDocument) -> None:
    text = document.parsed.text
    assert "".join(text[s.start : s.end] for s in document.sections) == text
    kept = [False] * len(text)
    for before, after in pairwise(document.chunks):
        assert before.start < after.start
        assert before.end <= after.start + after.overlap
        assert before.section <= after.section
    for chunk in document.chunks:
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip()
        kept[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    for section in document.sections:
        body = range(section.body_start, section.end)
        assert all(kept[index] or text[index].isspace() for index in body)
    for clause in document.clauses:
        assert text[clause.start : clause.end].strip()


PIECES = st.sampled_from(
    ["1. Scope", "1.1 All staff must act.", "2. Rules", "ANNEX A", "Article 5", "12", "",
     "第一條　員工應登記。", "(a) an item;", "(i) another;", "SICK LEAVE", "# Head", "- item",
     "| a | b |\n|---|---|\n| c | d |", "一、目的", "as follows:", "30 days of it",
     "See section 1.1(a) and 前條。", "```\nx\n```",
     "Some text that says more. And a second sentence, e.g. of No. 5, that ends here."]
)  # fmt: skip
ANY_TEXT = st.one_of(
    st.lists(PIECES, min_size=1, max_size=25).map("\n".join),
    st.lists(PIECES, min_size=1, max_size=25).map("\n\n".join),
    st.lists(PIECES, min_size=1, max_size=25).map("  ".join),
    st.text(max_size=200),
)


@settings(deadline=None)
@given(ANY_TEXT, st.sampled_from(["a.txt", "a.md"]))
def test_any_text_is_kept_in_order_and_exactly(text: str, name: str) -> None:
    try:
        document = process(text, name)
    except ParseError:
        return
    check(document)


WORDS = st.sampled_from(["staff", "keeps", "Art. 5", "e.g. logs", "30", "each lamp", "U.S. law"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(
    lambda words: f"The {' '.join(words)} ends."
)
HAN = st.sampled_from(["員工應登記。", "前項登記，免費；逾期者，罰之。", "「可以嗎？」不可。"])


@settings(deadline=None)
@given(
    st.lists(st.one_of(SENTENCES, HAN), min_size=4, max_size=25),
    st.sampled_from([" ", "\n", "\n\n"]),
    st.sampled_from(["a.txt", "a.md"]),
)
def test_no_sentence_is_cut(sentences: list[str], gap: str, name: str) -> None:
    document = process(f"1. Scope\n\n{gap.join(sentences)}", name, 48)
    check(document)
    text = document.parsed.text
    starts = {0}
    for section in document.sections:
        spans = split_sentences(text[section.body_start : section.end])
        starts |= {section.body_start + start for start, _ in spans}
    for chunk in document.chunks:
        assert chunk.start in starts
        assert chunk.start + chunk.overlap in starts


@pytest.mark.timeout(120)  # a quadratic step would take many minutes
@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("{n} Heading of it\nThe body.\n", 6_000),
        ("## {n}. Heading\n\nThe body.\n\n", 3_000),
        ("- item {n} of the list\n", 6_000),
        ("1.{n} The clause says something. ", 6_000),
        ("第{n}條　員工應登記。\n前項登記免費。\n", 3_000),
    ],
    ids=["headings", "markdown", "items", "one-line", "articles"],
)
def test_very_large_text_takes_seconds(unit: str, times: int) -> None:
    text = "".join(unit.format(n=n) for n in range(1, times + 1))
    name = "a.md" if unit.startswith("#") else "a.txt"
    document = process(text, name, 254)
    assert document.chunks
