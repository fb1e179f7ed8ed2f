"""A folder and what it became: compared by path and bytes, then brought into step.

`plan` only looks; `carry_out` does one step in one transaction, so a run that is broken off has
done whole steps and the next one finds the rest. Files are known by their path below the folder
and, where that is new, by their bytes: a renamed file stays the policy that it was. Nothing that
a person turned down or took back comes again by itself.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from django.db import connection

from documents import access, actions, lifecycle
from documents.errors import DocumentsError, ValidationProblem
from documents.models import MirroredFile, Policy, PolicyVersion, VersionState

GONE_NOTE = "The file is gone from the mirrored folder."
_MANY_GONE = 5  # from so many on, half of all that is known looks like a folder that is not there
_TURNED_DOWN = (VersionState.REJECTED, VersionState.WITHDRAWN)
_UNPUBLISHED = (VersionState.HELD, VersionState.AWAITING_APPROVAL, VersionState.FAILED)


class Action(StrEnum):
    """What has to be done about a file."""

    NEW = "new"
    CHANGED = "changed"
    RENAMED = "renamed"
    RETURNED = "returned"
    RETRY = "retry"
    UNCHANGED = "unchanged"
    GONE = "gone"
    PROBLEM = "problem"


@dataclass(slots=True)
class Step:
    """One file of the folder, or one that it had; `note` says more, for people."""

    path: str
    action: Action
    policy: str = ""  # its slug
    before: str = ""  # the path of a renamed file
    note: str = ""
    version_id: int | None = None
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Every file of a folder and of its mirror, in the order of their paths."""

    mirror: str
    steps: list[Step] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many files there are of each kind, the frequent kinds not first."""
        found = {action.value: 0 for action in Action}
        for step in self.steps:
            found[step.action.value] += 1
        return {name: count for name, count in found.items() if count}

    def looks_emptied(self) -> bool:
        """Whether so much is gone that the folder itself may not be there."""
        gone = sum(step.action is Action.GONE for step in self.steps)
        known = sum(step.action not in (Action.NEW, Action.PROBLEM) for step in self.steps)
        return gone >= _MANY_GONE and 2 * gone > known


@contextmanager
def alone(mirror: str) -> Iterator[None]:
    """Let nobody else bring the same mirror into step meanwhile.

    Raises:
        ValidationProblem: somebody does.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(hashtextextended(%s, 0))", [f"mirror {mirror}"])
        row = cursor.fetchone()
        if not row or not row[0]:
            raise ValidationProblem(
                f"Another run brings the mirror {mirror} into step. Wait for it, or stop it.",
                code="not_resting",
            )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "select pg_advisory_unlock(hashtextextended(%s, 0))", [f"mirror {mirror}"]
            )


def plan(mirror: str, files: Mapping[str, Path]) -> Plan:
    """Compare a folder with its mirror; nothing is changed.

    Args:
        mirror: the name under which the folder is known.
        files: path below the folder, with `/`, to where the file is.
    """
    made = Plan(mirror)
    with access.editing():
        rows = {
            row.path: row
            for row in MirroredFile.objects.filter(mirror=mirror).select_related(
                "policy", "version__detail"
            )
        }
        lost = {path: row for path, row in rows.items() if path not in files}
        taken = {row.policy.slug for path, row in rows.items() if path in files}
        for path in sorted(files):
            made.steps.append(_step(path, files[path], rows.get(path), lost, taken))
        for path, row in lost.items():
            if row.gone_on is None:
                made.steps.append(Step(path, Action.GONE, policy=row.policy.slug))
    made.steps.sort(key=lambda step: step.path)
    return made


def _step(
    path: str,
    file: Path,
    row: MirroredFile | None,
    lost: dict[str, MirroredFile],
    taken: set[str],
) -> Step:
    try:
        actions.check_size(path, file.stat().st_size)
        sha256 = _sha256(file)
    except (OSError, DocumentsError) as error:
        reason = error.message if isinstance(error, DocumentsError) else _why(error)
        return Step(path, Action.PROBLEM, note=reason)
    if row is not None:
        return _known(row, sha256)
    before = next((one for one in lost.values() if one.sha256 == sha256), None)
    if before is not None:
        del lost[before.path]
        taken.add(before.policy.slug)
        action = Action.RENAMED if before.gone_on is None else Action.RETURNED
        return Step(path, action, policy=before.policy.slug, before=before.path)
    return _new(path, taken)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _why(error: OSError) -> str:
    return f"It cannot be read ({error.strerror or type(error).__name__})."


def _known(row: MirroredFile, sha256: str) -> Step:
    step = Step(row.path, Action.UNCHANGED, policy=row.policy.slug)
    version = row.version
    if row.gone_on is not None:
        return replace(step, action=Action.RETURNED)
    if row.sha256 != sha256:
        return replace(step, action=Action.CHANGED)
    if version is None:
        step.note = "Its version was deleted. Change the file to have it taken again."
    elif version.state == VersionState.FAILED and version.detail.is_retryable:
        return replace(step, action=Action.RETRY, version_id=version.pk)
    elif version.state == VersionState.FAILED:
        return replace(step, action=Action.PROBLEM, note=f"It failed: {version.detail.failure}")
    elif version.state in _TURNED_DOWN:
        step.note = f"It was {version.state}. Change the file to have it taken again."
    return step


def _new(path: str, taken: set[str]) -> Step:
    try:
        slug = slug_of(path)
    except ValidationProblem as error:
        return Step(path, Action.PROBLEM, note=error.message)
    if slug in taken:
        note = (
            f"Another file of the folder is the policy {slug} already. Give this one another name."
        )
        return Step(path, Action.PROBLEM, policy=slug, note=note)
    taken.add(slug)
    exists = Policy.objects.filter(slug=slug).exists()
    note = "A policy of this name exists: the file becomes a version of it." if exists else ""
    return Step(path, Action.NEW, policy=slug, note=note)


def slug_of(path: str) -> str:
    """The slug of the policy that a new file becomes; folders are part of it.

    Raises:
        ValidationProblem: the name holds no letter or digit.
    """
    return actions.slug_for(PurePosixPath(path).with_suffix("").as_posix().replace("/", " "))


def carry_out(
    mirror: str, step: Step, file: Path | None, terms: actions.Upload, *, retire_gone: bool
) -> None:
    """Do one step, in one transaction.

    Args:
        mirror: the name of the mirror.
        step: from `plan`; its note, version and `is_done` are filled in.
        file: where the file is; None for one that is gone.
        terms: labels, days and whether to publish; its bytes and names are not read.
        retire_gone: end what a file that is gone became, as of today.

    Raises:
        DocumentsError: it cannot be done; nothing of it is.
        OSError: the file cannot be read.
    """
    with access.editing():
        if step.action is Action.RETRY and step.version_id is not None:
            actions.retry_version(step.version_id, actor=None)
        elif step.action is Action.GONE:
            if not retire_gone:
                return
            _retire(mirror, step)
        elif step.action is Action.RENAMED:
            MirroredFile.objects.filter(mirror=mirror, path=step.before).update(path=step.path)
        elif step.action in (Action.NEW, Action.CHANGED, Action.RETURNED) and file is not None:
            _take(mirror, step, file, terms)
        else:
            return
        step.is_done = True


def _take(mirror: str, step: Step, file: Path, terms: actions.Upload) -> None:
    data = file.read_bytes()
    first, note = _first_day(step, terms)
    given = replace(
        terms,
        data=data,
        file_name=file.name,
        policy_slug=step.policy,
        effective_from=first,
    )
    received = actions.upload(given, actor=None)
    version = PolicyVersion.objects.get(pk=received.version_id)
    MirroredFile.objects.update_or_create(
        mirror=mirror,
        path=step.before or step.path,
        defaults={
            "path": step.path,
            "policy_id": version.policy_id,
            "sha256": hashlib.sha256(data).hexdigest(),
            "version": version,
            "gone_on": None,
        },
    )
    step.version_id = version.pk
    step.note = "A version holds this text already." if received.is_duplicate else note


def _first_day(step: Step, terms: actions.Upload) -> tuple[datetime.date | None, str]:
    """The first day of a new text, and what to say of it.

    A day on which a text began cannot begin another: a file that was changed again today is in
    force from tomorrow, and one that came back follows the last day of what it was.
    """
    if terms.effective_from is not None or step.action is Action.NEW:
        return terms.effective_from, ""
    published = PolicyVersion.objects.filter(
        policy__slug=step.policy, state=VersionState.PUBLISHED
    ).order_by("-effective")
    today = access.today()
    newest = published.first()
    if newest is None:
        return today, ""
    first, last = access.effective_days(newest)
    if step.action is Action.RETURNED and last is not None and last >= today:
        day = last + datetime.timedelta(days=1)
        return day, f"In force from {day}: until then it stays as it was retired."
    if first == today:
        day = today + datetime.timedelta(days=1)
        return day, f"In force from {day}: another text of it began today."
    return today, ""


def _retire(mirror: str, step: Step) -> None:
    """End all that a file became: what is in force as of today, what waits at once."""
    row = MirroredFile.objects.select_for_update().get(mirror=mirror, path=step.path)
    today = access.today()
    for version in PolicyVersion.objects.filter(policy=row.policy_id).order_by("number"):
        if version.state in lifecycle.MOVING:
            raise ValidationProblem(
                f"Version {version.number} is being worked on. Run this again when it rests.",
                code="not_resting",
            )
        if version.state in _UNPUBLISHED:
            actions.reject_version(version.pk, reviewer=None, note=GONE_NOTE)
        elif version.state == VersionState.PUBLISHED:
            _end(version, today)
    row.gone_on = today
    row.save(update_fields=["gone_on", "taken_at"])


def _end(version: PolicyVersion, today: datetime.date) -> None:
    first, last = access.effective_days(version)
    if first > today:
        raise ValidationProblem(
            f"Version {version.number} begins only on {first}. Withdraw it, then run this again.",
            code="bad_dates",
        )
    if last is None or last > today:
        actions.retire_version(version.pk, last_day=today, actor=None)
