"""The form that takes files as versions, and what it says afterwards.

Either every file is taken or none. A browser gives files anew; all else that was typed stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.db import transaction

from documents import access, actions, stewards
from documents.errors import ParseError, StorageError, ValidationProblem
from documents.ingestion import parsers
from documents.models import AccessLabel, Policy

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.core.files.uploadedfile import UploadedFile

    PolicyChoice = forms.ModelChoiceField[Policy]
    LabelChoices = forms.ModelMultipleChoiceField[AccessLabel]
else:
    PolicyChoice = forms.ModelChoiceField
    LabelChoices = forms.ModelMultipleChoiceField

_FIELD_OF_CODE = {
    "bad_dates": "effective_from",
    "no_label": "labels",
    "unknown_label": "labels",
    "no_department": "department",
    "unknown_department": "department",
    "department_missing": "department",
    "four_eyes": "publish",
    "invalid": "title",
}


class FilesInput(forms.ClearableFileInput):
    """A file input that takes several."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Files of the kinds that are read, each at most `MAX_UPLOAD_BYTES` long."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """The files.

        Raises:
            ValidationError: one is missing, empty, too large or no text; it is named.
        """
        given = (data or [None]) if isinstance(data, list | tuple) else [data]
        files: list[UploadedFile[Any]] = []
        for file in given:
            if file and not file.size:
                raise forms.ValidationError(f"{file.name} is empty. Upload a file that holds text.")
            files.append(super().clean(file, initial))
        for file in files:
            _check(file)
        return files


def _check(file: UploadedFile[Any]) -> None:
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
        raise forms.ValidationError(f"{file.name} is larger than {limit} MB. Split it.")
    try:
        parsers.check_is_readable(file.read(), file_name=file.name or "")
    except ParseError as error:
        raise forms.ValidationError(f"{file.name}: {error.message}") from error
    finally:
        file.seek(0)


def _date(label: str, help_text: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        help_text=help_text,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "Write the date as year-month-day, for example 2026-01-31."},
    )


class UploadForm(forms.Form):
    """Files, where they belong, who may read them and from when."""

    file = FilesField(
        label="Files",
        help_text="PDF, Word (.docx), HTML, Markdown, plain text, or a statute as JSON.",
    )
    policy = PolicyChoice(
        queryset=Policy.objects.none(),
        required=False,
        empty_label="A new policy",
        help_text="The policy of which this is the next version.",
    )
    title = forms.CharField(
        required=False,
        max_length=300,
        help_text="Of a new policy; empty: the document's own, or the file's name.",
    )
    department = forms.CharField(required=False, max_length=100, help_text="Of a new policy.")
    labels = LabelChoices(
        queryset=AccessLabel.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Who may read it; none: the policy's default labels.",
    )
    effective_from = _date("First day in force", "Empty: today.")
    effective_to = _date("Last day in force", "Empty: until a later version begins.")
    publish = forms.BooleanField(
        required=False,
        label="Publish when ready",
        help_text="Approves it now, as you; passages in quarantine still wait.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self._choose("policy", access.manageable(user).order_by("title", "slug"))
        self._choose("labels", AccessLabel.objects.all())
        if not user.is_superuser:
            names = sorted(access.managed_departments(user))
            choices = [(name, name) for name in names]
            if len(choices) != 1:
                choices.insert(0, ("", "---------"))
            self.fields["department"] = forms.ChoiceField(
                choices=choices, required=False, help_text="Of a new policy."
            )
        if settings.APPROVAL == "four-eyes" or not user.has_perm("documents.approve_version"):
            del self.fields["publish"]

    @classmethod
    def for_policy(cls, policy: Policy, user: User) -> UploadForm:
        """The form on a policy's own page: it belongs there."""
        form = cls(user=user, initial={"policy": policy.pk}, auto_id="upload_%s")
        form.fields["policy"].widget = forms.HiddenInput()
        for name in ("title", "department"):
            del form.fields[name]
        return form

    def _choose(self, name: str, rows: Any) -> None:
        self.fields[name].queryset = rows  # type: ignore[attr-defined]  # a model choice field

    def clean(self) -> dict[str, Any]:
        """One file a policy: several at once are several new policies."""
        cleaned = super().clean() or {}
        if len(cleaned.get("file") or ()) > 1 and (cleaned.get("policy") or cleaned.get("title")):
            self.add_error(
                "file",
                "Several files become several new policies. Choose one file, or leave the "
                "policy and the title empty.",
            )
        return cleaned

    def take(self) -> list[actions.Received]:
        """Take every file, or none: what stands in the way is then an error of the form."""
        try:
            with transaction.atomic():
                return [self._take_one(file) for file in self.cleaned_data["file"]]
        except ValidationProblem as error:
            name = field_of(error.code)
            self.add_error(name if name in self.fields else None, error.message)
            return []
        except StorageError as error:
            self.add_error("file", error.message)
            return []

    def _take_one(self, file: UploadedFile[Any]) -> actions.Received:
        given = self.cleaned_data
        name, policy = file.name or "unnamed", given["policy"]
        home = (
            stewards.Home(policy.slug, "")
            if policy
            else stewards.home_of(
                self.user,
                policy_slug="",
                title=given["title"],
                file_name=name,
                department=given["department"],
            )
        )
        return actions.upload(
            actions.Upload(
                data=file.read(),
                file_name=name,
                policy_slug=home.policy_slug,
                title="" if policy else given["title"],
                labels=tuple(label.slug for label in given["labels"]),
                effective_from=given["effective_from"],
                effective_to=given["effective_to"],
                publish=given.get("publish", False),
                department=home.department,
            ),
            actor=self.user,
        )


def field_of(code: str) -> str:
    """The field that an error of this code is about."""
    return _FIELD_OF_CODE.get(code, "file")


def message_of(received: actions.Received) -> str:
    """What happened to one file, in a sentence."""
    what = f"Version {received.number} of {received.policy_slug}"
    if received.is_duplicate:
        return f"{what} holds this text already; no second version was made."
    return f"{what} was received. It is read now, and its page shows how far it is."
