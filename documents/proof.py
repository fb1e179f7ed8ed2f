"""Proves the audit trail: reads it once, front to back, and names every place where it breaks.

Holds one row at a time, whatever the length of the record (`chain.Verification`).
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from documents import chain
from documents.errors import ValidationProblem
from documents.models import AuditAnchor, AuditEvent, AuditSeal

_ROWS = 2000  # fetched at a time
_CONTENT = (
    "at", "actor_id", "actor_name", "action", "object_type", "object_id", "before", "after",
    "address",
)  # fmt: skip
LISTED = 100  # problems that are kept; all are counted
# Sealing takes seconds; whatever waits for longer says that no sealer runs.
LATE_SECONDS = 600


@dataclass(slots=True)
class Proof:
    """What verification found."""

    sealed: int = 0
    head_ordinal: int = 0
    head_hash: str = chain.GENESIS
    anchors: int = 0
    last_anchor_day: str | None = None
    unsealed: int = 0
    unsealed_age_seconds: float = 0.0
    problem_count: int = 0
    problems: list[chain.Problem] = field(default_factory=list)

    def add(self, problem: chain.Problem) -> None:
        """Count a problem, and keep it if it is among the first."""
        self.problem_count += 1
        if len(self.problems) < LISTED:
            self.problems.append(problem)

    @property
    def is_late(self) -> bool:
        """Whether events have waited for so long that the sealer cannot be running."""
        return self.unsealed_age_seconds > LATE_SECONDS


def verify(kept_anchors: list[chain.Anchor] | None = None) -> Proof:
    """Recompute the chain, compare it with the anchors, and look at what is not sealed yet.

    Args:
        kept_anchors: anchors from a copy outside the database, if there is one.
    """
    signing = chain.Keys(settings.AUDIT_KEYS)
    proof = Proof()
    with transaction.atomic():
        rows = [_anchor(row) for row in AuditAnchor.objects.order_by("number")]
        for problem in _anchor_gaps(rows):
            proof.add(problem)
        proof.anchors = len(rows)
        proof.last_anchor_day = rows[-1].day if rows else None
        verification = chain.Verification(signing, {*rows, *(kept_anchors or ())})
        for problem in verification.problems(_seals()):
            proof.add(problem)
        if verification.head is not None:
            proof.head_ordinal = verification.head.ordinal
            proof.head_hash = verification.head.chain_hash
        proof.sealed = verification.sealed
        _add_unsealed(proof, verification)
    return proof


def _seals() -> Iterator[chain.Seal]:
    names = [f"event__{name}" for name in ("signature", *_CONTENT)]
    rows = AuditSeal.objects.order_by("ordinal").values_list(
        "ordinal", "event_id", "content_hash", "chain_hash", "signature", *names
    )
    for ordinal, event_id, content, hash_, signature, event_signature, *values in rows.iterator(
        chunk_size=_ROWS
    ):
        is_there = event_signature is not None
        event = chain.StoredEvent(event_id, chain.Event(*values), event_signature or "")
        yield chain.Seal(ordinal, event_id, content, hash_, signature, event if is_there else None)


def _add_unsealed(proof: Proof, verification: chain.Verification) -> None:
    """Count what waits for the sealer; each must carry the application's signature already."""
    rows = AuditEvent.objects.filter(seal=None).order_by("pk")
    for event in rows.iterator(chunk_size=_ROWS):
        stored = chain.StoredEvent(event.pk, event.content(), event.signature)
        for problem in verification.event_problems(stored):
            proof.add(problem)
        proof.unsealed += 1
        age = (timezone.now() - event.at).total_seconds()
        proof.unsealed_age_seconds = max(proof.unsealed_age_seconds, age)


def _anchor(row: AuditAnchor) -> chain.Anchor:
    return chain.Anchor(row.number, row.day.isoformat(), row.ordinal, row.chain_hash, row.signature)


def _anchor_gaps(anchors: list[chain.Anchor]) -> Iterator[chain.Problem]:
    for expected, found in enumerate(anchors, start=1):
        if found.number != expected:
            yield chain.Problem(
                "removed",
                found.ordinal,
                None,
                f"Anchor {expected} is missing: the next one found is {found.number}, of "
                f"{found.day}.",
            )
            return


def read_anchors(path: Path) -> list[chain.Anchor]:
    """The anchors of a kept file, one JSON object a line.

    Raises:
        ValidationProblem: no such file, or a line that is no anchor.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationProblem(
            f"The anchors file {path} cannot be read ({error}). Name the copy that was kept.",
            code="bad_anchors",
        ) from error
    return [_parsed(line, number) for number, line in enumerate(lines, 1) if line.strip()]


def _parsed(line: str, number: int) -> chain.Anchor:
    try:
        fields = json.loads(line)
        return chain.Anchor(
            number=int(fields["number"]),
            day=datetime.date.fromisoformat(fields["day"]).isoformat(),
            ordinal=int(fields["ordinal"]),
            chain_hash=str(fields["chain_hash"]),
            signature=str(fields["signature"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValidationProblem(
            f"Line {number} of the anchors file is no anchor. Name the file that the sealer "
            "writes (LEGALQA_AUDIT_ANCHORS_FILE), or a copy of it.",
            code="bad_anchors",
        ) from error


def oldest_unsealed_seconds() -> float:
    """The age of the first event without a seal; 0 when all are sealed."""
    oldest = AuditEvent.objects.filter(seal=None).order_by("pk").first()
    return (timezone.now() - oldest.at).total_seconds() if oldest else 0.0
