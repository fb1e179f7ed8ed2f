"""What comes in from the pages, field by field."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from qa.answering.gates import MAX_QUESTION_LENGTH, clean_question
from qa.errors import InvalidQuestionError


class DayForm(forms.Form):
    """The day whose rules are asked for; empty: today."""

    as_of = forms.DateField(
        required=False,
        label=_("Rules in force on"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": _("Write the date as year-month-day, for example 2026-01-31.")},
    )


class AskForm(DayForm):
    """A question; `gates.clean_question` says what is wrong with it."""

    question = forms.CharField(
        required=False,  # the gate has the clearer words
        strip=False,
        label=_("Your question"),
        widget=forms.Textarea(
            attrs={
                "rows": 3,
                "required": True,
                "data-max": MAX_QUESTION_LENGTH,  # no maxlength: it would cut a paste in silence
                "aria-describedby": "question-hint question-count",
            }
        ),
    )

    def clean_question(self) -> str:
        """The question as it is put to the policies."""
        try:
            return clean_question(self.cleaned_data["question"])
        except InvalidQuestionError as error:
            raise forms.ValidationError(error.message) from error
