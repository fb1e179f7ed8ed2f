"""Fields of forms that several pages of the admin share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from documents import actions
from documents.errors import ValidationProblem
from documents.ingestion import parsers

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


class WholeFileField(forms.FileField):
    """One file of a kind that is read; its value is its bytes and its name."""

    def clean(self, data: UploadedFile[Any] | None, initial: Any = None) -> Any:
        """The bytes and the name.

        Raises:
            ValidationError: it is missing, empty, too large or no text.
        """
        file = super().clean(data, initial)
        name = file.name or ""
        try:
            actions.check_size(name, file.size or 0)
            content = file.read()
            parsers.check_is_readable(content, file_name=name)
        except ValidationProblem as error:
            raise forms.ValidationError(error.message) from error
        return content, name
