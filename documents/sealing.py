"""The sealer: links committed audit events into the chain, and anchors the chain once a day.

Acts only insert their event, so no act waits for another's. The sealer comes after them, one
at a time (an advisory lock), and gives every event that it can see and that has no seal the
next ordinal. What commits late is seen late and sealed then: the order is that of sealing,
not of the ids. Nothing here changes or deletes a row.
"""

from __future__ import annotations

import datetime
import json
import logging
import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from documents import chain
from documents.models import AuditAnchor, AuditEvent, AuditSeal

logger = logging.getLogger(__name__)

_LOCK = 0x6C71_6175_6469_7400  # any number of ours: one sealer at a time in a database
_BATCH = 1000
# Looked back at every few seconds; what took longer to commit is found by the daily look at all.
_WINDOW = datetime.timedelta(hours=1)


def keys() -> chain.Keys:
    """The keys of this installation's audit trail."""
    return chain.Keys(settings.AUDIT_KEYS)


def seal(*, look_at_all: bool = False) -> int:
    """Seal what is committed and has no seal yet.

    Args:
        look_at_all: compare the whole record, not only ids from the last hour on: finds what
            an act of more than an hour committed.

    Returns:
        How many events were sealed; 0 also when another sealer is at work.
    """
    sealed, floor = 0, 0 if look_at_all else _floor()
    while True:
        with transaction.atomic():
            ids = _seal_batch(floor) if _is_alone() else []
        sealed += len(ids)
        if len(ids) < _BATCH:
            return sealed
        floor = ids[-1]  # what commits below it meanwhile is for the next run


def _is_alone() -> bool:
    """Take the sealer's lock until the transaction ends; False when another has it."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [_LOCK])
        row = cursor.fetchone()
    return bool(row and row[0])


def _seal_batch(floor: int) -> list[int]:
    """Seal the next events above an id; returns their ids."""
    last = AuditSeal.objects.order_by("-ordinal").first()
    events = list(AuditEvent.objects.filter(pk__gt=floor, seal=None).order_by("pk")[:_BATCH])
    AuditSeal.objects.bulk_create(_links(last, events, keys()))
    return [event.pk for event in events]


def _floor() -> int:
    """Every event up to this id that anybody still writes was begun over an hour ago.

    An id drawn in the last hour is higher than all that were sealed before it.
    """
    before = timezone.now() - _WINDOW
    seals = AuditSeal.objects.filter(sealed_at__lt=before).order_by("-sealed_at", "-ordinal")
    return seals.values_list("reach", flat=True).first() or 0


def _links(
    last: AuditSeal | None, events: Iterable[AuditEvent], signing: chain.Keys
) -> Iterable[AuditSeal]:
    ordinal, hash_ = (last.ordinal, last.chain_hash) if last else (0, chain.GENESIS)
    reach = last.reach if last else 0
    for event in events:
        ordinal, reach = ordinal + 1, max(reach, event.pk)
        content = chain.content_hash(chain.StoredEvent(event.pk, event.content(), event.signature))
        hash_ = chain.chain_hash(hash_, ordinal, content)
        yield AuditSeal(
            ordinal=ordinal,
            event=event,
            reach=reach,
            content_hash=content,
            chain_hash=hash_,
            signature=chain.sign_seal(signing, hash_),
        )


# --- Anchors -----------------------------------------------------------------------------


def anchor(day: datetime.date) -> chain.Anchor | None:
    """Anchor the chain for a day: a row, a line of the anchors file and a line of the log.

    Returns:
        The anchor; None when the day has one already, or another process is making it.
    """
    seal(look_at_all=True)
    with transaction.atomic():
        if not _is_alone() or AuditAnchor.objects.filter(day=day).exists():
            return None
        made = _anchor_row(day)
    _keep(made)
    return made


def _anchor_row(day: datetime.date) -> chain.Anchor:
    head = AuditSeal.objects.order_by("-ordinal").first()
    last = AuditAnchor.objects.order_by("-number").first()
    number = last.number + 1 if last else 1
    ordinal, hash_ = (head.ordinal, head.chain_hash) if head else (0, chain.GENESIS)
    signature = chain.sign_anchor(keys(), number, day.isoformat(), ordinal, hash_)
    AuditAnchor.objects.create(
        number=number, day=day, ordinal=ordinal, chain_hash=hash_, signature=signature
    )
    return chain.Anchor(number, day.isoformat(), ordinal, hash_, signature)


def _keep(made: chain.Anchor) -> None:
    """Write an anchor where it can be copied from: whoever rebuilds the chain lacks the copy.

    A warning, because the log shows nothing less by default; a full disk must not undo the row.
    """
    line = json.dumps(_line(made))
    logger.warning("Audit anchor %s", line)
    path = settings.AUDIT_ANCHORS_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        logger.error("The anchor could not be added to %s (%s): copy it from above.", path, error)


def _line(made: chain.Anchor) -> dict[str, Any]:
    return asdict(made)
