"""The audit trail as CSV: streamed in batches, safe to open in a spreadsheet.

Each row carries its place and hash in the chain, so that a kept export can be compared with
the record later. A batch is read in a transaction of its own and holds no connection while a
slow client reads it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable

from asgiref.sync import sync_to_async
from django.db import connection
from django.db.models import QuerySet

from documents import access
from documents.models import AuditEvent

_BATCH = 1000
_HEAD = (
    "id", "at", "actor_id", "actor_name", "action", "object_type", "object_id", "before", "after",
    "address", "seal", "chain_hash",
)  # fmt: skip
# What a spreadsheet takes for a formula, in full width too.
_FORMULA = tuple("=+-@|%＝＋－＠")


async def rows(events: QuerySet[AuditEvent], *, up_to: int) -> AsyncIterator[bytes]:
    """The CSV in pieces, newest event first.

    Args:
        events: which events, as their reader may see them.
        up_to: the highest id to take, so that what happens meanwhile changes nothing.
    """
    yield "\ufeff".encode() + _written([_HEAD])  # the mark by which Excel knows UTF-8
    below = up_to + 1
    while True:
        batch = await sync_to_async(_batch)(events, below)
        if not batch:
            return
        below = batch[-1].pk
        yield _written(map(_cells, batch))


def _batch(events: QuerySet[AuditEvent], below: int) -> list[AuditEvent]:
    try:
        with access.editing():
            newest = events.filter(pk__lt=below).select_related("seal").order_by("-pk")
            return list(newest[:_BATCH])
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _cells(event: AuditEvent) -> list[str]:
    seal = getattr(event, "seal", None)
    return [
        str(event.pk),
        event.at.isoformat(),
        str(event.actor_id or ""),
        safe(event.actor_name),
        safe(event.action),
        safe(event.object_type),
        safe(event.object_id),
        safe(_json(event.before)),
        safe(_json(event.after)),
        safe(event.address),
        str(seal.ordinal) if seal else "",
        seal.chain_hash if seal else "",
    ]


def _json(value: object) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: one that could be gets an apostrophe."""
    starts_odd = text[:1] in ("\t", "\r", "\n") or text.lstrip().startswith(_FORMULA)
    return f"'{text}" if starts_odd else text


def _written(lines: Iterable[Iterable[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(lines)
    return buffer.getvalue().encode()
