"""Take files or folders in as policy versions, and wait until each rests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from documents import access, actions, lifecycle, mirror
from documents.errors import DocumentsError
from documents.management import syncing
from documents.management.base import ClearErrorsCommand, day, label_list
from documents.management.waiting import (
    NO_WORKER,
    SUFFIXES,
    described,
    files_below,
    has_worker,
    passed_over,
    wait_for,
    work_here,
)

_MOST_NAMED = 10


@dataclass(slots=True)
class _File:
    """One file and what became of it."""

    path: Path
    name: str  # relative to the folder that was named
    version_id: int | None = None
    line: str = ""
    state: str = "failed"
    problem: str = ""


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--policy", default="", help="slug of the policy (one file only)")
        parser.add_argument("--title", default="", help="its title (one file only)")
        parser.add_argument("--labels", type=label_list, default=(), help="such as all-staff,hr")
        parser.add_argument("--effective-from", type=day, help="first day in force, default today")
        parser.add_argument("--effective-to", type=day, help="last day in force, default open")
        parser.add_argument("--publish", action="store_true", help="approve as well")
        parser.add_argument(
            "--inline", action="store_true", help="do the work in this process, without a worker"
        )
        syncing.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sync"]:
            syncing.Sync(self, options).run()
            return
        syncing.refuse_without_sync(options)
        files = list(_files(options["paths"]))
        if not files:
            kinds = ", ".join(sorted(SUFFIXES))
            raise CommandError(f"No file to take in: a folder needs files ending in {kinds}.")
        self._say_what_is_passed_over(options["paths"])
        if len(files) > 1 and (options["policy"] or options["title"]):
            raise CommandError("--policy and --title go with one file; leave them out for many.")
        access.require_labels(options["labels"])
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            disable=options["json"],
            transient=True,
        ) as progress:
            bar = progress.add_task("files", total=len(files))
            for file in files:
                self._take(file, options)
                if options["inline"] or file.version_id is None:
                    progress.advance(bar)
            is_worked_on = options["inline"] or has_worker()
            if is_worked_on and not options["inline"]:
                taken = {file.version_id for file in files if file.version_id}
                wait_for(taken, lambda count: progress.advance(bar, count))
        self._report(files, options, is_worked_on=is_worked_on)

    def _say_what_is_passed_over(self, paths: list[Path]) -> None:
        names = [name for path in paths if path.is_dir() for name in passed_over(path)]
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            named = ", ".join(names[:_MOST_NAMED])
            word = "file" if len(names) == 1 else "files"
            self.stderr.write(f"Passed over {len(names)} {word} of other kinds: {named}{more}.")

    def _take(self, file: _File, options: dict[str, Any]) -> None:
        try:
            actions.check_size(file.path.name, file.path.stat().st_size)
            received = actions.upload(
                actions.Upload(
                    data=file.path.read_bytes(),
                    file_name=file.path.name,
                    policy_slug=options["policy"] or mirror.slug_of(file.name),
                    title=options["title"],
                    labels=tuple(options["labels"]),
                    effective_from=options["effective_from"],
                    effective_to=options["effective_to"],
                    publish=options["publish"],
                ),
                actor=None,
            )
        except (DocumentsError, OSError) as error:
            file.problem = str(error)
            return
        file.version_id = received.version_id
        if received.is_duplicate:
            file.problem = "already there"
        if options["inline"]:
            work_here(received.version_id)

    def _report(self, files: list[_File], options: dict[str, Any], *, is_worked_on: bool) -> None:
        for file in files:
            _describe(file)
        if options["json"]:
            self.print_json([{"file": f.name, "state": f.state, "message": f.line} for f in files])
        else:
            for file in files:
                self.stdout.write(f"{file.name}: {file.line}")
        failed = [file for file in files if file.state in ("failed", "rejected")]
        if failed:
            raise CommandError(
                f"{len(failed)} of {len(files)} files failed; see their lines above."
            )
        if not is_worked_on and any(file.state in lifecycle.MOVING for file in files):
            raise CommandError(NO_WORKER)


def _files(paths: list[Path]) -> Iterator[_File]:
    for path in paths:
        if path.is_dir():
            for found in files_below(path):
                yield _File(found, found.relative_to(path).as_posix())
        elif path.is_file():
            yield _File(path, path.name)
        else:
            raise CommandError(f"There is no file or folder {path}.")


def _describe(file: _File) -> None:
    """Fill in where a file ended, in words."""
    if file.version_id is None:
        file.line = f"failed: {file.problem}"
    else:
        file.state, file.line = described(file.version_id, file.problem)
