"""What a reader is told of the days of what an answer rests on.

Sources name version and days; these notices say outright what a quoted rule is not: in force
today, or there at all on the day asked for.
"""

from __future__ import annotations

from datetime import date

from documents import access
from documents.access import Reading
from qa.records import SearchResult

TO_COME = "A version quoted here is not yet in force."
PAST = "A version quoted here is no longer in force."
NO_VERSION = (
    "No version of this policy that you may read was in force on this date. Its page lists the "
    "days of each version."
)


def notices(reading: Reading, result: SearchResult, policy_slug: str) -> list[str]:
    """The notices for what was found on the day of a reading; after it has ended.

    Args:
        reading: what the search ran in.
        result: what it found.
        policy_slug: the only policy that was asked about; empty: all.
    """
    if not result.passages:
        return [NO_VERSION] if _has_gap(reading, policy_slug) else []
    found = []
    if any(passage.effective_from > reading.today for passage in result.passages):
        found.append(TO_COME)
    if any(_is_past(passage.effective_to, reading.today) for passage in result.passages):
        found.append(PAST)
    return found


def _is_past(last: date | None, today: date) -> bool:
    return last is not None and last < today


def _has_gap(reading: Reading, policy_slug: str) -> bool:
    """Whether the policy has readable versions, and none on the day."""
    history = access.history(reading.reader, policy_slug.lower()) if policy_slug else None
    return history is not None and history.gap_on(reading.as_of) is not None
