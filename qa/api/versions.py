"""The versions of a policy and what changed between two, as far as the caller may read them."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from documents import access
from documents.access import ReadableComparison, VersionDays
from documents.ingestion.comparison import ChangeKind, ComparedSection, PieceKind, SectionChange
from qa.api import examples, schemas
from qa.api.authentication import reader_of
from qa.api.permissions import Scope, has_scope
from qa.api.problems import NotFoundError
from qa.api.views import ApiView

LEFT_OUT = "left_out"


class VersionDaysSchema(serializers.Serializer[Any]):
    """A version with its days; no last day while the caller may not know of one to come."""

    number = serializers.IntegerField()
    effective_from = serializers.DateField()
    effective_to = serializers.DateField(allow_null=True)
    is_in_force = serializers.BooleanField(help_text="Today.")
    url = serializers.CharField()


class PolicyVersionsSchema(serializers.Serializer[Any]):
    """The versions of a policy that the caller may read, the latest first."""

    policy = serializers.CharField()
    document = serializers.CharField()
    versions = VersionDaysSchema(many=True)


class ComparedSectionSchema(serializers.Serializer[Any]):
    """A section of one of the two versions."""

    section_public_id = serializers.UUIDField(help_text="For GET sections/{id}.")
    number = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    path = serializers.ListField(child=serializers.CharField())


class PieceSchema(serializers.Serializer[Any]):
    """Words: `same` and `added` ones make the newer text, `same` and `removed` ones the older."""

    kind = serializers.ChoiceField(choices=[kind.value for kind in PieceKind])
    text = serializers.CharField()


class ChangeSchema(serializers.Serializer[Any]):
    """What became of a section; `left_out` is a gap."""

    kind = serializers.ChoiceField(choices=[*(kind.value for kind in ChangeKind), LEFT_OUT])
    old = ComparedSectionSchema(many=True)
    new = ComparedSectionSchema(many=True)
    pieces = PieceSchema(many=True, help_text="Empty where no word changed.")


class ChangesSchema(serializers.Serializer[Any]):
    """What changed from one version to another, in the order of the newer one."""

    policy = serializers.CharField()
    document = serializers.CharField()
    older = VersionDaysSchema()
    newer = VersionDaysSchema()
    changes = ChangeSchema(many=True)


class PolicyVersionsView(ApiView):
    """The versions of a policy."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="list_versions",
        summary="List the versions of a policy that you may read",
        description=(
            "On whatever day they are in force; those that begin after today for callers alone "
            "who may read ahead."
        ),
        responses={200: PolicyVersionsSchema, **schemas.problems(403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The latest first."""
        found = access.history(reader_of(request), slug)
        if found is None:
            raise NotFoundError
        return Response(
            {
                "policy": found.slug,
                "document": found.title,
                "versions": [version_json(found, version) for version in found.versions],
            }
        )


class ChangesView(ApiView):
    """What changed between two versions."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="compare_versions",
        summary="See what changed between two versions of a policy",
        description=(
            "Made of what the caller may read of both versions. A section of which something may "
            "not be read is left out."
        ),
        responses={200: ChangesSchema, **schemas.problems(403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, slug: str, older: int, newer: int) -> Response:
        """Section by section, or the same 404 whether a version is missing or forbidden."""
        found = access.readable_comparison(reader_of(request), slug, older, newer)
        if found is None:
            raise NotFoundError
        return Response(
            {
                "policy": found.history.slug,
                "document": found.history.title,
                "older": version_json(found.history, found.older),
                "newer": version_json(found.history, found.newer),
                "changes": [change_json(found, change) for change in found.changes],
            }
        )


def version_json(found: access.PolicyHistory, version: VersionDays) -> dict[str, Any]:
    """A version as JSON."""
    last = version.effective_to
    first = version.effective_from.isoformat()
    return {
        "number": version.number,
        "effective_from": first,
        "effective_to": last.isoformat() if last else None,
        "is_in_force": found.on(found.today) == version,
        "url": f"{reverse('policy', args=[found.slug])}?as_of={first}",
    }


def change_json(found: ReadableComparison, change: SectionChange | None) -> dict[str, Any]:
    """A change as JSON; words are told where some changed."""
    if change is None:
        return {"kind": LEFT_OUT, "old": [], "new": [], "pieces": []}
    pieces = change.pieces if change.is_reworded else ()
    return {
        "kind": change.kind.value,
        "old": [_section_json(found, section) for section in change.old],
        "new": [_section_json(found, section) for section in change.new],
        "pieces": [{"kind": piece.kind.value, "text": piece.text} for piece in pieces],
    }


def _section_json(found: ReadableComparison, section: ComparedSection) -> dict[str, Any]:
    return {
        "section_public_id": str(found.sections[section.key]),
        "number": section.number,
        "title": section.title,
        "path": list(section.path),
    }
