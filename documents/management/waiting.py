"""What the commands that take files share: which files, the wait for workers, the outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from celery import current_app
from kombu.exceptions import OperationalError as BrokerDown

from documents import access, lifecycle, pipeline
from documents.models import Chunk, PolicyVersion, VersionState

SUFFIXES = frozenset(
    {".pdf", ".docx", ".html", ".htm", ".md", ".markdown", ".txt", ".text", ".json"}
)
NO_WORKER = (
    "The files are safely received, but no worker is running, so they wait. Start one "
    "(make run, or celery -A legalqa worker), or run this again with --inline."
)
_POLL_SECONDS = 0.3
_PING_SECONDS = 3.0


def files_below(folder: Path) -> Iterator[Path]:
    """The files of a folder that are taken, in the order of their paths."""
    for found in sorted(folder.rglob("*")):
        if found.is_file() and found.suffix.lower() in SUFFIXES:
            yield found


def passed_over(folder: Path) -> Iterator[str]:
    """Names of files below a folder that are of no kind taken in; hidden ones are not named."""
    for found in sorted(folder.rglob("*")):
        name = found.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if found.is_file() and not is_hidden and found.suffix.lower() not in SUFFIXES:
            yield name.as_posix()


def work_here(version_id: int) -> None:
    """The worker's part, in this process."""
    pipeline.ingest_version(version_id)
    pipeline.index_here(version_id)


def has_worker() -> bool:
    """Whether a worker answers."""
    try:
        return bool(current_app.control.ping(timeout=_PING_SECONDS, limit=1))
    except (BrokerDown, OSError):
        return False


def wait_for(version_ids: Iterable[int], advance: Callable[[int], object]) -> None:
    """Until every version rests; the sweeper picks up what a worker loses."""
    waiting = set(version_ids)
    while waiting:
        with access.editing():
            rows = PolicyVersion.objects.filter(pk__in=waiting, state__in=lifecycle.MOVING)
            moving = set(rows.values_list("pk", flat=True))
        advance(len(waiting) - len(moving))
        waiting = moving
        if waiting:
            time.sleep(_POLL_SECONDS)


def described(version_id: int, note: str = "") -> tuple[str, str]:
    """The state of a version, and a line on it."""
    with access.editing():
        version = PolicyVersion.objects.select_related("policy", "detail").get(pk=version_id)
        held = version.chunks.filter(state=Chunk.State.QUARANTINED).count()
    detail = version.detail
    words = [VersionState(version.state).label.lower(), f"{version.policy.slug}@{version.number}"]
    if detail.failure:
        words.append(detail.failure)
    elif detail.chunk_count:
        words.append(f"{detail.section_count} sections, {detail.chunk_count} chunks")
    if held:
        words.append(f"{held} in quarantine")
    words += [warning["message"] for warning in detail.warnings]
    if note:
        words.append(note)
    return version.state, "; ".join(words)
