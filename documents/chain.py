"""The arithmetic of the audit trail: what is hashed and signed, and what a break means.

An event carries a signature of its own from the moment it is written, so that a row which
the application did not write is known even before it is sealed. Sealing gives committed
events a gapless ordinal; each seal holds the digest of its event and a hash over the seal
before it, and is signed: whoever can write to the database but lacks the key can neither
change, insert, remove or reorder events, nor build the chain anew. An anchor signs where the
chain stood on a day, to be kept elsewhere. Pure: rows in, problems out (ADR 0016).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

GENESIS = "0" * 64  # what the first seal follows
_FORMAT = "legalqa-audit-1"


@dataclass(frozen=True, slots=True)
class Event:
    """An event's content, as written and as read back."""

    at: datetime
    actor_id: int | None
    actor_name: str
    action: str
    object_type: str
    object_id: str
    before: Any  # JSON
    after: Any  # JSON
    address: str


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it stands in the database now."""

    event_id: int
    content: Event
    signature: str


@dataclass(frozen=True, slots=True)
class Seal:
    """A link of the chain as it stands in the database now; no event: the row is gone."""

    ordinal: int
    event_id: int
    content_hash: str
    chain_hash: str
    signature: str
    event: StoredEvent | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the chain stood on a day."""

    number: int
    day: str  # ISO, in the office's time zone
    ordinal: int
    chain_hash: str
    signature: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A place where the record is not what was written."""

    kind: str  # changed, removed, inserted, reordered, rebuilt, unknown_key
    ordinal: int | None
    event_id: int | None
    message: str


# --- Digests and signatures --------------------------------------------------------------


def canonical(event: Event) -> bytes:
    """One event as bytes: the same when written as when read back from the database.

    The database gives whole numbers back as integers and drops a tuple's kind, so both are
    evened out here; keys are sorted, and the time is UTC to the microsecond.
    """
    fields = [
        _FORMAT,
        event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        event.actor_id,
        event.actor_name,
        event.action,
        event.object_type,
        event.object_id,
        _even(event.before),
        _even(event.after),
        event.address,
    ]
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def _even(value: Any) -> Any:
    match value:
        case float():
            return int(value) if value.is_integer() else value
        case dict():
            return {str(key): _even(item) for key, item in value.items()}
        case list() | tuple():
            return [_even(item) for item in value]
    return value


def content_hash(event: StoredEvent) -> str:
    """The digest of an event with its id and its signature, 64 hexadecimal digits."""
    digest = hashlib.sha256(f"{_FORMAT}\n{event.event_id}\n{event.signature}\n".encode())
    digest.update(canonical(event.content))
    return digest.hexdigest()


def chain_hash(previous: str, ordinal: int, content: str) -> str:
    """The hash of a seal: over the one before, its own place and its event's digest."""
    return hashlib.sha256(f"{_FORMAT}\n{previous}\n{ordinal}\n{content}".encode()).hexdigest()


def derived_key(secret: str) -> bytes:
    """The key of the audit trail that follows from a secret."""
    return hmac.new(secret.encode(), b"legalqa audit trail", hashlib.sha256).digest()


def key_name(key: bytes) -> str:
    """What a signature calls its key: 8 hexadecimal digits that give nothing away."""
    return hmac.new(key, b"name", hashlib.sha256).hexdigest()[:8]


class Keys:
    """The key that signs, and those that signed before."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._current = keys[0]
        self._current_name = key_name(keys[0])
        self._known = {key_name(key): key for key in keys}

    def sign(self, kind: str, data: bytes) -> str:
        """A signature: the name of the key, a colon, HMAC-SHA256 in hexadecimal."""
        return f"{self._current_name}:{_mac(self._current, kind, data)}"

    def fault(self, kind: str, data: bytes, signature: str) -> str | None:
        """None for a signature of ours; else `unknown_key` or `forged`."""
        name, _, mac = signature.partition(":")
        key = self._known.get(name)
        if key is None:
            return "unknown_key" if name else "forged"
        return None if hmac.compare_digest(_mac(key, kind, data), mac) else "forged"


def _mac(key: bytes, kind: str, data: bytes) -> str:
    return hmac.digest(key, kind.encode() + b"\n" + data, "sha256").hex()


def sign_event(keys: Keys, event: Event) -> str:
    """The signature that an event is written with."""
    return keys.sign("event", canonical(event))


def sign_seal(keys: Keys, hash_: str) -> str:
    """The signature of a seal."""
    return keys.sign("seal", hash_.encode())


def sign_anchor(keys: Keys, number: int, day: str, ordinal: int, hash_: str) -> str:
    """The signature of an anchor."""
    return keys.sign("anchor", _anchored(number, day, ordinal, hash_))


def _anchored(number: int, day: str, ordinal: int, hash_: str) -> bytes:
    return f"{number}\n{day}\n{ordinal}\n{hash_}".encode()


# --- Verification ------------------------------------------------------------------------


class Verification:
    """Reads the chain once, from its first seal on, and holds one seal at a time."""

    def __init__(self, keys: Keys, anchors: Iterable[Anchor] = ()) -> None:
        self.sealed = 0
        self.head: Seal | None = None
        self._keys = keys
        self._signed = False  # whether an event with a signature has been met
        self._anchors: dict[int, list[Anchor]] = {}
        for anchor in anchors:
            self._anchors.setdefault(anchor.ordinal, []).append(anchor)

    def problems(self, seals: Iterable[Seal]) -> Iterator[Problem]:
        """Every place where the chain breaks; the rest is judged from there on."""
        yield from self._anchors_at(0, GENESIS)
        for seal in seals:
            yield from self._gap(seal)
            yield from self._link(seal)
            yield from self._event(seal)
            yield from self._anchors_at(seal.ordinal, seal.chain_hash)
            self.head = seal
            self.sealed += 1
        yield from self._beyond()

    def _gap(self, seal: Seal) -> Iterator[Problem]:
        expected = self.head.ordinal + 1 if self.head else 1
        if seal.ordinal < expected:
            yield Problem(
                "inserted",
                seal.ordinal,
                seal.event_id,
                f"Seal {seal.ordinal} (event {seal.event_id}) stands there a second time.",
            )
        elif seal.ordinal > expected:
            last = seal.ordinal - 1
            which = f"Seal {last} is" if last == expected else f"Seals {expected} to {last} are"
            after = f"event {self.head.event_id}" if self.head else "the beginning"
            yield Problem(
                "removed",
                expected,
                None,
                f"{which} missing, with what was sealed, between {after} and event "
                f"{seal.event_id}.",
            )

    def _link(self, seal: Seal) -> Iterator[Problem]:
        is_next = seal.ordinal == (self.head.ordinal + 1 if self.head else 1)
        previous = self.head.chain_hash if self.head else GENESIS
        if is_next and chain_hash(previous, seal.ordinal, seal.content_hash) != seal.chain_hash:
            yield Problem(
                "reordered",
                seal.ordinal,
                seal.event_id,
                f"Seal {seal.ordinal} (event {seal.event_id}) does not follow from the seal "
                "before it: one of the two was changed, moved or put in.",
            )
        fault = self._keys.fault("seal", seal.chain_hash.encode(), seal.signature)
        if fault == "forged":
            yield Problem(
                "rebuilt",
                seal.ordinal,
                seal.event_id,
                f"Seal {seal.ordinal} (event {seal.event_id}) does not carry the sealer's "
                "signature: it was written by something else.",
            )
        elif fault:
            yield _unknown_key(f"Seal {seal.ordinal}", seal.signature, seal.ordinal, seal.event_id)

    def _event(self, seal: Seal) -> Iterator[Problem]:
        event = seal.event
        if event is None:
            yield Problem(
                "removed",
                seal.ordinal,
                seal.event_id,
                f"Event {seal.event_id}, sealed as {seal.ordinal}, is gone.",
            )
        elif content_hash(event) != seal.content_hash:
            yield Problem(
                "changed",
                seal.ordinal,
                seal.event_id,
                f"Event {seal.event_id} was changed after it was sealed as {seal.ordinal}.",
            )
        else:
            yield from self.event_problems(event, seal.ordinal)

    def event_problems(self, event: StoredEvent, ordinal: int | None = None) -> Iterator[Problem]:
        """Whether the application wrote an event; those from before signatures have none."""
        if not event.signature and not self._signed:
            return
        self._signed = True
        fault = self._keys.fault("event", canonical(event.content), event.signature)
        if fault == "forged":
            yield Problem(
                "inserted",
                ordinal,
                event.event_id,
                f"Event {event.event_id} does not carry the application's signature: it was "
                "put in, or changed before it was sealed.",
            )
        elif fault:
            yield _unknown_key(f"Event {event.event_id}", event.signature, ordinal, event.event_id)

    def _anchors_at(self, ordinal: int, hash_: str) -> Iterator[Problem]:
        for anchor in self._anchors.pop(ordinal, ()):
            yield from anchor_problems(self._keys, anchor)
            if anchor.chain_hash != hash_:
                yield Problem(
                    "rebuilt",
                    ordinal,
                    None,
                    f"The anchor of {anchor.day} holds another hash of seal {ordinal}: the "
                    "chain up to there was built anew.",
                )

    def _beyond(self) -> Iterator[Problem]:
        end = self.head.ordinal if self.head else 0
        for ordinal in sorted(self._anchors):
            for anchor in self._anchors[ordinal]:
                yield from anchor_problems(self._keys, anchor)
                yield Problem(
                    "removed",
                    ordinal,
                    None,
                    f"The anchor of {anchor.day} names seal {ordinal}, which is missing; the "
                    f"chain ends at {end}.",
                )


def anchor_problems(keys: Keys, anchor: Anchor) -> Iterator[Problem]:
    """Whether an anchor is one of ours."""
    data = _anchored(anchor.number, anchor.day, anchor.ordinal, anchor.chain_hash)
    fault = keys.fault("anchor", data, anchor.signature)
    if fault == "forged":
        yield Problem(
            "rebuilt",
            anchor.ordinal,
            None,
            f"The anchor of {anchor.day} was changed, or was not made by this installation.",
        )
    elif fault:
        yield _unknown_key(f"The anchor of {anchor.day}", anchor.signature, anchor.ordinal, None)


def _unknown_key(what: str, signature: str, ordinal: int | None, event_id: int | None) -> Problem:
    return Problem(
        "unknown_key",
        ordinal,
        event_id,
        f"{what} was signed with the key {signature.partition(':')[0]}, which is not known here. "
        "If DJANGO_SECRET_KEY or LEGALQA_AUDIT_KEY was changed, put the old one into "
        "LEGALQA_AUDIT_OLD_KEYS.",
    )
