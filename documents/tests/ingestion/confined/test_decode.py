"""What a child says comes back as it was; what no honest child says is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.confined import decode, wire
from documents.ingestion.confined.encode import encode
from documents.records import (
    ActiveContent,
    Block,
    BlockKind,
    HiddenText,
    MediaType,
    Notice,
    PageRecord,
    ParsedDocument,
    SourceLink,
    WordBox,
)

FULL = ParsedDocument(
    media_type=MediaType.PDF,
    text="4.1 Keys\n\nKeys are returned daily.",
    blocks=(
        Block(BlockKind.HEADING, 0, 8, level=2, page=1, box=(1.5, 2.0, 30.25, 4.0), number="4.1"),
        Block(BlockKind.PARAGRAPH, 10, 34, page=1, flags=frozenset({"bold", "ocr"})),
    ),
    title="Keys",
    language="en",
    encoding="utf-8",
    warnings=(Notice("pages_without_text", "Page 2 holds no text.", (2,)),),
    metadata={"Author": "HR", "Titel": "鑰匙"},
    hidden=(HiddenText("white text", "white", 1), HiddenText("a comment", "comment")),
    pages=(
        PageRecord(1, 595.0, 842.0, (WordBox(0, 3, (1.0, 2.0, 3.0, 4.0)),), "iv", 0.93),
        PageRecord(3, 842.0, 595.0),
    ),
    active_content=(ActiveContent("javascript", "app.alert(1)", True, 1),),
    source_links=(SourceLink(10, 34, "https://law.example/4.1"),),
)


def assembled(messages: Iterable[dict[str, Any]]) -> ParsedDocument | None:
    assembler = decode.Assembler()
    for message in messages:
        assembler.accept(wire.unpack(json.dumps(message).encode()))
    return assembler.document


def messages() -> list[dict[str, Any]]:
    """What an honest child says, as plain JSON values."""
    said: list[dict[str, Any]] = json.loads(json.dumps(list(encode(FULL))))
    return said


def test_every_field_of_every_record_comes_back() -> None:
    assert assembled(encode(FULL)) == FULL


def test_a_long_document_comes_back_in_several_messages() -> None:
    text = "規則 " * 900_000
    blocks = tuple(Block(BlockKind.PARAGRAPH, n, n + 2) for n in range(5_000))
    document = ParsedDocument(MediaType.PLAIN, text, blocks)

    kinds = [message["kind"] for message in encode(document)]

    assert kinds.count("text") == 3
    assert kinds.count("blocks") == 3
    assert assembled(encode(document)) == document


def test_what_a_parser_measured_badly_is_mended_before_it_is_sent() -> None:
    nowhere = (float("nan"), 0.0, float("inf"), 1e12)
    odd = ParsedDocument(
        MediaType.PDF,
        "Keys",
        (Block(BlockKind.PARAGRAPH, 0, 4, box=nowhere),),
        title="t" * 200_000,
        metadata={"k" * 5_000: "v" * 200_000},
        pages=(PageRecord(1, float("inf"), -5.0, (WordBox(0, 4, nowhere),)),),
    )

    found = assembled(encode(odd))

    assert found is not None
    assert found.text == "Keys"
    assert found.blocks[0].box is None
    assert found.pages[0].words == ()


WRONG: list[Any] = [
    None,
    True,
    -1,
    10**30,
    1.5,
    "x\x00",
    "\ud800",
    "",
    [],
    {},
    [[]],
    "x" * 2_000_000,
]


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value inside a message stands."""
    found = [here] if here else []
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            found += paths(inner, (*here, key))
    return found


PLACES = [(n, path) for n, message in enumerate(messages()) for path in paths(message)]


@given(st.sampled_from(PLACES), st.sampled_from(WRONG))
def test_a_value_that_was_changed_is_refused_or_still_a_right_record(
    place: tuple[int, tuple[Any, ...]], wrong: Any
) -> None:
    said = messages()
    number, path = place
    target = said[number]
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = copy.deepcopy(wrong)

    assembler = decode.Assembler()
    with suppress(wire.BadMessageError):
        for message in said:
            assembler.accept(message)
    if assembler.document is not None:
        _is_right(assembler.document)


def _is_right(document: ParsedDocument) -> None:
    length = len(document.text)
    document.text.encode()
    assert isinstance(document.media_type, MediaType)
    for block in document.blocks:
        assert 0 <= block.start <= block.end <= length
        assert isinstance(block.kind, BlockKind)
    for page in document.pages:
        assert all(0 <= word.start <= word.end <= length for word in page.words)
    for hidden in document.hidden:
        assert isinstance(hidden.text, str)
        assert "\0" not in hidden.text
    assert all(isinstance(active.is_dangerous, bool) for active in document.active_content)
    assert all(isinstance(value, str) for value in document.metadata.values())


@pytest.mark.parametrize(
    ("number", "field", "value"),
    [
        (0, "media_type", "application/x-sh"),
        (0, "media_type", ["text/plain"]),
        (0, "title", "a\0b"),
        (0, "metadata", {"Author": 1}),
        (0, "warnings", [["code", "words", [0]]]),
        (0, "warnings", [["code", "words"]]),
        (1, "text", "half \udfff"),
        (2, "blocks", [["heading", 0, 999, None, None, [], None, None]]),
        (2, "blocks", [["heading", 8, 3, None, None, [], None, None]]),
        (2, "blocks", [["root", 0, 8, None, None, [], None, None]]),
        (2, "blocks", [["heading", False, 8, None, None, [], None, None]]),
        (2, "blocks", [["heading", 0, 8, 0, None, [], None, None]]),
        (2, "blocks", [["heading", 0, 8, None, None, [], [0, 0, 0], None]]),
        (2, "blocks", [["heading", 0, 8, None, None, [], [0, 0, 0, "1"], None]]),
        (3, "number", 0),
        (3, "width", -1),
        (3, "ocr_confidence", 1.5),
        (3, "words", [[0, 3, 0, 0, 1]]),
        (3, "words", [[5, 6, 0, 0, 1, 1], [0, 3, 0, 0, 1, 1]]),
        (4, "number", 1),
    ],
)
def test_a_lie_is_refused(number: int, field: str, value: Any) -> None:
    said = messages()
    said[number][field] = value

    with pytest.raises(wire.BadMessageError):
        assembled(said)


@pytest.mark.parametrize(
    "order", [[1], [2, 0], [0, 0], [0, 2, 1], [0, 3, 1], [0, 1, 2, 9, 9], [0, -1, 2]]
)
def test_messages_out_of_order_are_refused(order: list[int]) -> None:
    said = messages()

    with pytest.raises(wire.BadMessageError):
        assembled([said[n] if n < len(said) else said[-1] for n in order])


def test_too_many_things_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "MAX_THINGS", 5)

    with pytest.raises(wire.BadMessageError):
        assembled(messages())


@given(st.binary(max_size=200), st.integers(1, 50))
def test_bytes_in_any_pieces_give_the_same_messages(noise: bytes, size: int) -> None:
    whole = b"".join(wire.pack(message) for message in messages())
    received = wire.Messages(10_000)

    found = [m for n in range(0, len(whole), size) for m in received.feed(whole[n : n + size])]

    assert found == messages()
    with suppress(wire.BadMessageError):
        list(received.feed(noise))


@pytest.mark.parametrize("body", [b'{"a": NaN}', b'{"a": Infinity}', b"[1]", b"\xff", b"{" * 9000])
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(wire.BadMessageError):
        wire.unpack(body)


def test_an_announcement_beyond_the_limit_is_seen_before_it_comes() -> None:
    received = wire.Messages(1_000)

    assert list(received.feed(b"\x7f\xff\xff\xff")) == []
    assert received.is_over
