"""Deleting a policy or a version with all that hangs on it: for administrators.

Sections, passages, vectors, findings, page boxes and labels go in one transaction, with exact
term statistics (a trigger counts them off); the file and the images of its pages go after it
has committed, unless another version holds the same bytes. Answers that cited it stay on
record and are shown no more. The number of a deleted version is never given again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import OperationalError, connection, transaction

from documents import access, audit, stored_files
from documents.errors import ValidationProblem
from documents.models import ChunkTerms, DeletedVersion, Policy, PolicyVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_BUSY = {"40P01", "55P03"}  # deadlock, lock not available
_WAIT = "10s"  # for a worker that is publishing


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone."""

    policy_slug: str
    title: str
    numbers: tuple[int, ...]
    passages: int


def delete_policy(policy_id: int, *, typed: str, actor: User | None, note: str = "") -> Deleted:
    """Delete a policy with all its versions.

    Args:
        policy_id: internal id of the policy.
        typed: its name, typed again by whoever deletes it.
        actor: who deletes; None: the system.
        note: why; kept on record.

    Raises:
        ValidationProblem: the name differs, it is being deleted or was deleted already, or a
            worker is busy with it.
    """
    with _deleting(policy_id) as policy:
        _require_name(policy, typed)
        versions = list(policy.versions.select_related("detail").order_by("number"))
        facts = {"slug": policy.slug, "title": policy.title, "versions": _facts(versions)}
        audit.record("policy_deleted", policy, actor=actor, before=facts, after={"note": note})
        passages = sum(_delete(version) for version in versions)
        gone = Deleted(policy.slug, policy.title, tuple(v.number for v in versions), passages)
        policy.delete()
        return gone


def delete_version(version_id: int, *, typed: str, actor: User | None, note: str = "") -> Deleted:
    """Delete one version of a policy; the others keep their numbers and their days.

    Args:
        version_id: internal id of the version.
        typed: the policy's name, typed again by whoever deletes it.
        actor: who deletes; None: the system.
        note: why; kept on record.

    Raises:
        ValidationProblem: as `delete_policy`.
    """
    with access.editing():
        policy_id = PolicyVersion.objects.values_list("policy_id", flat=True).filter(pk=version_id)
        found = policy_id.first()
    if found is None:
        raise _gone("version")
    with _deleting(found) as policy:
        _require_name(policy, typed)
        version = policy.versions.select_related("detail").filter(pk=version_id).first()
        if version is None:
            raise _gone("version")
        facts = {"slug": policy.slug, "title": policy.title, **_facts([version])[0]}
        audit.record("version_deleted", version, actor=actor, before=facts, after={"note": note})
        DeletedVersion.objects.create(policy=policy, number=version.number)
        return Deleted(policy.slug, policy.title, (version.number,), _delete(version))


@contextmanager
def _deleting(policy_id: int) -> Iterator[Policy]:
    """A policy with its versions locked, or a clear message why it cannot be deleted now."""
    try:
        with access.editing():
            _be_the_only_one(policy_id)
            of_policy = PolicyVersion.objects.filter(policy=policy_id)
            # Versions before their policy, as publishing locks them.
            list(of_policy.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
            policy = Policy.objects.select_for_update().filter(pk=policy_id).first()
            if policy is None:
                raise _gone("policy")
            yield policy
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) not in _BUSY:
            raise
        raise ValidationProblem(
            "A worker is busy with this policy. Nothing was deleted: try again in a minute.",
            code="busy",
        ) from error


def _be_the_only_one(policy_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select set_config('lock_timeout', %s, true)", [_WAIT])
        cursor.execute(
            "select pg_try_advisory_xact_lock(hashtextextended('deletion ' || %s, 0))", [policy_id]
        )
        row = cursor.fetchone()
    if not row or not row[0]:
        raise ValidationProblem(
            "This policy is being deleted already. There is nothing left to do.",
            code="deletion_under_way",
        )


def _gone(what: str) -> ValidationProblem:
    return ValidationProblem(
        f"This {what} was deleted already. There is nothing left to do.", code="already_deleted"
    )


def _require_name(policy: Policy, typed: str) -> None:
    if " ".join(typed.split()) != " ".join(policy.title.split()):
        raise ValidationProblem(
            f"Type the name of the policy as it is written: {policy.title}", code="name_differs"
        )


def _facts(versions: Sequence[PolicyVersion]) -> list[dict[str, Any]]:
    """What stays on record of deleted versions: no text, and nothing of what it said."""
    return [
        {
            "number": version.number,
            "version": str(version.public_id),
            "state": version.state,
            "sha256": version.detail.file_sha256,
            "days": [str(day) for day in access.effective_days(version) if day]
            if version.effective
            else [],
        }
        for version in versions
    ]


def _delete(version: PolicyVersion) -> int:
    """Delete a version and what hangs on it; returns how many passages it had."""
    passages = version.chunks.count()
    sha256 = version.detail.file_sha256
    # Of themselves, not by cascade, so that no passage is loaded: there may be ten thousand.
    ChunkTerms.objects.filter(chunk__version=version).delete()
    version.delete()
    transaction.on_commit(partial(stored_files.remove_unused, sha256), robust=True)
    return passages
