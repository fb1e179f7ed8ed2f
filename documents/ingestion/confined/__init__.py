"""Reading one file in a child process with limits: no network, no files, no secrets.

Parsers are large programs fed by strangers. `parse_confined` gives what
`documents.ingestion.parsers.parse` gives, but runs it where a parser that is taken over, hangs
or swells harms nothing: see docs/explanation/hostile-files.md and ADR 0013.
"""

from __future__ import annotations

from documents.ingestion.confined import landlock, seccomp
from documents.ingestion.confined.limits import Limits, Usage
from documents.ingestion.confined.run import parse_confined

__all__ = ["Limits", "Usage", "missing_walls", "parse_confined"]


def missing_walls() -> tuple[str, ...]:
    """What this platform lacks of what keeps a parser in, in words for an administrator."""
    missing = []
    if not seccomp.is_known_machine():
        missing.append("no filter of system calls (seccomp)")
    if not landlock.version():
        missing.append("no limit on readable files (Landlock)")
    return tuple(missing)
