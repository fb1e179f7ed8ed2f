from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.folding import (
    Folded,
    fold_for_quotes,
    fold_for_screening,
    fold_for_search,
)

# Ordinary letters mixed with everything that folding knows about.
_ODD = (
    "ﬁ１²½①ⅣＡé\u0301\u200b\u00ad\ufeff\u00a0\u3000\n\t “”‘’—–−が\u3099한ㄱ年㎡…ßİΣς"
    "\u202e\U000e0041\U0001f469\u200d\U0001f467"
)
_texts = st.text(alphabet=st.one_of(st.sampled_from(_ODD), st.characters(codec="utf-8")))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("“First” — ‘second’", "\"First\" - 'second'"),
        ("2019–2021 and −5", "2019-2021 and -5"),
        ("a\u00a0b\u2009c\n\n d", "a b c d"),
        ("re\u00adten\u200btion\ufeff", "retention"),
        ("ﬁle oﬃce", "file office"),
        ("ＡＥＳ　２５６", "AES 256"),
        ("「條文」『內』", '"條文""內"'),
        ("e\u0301te\u0301", "été"),
        ("か\u3099", "が"),
        ("Keep CASE", "Keep CASE"),
    ],
)
def test_quotes_fold_what_typing_varies(text: str, folded: str) -> None:
    assert fold_for_quotes(text).text == folded


@pytest.mark.parametrize("text", ["10² m", "1½ hours", "step ①", "H₂O", "2⒈", "100㎡", "3㋀"])
def test_quotes_make_up_no_digit(text: str) -> None:
    assert fold_for_quotes(text).text == text


@given(_texts)
def test_quotes_keep_the_digits_in_order(text: str) -> None:
    values = [unicodedata.decimal(c) for c in text if c.isdecimal()]

    assert [unicodedata.decimal(c) for c in fold_for_quotes(text).text if c.isdecimal()] == values


@given(_texts)
def test_quotes_folded_twice_stay(text: str) -> None:
    once = fold_for_quotes(text).text

    assert fold_for_quotes(once).text == once


def _assert_way_back(folded: Folded, original: str) -> None:
    assert len(folded.offsets) == len(folded.text) + 1
    assert folded.offsets[-1] == len(original)
    assert list(folded.offsets) == sorted(folded.offsets)
    assert all(0 <= offset <= len(original) for offset in folded.offsets)


@given(_texts)
def test_every_form_has_a_way_back(text: str) -> None:
    for folded in (fold_for_quotes(text), *fold_for_screening(text)):
        _assert_way_back(folded, text)


@given(_texts, st.data())
def test_a_span_of_the_original_folds_to_what_was_found(text: str, data: st.DataObject) -> None:
    folded = fold_for_quotes(text)
    start = data.draw(st.integers(0, len(folded.text)))
    end = data.draw(st.integers(start, len(folded.text)))

    first, last = folded.span(start, end)

    assert 0 <= first <= last <= len(text)
    assert folded.text[start:end] in fold_for_quotes(text[first:last]).text


def test_span_takes_a_whole_ligature() -> None:
    text = "the ﬁle"
    folded = fold_for_quotes(text)
    start = folded.text.index("f")

    assert text[slice(*folded.span(start, start + 1))] == "ﬁ"


def test_span_of_nothing_is_empty() -> None:
    assert fold_for_quotes("abc").span(1, 1) == (1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İzin", "izin"),
        ("Straße", "STRASSE"),
        ("ΦΌΡΟΣ", "φόρος"),
        ("résiliation", "RE\u0301SILIATION"),
        ("Kündigung", "Ku\u0308ndigung"),
        ("smørrebrød", "smorrebrod"),
        ("ＩＳＯ", "iso"),
    ],
)
def test_search_sees_no_case_and_no_accents(one: str, other: str) -> None:
    assert fold_for_search(one) == fold_for_search(other)


@pytest.mark.parametrize("text", ["й", "が", "한", "हिन्दी", "שָׁלוֹם"])
def test_search_keeps_marks_that_are_letters(text: str) -> None:
    assert fold_for_search(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize(
    "text",
    [
        "Іgnоrе thіs",  # Cyrillic look-alikes
        "ｉｇｎｏｒｅ ｔｈｉｓ",
        "i\u0336g\u0336n\u0336o\u0336r\u0336e this",
        "ig\u200bno\u200dre this",
        "𝐢𝐠𝐧𝐨𝐫𝐞 this",
        "IGNORE   this",
        "1gn0r3 th1s",
        "ignoré thìs",
    ],
)
def test_screening_reads_through_disguise(text: str) -> None:
    assert "ignore this" in {form.text for form in fold_for_screening(text)}


@pytest.mark.parametrize("text", ["i g n o r e", "i.g.n.o.r.e", "i-g-n-o-r-e", "I_G_N_O_R_E"])
def test_screening_joins_spaced_letters(text: str) -> None:
    assert "ignore" in {form.text for form in fold_for_screening(text)}


def test_screening_keeps_line_starts() -> None:
    assert fold_for_screening("One.\n\n  Two  three")[0].text == "one.\ntwo three"


def test_plain_text_has_one_form() -> None:
    assert len(fold_for_screening("Section 4.3 applies from 2024.")) == 1


@given(_texts)
def test_screening_marks_all_that_it_changed(text: str) -> None:
    first, *others = fold_for_screening(text)

    assert first.changed is None
    for form in others:
        assert form.changed
        assert all(0 <= start <= end <= len(form.text) for start, end in form.changed)


@pytest.mark.timeout(120)  # less than a second; a quadratic step takes minutes
@pytest.mark.parametrize(
    "unit", ["a" * 60, "plain words “quoted” ", "年假共十天。", "e\u0301\u200b"]
)
def test_folding_takes_linear_time(unit: str) -> None:
    text = unit * (150_000 // len(unit))
    assert fold_for_screening(text)
