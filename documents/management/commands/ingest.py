"""Take files or folders in as policy versions, and wait until each rests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celery import current_app
from django.core.management.base import CommandError, CommandParser
from kombu.exceptions import OperationalError as BrokerDown
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from documents import access, actions, lifecycle, pipeline
from documents.errors import DocumentsError
from documents.management.base import ClearErrorsCommand, day, label_list
from documents.models import Chunk, PolicyVersion, VersionState

SUFFIXES = frozenset(
    {".pdf", ".docx", ".html", ".htm", ".md", ".markdown", ".txt", ".text", ".json"}
)
_POLL_SECONDS = 0.3
_PING_SECONDS = 3.0
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

    def handle(self, *args: Any, **options: Any) -> None:
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
            has_worker = options["inline"] or _has_worker()
            if has_worker and not options["inline"]:
                self._wait(files, progress, bar)
        self._report(files, options, has_worker=has_worker)

    def _say_what_is_passed_over(self, paths: list[Path]) -> None:
        names = [name for path in paths if path.is_dir() for name in _passed_over(path)]
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
                    policy_slug=options["policy"] or _slug(file.name),
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
            _work(received.version_id)

    def _wait(self, files: list[_File], progress: Progress, bar: Any) -> None:
        """Until every version rests; the sweeper picks up what a worker loses."""
        waiting = {file.version_id for file in files if file.version_id}
        while waiting:
            with access.editing():
                moving = set(
                    PolicyVersion.objects.filter(
                        pk__in=waiting, state__in=lifecycle.MOVING
                    ).values_list("pk", flat=True)
                )
            progress.advance(bar, len(waiting) - len(moving))
            waiting = moving
            if waiting:
                time.sleep(_POLL_SECONDS)

    def _report(self, files: list[_File], options: dict[str, Any], *, has_worker: bool) -> None:
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
        if not has_worker and any(file.state in lifecycle.MOVING for file in files):
            raise CommandError(
                "The files are safely received, but no worker is running, so they wait. Start one "
                "(make run, or celery -A legalqa worker), or run this again with --inline."
            )


def _files(paths: list[Path]) -> Iterator[_File]:
    for path in paths:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                if found.is_file() and found.suffix.lower() in SUFFIXES:
                    yield _File(found, found.relative_to(path).as_posix())
        elif path.is_file():
            yield _File(path, path.name)
        else:
            raise CommandError(f"There is no file or folder {path}.")


def _passed_over(folder: Path) -> Iterator[str]:
    """Names of files below a folder that are of no kind taken in; hidden ones are not named."""
    for found in sorted(folder.rglob("*")):
        name = found.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if found.is_file() and not is_hidden and found.suffix.lower() not in SUFFIXES:
            yield name.as_posix()


def _slug(name: str) -> str:
    """A slug from a path below the folder that was named, so that equal names don't meet."""
    return actions.slug_for(Path(name).with_suffix("").as_posix().replace("/", " "))


def _work(version_id: int) -> None:
    """The worker's part, in this process."""
    pipeline.ingest_version(version_id)
    pipeline.index_here(version_id)


def _has_worker() -> bool:
    try:
        return bool(current_app.control.ping(timeout=_PING_SECONDS, limit=1))
    except (BrokerDown, OSError):
        return False


def _describe(file: _File) -> None:
    """Fill in where a file ended, in words."""
    if file.version_id is None:
        file.line = f"failed: {file.problem}"
        return
    with access.editing():
        version = PolicyVersion.objects.select_related("policy", "detail").get(pk=file.version_id)
        held = version.chunks.filter(state=Chunk.State.QUARANTINED).count()
    file.state = version.state
    detail = version.detail
    words = [VersionState(version.state).label.lower(), f"{version.policy.slug}@{version.number}"]
    if detail.failure:
        words.append(detail.failure)
    elif detail.chunk_count:
        words.append(f"{detail.section_count} sections, {detail.chunk_count} chunks")
    if held:
        words.append(f"{held} in quarantine")
    words += [warning["message"] for warning in detail.warnings]
    if file.problem:
        words.append(file.problem)
    file.line = "; ".join(words)
