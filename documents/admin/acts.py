"""What a person may do to a version: by which right, in which states, and what it asks for.

Each act is one call of `documents.actions`, which checks again under the row lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms

from documents import access, actions, deletion, differences, succession
from documents.admin.fields import WholeFileField
from documents.errors import TransitionError
from documents.models import PolicyVersion, VersionState

if TYPE_CHECKING:
    from django.contrib.auth.models import User

S = VersionState
APPROVE = "documents.approve_version"
CHANGE = "documents.change_policyversion"


class ActForm(forms.Form):
    """Asks for nothing but the decision itself."""

    def __init__(self, *args: Any, version: PolicyVersion, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version


class ApproveForm(ActForm):
    """Asks whether to publish without pages that gave no text, and with sections that open."""

    accept_unread_pages = forms.BooleanField(
        required=False, label="Publish without the pages that gave no text"
    )
    accept_opened_sections = forms.BooleanField(
        required=False, label="Let all readers of the policy read these sections"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        unread = self.version.detail.unread_pages
        if unread:
            self.fields[
                "accept_unread_pages"
            ].help_text = f"Pages {', '.join(map(str, unread))}: look at them in the file first."
        else:
            del self.fields["accept_unread_pages"]
        opened = differences.opened_sections(self.version)
        if opened:
            self.fields["accept_opened_sections"].help_text = (
                f"{', '.join(opened)}: closed to most readers of the version before. Give them "
                "their labels first, unless all readers of the policy may read them now."
            )
        else:
            del self.fields["accept_opened_sections"]


class NoteForm(ActForm):
    """Asks for a reason, which is kept on record."""

    note = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3}), help_text="Why. Kept on record."
    )


class LastDayForm(ActForm):
    """Asks for the last day in force."""

    last_day = forms.DateField(
        label="Last day in force",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="It stays readable for this day and those before.",
        error_messages={"invalid": "Write the date as year-month-day, for example 2026-01-31."},
    )


class DaysForm(ActForm):
    """Asks for the first and the last day in force."""

    first_day = forms.DateField(
        label="First day in force",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="It may be past or to come.",
        error_messages={"invalid": "Write the date as year-month-day, for example 2026-01-31."},
    )
    last_day = forms.DateField(
        required=False,
        label="Last day in force",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="Empty: until another version follows.",
        error_messages={"invalid": "Write the date as year-month-day, for example 2026-01-31."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.version.effective is not None:
            first, last = access.effective_days(self.version)
            self.fields["first_day"].initial, self.fields["last_day"].initial = first, last


class RestoreForm(NoteForm):
    """Asks from which day on the earlier text is in force again."""

    first_day = forms.DateField(
        required=False,
        label="First day in force",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="Empty: today. Its text becomes a new version, which is read and approved anew.",
        error_messages={"invalid": "Write the date as year-month-day, for example 2026-01-31."},
    )
    field_order = ("first_day", "note")


class CorrectForm(NoteForm):
    """Asks for the file that takes the place of one not published yet."""

    file = WholeFileField(
        help_text="This version is rejected; the file becomes the next one, with its labels and "
        "days, and is read and approved anew."
    )
    field_order = ("file", "note")


class DeleteForm(NoteForm):
    """Asks for the policy's name once more, so that nothing is deleted by a slip."""

    typed = forms.CharField(max_length=300, label="Name of the policy, typed again")
    field_order = ("typed", "note")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["typed"].help_text = (
            f"{self.version.policy.title}. Its file, passages, vectors and findings go for good; "
            "answers that cited it stay on record and are shown no more. No earlier version is "
            "put in force in its place."
        )


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to do: `run` gets the version, the form's values and the person."""

    name: str
    label: str
    done: str
    states: frozenset[VersionState]
    right: str
    run: Callable[[PolicyVersion, dict[str, Any], User], None]
    form: type[ActForm] = ActForm
    is_right_fixed: bool = False  # the same right in every state
    is_last: bool = False  # the version is gone afterwards
    has_checklist: bool = False  # the page shows what to look at first
    page: str = "act"  # of the version's admin, where it is asked for

    def is_possible(self, version: PolicyVersion) -> bool:
        """Whether the state of the version allows it."""
        return version.state in self.states

    def is_allowed(self, user: User, version: PolicyVersion) -> bool:
        """Whether the person has the right to it."""
        return user.has_perm(self.right_for(version))

    def right_for(self, version: PolicyVersion) -> str:
        """The right it takes: what was approved is changed by those who may approve."""
        is_approved = version.state in _APPROVED or version.detail.publish_when_ready
        return APPROVE if is_approved and not self.is_right_fixed else self.right


_APPROVED = frozenset({S.INDEXING, S.PUBLISHED})
DELETE = "documents.delete_policyversion"
ADD = "documents.add_policyversion"
_BEFORE_APPROVAL = frozenset({S.RECEIVED, S.HELD, S.AWAITING_APPROVAL, S.FAILED})

ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        Act(
            "approve",
            "Approve",
            "approved; it is published once it is indexed",
            frozenset({S.AWAITING_APPROVAL, S.FAILED}),
            APPROVE,
            lambda version, given, user: actions.approve_version(
                version.pk,
                reviewer=user,
                accept_unread_pages=given.get("accept_unread_pages", False),
                accept_opened_sections=given.get("accept_opened_sections", False),
            ),
            ApproveForm,
            has_checklist=True,
        ),
        Act(
            "reject",
            "Reject",
            "rejected",
            _BEFORE_APPROVAL,
            APPROVE,
            lambda version, given, user: actions.reject_version(
                version.pk, reviewer=user, note=given["note"]
            ),
            NoteForm,
        ),
        Act(
            "retry",
            "Try again",
            "queued again",
            frozenset({S.FAILED}),
            CHANGE,
            lambda version, _given, user: actions.retry_version(version.pk, actor=user),
        ),
        Act(
            "retire",
            "Retire",
            "given its last day",
            frozenset({S.PUBLISHED}),
            APPROVE,
            lambda version, given, user: actions.retire_version(
                version.pk, last_day=given["last_day"], actor=user
            ),
            LastDayForm,
        ),
        Act(
            "withdraw",
            "Withdraw",
            "withdrawn: nobody can read it any more",
            frozenset({S.PUBLISHED}),
            APPROVE,
            lambda version, given, user: actions.withdraw_version(
                version.pk, actor=user, note=given["note"]
            ),
            NoteForm,
        ),
        Act(
            "labels",
            "Set labels",
            "given these labels",
            _BEFORE_APPROVAL | _APPROVED,
            CHANGE,
            lambda _version, _given, _user: _elsewhere(),
            page="labels",
        ),
        Act(
            "days",
            "Set days",
            "given these days",
            frozenset(succession.UNAPPROVED),
            CHANGE,
            lambda version, given, user: succession.set_days(
                version.pk, first_day=given["first_day"], last_day=given["last_day"], actor=user
            ),
            DaysForm,
        ),
        Act(
            "correct",
            "Replace the file",
            "rejected; the corrected file is the next version",
            _BEFORE_APPROVAL | {S.PARSING, S.INDEXING},
            ADD,
            lambda version, given, user: _nothing(
                succession.correct_version(
                    version.pk, *given["file"], actor=user, note=given["note"]
                )
            ),
            CorrectForm,
        ),
        Act(
            "restore",
            "Restore this text",
            "restored as a new version, which awaits approval once it is read",
            frozenset({S.PUBLISHED, S.WITHDRAWN}),
            ADD,
            lambda version, given, user: _nothing(
                succession.restore_version(
                    version.pk, first_day=given["first_day"], actor=user, note=given["note"]
                )
            ),
            RestoreForm,
            is_right_fixed=True,
        ),
        Act(
            "delete",
            "Delete",
            "deleted",
            frozenset(S),
            DELETE,
            lambda version, given, user: _nothing(
                deletion.delete_version(
                    version.pk, typed=given["typed"], actor=user, note=given["note"]
                )
            ),
            DeleteForm,
            is_right_fixed=True,
            is_last=True,
        ),
    )
}


def _elsewhere() -> None:
    raise TransitionError("This is done on a page of its own, which shows its effect first.")


def _nothing(_result: object) -> None:
    """An act gives nothing back; what follows from it is on the page."""


def open_to(user: User, version: PolicyVersion) -> list[Act]:
    """What this person may do to this version now."""
    return [
        act for act in ACTS.values() if act.is_possible(version) and act.is_allowed(user, version)
    ]
