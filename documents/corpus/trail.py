"""Audit events in an archive: the installation's own, and those that it took over before.

An event is evidence of what was done in one installation, under its key. So a trail that is
brought in is neither continued nor renumbered: its lines are kept as they came, apart from the
own events, and its chain can be proved again at any time without the key (ADR 0020).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import F

from documents import chain
from documents.corpus import values
from documents.errors import ValidationProblem
from documents.models import AuditAnchor, AuditEvent, AuditSeal, ForeignChain, ForeignEvent

_ROWS = 500
_CONTENT = (
    "at", "actor_id", "actor_name", "action", "object_type", "object_id", "before", "after",
    "address",
)  # fmt: skip


def exported() -> Iterator[tuple[str, Iterator[str]]]:
    """Each trail by its name, with its lines: foreign ones first, the own one last."""
    for foreign in ForeignChain.objects.order_by("public_id"):
        rows = ForeignEvent.objects.filter(chain=foreign).order_by("ordinal")
        lines = rows.values_list("line", flat=True).iterator(chunk_size=_ROWS)
        yield str(foreign.public_id), lines
    if AuditEvent.objects.exists():
        yield own_name(), _own_lines()


def own_name() -> str:
    """What the trail of this installation is called: it follows from its first event."""
    if not AuditEvent.objects.exists():
        return ""
    first = AuditEvent.objects.order_by("pk").values_list("pk", "at", "signature")[0]
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{first[0]} {first[1].isoformat()} {first[2]}"))


def _own_lines() -> Iterator[str]:
    """Sealed events in the order of the chain, then those not sealed yet, then the anchors."""
    names = ("ordinal", "reach", "content_hash", "chain_hash", "sealed_at")
    sealed = AuditSeal.objects.order_by("ordinal").annotate(seal_signature=F("signature"))
    fields = [f"event__{name}" for name in ("signature", *_CONTENT)]
    rows = sealed.values_list("event_id", "seal_signature", *names, *fields)
    for event_id, signature, *row in rows.iterator(chunk_size=_ROWS):
        seal = dict(zip(names, map(values.written, row), strict=False)) | {"signature": signature}
        event = dict(zip(("signature", *_CONTENT), row[len(names) :], strict=True))
        is_there = event["signature"] is not None
        yield _line({"id": event_id, "event": _written(event) if is_there else None, "seal": seal})
    rest = AuditEvent.objects.filter(seal=None).order_by("pk")
    for event_id, *row in rest.values_list("pk", "signature", *_CONTENT).iterator(_ROWS):
        event = dict(zip(("signature", *_CONTENT), row, strict=True))
        yield _line({"id": event_id, "event": _written(event), "seal": None})
    for anchor in AuditAnchor.objects.order_by("number").values():
        yield _line({"anchor": _written(anchor)})


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values.written(value) for name, value in row.items()}


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def take_over(name: str, lines: Iterable[str], *, rows: int, sha256: str) -> None:
    """Keep the trail of another installation, line by line."""
    made = ForeignChain.objects.create(public_id=uuid.UUID(name), event_count=rows, sha256=sha256)
    batch: list[ForeignEvent] = []
    for ordinal, line in enumerate(lines):
        batch.append(ForeignEvent(chain=made, ordinal=ordinal, line=line))
        if len(batch) == _ROWS:
            ForeignEvent.objects.bulk_create(batch)
            batch = []
    ForeignEvent.objects.bulk_create(batch)


def verify_foreign(name: str, lines: Iterable[str]) -> None:
    """Prove a trail without its key: every hash, every link, nothing missing.

    Raises:
        ValidationProblem: it does not hold; the message says where.
    """
    verification = chain.Verification(chain.Keys(settings.AUDIT_KEYS))
    for problem in verification.problems(_seals(lines)):
        if problem.kind != "unknown_key":  # another installation signs with a key of its own
            raise ValidationProblem(
                f"The audit trail {name} was altered: {problem.message} Export the corpus again, "
                "or import it --without-audit.",
                code="bad_archive",
            )


def _seals(lines: Iterable[str]) -> Iterator[chain.Seal]:
    for line in lines:
        row = json.loads(line)
        seal = row.get("seal")
        if seal is None:
            continue
        stored = _stored(row["id"], row["event"]) if row["event"] else None
        yield chain.Seal(
            seal["ordinal"],
            row["id"],
            seal["content_hash"],
            seal["chain_hash"],
            seal["signature"],
            stored,
        )


def _stored(event_id: int, row: dict[str, Any]) -> chain.StoredEvent:
    content = {name: row[name] for name in _CONTENT} | {"at": datetime.fromisoformat(row["at"])}
    return chain.StoredEvent(event_id, chain.Event(**content), row["signature"])
