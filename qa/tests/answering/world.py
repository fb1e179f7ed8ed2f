"""Passages and questions that the answering tests share; all of it invented."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from qa.records import DraftCitation, DraftClaim, Passage

SHARED_DATA = Path(
    os.environ.get(
        "LEGALQA_SHARED_DATA", Path(__file__).resolve().parents[3].parent / "shared" / "data"
    )
)
needs_shared_data = pytest.mark.skipif(
    not SHARED_DATA.is_dir(), reason="LEGALQA_SHARED_DATA names no folder: shared cases not here"
)

LEAVE = """Staff are entitled to 24 days of annual leave a year. Up to four days may be carried over
into the next year, unless the manager objects in writing.

Leave is requested in the portal at least ten working days before its first day.

Paid leave is also granted for these purposes:

- jury service, for as long as the court requires;
- moving house, one day in any two years."""
VPN = """A VPN account is locked after six failed sign-ins. The service desk unlocks it.

Visitors must not use the VPN. Contractors may use it if the head of department agrees."""
CHINESE = (
    "員工結婚者，給予婚假八日，工資照給。每月加班時數不得超過四十小時。"
    "但經勞資會議同意者，得延長至四十六小時。"
)


def passage(text: str, name: str = "p1", **facts: object) -> Passage:
    """A passage with safe defaults."""
    defaults: dict[str, object] = {
        "document": "Rules",
        "policy": "rules",
        "version": 1,
        "effective_from": date(2025, 1, 1),
        "effective_to": None,
        "section_id": "1",
        "section_title": "Rules",
        "section_path": ("1 Rules",),
        "section_public_id": "s",
        "language": "en",
        "score": 1.0,
        "cosine": None,
        "bm25": 1.0,
        "dense_rank": None,
        "lexical_rank": 1,
    }
    return Passage(id=name, text=text, **{**defaults, **facts})  # type: ignore[arg-type]  # kwargs


def claim(text: str, quote: str, name: str = "p1") -> DraftClaim:
    """A claim with one citation."""
    return DraftClaim(text, (DraftCitation(name, quote),))
