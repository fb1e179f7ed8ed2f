"""Reads the model's JSON while it is being written.

`feed` returns a claim exactly when its closing brace has arrived, never an open one, so that
it can be verified and shown while the rest is still coming. What arrives is checked against
the schema token by token: an unknown key, a repeated key, a wrong type or a value that is too
long ends the draft with a ModelOutputError, whose message holds none of the model's text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import ijson

from qa.errors import ModelOutputError
from qa.records import Confidence, DraftCitation, DraftClaim, DraftEnd

MAX_REPLY_CHARS = 60_000
MAX_CLAIMS = 12
MAX_CLAIM_CHARS = 1_000
MAX_CITATIONS = 12
MAX_QUOTE_CHARS = 1_000
MAX_MISSING_CHARS = 200

_CLAIM = "claims.item"
_CITATION = "claims.item.citations.item"

# The schema, as the events that ijson may report at each place.
_OBJECT = frozenset({"start_map", "map_key", "end_map"})
_ARRAY = frozenset({"start_array", "end_array"})
_STRING = frozenset({"string"})
_SHAPE = {
    "": _OBJECT,
    "answerable": frozenset({"boolean"}),
    "claims": _ARRAY,
    _CLAIM: _OBJECT,
    f"{_CLAIM}.text": _STRING,
    f"{_CLAIM}.citations": _ARRAY,
    _CITATION: _OBJECT,
    f"{_CITATION}.passage": _STRING,
    f"{_CITATION}.quote": _STRING,
    "missing": frozenset({"string", "null"}),
    "confidence": _STRING,
}
_KEYS = {
    "": frozenset({"answerable", "claims", "missing", "confidence"}),
    _CLAIM: frozenset({"text", "citations"}),
    _CITATION: frozenset({"passage", "quote"}),
}

_CONFIDENCES = frozenset(member.value for member in Confidence)

# Deltas are parsed in pieces of this size, so that junk is refused at its first token instead
# of after ijson has worked through all of it.
_PIECE_CHARS = 1_024


@dataclass(slots=True)
class _Open:
    """The object that is open at one place: which keys it has, and its strings."""

    keys: set[str] = field(default_factory=set)
    strings: dict[str, str] = field(default_factory=dict)


class DraftParser:
    """Push parser of one reply; `feed` it text, then `close` it.

    `is_answerable` is None until the model has said it. Claims are held back until then, and
    dropped if it says false.
    """

    def __init__(self) -> None:
        self.is_answerable: bool | None = None
        self._events = ijson.sendable_list()
        self._json = ijson.parse_coro(self._events)
        self._chars = 0
        self._claims = 0
        self._open: dict[str, _Open] = {}
        self._citations: list[DraftCitation] = []
        self._ready: list[DraftClaim] = []

    def feed(self, text: str) -> list[DraftClaim]:
        """Take the next piece of the reply; return the claims that it completes.

        Raises:
            ModelOutputError: the reply is not JSON, not of the schema, or too long.
        """
        self._chars += len(text)
        if self._chars > MAX_REPLY_CHARS:
            raise _mismatch("is too long")
        for start in range(0, len(text), _PIECE_CHARS):
            self._push(text[start : start + _PIECE_CHARS])
        return self._released()

    def close(self) -> DraftEnd:
        """Say that the reply has ended.

        Raises:
            ModelOutputError: the reply is unfinished, or answers without a claim.
        """
        try:
            self._json.close()
        except (ijson.JSONError, ValueError):
            is_finished = False
        else:
            is_finished = True
        if not is_finished or self.is_answerable is None:
            raise _mismatch("is unfinished")
        if self.is_answerable and not self._claims:
            raise _mismatch("answers without a sentence")
        reply = self._open[""].strings
        return DraftEnd(
            is_answerable=self.is_answerable,
            missing=_shortened(reply.get("missing", "")),
            confidence=Confidence(reply["confidence"]),
        )

    def _push(self, text: str) -> None:
        # Raised after the handler: ijson's message quotes the reply, and must reach no traceback.
        is_json = True
        try:
            self._json.send(text.encode("utf-8"))
        except (ijson.JSONError, ValueError, StopIteration):
            is_json = False
        events, self._events[:] = list(self._events), []
        self._take(events)
        if not is_json:
            raise _mismatch("is not JSON")

    def _take(self, events: Iterable[tuple[str, str, object]]) -> None:
        for place, event, value in events:
            if event not in _SHAPE.get(place, ()):
                raise _mismatch("does not have the agreed form")
            if event == "start_map":
                self._open[place] = _Open()
            elif event == "map_key":
                self._open_key(place, str(value))
            elif event == "end_map":
                self._close_object(place)
            elif event == "string":
                self._take_string(place, str(value))
            elif event == "boolean":
                self.is_answerable = bool(value)

    def _open_key(self, place: str, key: str) -> None:
        keys = self._open[place].keys
        if key not in _KEYS[place] or key in keys:
            raise _mismatch("has an unknown or repeated key")
        keys.add(key)

    def _take_string(self, place: str, value: str) -> None:
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise _mismatch("holds half a character")
        parent, _, key = place.rpartition(".")
        self._open[parent].strings[key] = value

    def _close_object(self, place: str) -> None:
        closed = self._open[place]
        if closed.keys != _KEYS[place]:
            raise _mismatch("lacks a key")
        if place == _CITATION:
            self._citations.append(_citation(closed.strings))
            if len(self._citations) > MAX_CITATIONS:
                raise _mismatch("has too many citations")
        elif place == _CLAIM:
            self._close_claim(closed.strings["text"])
        elif closed.strings["confidence"] not in _CONFIDENCES:
            raise _mismatch("has an unknown confidence")

    def _close_claim(self, text: str) -> None:
        citations, self._citations = tuple(self._citations), []
        self._claims += 1
        if self._claims > MAX_CLAIMS:
            raise _mismatch("has too many sentences")
        if not text.strip() or len(text) > MAX_CLAIM_CHARS:
            raise _mismatch("has an empty or overlong sentence")
        self._ready.append(DraftClaim(text=text.strip(), citations=citations))

    def _released(self) -> list[DraftClaim]:
        if self.is_answerable is None:
            return []
        ready, self._ready = self._ready, []
        return ready if self.is_answerable else []


def _citation(strings: dict[str, str]) -> DraftCitation:
    if len(strings["quote"]) > MAX_QUOTE_CHARS or len(strings["passage"]) > MAX_QUOTE_CHARS:
        raise _mismatch("has an overlong quote")
    return DraftCitation(passage=strings["passage"], quote=strings["quote"])


def _shortened(missing: str) -> str | None:
    text = missing.strip()
    if len(text) > MAX_MISSING_CHARS:
        text = text[: MAX_MISSING_CHARS - 1].rstrip() + "…"
    return text or None


def _mismatch(what: str) -> ModelOutputError:
    return ModelOutputError(f"The model's reply {what}.")
