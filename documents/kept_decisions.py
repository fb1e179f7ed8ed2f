"""What people decided on passages and findings, carried over when a file is read again.

Reading again replaces every passage and finding. A release holds for the same text and the
findings that the reviewer saw, and for no finding that a newer rule adds; a rejection holds
for the same text whatever the rules say now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from documents import audit
from documents.models import Chunk, Finding, PolicyVersion
from documents.records import Severity

_RESULT = ("decision", "reviewer_id", "note", "decided_at")
_DECIDED = (Chunk.State.RELEASED, Chunk.State.REJECTED)
# By rule, place and text; the same passage twice in a file is decided twice, in order.
_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """Decisions by what they were about."""

    states: dict[_Key, str]
    findings: dict[_Key, dict[str, Any]]

    def __bool__(self) -> bool:
        return bool(self.states or self.findings)


def decisions_of(version: PolicyVersion) -> Kept:
    """What was decided on a version whose file is about to be read again."""
    chunks = _numbered(version)
    findings = version.findings.exclude(decision=Finding.Decision.PENDING)
    return Kept(
        {key: chunk.state for key, chunk in chunks.items() if chunk.state in _DECIDED},
        {_key_of(finding): {name: getattr(finding, name) for name in _RESULT}
         for finding in findings.select_related("chunk")},
    )  # fmt: skip


def restore_decisions(version: PolicyVersion, kept: Kept) -> None:
    """Decide again what was decided before, with one audit row for all of it."""
    if not kept:
        return
    for finding in version.findings.select_related("chunk"):
        if before := kept.findings.get(_key_of(finding)):
            Finding.objects.filter(pk=finding.pk).update(**before)
    counted: Counter[str] = Counter()
    for key, chunk in _numbered(version).items():
        state = kept.states.get(key)
        if state == Chunk.State.REJECTED or (
            state == Chunk.State.RELEASED
            and chunk.state == Chunk.State.QUARANTINED
            and not _blocking(chunk.findings.filter(decision=Finding.Decision.PENDING))
        ):
            Chunk.objects.filter(pk=chunk.pk).update(state=state)
            counted[str(state)] += 1
    audit.record("decisions_kept", version, actor=None, after=dict(counted))


def has_open_findings(version: PolicyVersion, *, loose_only: bool = False) -> bool:
    """Whether a blocking finding of a version still waits for a person."""
    pending = version.findings.filter(decision=Finding.Decision.PENDING)
    return _blocking(pending.filter(chunk=None) if loose_only else pending)


def _blocking(findings: Any) -> bool:
    return bool(findings.filter(severity=Severity.BLOCK.value).exists())


def _numbered(version: PolicyVersion) -> dict[_Key, Chunk]:
    seen: Counter[str] = Counter()
    found: dict[_Key, Chunk] = {}
    chunks: Iterable[Chunk] = version.chunks.order_by("ordinal")
    for chunk in chunks:
        found[chunk.text, seen[chunk.text]] = chunk
        seen[chunk.text] += 1
    return found


def _key_of(finding: Finding) -> _Key:
    passage = finding.chunk.text if finding.chunk else None
    return (finding.rule, finding.where, finding.text, finding.start, passage)
