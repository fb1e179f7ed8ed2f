"""What people do with policies: upload, approve, decide on findings, withdraw, grant.

Each runs in one transaction with its audit row. Whether the person has the right is checked
by the door (admin, API, command); who may approve is a rule of the subject and checked here.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now
from django.utils.text import slugify

from documents import (
    access,
    audit,
    differences,
    lifecycle,
    pipeline,
    queue,
    relabelling,
    stored_files,
)
from documents.errors import ValidationProblem
from documents.ingestion import parsers
from documents.ingestion.names import shown_name, title_from_name
from documents.models import (
    AccessLabel,
    Chunk,
    Finding,
    LabelGrant,
    ManagedDepartment,
    Policy,
    PolicyVersion,
    Section,
    VersionDetail,
    VersionState,
)
from documents.records import Severity

if TYPE_CHECKING:
    from django.contrib.auth.models import Group, User


@dataclass(frozen=True, slots=True)
class Upload:
    """What a person hands in; empty fields fall back to the policy's own."""

    data: bytes
    file_name: str
    policy_slug: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    effective_from: datetime.date | None = None
    effective_to: datetime.date | None = None  # the last day in force
    publish: bool = False  # approve as well; the door checks the right
    contact: str = ""
    department: str = ""
    category: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """The version that holds an upload; `is_duplicate` when it was there already."""

    version_id: int
    version_public_id: str
    policy_slug: str
    number: int
    state: str
    is_duplicate: bool


def upload(given: Upload, *, actor: User | None) -> Received:
    """Take a file as a version of a policy; what is accepted here is never lost.

    The file is flushed to disk before its row is committed. The same bytes for the same
    policy make no second version. Its name is kept as people may see it (`names.shown_name`).

    Raises:
        ValidationProblem: nothing to read, too large, reversed dates, no title.
        ParseError: a kind of file that is not read; the message names it.
        UnknownLabelError: a label that does not exist.
        StorageError: the disk is full; nothing was kept.
    """
    given = replace(given, file_name=shown_name(given.file_name))
    _check_upload(given)
    sha256 = stored_files.keep(given.data)
    with access.editing():
        stored_files.hold(sha256, given.data)
        labels = access.require_labels(given.labels)
        policy = _policy_for(given, labels, actor)
        # Two uploads at once: the same bytes are one version, others get two numbers.
        Policy.objects.select_for_update().get(pk=policy.pk)
        first = given.effective_from or access.today()
        same = _same_bytes(policy, sha256, first)
        if same is not None:
            return _received(same, is_duplicate=True)
        pipeline.check_dates(policy, first, given.effective_to)
        if given.publish:
            require_audience(labels or policy.default_labels.all())
        version = _create_version(policy, given, first, labels, sha256, actor)
        queue.enqueue("ingest_version", version.pk)
        return _received(version, is_duplicate=False)


def require_audience(labels: Iterable[AccessLabel]) -> None:
    """Refuse to publish what nobody could read.

    Raises:
        ValidationProblem: no audience among the labels.
    """
    if not _has_audience(labels):
        raise ValidationProblem(
            "Nobody could read this: name at least one audience label.", code="no_label"
        )


def _has_audience(labels: Iterable[AccessLabel]) -> bool:
    return any(label.role == AccessLabel.Role.AUDIENCE for label in labels)


def _check_upload(given: Upload) -> None:
    if not given.data.strip():
        raise ValidationProblem(
            f"{given.file_name} is empty. Upload a file that holds text.", code="empty"
        )
    check_size(given.file_name, len(given.data))
    parsers.check_is_readable(given.data, file_name=given.file_name)
    check_terms(given.publish, given.effective_from, given.effective_to)


def check_terms(publish: bool, first: datetime.date | None, last: datetime.date | None) -> None:
    """Refuse what no file could be taken under.

    Raises:
        ValidationProblem: publishing under four-eyes, or reversed dates.
    """
    if publish and settings.APPROVAL == "four-eyes":
        raise ValidationProblem(
            "Four-eyes approval is on: upload without publishing, and let another person approve.",
            code="four_eyes",
        )
    if last and first and last < first:
        raise ValidationProblem(
            f"The last day ({last}) lies before the first ({first}). Correct one of them.",
            code="bad_dates",
        )


def check_size(file_name: str, size_bytes: int) -> None:
    """Refuse a file that is larger than the limit, before it is read where that is possible.

    Raises:
        ValidationProblem: it is.
    """
    if size_bytes > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
        raise ValidationProblem(
            f"{file_name} is larger than {limit} MB. Split it, or raise LEGALQA_MAX_UPLOAD_BYTES.",
            code="too_large",
        )


def slug_for(name: str) -> str:
    """A slug for a policy title or file name; a name without Latin letters keeps its own."""
    slug = slugify(name)[:120] or slugify(name, allow_unicode=True)[:120]
    if not slug:
        raise ValidationProblem(
            "The policy needs a name with letters or digits: give a title or a slug.",
            code="invalid",
        )
    return slug


def _policy_for(given: Upload, labels: Sequence[AccessLabel], actor: User | None) -> Policy:
    # In one line: a title stands in lines of text, and must not begin one of its own.
    title = " ".join(given.title.split()) or title_from_name(given.file_name)
    slug = given.policy_slug or slug_for(title)
    policy, is_new = Policy.objects.get_or_create(
        slug=slug,
        defaults={
            "title": title,
            "owner": actor,
            "contact": given.contact or (actor.get_full_name() if actor else ""),
            "department": given.department,
            "category": given.category,
            "language": given.language,
        },
    )
    if not is_new and given.department and policy.department != given.department:
        # A new policy was meant, and another department made one of this name in between.
        raise ValidationProblem(
            "The name of the policy was taken just now. Upload the file again.", code="name_taken"
        )
    if is_new:
        policy.default_labels.set(labels)
        audit.record("policy_created", policy, actor=actor, after={"slug": slug, "title": title})
    return policy


def _same_bytes(policy: Policy, sha256: str, first: datetime.date) -> PolicyVersion | None:
    """The version that holds these bytes already, unless it has ended before `first`.

    A text that another has followed can come into force again, as a version of its own.
    """
    gone = [VersionState.REJECTED, VersionState.WITHDRAWN, VersionState.FAILED]
    versions = PolicyVersion.objects.filter(policy=policy, detail__file_sha256=sha256)
    has_no_end = Q(effective__isnull=True) | Q(effective__upper_inf=True)
    lasting = versions.filter(has_no_end | Q(effective__endswith__gt=first))
    return lasting.exclude(state__in=gone).order_by("-number").first()


def _create_version(
    policy: Policy,
    given: Upload,
    first: datetime.date,
    labels: Sequence[AccessLabel],
    sha256: str,
    actor: User | None,
) -> PolicyVersion:
    numbered = (policy.versions, policy.deleted_versions)  # a number is never given again
    last_number = max(rows.aggregate(n=Max("number"))["n"] or 0 for rows in numbered)
    end = given.effective_to + datetime.timedelta(days=1) if given.effective_to else None
    version = PolicyVersion.objects.create(
        policy=policy, number=last_number + 1, effective=(first, end)
    )
    version.labels.set(labels or policy.default_labels.all())
    VersionDetail.objects.create(
        version=version,
        file_sha256=sha256,
        file_name=safe_file_name(given.file_name),
        file_size_bytes=len(given.data),
        publish_when_ready=given.publish,
        created_by=actor,
        approved_by=actor if given.publish else None,
        approved_at=datetime.datetime.now(datetime.UTC) if given.publish else None,
    )
    audit.record(
        "version_received",
        version,
        actor=actor,
        after={"sha256": sha256, "labels": sorted(v.slug for v in version.labels.all())},
    )
    return version


def safe_file_name(name: str) -> str:
    """A client's file name as it may be shown: no folders, no control characters, 255 at most."""
    base = PurePath(name.replace("\\", "/")).name
    return "".join(c for c in base if c.isprintable())[:255] or "unnamed"


def _received(version: PolicyVersion, *, is_duplicate: bool) -> Received:
    return Received(
        version_id=version.pk,
        version_public_id=str(version.public_id),
        policy_slug=version.policy.slug,
        number=version.number,
        state=version.state,
        is_duplicate=is_duplicate,
    )


def approve_version(
    version_id: int,
    *,
    reviewer: User | None,
    accept_unread_pages: bool = False,
    accept_opened_sections: bool = False,
) -> None:
    """Approve a version that awaits it; embedding and publication follow.

    Args:
        version_id: internal id of the version.
        reviewer: who approves; None: the system.
        accept_unread_pages: publish although pages of the file gave no text.
        accept_opened_sections: publish although more people could read a section than before.

    Raises:
        ValidationProblem: four-eyes and the reviewer uploaded it, no audience label, bad dates,
            no passage, pages that were not read, sections that would open.
        TransitionError: it does not await approval.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        detail = VersionDetail.objects.get(version=version)
        pipeline.require_state(version, VersionState.AWAITING_APPROVAL, VersionState.FAILED)
        _require_second_person(version, detail, reviewer)
        if not _has_audience(version.labels.all()):
            raise ValidationProblem(
                "The version has no audience label, so nobody could read it. Set one first.",
                code="no_label",
            )
        if version.state == VersionState.FAILED and not detail.chunk_count:
            raise ValidationProblem(
                "This version failed before it was read. Retry it first.", code="not_parsed"
            )
        _require_whole(detail, accept_unread_pages)
        if not accept_opened_sections:
            _require_closed(version)
        first, last = access.effective_days(version)
        pipeline.check_dates(version.policy, first, last, besides=version.pk)
        detail.approved_by, detail.approved_at = reviewer, datetime.datetime.now(datetime.UTC)
        detail.failure, detail.attempts = "", 0
        detail.save(update_fields=["approved_by", "approved_at", "failure", "attempts"])
        audit.record(
            "version_approved",
            version,
            actor=reviewer,
            before={"state": version.state},
            after=_as_approved(version, detail),
        )
        pipeline.begin_indexing(version_id)


def _require_second_person(
    version: PolicyVersion, detail: VersionDetail, reviewer: User | None
) -> None:
    """Under four-eyes, let neither the uploader approve nor whoever set the labels last."""
    if settings.APPROVAL != "four-eyes":
        return
    if reviewer is None or detail.created_by_id == reviewer.pk:
        raise ValidationProblem(
            "Four-eyes approval is on: another person than the uploader must approve.",
            code="four_eyes",
        )
    if relabelling.last_labeller(version) == reviewer.pk:
        raise ValidationProblem(
            "Four-eyes approval is on, and you set the labels: another person must approve.",
            code="four_eyes",
        )


def _as_approved(version: PolicyVersion, detail: VersionDetail) -> dict[str, Any]:
    """What exactly was approved: which bytes, for whom, from when until when."""
    first, last = access.effective_days(version)
    return {
        "number": version.number,
        "sha256": detail.file_sha256,
        "labels": sorted(label.slug for label in version.labels.all()),
        "first_day": first.isoformat(),
        "last_day": last.isoformat() if last else None,
        "unread_pages": list(detail.unread_pages),
    }


def _require_closed(version: PolicyVersion) -> None:
    """Let no section open by itself that was closed to readers of the version before."""
    if opened := differences.opened_sections(version):
        some = ", ".join(opened[:10]) + (" and others" if len(opened) > 10 else "")
        raise ValidationProblem(
            f"In the version before, these sections had labels of their own: {some}. Give them "
            "theirs, or confirm that all readers of the policy may read them.",
            code="sections_opened",
        )


def _require_whole(detail: VersionDetail, accept_unread_pages: bool) -> None:
    """Let no text go live of which the file holds more than was read."""
    if not detail.chunk_count:
        raise ValidationProblem(
            "The file holds no text that can be cited. Reject it, and upload one that does.",
            code="no_passages",
        )
    if detail.unread_pages and not accept_unread_pages:
        some = ", ".join(map(str, detail.unread_pages[:20]))
        more = " and others" if len(detail.unread_pages) > 20 else ""
        raise ValidationProblem(
            f"These pages of the file gave no text: {some}{more}. Upload a version with a text "
            "layer, or confirm that nothing on them is needed.",
            code="pages_unread",
        )


def reject_version(version_id: int, *, reviewer: User | None, note: str) -> None:
    """Turn a version down for good; its file and findings stay on record."""
    with access.editing():
        lifecycle.transition(
            version_id, VersionState.REJECTED, actor=reviewer, detail={"note": note}
        )


def retry_version(version_id: int, *, actor: User | None) -> None:
    """Run a failed version again from its stored file."""
    with access.editing():
        version = lifecycle.lock(version_id)
        pipeline.require_state(version, VersionState.FAILED)
        VersionDetail.objects.filter(pk=version_id).update(attempts=0, failure="", queued_at=Now())
        lifecycle.transition(version_id, VersionState.RECEIVED, actor=actor)
        queue.enqueue("ingest_version", version_id)


def withdraw_version(version_id: int, *, actor: User | None, note: str) -> None:
    """Take back a version that was published in error: unreadable for every date, at once."""
    with access.editing():
        version = lifecycle.transition(
            version_id, VersionState.WITHDRAWN, actor=actor, detail={"note": note}
        )
        pipeline.hide_chunks(version.chunks.all())


def retire_version(version_id: int, *, last_day: datetime.date, actor: User | None) -> None:
    """End a published version after `last_day`; it stays readable for the days before.

    Raises:
        ValidationProblem: the day lies before the first day in force.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        pipeline.require_state(version, VersionState.PUBLISHED)
        first, last = access.effective_days(version)
        pipeline.check_dates(version.policy, first, last_day, besides=version.pk)
        if last is not None and last < last_day:
            raise ValidationProblem(
                f"The version already ends on {last}. To extend it, upload it again.",
                code="bad_dates",
            )
        pipeline.close_version(version, last_day=last_day)
        audit.record(
            "version_retired",
            version,
            actor=actor,
            before={"last_day": str(last)},
            after={"last_day": str(last_day)},
        )


def decide_chunk(chunk_id: int, *, release: bool, reviewer: User | None, note: str) -> None:
    """Release a quarantined passage to readers, or reject it; either can be taken back.

    Raises:
        ValidationProblem: no note is given, or the passage is not and was not held.
    """
    if not note.strip():
        raise ValidationProblem("Say in a note why you decide so.", code="note_missing")
    with access.editing():
        # The version first, as everything that moves or hides it does: its state and its days
        # decide whether the passage is shown.
        version = lifecycle.lock(
            Chunk.objects.values_list("version_id", flat=True).get(pk=chunk_id)
        )
        chunk = Chunk.objects.select_for_update(of=("self",)).get(pk=chunk_id)
        if chunk.state == Chunk.State.READY:
            raise ValidationProblem("This passage is not in quarantine.", code="not_held")
        before = chunk.state
        chunk.state = Chunk.State.RELEASED if release else Chunk.State.REJECTED
        if not release:
            pipeline.hide_chunks(Chunk.objects.filter(pk=chunk_id))
        Chunk.objects.filter(pk=chunk_id).update(state=chunk.state)
        if release and version.state == VersionState.PUBLISHED and before != chunk.state:
            pipeline.show_chunks(version, Chunk.objects.filter(pk=chunk_id))
        _decide_findings(chunk, release, reviewer, note)
        audit.record(
            "passage_released" if release else "passage_rejected",
            chunk,
            actor=reviewer,
            before={"state": before},
            after={"state": chunk.state, "note": note},
        )
        _leave_hold(version, reviewer)


def _decide_findings(chunk: Chunk, release: bool, reviewer: User | None, note: str) -> None:
    decision = Finding.Decision.RELEASED if release else Finding.Decision.REJECTED
    chunk.findings.update(
        decision=decision,
        reviewer=reviewer,
        note=note,
        decided_at=datetime.datetime.now(datetime.UTC),
    )


def _leave_hold(version: PolicyVersion, reviewer: User | None) -> None:
    """A held version goes on once the last of its passages and findings is decided."""
    if version.state != VersionState.HELD:
        return
    has_held_passage = version.chunks.filter(state=Chunk.State.QUARANTINED).exists()
    if not has_held_passage and not _loose_findings(version).exists():
        lifecycle.transition(version.pk, VersionState.AWAITING_APPROVAL, actor=reviewer)


def _loose_findings(version: PolicyVersion) -> QuerySet[Finding]:
    """Blocking findings outside any passage (title, file name, hidden text), undecided."""
    return version.findings.filter(
        chunk=None, severity=Severity.BLOCK.value, decision=Finding.Decision.PENDING
    )


def decide_finding(finding_id: int, *, release: bool, reviewer: User | None, note: str) -> None:
    """Decide on a finding outside any passage: release it, or reject the whole version.

    Raises:
        ValidationProblem: no note is given, the finding belongs to a passage, or the version
            has gone too far to be rejected.
    """
    if not note.strip():
        raise ValidationProblem("Say in a note why you decide so.", code="note_missing")
    with access.editing():
        finding = Finding.objects.select_related("version").get(pk=finding_id)
        if finding.chunk_id is not None:
            raise ValidationProblem("Decide on the passage of this finding.", code="has_passage")
        version = lifecycle.lock(finding.version_id)
        if not release:
            _require_rejectable(version)
        finding.decision = Finding.Decision.RELEASED if release else Finding.Decision.REJECTED
        finding.reviewer, finding.note = reviewer, note
        finding.decided_at = datetime.datetime.now(datetime.UTC)
        finding.save(update_fields=["decision", "reviewer", "note", "decided_at"])
        audit.record(
            "finding_released" if release else "finding_rejected",
            finding,
            actor=reviewer,
            after={"rule": finding.rule, "where": finding.where, "note": note},
        )
        if release:
            _leave_hold(version, reviewer)
        elif version.state not in _GONE:
            lifecycle.transition(version.pk, VersionState.REJECTED, actor=reviewer)


_GONE = (VersionState.REJECTED, VersionState.WITHDRAWN)


def _require_rejectable(version: PolicyVersion) -> None:
    """Refuse to note a rejection that would leave the text with its readers."""
    state = VersionState(version.state)
    if state in _GONE or VersionState.REJECTED in lifecycle.ALLOWED[state]:
        return
    if state is VersionState.PUBLISHED:
        raise ValidationProblem(
            "The version is published: withdraw it, and nobody can read it any more.",
            code="published",
        )
    raise ValidationProblem(
        "The version is being worked on. Decide when it rests.", code="not_resting"
    )


def set_version_labels(version_id: int, slugs: Sequence[str], *, actor: User | None) -> None:
    """Change who may read a version, in force with the next request; see `relabelling`.

    Raises:
        UnknownLabelError: a label that does not exist.
        ValidationProblem: no audience among them: nobody could read it.
    """
    relabelling.set_labels(relabelling.Wanted(version_id, tuple(slugs)), actor=actor)


def set_section_labels(section_id: int, slugs: Sequence[str], *, actor: User | None) -> None:
    """Give a section and what lies below it labels of its own; none: those of the version.

    Raises:
        UnknownLabelError: a label that does not exist.
    """
    with access.editing():
        version_id = Section.objects.values_list("version_id", flat=True).get(pk=section_id)
    wanted = relabelling.Wanted(version_id, tuple(slugs), (section_id,))
    relabelling.set_labels(wanted, actor=actor)


def record_download(original: access.Original, *, actor: User) -> None:
    """Write down that a reader took a file."""
    with access.editing():
        version = PolicyVersion.objects.get(pk=original.version_id)
        after = {"sha256": original.sha256}
        audit.record("file_downloaded", version, actor=actor, after=after)


def create_labels(rows: Iterable[dict[str, Any]]) -> None:
    """Make the labels that do not exist yet; each row holds the fields of `AccessLabel`."""
    for row in rows:
        label, is_new = AccessLabel.objects.get_or_create(slug=row["slug"], defaults=row)
        if is_new:
            audit.record("accesslabel_created", label, actor=None, after=row)


def let_manage(user: User, departments: Iterable[str]) -> None:
    """Let a member of staff look after the policies of these departments."""
    for department in departments:
        managed, is_new = ManagedDepartment.objects.get_or_create(user=user, department=department)
        if is_new:
            after = {"user": user.get_username(), "department": department}
            audit.record("manageddepartment_created", managed, actor=None, after=after)


def grant_label(
    slug: str, *, actor: User | None, user: User | None = None, group: Group | None = None
) -> LabelGrant:
    """Let a user or a group read what is under a label, from the next request on."""
    label = access.require_labels([slug])[0]
    with access.editing():
        grant, is_new = LabelGrant.objects.get_or_create(
            label=label, user=user, group=group, defaults={"granted_by": actor}
        )
        if is_new:
            audit.record(
                "label_granted",
                grant,
                actor=actor,
                after={"label": slug, "to": str(user or group)},
            )
    return grant


def revoke_label(grant: LabelGrant, *, actor: User | None) -> None:
    """Take a label back, in force with the next request."""
    with access.editing():
        audit.record("label_revoked", grant, actor=actor, before={"grant": str(grant)})
        grant.delete()
