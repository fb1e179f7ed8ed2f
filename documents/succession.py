"""Versions that follow from another: an earlier text brought back, a file put right in time.

Both are new versions that go the whole way (read, screened, approved); nothing that was
published is ever changed. Labels of single sections come along, or the new version fails: a
restricted annex never opens by itself.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

from django.conf import settings

from documents import access, actions, audit, labelling, lifecycle, pipeline
from documents.errors import ValidationProblem
from documents.ingestion import store
from documents.models import PolicyVersion, VersionDetail, VersionState

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_RESTORABLE = (VersionState.PUBLISHED, VersionState.WITHDRAWN)
UNAPPROVED = (
    VersionState.RECEIVED,
    VersionState.PARSING,
    VersionState.HELD,
    VersionState.AWAITING_APPROVAL,
    VersionState.FAILED,
)
_PAST_CORRECTING = {
    VersionState.PUBLISHED: (
        "The version is published. Upload the corrected file as the next version, or withdraw "
        "this one first."
    ),
    VersionState.WITHDRAWN: "The version was withdrawn. Upload the file as the next version.",
    VersionState.REJECTED: "The version was rejected. Upload the file as the next version.",
}


def restore_version(
    version_id: int, *, first_day: datetime.date | None, actor: User | None, note: str
) -> actions.Received:
    """Bring the text of an earlier version back, as a new version from `first_day` on.

    Args:
        version_id: internal id of a published or withdrawn version.
        first_day: of the new version; None: today.
        actor: who restores; None: the system.
        note: why; kept on record.

    Raises:
        ValidationProblem: no note, its text is in force or on its way already, its file is gone,
            or the dates clash.
        TransitionError: the version was never published.
    """
    _require_note(note)
    with access.editing():
        version = lifecycle.lock(version_id)
        pipeline.require_state(version, *_RESTORABLE)
        received = _follow(version, _file_of(version), actor, first_day=first_day)
        if received.is_duplicate:
            raise ValidationProblem(
                f"Version {received.number} holds this text already, and has not ended by then.",
                code="text_in_force",
            )
        made = PolicyVersion.objects.get(pk=received.version_id)
        after = {"from": version.number, "note": note}
        audit.record("version_restored", made, actor=actor, after=after)
        return received


def correct_version(
    version_id: int, data: bytes, file_name: str, *, actor: User | None, note: str
) -> actions.Received:
    """Replace the file of a version that is not published yet.

    The version is rejected, and the file becomes the next one with its labels and its days. It
    is read and approved anew, whatever was decided on the one before.

    Raises:
        ValidationProblem: no note, the same file again, or the version has gone too far.
        ParseError: a kind of file that is not read.
    """
    _require_note(note)
    with access.editing():
        version = lifecycle.lock(version_id)
        if reason := _PAST_CORRECTING.get(VersionState(version.state)):
            raise ValidationProblem(reason, code="not_correctable")
        upload = _file_of(version)
        if upload.data == data:
            raise ValidationProblem(
                "This is the file that the version has already. Choose the corrected one.",
                code="same_file",
            )
        lifecycle.transition(
            version_id, VersionState.REJECTED, actor=actor, detail={"note": f"Corrected: {note}"}
        )
        corrected = replace(upload, data=data, file_name=file_name)
        first, _ = access.effective_days(version)
        received = _follow(version, corrected, actor, first_day=first)
        if received.is_duplicate:  # and the version that was to be corrected stays as it is
            raise ValidationProblem(
                f"Version {received.number} holds this text already. Reject this one instead.",
                code="text_in_force",
            )
        made = PolicyVersion.objects.get(pk=received.version_id)
        after = {"instead_of": version.number, "note": note}
        audit.record("version_corrected", made, actor=actor, after=after)
        return received


def set_days(
    version_id: int,
    *,
    first_day: datetime.date,
    last_day: datetime.date | None,
    actor: User | None,
) -> None:
    """Change the days of a version that is not approved yet.

    Args:
        version_id: internal id of the version.
        first_day: in force; it may be past or to come.
        last_day: in force; None: without an end.
        actor: who sets them; None: the system.

    Raises:
        ValidationProblem: reversed days, or another published version starts on the first.
        TransitionError: the version was approved or turned down.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        pipeline.require_state(version, *UNAPPROVED)
        pipeline.check_dates(version.policy, first_day, last_day, besides=version.pk)
        before = [str(day) for day in access.effective_days(version)] if version.effective else []
        end = last_day + datetime.timedelta(days=1) if last_day else None
        version.effective = (first_day, end)
        version.save(update_fields=["effective"])
        after = {"days": [str(first_day), str(last_day)]}
        audit.record("version_days_set", version, actor=actor, before={"days": before}, after=after)


def _require_note(note: str) -> None:
    if not note.strip():
        raise ValidationProblem("Say in a note why you do so.", code="note_missing")


def _file_of(version: PolicyVersion) -> actions.Upload:
    detail = VersionDetail.objects.get(version=version)
    try:
        data = store.load(settings.FILES_DIR, detail.file_sha256)
    except FileNotFoundError as error:
        raise ValidationProblem(
            "The stored file of this version is missing or was altered. Upload the text again.",
            code="file_missing",
        ) from error
    return actions.Upload(
        data=data,
        file_name=detail.file_name,
        policy_slug=version.policy.slug,
        labels=tuple(sorted(label.slug for label in version.labels.all())),
    )


def _follow(
    version: PolicyVersion,
    upload: actions.Upload,
    actor: User | None,
    *,
    first_day: datetime.date | None,
) -> actions.Received:
    last = None
    if version.state == VersionState.REJECTED:  # a corrected file keeps the days of the first
        _, last = access.effective_days(version)
    given = replace(upload, effective_from=first_day, effective_to=last)
    received = actions.upload(given, actor=actor)
    if not received.is_duplicate:
        VersionDetail.objects.filter(pk=received.version_id).update(
            carried_labels=labelling.carried_from(version)
        )
    return received
