"""A claim leaves the parser with its closing brace, and nothing but the agreed form gets in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa.answering import draft_parser
from qa.answering.draft_parser import DraftParser
from qa.errors import ModelOutputError
from qa.records import Confidence, DraftCitation, DraftClaim, DraftEnd

CLAIM: dict[str, Any] = {
    "text": "Leave is 14 days.",
    "citations": [
        {"passage": "p1", "quote": "shall be 14 days"},
        {"passage": "p2", "quote": "特別休假十四日"},
    ],
}
PARSED = DraftClaim(
    "Leave is 14 days.",
    (DraftCitation("p1", "shall be 14 days"), DraftCitation("p2", "特別休假十四日")),
)


def reply(**changes: object) -> dict[str, Any]:
    whole = {"answerable": True, "claims": [CLAIM], "missing": None, "confidence": "high"}
    return whole | changes


def parsed(*pieces: str) -> tuple[list[DraftClaim], DraftEnd, bool | None]:
    parser = DraftParser()
    claims = [claim for piece in pieces for claim in parser.feed(piece)]
    return claims, parser.close(), parser.is_answerable


def test_whole_reply() -> None:
    claims, end, is_answerable = parsed(json.dumps(reply(claims=[CLAIM, CLAIM])))

    assert claims == [PARSED, PARSED]
    assert end == DraftEnd(is_answerable=True, missing=None, confidence=Confidence.HIGH)
    assert is_answerable is True


def test_claim_leaves_exactly_with_its_closing_brace() -> None:
    text = json.dumps(reply(claims=[CLAIM, CLAIM]))
    braces = [n for n, char in enumerate(text) if text[n : n + 2] in ("},", "}]")]
    ends = [n for n in braces if text[n - 1] == "]"]  # a claim ends after its citations
    parser = DraftParser()

    left_at = [n for n, char in enumerate(text) if parser.feed(char)]

    assert len(ends) == 2
    assert left_at == ends


def test_answerable_is_known_as_soon_as_it_is_said() -> None:
    parser = DraftParser()

    before = parser.is_answerable
    parser.feed('{"answerable": false, ')

    assert (before, parser.is_answerable) == (None, False)


def test_claims_of_a_reply_that_declines_are_dropped() -> None:
    claims, end, _ = parsed(json.dumps(reply(answerable=False, missing="the rate")))

    assert claims == []
    assert (end.is_answerable, end.missing) == (False, "the rate")


@pytest.mark.parametrize(("answerable", "expected"), [(True, [PARSED]), (False, [])])
def test_claims_wait_until_answerable_has_been_said(
    answerable: bool, expected: list[DraftClaim]
) -> None:
    whole = reply(answerable=answerable)
    parser = DraftParser()

    early = parser.feed(json.dumps({"claims": whole["claims"]})[:-1] + ", ")
    late = parser.feed(json.dumps({key: whole[key] for key in whole if key != "claims"})[1:])

    assert early == []
    assert late == expected
    assert parser.close().is_answerable is answerable


def test_missing_is_cut_to_its_limit() -> None:
    _, end, _ = parsed(json.dumps(reply(missing="x" * 500)))

    assert end.missing is not None
    assert len(end.missing) == draft_parser.MAX_MISSING_CHARS
    assert end.missing.endswith("…")


def test_blank_missing_is_none() -> None:
    assert parsed(json.dumps(reply(missing="  ")))[1].missing is None


WRONG = {
    "nothing": "",
    "no JSON": "I cannot help.",
    "unfinished": json.dumps(reply())[:-1],
    "more after the end": json.dumps(reply()) + "{}",
    "a list": json.dumps([reply()]),
    "a string": json.dumps("answerable"),
    "NaN": '{"answerable": NaN}',
    "a byte order mark": "\ufeff" + json.dumps(reply()),
    "a control character": json.dumps(reply()).replace("Leave", "Leave\x01"),
    "half a character": json.dumps(reply()).replace("Leave", "Leave\ud800"),
    "answerable as text": json.dumps(reply(answerable="true")),
    "answerable as null": json.dumps(reply(answerable=None)),
    "answerable as number": json.dumps(reply(answerable=1)),
    "claims as null": json.dumps(reply(claims=None)),
    "claims as object": json.dumps(reply(claims={"text": "x"})),
    "claim as text": json.dumps(reply(claims=["Leave is 14 days."])),
    "claim in a list": json.dumps(reply(claims=[[CLAIM]])),
    "claim without text": json.dumps(reply(claims=[{"citations": []}])),
    "claim without citations": json.dumps(reply(claims=[{"text": "x"}])),
    "claim with more": json.dumps(reply(claims=[CLAIM | {"url": "x"}])),
    "claim with text as number": json.dumps(reply(claims=[CLAIM | {"text": 1}])),
    "claim with empty text": json.dumps(reply(claims=[CLAIM | {"text": " "}])),
    "claim outside claims": json.dumps(reply() | {"claims.item": CLAIM}),
    "citation as text": json.dumps(reply(claims=[CLAIM | {"citations": ["p1"]}])),
    "citation without quote": json.dumps(reply(claims=[CLAIM | {"citations": [{"passage": "p"}]}])),
    "missing as list": json.dumps(reply(missing=["x"])),
    "missing left out": '{"answerable": false, "claims": [], "confidence": "low"}',
    "unknown confidence": json.dumps(reply(confidence="certain")),
    "confidence as null": json.dumps(reply(confidence=None)),
    "one key more": json.dumps(reply(note="x")),
    "answerable said twice": json.dumps(reply())[:-1] + ', "answerable": false}',
    "claims said twice": json.dumps(reply())[:-1] + ', "claims": []}',
    "text said twice": json.dumps(reply()).replace('"text":', '"text": "No.", "text":'),
    "an answer without a claim": json.dumps(reply(claims=[])),
    "too many claims": json.dumps(reply(claims=[CLAIM] * 13)),
    "too many citations": json.dumps(reply(claims=[CLAIM | {"citations": CLAIM["citations"] * 7}])),
    "claim too long": json.dumps(reply(claims=[CLAIM | {"text": "x" * 1_001}])),
    "quote too long": json.dumps(
        reply(claims=[CLAIM | {"citations": [{"passage": "p1", "quote": "x" * 1_001}]}])
    ),
    "reply too long": json.dumps(reply(missing="x" * draft_parser.MAX_REPLY_CHARS)),
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_anything_else_is_an_error_that_quotes_nothing(text: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        parsed(text)

    assert "14" not in caught.value.message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_an_error_is_found_however_the_text_is_cut(text: str) -> None:
    with pytest.raises(ModelOutputError):
        parsed(*text[:5_000], text[5_000:])


def test_limits_themselves_are_allowed() -> None:
    long_claim = {
        "text": "x" * draft_parser.MAX_CLAIM_CHARS,
        "citations": [{"passage": "p1", "quote": "q" * draft_parser.MAX_QUOTE_CHARS}],
    }
    text = json.dumps(reply(claims=[long_claim] * draft_parser.MAX_CLAIMS))

    assert len(parsed(text)[0]) == draft_parser.MAX_CLAIMS


@pytest.mark.timeout(60)  # milliseconds; minutes if each piece were parsed from the start
@pytest.mark.parametrize("junk", ["[" * 50_000, '{"a":' * 10_000, "{" * 50_000, " " * 59_999])
def test_junk_is_refused_in_no_time(junk: str) -> None:
    with pytest.raises(ModelOutputError):
        parsed(junk)


def test_a_parser_that_has_failed_goes_on_failing() -> None:
    parser = DraftParser()
    for _ in range(2):
        with pytest.raises(ModelOutputError):
            parser.feed("no JSON")


STRINGS = st.text(st.characters(codec="utf-8"), max_size=8)
CLAIMS = st.fixed_dictionaries(
    {
        "text": STRINGS.filter(str.strip),
        "citations": st.lists(
            st.fixed_dictionaries({"passage": STRINGS, "quote": STRINGS}), max_size=2
        ),
    }
)
REPLIES = st.fixed_dictionaries(
    {
        "answerable": st.booleans(),
        "claims": st.lists(CLAIMS, min_size=1, max_size=2),
        "missing": st.none() | STRINGS,
        "confidence": st.sampled_from(["high", "medium", "low"]),
    }
)


@settings(max_examples=30, deadline=None)  # each example is parsed once for every cut
@given(whole=REPLIES, ascii_only=st.booleans())
def test_every_two_way_cut_gives_the_same(whole: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(whole, ensure_ascii=ascii_only)
    expected = parsed(text)

    assert [claim.text for claim in expected[0]] == [
        claim["text"].strip() for claim in whole["claims"] if whole["answerable"]
    ]
    assert [[(c.passage, c.quote) for c in claim.citations] for claim in expected[0]] == [
        [(c["passage"], c["quote"]) for c in claim["citations"]]
        for claim in whole["claims"]
        if whole["answerable"]
    ]
    for cut in range(len(text) + 1):
        assert parsed(text[:cut], text[cut:]) == expected


@given(st.text(max_size=200), st.data())
def test_no_text_makes_anything_but_a_draft_or_an_error(text: str, data: st.DataObject) -> None:
    base = json.dumps(reply())
    start = data.draw(st.integers(0, len(base)))
    end = data.draw(st.integers(start, len(base)))
    try:
        claims, _, _ = parsed(base[:start] + text + base[end:])
    except ModelOutputError:
        return
    assert all(isinstance(claim, DraftClaim) for claim in claims)
