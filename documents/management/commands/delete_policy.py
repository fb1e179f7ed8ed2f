"""Delete a policy with all its versions, or one version of it, for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents import access, deletion
from documents.management.base import ClearErrorsCommand
from documents.models import Policy, PolicyVersion


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", metavar="SLUG", help="of the policy")
        parser.add_argument("--number", type=int, help="delete this version alone")
        parser.add_argument("--name", default="", help="the policy's name, typed again")
        parser.add_argument("--note", required=True, help="why; kept on record")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {"typed": options["name"], "actor": None, "note": options["note"]}
        if options["number"] is None:
            gone = deletion.delete_policy(self._policy(options["slug"]), **given)
        else:
            version_id = self._version(options["slug"], options["number"])
            gone = deletion.delete_version(version_id, **given)
        if options["json"]:
            self.print_json(asdict(gone))
            return
        numbers = ", ".join(map(str, gone.numbers)) or "none"
        self.stdout.write(f"Deleted {gone.title}: versions {numbers}, {gone.passages} passages.")

    def _policy(self, slug: str) -> int:
        with access.editing():
            found = Policy.objects.filter(slug=slug).values_list("pk", flat=True).first()
        if found is None:
            raise CommandError(f"There is no policy {slug}.")
        return found

    def _version(self, slug: str, number: int) -> int:
        policy_id = self._policy(slug)
        with access.editing():
            found = PolicyVersion.objects.filter(policy=policy_id, number=number)
            version_id = found.values_list("pk", flat=True).first()
        if version_id is None:
            raise CommandError(f"There is no version {number} of {slug}.")
        return version_id
