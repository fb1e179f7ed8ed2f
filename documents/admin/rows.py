"""How a version stands in a row, in words and for the script that keeps the row up to date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from documents import access, lifecycle
from documents.ingestion.effective import effective_date_in
from documents.models import Chunk, PolicyVersion, VersionState

WAITS = "Received, waits for a worker"


def shown_rows(versions: QuerySet[PolicyVersion]) -> QuerySet[PolicyVersion]:
    """Versions with all that a row of a list shows, in a constant number of queries."""
    held = Chunk.objects.filter(version=OuterRef("pk"), state=Chunk.State.QUARANTINED)
    counted = held.order_by().values("version").annotate(n=Count("pk")).values("n")
    return (
        versions.select_related("policy", "detail")
        .prefetch_related("labels")
        .annotate(waiting=Coalesce(Subquery(counted), 0))
    )


def days_shown(version: PolicyVersion) -> str:
    """The days in force, the last one inclusive."""
    if version.effective is None:
        return "not set"
    first, last = access.effective_days(version)
    return f"{first} to {last}" if last else f"from {first}"


def status_of(version: Any) -> dict[str, Any]:
    """Where a row of `shown_rows` stands, as the page's script reads it."""
    return {
        "version": str(version.public_id),
        "state": version.state,
        "label": WAITS if version.state == VersionState.RECEIVED else version.get_state_display(),
        "chunks": version.detail.chunk_count,
        "embedded": version.detail.embedded_count,
        "waiting": version.waiting,
        "failure": version.detail.failure,
        "is_moving": VersionState(version.state) in lifecycle.MOVING,
    }


def named(version: PolicyVersion) -> str:
    """A version as messages call it."""
    return f"Version {version.number} of {version.policy.slug}"


_DATES = ("effective_from", "effective_date", "effective", "valid_from", "in_force_from")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that the file says of itself, unlike what the version has; never applied."""

    name: str
    value: str
    has_now: str


def suggestions_of(version: PolicyVersion) -> list[Suggestion]:
    """What an owner may want to take over from the file: its title and its first day."""
    return [*_title(version), *_first_day(version)]


def _title(version: PolicyVersion) -> Iterator[Suggestion]:
    title = " ".join(version.detail.metadata.get("title", "").split())[:300]
    if title and title.casefold() != version.policy.title.casefold():
        yield Suggestion("title", title, version.policy.title)


def _first_day(version: PolicyVersion) -> Iterator[Suggestion]:
    told = version.detail.metadata.items()
    said = {name.lower().replace("-", "_").replace(" ", "_"): text for name, text in told}
    first = access.effective_days(version)[0] if version.effective else None
    for name in _DATES:
        if day := _date(said.get(name, "")):
            break
    else:
        day = effective_date_in(version.detail.canonical_text)
    if day is not None and day != first:
        yield Suggestion("first day in force", day.isoformat(), str(first or "not set"))


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
