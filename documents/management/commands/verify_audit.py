"""Prove that the audit trail is what was written, or say which of its rows are not."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents import chain, hooks, proof
from documents.management.base import ClearErrorsCommand


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--anchors",
            type=Path,
            help="a kept copy of the anchors file, to compare the chain with",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        kept = proof.read_anchors(options["anchors"]) if options["anchors"] else None
        found = proof.verify(kept)
        for check in hooks.audit_checks:
            for event_id, message in check():
                found.add(chain.Problem("changed", None, event_id, message))
        if options["json"]:
            self.print_json(_as_json(found, kept))
        else:
            self._report(found, kept)
        if found.problem_count:
            raise CommandError(
                f"The audit trail is not what was written: {found.problem_count} "
                f"{'place' if found.problem_count == 1 else 'places'}, see above. Keep the "
                "database as it is, and compare it with a backup."
            )

    def _report(self, found: proof.Proof, kept: list[Any] | None) -> None:
        for problem in found.problems:
            self.stdout.write(f"{problem.kind}: {problem.message}")
        if found.problem_count > len(found.problems):
            self.stdout.write(f"and {found.problem_count - len(found.problems)} more places.")
        self.stdout.write(
            f"{found.sealed} sealed events; the chain ends at {found.head_ordinal}, "
            f"{found.head_hash}."
        )
        compared = f", {len(kept)} in the kept file" if kept is not None else ""
        last = f", the last of {found.last_anchor_day}" if found.last_anchor_day else ""
        self.stdout.write(f"{found.anchors} anchors{last}{compared}.")
        self.stdout.write(_tail(found))
        if not found.problem_count:
            self.stdout.write("No break found.")


def _tail(found: proof.Proof) -> str:
    if not found.unsealed:
        return "Nothing waits to be sealed."
    age = f"{found.unsealed_age_seconds:.0f} s"
    line = f"{found.unsealed} events wait to be sealed, the oldest for {age}."
    if found.is_late:
        line += " The sealer does not run: start beat and a worker (make run does)."
    return line


def _as_json(found: proof.Proof, kept: list[Any] | None) -> dict[str, Any]:
    return {
        "intact": not found.problem_count,
        "sealed": found.sealed,
        "head": {"ordinal": found.head_ordinal, "hash": found.head_hash},
        "anchors": found.anchors,
        "last_anchor_day": found.last_anchor_day,
        "kept_anchors": len(kept) if kept is not None else None,
        "unsealed": found.unsealed,
        "unsealed_age_seconds": round(found.unsealed_age_seconds, 1),
        "sealer_is_late": found.is_late,
        "problem_count": found.problem_count,
        "problems": [asdict(problem) for problem in found.problems],
    }
