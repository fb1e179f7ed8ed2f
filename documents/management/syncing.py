"""`ingest DIR --sync`: shows what a folder and its mirror differ in, and brings them into step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from documents import access, actions, lifecycle, mirror
from documents.errors import DocumentsError
from documents.management.base import ClearErrorsCommand
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
from documents.mirror import Action, Plan, Step

_TAKEN = (Action.NEW, Action.CHANGED, Action.RETURNED, Action.RETRY)
_FAILED = ("failed", "rejected")


def add_arguments(parser: CommandParser) -> None:
    """The options of a sync."""
    parser.add_argument(
        "--sync", action="store_true", help="bring one folder and what it became into step"
    )
    parser.add_argument("--yes", action="store_true", help="do what --sync shows")
    parser.add_argument("--mirror", default="", help="the folder's name here; default: its own")
    parser.add_argument(
        "--retire-gone", action="store_true", help="end, as of today, what files that are gone were"
    )
    parser.add_argument(
        "--many-gone", action="store_true", help="go on though most of the files are gone"
    )


def refuse_without_sync(options: dict[str, Any]) -> None:
    """Say that an option needs `--sync`, rather than leave it without effect."""
    named = [name for name in ("yes", "mirror", "retire_gone", "many_gone") if options[name]]
    if named:
        raise CommandError(f"--{named[0].replace('_', '-')} goes with --sync.")


class Sync:
    """One run over one folder."""

    def __init__(self, command: ClearErrorsCommand, options: dict[str, Any]) -> None:
        self._command = command
        self._options = options
        self._folder = self._one_folder(options["paths"])
        self._mirror = (options["mirror"] or self._folder.resolve().name)[:100]
        self._files = self._found()

    def _one_folder(self, paths: list[Path]) -> Path:
        if len(paths) != 1 or not paths[0].is_dir():
            raise CommandError("--sync takes one folder.")
        if self._options["policy"] or self._options["title"]:
            raise CommandError("--policy and --title go with one file, not with --sync.")
        return paths[0]

    def _found(self) -> dict[str, Path]:
        root = self._folder.resolve()
        files = {
            path.relative_to(self._folder).as_posix(): path
            for path in files_below(self._folder)
            if path.resolve().is_relative_to(root)  # a link may not lead out of the folder
        }
        if not files:
            kinds = ", ".join(sorted(SUFFIXES))
            raise CommandError(
                f"There is no file to take in {self._folder} (of the kinds {kinds}). Check that it "
                "is the folder that you mean."
            )
        return files

    def run(self) -> None:
        """Show the plan; with `--yes` carry it out, wait for the workers and report."""
        access.require_labels(self._options["labels"])
        with mirror.alone(self._mirror):
            plan = mirror.plan(self._mirror, self._files)
            if self._options["yes"]:
                self._refuse_emptied(plan)
                self._carry_out(plan)
        self._finish(plan)

    def _refuse_emptied(self, plan: Plan) -> None:
        does_harm = self._options["retire_gone"] and not self._options["many_gone"]
        if does_harm and plan.looks_emptied():
            raise CommandError(
                f"{plan.counts()[Action.GONE]} files are gone, most of those that are known. If "
                "that is right, add --many-gone; if not, check that the folder is the whole one."
            )

    def _carry_out(self, plan: Plan) -> None:
        todo = [step for step in plan.steps if self._is_due(step)]
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            disable=self._options["json"],
            transient=True,
        ) as progress:
            bar = progress.add_task("files", total=len(todo))
            for step in todo:
                self._do(step)
                if self._options["inline"] or step.version_id is None:
                    progress.advance(bar)
            if not self._options["inline"] and has_worker():
                taken = {step.version_id for step in todo if step.version_id}
                wait_for(taken, lambda count: progress.advance(bar, count))

    def _is_due(self, step: Step) -> bool:
        if step.action is Action.GONE:
            return bool(self._options["retire_gone"])
        return step.action in (*_TAKEN, Action.RENAMED)

    def _do(self, step: Step) -> None:
        try:
            mirror.carry_out(
                self._mirror,
                step,
                self._files.get(step.path),
                self._terms(),
                retire_gone=self._options["retire_gone"],
            )
        except (DocumentsError, OSError) as error:
            step.action, step.version_id = Action.PROBLEM, None
            step.note = error.message if isinstance(error, DocumentsError) else str(error)
            return
        if self._options["inline"] and step.version_id is not None:
            work_here(step.version_id)

    def _terms(self) -> actions.Upload:
        return actions.Upload(
            data=b"",
            file_name="",
            labels=tuple(self._options["labels"]),
            effective_from=self._options["effective_from"],
            effective_to=self._options["effective_to"],
            publish=self._options["publish"],
        )

    def _finish(self, plan: Plan) -> None:
        states = self._report(plan)
        failed = [s for s in plan.steps if s.action is Action.PROBLEM]
        failed += [s for s in plan.steps if states.get(s.path) in _FAILED]
        if failed:
            raise CommandError(f"{len(failed)} of {len(plan.steps)} files failed; see above.")
        if any(state in lifecycle.MOVING for state in states.values()):
            raise CommandError(NO_WORKER)

    def _report(self, plan: Plan) -> dict[str, str]:
        """Print every file, and return the states of those that were taken now."""
        is_dry = not self._options["yes"]
        states: dict[str, str] = {}
        rows = []
        for step in plan.steps:
            state, line = "", step.note
            if step.version_id is not None and step.is_done:
                state, line = described(step.version_id, step.note)
                states[step.path] = state
            rows.append(_row(step, state, line))
        if self._options["json"]:
            self._command.print_json(
                {
                    "mirror": self._mirror,
                    "dry_run": is_dry,
                    "counts": plan.counts(),
                    "passed_over": list(passed_over(self._folder)),
                    "files": rows,
                }
            )
            return states
        for row in rows:
            if row["action"] != Action.UNCHANGED or row["message"]:
                self._command.stdout.write(_line(row))
        counts = ", ".join(f"{count} {name}" for name, count in plan.counts().items())
        self._command.stdout.write(f"{self._mirror}: {counts}.")
        if is_dry:
            self._command.stdout.write("Nothing was changed. Add --yes to do this.")
        return states


def _row(step: Step, state: str, message: str) -> dict[str, Any]:
    return {
        "path": step.path,
        "action": step.action.value,
        "policy": step.policy or None,
        "before": step.before or None,
        "done": step.is_done,
        "state": state or None,
        "message": message,
    }


def _line(row: dict[str, Any]) -> str:
    words = f"{row['action']:9} {row['path']}"
    if row["before"]:
        words += f" (was {row['before']})"
    return f"{words}: {row['message']}" if row["message"] else words
