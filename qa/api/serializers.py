"""What comes in, field by field; a field that is not here is refused by its name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.validators import validate_unicode_slug
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses what it does not know: a misspelt or smuggled field never passes in silence."""

    def to_internal_value(self, data: Any) -> Any:
        """The validated values.

        Raises:
            ValidationError: unknown fields, by name, besides what else is wrong.
        """
        if isinstance(data, Mapping):
            known = {name for name, field in self.fields.items() if not field.read_only}
            unknown = sorted(set(map(str, data)) - known)
            if unknown:
                message = f"There is no such field. Known: {', '.join(sorted(known))}."
                raise serializers.ValidationError({name: [message] for name in unknown})
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": 1000})
class QuestionField(serializers.CharField):
    """A question as it was typed; `gates.clean_question` says what is wrong with it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, **kwargs)
        self.validators = []  # the gate removes control characters and lone surrogates

    def run_validation(self, data: Any = empty) -> Any:
        """The text; an empty one too, since the gate has the better words for it."""
        return data if data == "" else super().run_validation(data)


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class LabelsField(serializers.ListField):
    """Slugs of labels: a list, or in a form one text parted by commas."""

    child = serializers.SlugField()

    def to_internal_value(self, data: Any) -> list[str]:
        """The slugs, each once."""
        items = [data] if isinstance(data, str) else data
        if isinstance(items, list):
            parts = [part for item in items for part in self._parts(item)]
            return list(dict.fromkeys(super().to_internal_value(parts)))
        return super().to_internal_value(items)

    @staticmethod
    def _parts(item: Any) -> list[Any]:
        if not isinstance(item, str):
            return [item]
        return [part.strip() for part in item.split(",") if part.strip()]


class QuestionSerializer(StrictSerializer):
    """A question with everything that bears on its answer."""

    question = QuestionField(help_text="1 to 1,000 characters.")
    n_results = serializers.IntegerField(
        default=5, min_value=1, max_value=20, help_text="Passages to look at."
    )
    as_of = serializers.DateField(
        default=None, allow_null=True, help_text="The day whose rules are asked for; today."
    )
    policy = serializers.CharField(default="", allow_blank=True, help_text="Slug of one policy.")
    department = serializers.CharField(default="", allow_blank=True)
    jurisdiction = serializers.CharField(default="", allow_blank=True)


class AsOfSerializer(StrictSerializer):
    """The date of a reading."""

    as_of = serializers.DateField(
        default=None, allow_null=True, help_text="The day whose rules are asked for; today."
    )


class SectionQuerySerializer(AsOfSerializer):
    """A date and a cited stretch, as offsets that a citation gives."""

    start = serializers.IntegerField(default=None, allow_null=True, min_value=0)
    end = serializers.IntegerField(default=None, allow_null=True, min_value=0)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Both ends or none."""
        if (attrs["start"] is None) != (attrs["end"] is None):
            raise serializers.ValidationError({"end": ["Give both start and end, or neither."]})
        return attrs


class _IngestSerializer(StrictSerializer):
    policy = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=120,
        help_text="Slug of a policy that you manage; empty: by the title.",
    )
    title = serializers.CharField(default="", allow_blank=True, max_length=300)
    department = serializers.CharField(
        default="", allow_blank=True, max_length=100, help_text="Of a new policy."
    )
    labels = LabelsField(default=list)
    effective_from = serializers.DateField(default=None, allow_null=True)
    effective_to = serializers.DateField(
        default=None, allow_null=True, help_text="The last day in force."
    )
    publish = serializers.BooleanField(
        default=False, help_text="Approve as well: needs the scope and right to review."
    )
    wait = serializers.FloatField(
        default=0, min_value=0, max_value=60, help_text="Seconds to wait until it rests."
    )

    def validate_wait(self, value: float) -> float:
        """A number: one that compares with nothing would never run out."""
        if math.isnan(value):
            raise serializers.ValidationError("A valid number is required.")
        return value

    def validate_policy(self, value: str) -> str:
        """A slug, if anything."""
        if value:
            validate_unicode_slug(value)
        return value


class IngestTextSerializer(_IngestSerializer):
    """A document as text."""

    document_name = serializers.CharField(
        max_length=255, help_text="As a file name; its ending is a hint, the content decides."
    )
    content = serializers.CharField(allow_blank=True, trim_whitespace=False)


class IngestFileSerializer(_IngestSerializer):
    """A document as a file of a form."""

    file = serializers.FileField(allow_empty_file=True)
    document_name = serializers.CharField(default="", allow_blank=True, max_length=255)


def body_limit_bytes() -> int:
    """The largest body of an upload: JSON may write a character in up to six."""
    return 2 * int(settings.MAX_UPLOAD_BYTES)
