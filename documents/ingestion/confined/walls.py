"""What this platform lacks of what keeps a parser in."""

from __future__ import annotations

from documents.ingestion.confined import landlock, seccomp


def missing_walls() -> tuple[str, ...]:
    """What is missing here, in words for an administrator; empty where nothing is."""
    missing = []
    if not seccomp.is_known_machine():
        missing.append("no filter of system calls (seccomp)")
    if not landlock.version():
        missing.append("no limit on readable files (Landlock)")
    return tuple(missing)
