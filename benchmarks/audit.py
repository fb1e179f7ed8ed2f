"""How fast the audit trail is sealed and proven, and how much memory that takes.

    python -m benchmarks.audit --events 100000

Writes that many signed events, seals and verifies them, in one transaction that is rolled back.
Nothing else is sealed meanwhile, so run it where nobody works.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import django

from legalqa.services import ensure_running

_BATCH = 2000


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    count = parser.parse_args().events
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "legalqa.settings")
    ensure_running()
    django.setup()
    from django.db import transaction

    from documents import proof, sealing
    from documents.models import AuditEvent

    result: dict[str, object] = {"events": count}
    with transaction.atomic():
        with _timed(result, "write"):
            for start in range(0, count, _BATCH):
                rows = map(_fields, range(start, start + _BATCH))
                AuditEvent.objects.bulk_create(AuditEvent(**fields) for fields in rows)
        memory_before = _peak_mb()
        with _timed(result, "seal"):
            sealed = sealing.seal()
        with _timed(result, "verify"):
            found = proof.verify()
        result |= {
            "sealed": sealed,
            "intact": not found.problem_count,
            "peak_mb_before": memory_before,
            "peak_mb_after": _peak_mb(),
            "sha256_of_1_gb_seconds": _hashing(),
        }
        transaction.set_rollback(True)
    print(json.dumps(result, indent=2))


def _fields(number: int) -> dict[str, object]:
    return {
        "actor_id": number % 97,
        "actor_name": f"person{number % 97}",
        "action": "version_labels_changed",
        "object_type": "policyversion",
        "object_id": "0190a4de-7c1f-7000-8000-0123456789ab",
        "before": {"labels": ["all-staff"]},
        "after": {"labels": ["all-staff", "hr"], "number": number},
        "address": "192.0.2.7",
    }


@contextmanager
def _timed(result: dict[str, object], name: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    result[f"{name}_seconds"] = round(time.perf_counter() - wall, 2)
    result[f"{name}_cpu_seconds"] = round(time.process_time() - cpu, 2)


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _hashing() -> float:
    """A yardstick of the machine: SHA-256 over a gigabyte, in seconds of processor time."""
    block, digest, cpu = bytes(2**20), hashlib.sha256(), time.process_time()
    for _ in range(1024):
        digest.update(block)
    return round(time.process_time() - cpu, 2)


if __name__ == "__main__":
    main()
