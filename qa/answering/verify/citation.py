"""Check 1: a claim cites at least one passage, and only passages that were supplied."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from qa.records import DraftCitation, RefusalCode, Verdict

CHECK = "citation"


def check_citation(citations: Sequence[DraftCitation], supplied: Collection[str]) -> Verdict:
    """Whether every citation names a supplied passage, and there is one."""
    if not citations:
        return _failed("The sentence cites no passage.")
    unknown = sorted({c.passage for c in citations if c.passage not in supplied})
    if unknown:
        return _failed(f"The sentence cites {', '.join(unknown)}, which was not supplied.")
    return Verdict(CHECK, passed=True, reason="Every citation names a supplied passage.")


def _failed(reason: str) -> Verdict:
    return Verdict(CHECK, passed=False, code=RefusalCode.NO_VALID_CITATION, reason=reason)
