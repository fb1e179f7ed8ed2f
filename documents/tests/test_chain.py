"""The arithmetic of the audit trail, on chains held in memory and tampered with at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import chain

KEY = chain.derived_key("one secret")
KEYS = chain.Keys([KEY])
START = datetime(2026, 7, 1, 9, tzinfo=UTC)


def event(number: int, **changes: Any) -> chain.Event:
    made = chain.Event(
        at=START + timedelta(seconds=number),
        actor_id=number,
        actor_name=f"person{number}",
        action="version_approved",
        object_type="policyversion",
        object_id=str(number),
        before=None,
        after={"number": number, "labels": ["all-staff"]},
        address="192.0.2.7",
    )
    return replace(made, **changes)


def stored(number: int, keys: chain.Keys = KEYS) -> chain.StoredEvent:
    content = event(number)
    return chain.StoredEvent(number, content, chain.sign_event(keys, content))


def sealed(events: Sequence[chain.StoredEvent], keys: chain.Keys = KEYS) -> list[chain.Seal]:
    """The chain over these events, in this order, as the sealer makes it."""
    made, previous = [], chain.GENESIS
    for ordinal, one in enumerate(events, start=1):
        content = chain.content_hash(one)
        previous = chain.chain_hash(previous, ordinal, content)
        signature = chain.sign_seal(keys, previous)
        made.append(chain.Seal(ordinal, one.event_id, content, previous, signature, one))
    return made


def problems(
    seals: Sequence[chain.Seal], anchors: Sequence[chain.Anchor] = (), keys: chain.Keys = KEYS
) -> list[chain.Problem]:
    return list(chain.Verification(keys, anchors).problems(seals))


def found(seals: Sequence[chain.Seal], *anchors: chain.Anchor) -> list[tuple[str, int | None]]:
    return [(problem.kind, problem.event_id) for problem in problems(seals, anchors)]


def anchor_of(seals: Sequence[chain.Seal], number: int = 1) -> chain.Anchor:
    day, last = f"2026-07-{number:02}", seals[-1]
    signature = chain.sign_anchor(KEYS, number, day, last.ordinal, last.chain_hash)
    return chain.Anchor(number, day, last.ordinal, last.chain_hash, signature)


TEN = sealed([stored(number) for number in range(1, 11)])


def test_an_untouched_chain_has_no_problem():
    assert problems(TEN, [anchor_of(TEN[:4]), anchor_of(TEN, 2)]) == []
    assert problems([]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"at": START},
        {"actor_id": None},
        {"actor_name": "somebody else"},
        {"action": "version_rejected"},
        {"object_type": "policy"},
        {"object_id": "2"},
        {"before": {}},
        {"after": {"number": 5, "labels": ["all-staff", "hr"]}},
        {"address": ""},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_any_field_is_found_and_named(change):
    changed, stored_event = list(TEN), TEN[4].event
    assert stored_event is not None
    content = replace(stored_event.content, **change)
    changed[4] = replace(changed[4], event=replace(stored_event, content=content))

    assert found(changed) == [("changed", 5)]


def test_a_removed_row_is_found_with_and_without_its_seal():
    assert found([*TEN[:4], *TEN[5:]]) == [("removed", None)]
    assert "between event 4 and event 6" in problems([*TEN[:4], *TEN[5:]])[0].message
    assert found([*TEN[:4], replace(TEN[4], event=None), *TEN[5:]]) == [("removed", 5)]
    assert found(TEN[1:]) == [("removed", None)]


def test_a_seal_that_was_put_in_is_found():
    put_in = stored(99, chain.Keys([b"another key"]))
    content = chain.content_hash(put_in)
    hash_ = chain.chain_hash(TEN[-1].chain_hash, 11, content)
    seal = chain.Seal(11, 99, content, hash_, TEN[-1].signature, put_in)

    assert found([*TEN, seal]) == [("rebuilt", 99), ("unknown_key", 99)]


def test_events_that_changed_places_are_found():
    swapped = list(TEN)
    swapped[2] = replace(TEN[2], event=TEN[6].event, event_id=7)
    swapped[6] = replace(TEN[6], event=TEN[2].event, event_id=3)

    assert found(swapped) == [("changed", 7), ("changed", 3)]

    moved = [replace(TEN[9 - i], ordinal=i + 1) for i in range(10)]
    assert {kind for kind, _ in found(moved)} == {"reordered"}


def test_a_chain_built_anew_without_the_key_is_found_from_its_first_seal_on():
    thief = chain.Keys([b"the thief's own"])
    events = [one.event for one in TEN if one.event and one.event_id != 5]

    kinds = problems(sealed(events, thief))

    assert len([p for p in kinds if p.kind == "unknown_key"]) == 9


def test_a_chain_built_anew_with_the_key_contradicts_the_anchor():
    rebuilt = sealed([one.event for one in TEN if one.event and one.event_id != 5])

    assert found(rebuilt) == []
    assert found(rebuilt, anchor_of(TEN[:8])) == [("rebuilt", None)]


def test_an_end_cut_off_is_missed_by_the_anchor():
    assert found(TEN[:6], anchor_of(TEN)) == [("removed", None)]
    assert "chain ends at 6" in problems(TEN[:6], [anchor_of(TEN)])[0].message


def test_a_changed_anchor_is_found():
    assert found(TEN, replace(anchor_of(TEN), day="2026-08-01")) == [("rebuilt", None)]
    other = replace(anchor_of(TEN), chain_hash=TEN[3].chain_hash)
    assert ("rebuilt", None) in found(TEN, other)


def test_an_event_that_the_application_did_not_write_is_found_before_it_is_sealed():
    verification = chain.Verification(KEYS)
    assert list(verification.problems(TEN)) == []

    forged = replace(stored(11), signature=stored(12).signature)
    unsigned = replace(stored(12), signature="")

    for one in (forged, unsigned):
        assert [p.kind for p in verification.event_problems(one)] == ["inserted"]
    assert list(verification.event_problems(stored(13))) == []


def test_events_from_before_signatures_are_accepted_at_the_beginning_alone():
    old = [chain.StoredEvent(number, event(number), "") for number in (1, 2)]

    assert problems(sealed([*old, stored(3)])) == []
    assert found(sealed([stored(1), *[replace(one, event_id=9) for one in old[:1]]])) == [
        ("inserted", 9)
    ]


def test_a_former_key_still_verifies_and_a_lost_one_is_called_so():
    new = chain.Keys([chain.derived_key("a new secret"), KEY])
    mixed = sealed([*[stored(1), stored(2)], stored(3, new)], new)

    assert problems(mixed, keys=new) == []
    lost = problems(TEN, keys=chain.Keys([chain.derived_key("a new secret")]))
    assert {p.kind for p in lost} == {"unknown_key"}
    assert "LEGALQA_AUDIT_OLD_KEYS" in lost[0].message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(JSON)
def test_json_has_one_form_whatever_the_order_of_keys_and_the_kind_of_number(value):
    def turned(item: object) -> object:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(item)}
        if isinstance(item, list):
            return tuple(map(turned, item))
        return item

    assert chain.canonical(event(1, after=value)) == chain.canonical(event(1, after=turned(value)))
    assert chain.canonical(event(1, after=2.0)) == chain.canonical(event(1, after=2))


def test_the_same_moment_in_another_zone_is_the_same_event():
    there = START.astimezone(timezone(timedelta(hours=8)))

    assert chain.canonical(event(1, at=START)) == chain.canonical(event(1, at=there))


@settings(max_examples=60)
@given(st.data())
def test_any_edit_of_any_chain_is_found(data):
    size = data.draw(st.integers(2, 12))
    seals = sealed([stored(number) for number in range(1, size + 1)])
    at = data.draw(st.integers(0, size - 2))
    edit = data.draw(st.sampled_from(["drop", "swap", "event", "hash", "content", "repeat"]))
    edited = list(seals)
    if edit == "drop":
        del edited[at]
    elif edit == "swap":
        edited[at], edited[at + 1] = (
            replace(seals[at + 1], ordinal=seals[at].ordinal),
            replace(seals[at], ordinal=seals[at + 1].ordinal),
        )
    elif edit == "event":
        edited[at] = replace(seals[at], event=stored(77))
    elif edit == "hash":
        edited[at] = replace(seals[at], chain_hash="f" * 64)
    elif edit == "content":
        edited[at] = replace(seals[at], content_hash="f" * 64)
    else:
        edited.insert(at, seals[at])

    assert problems(edited) != []
