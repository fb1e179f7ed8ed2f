"""Taking a version back, and deleting: for those whose work it is, within their departments."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from documents import actions, deletion, stewards
from qa.api import examples, schemas
from qa.api.authentication import user_of
from qa.api.permissions import Scope, has_scope
from qa.api.problems import NotFoundError
from qa.api.serializers import StrictSerializer
from qa.api.views import ApiView

DELETE_POLICY = "documents.delete_policy"
DELETE_VERSION = "documents.delete_policyversion"


class NoteSerializer(StrictSerializer):
    """Why; kept on record."""

    note = serializers.CharField(max_length=1000)


class DeletionSerializer(NoteSerializer):
    """The name of the policy once more, so that nothing is deleted by a slip."""

    name = serializers.CharField(max_length=300)


class DeletedSchema(serializers.Serializer[Any]):
    """What is gone."""

    policy = serializers.CharField()
    document = serializers.CharField()
    versions = serializers.ListField(child=serializers.IntegerField())
    passages = serializers.IntegerField()


class WithdrawnSchema(serializers.Serializer[Any]):
    """A version that nobody can read any more."""

    version = serializers.UUIDField()
    state = serializers.CharField()


class WithdrawView(ApiView):
    """Takes back a version that was published in error."""

    permission_classes = (has_scope(Scope.REVIEW),)

    @extend_schema(
        operation_id="withdraw_version",
        summary="Withdraw a version",
        description="For every date and with the next request: nobody can read it any more.",
        request=NoteSerializer,
        responses={200: WithdrawnSchema, **schemas.problems(400, 403, 404, 409)},
        examples=[examples.NOT_FOUND],
    )
    def post(self, request: Request, public_id: UUID) -> Response:
        """Withdraw, or the same 404 whether it is missing or another department's."""
        given = NoteSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        version_id = stewards.managed_version(user_of(request), public_id)
        if version_id is None:
            raise NotFoundError
        note = given.validated_data["note"]
        actions.withdraw_version(version_id, actor=user_of(request), note=note)
        return Response({"version": str(public_id), "state": "withdrawn"})


class PolicyView(ApiView):
    """A policy with all its versions."""

    permission_classes = (has_scope(Scope.ADMIN),)

    @extend_schema(
        operation_id="delete_policy",
        summary="Delete a policy with all its versions",
        description=(
            "With its files, passages, vectors and findings, for good. Answers that cited it stay "
            "on record and are shown no more. `name` is its name, typed again."
        ),
        request=DeletionSerializer,
        responses={200: DeletedSchema, **schemas.problems(400, 403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Delete, or the same 404 whether it is missing or another department's."""
        _require(request, DELETE_POLICY)
        fields = _deletion(request)
        policy_id = stewards.managed_policy(user_of(request), slug)
        if policy_id is None:
            raise NotFoundError
        return Response(_gone_json(deletion.delete_policy(policy_id, **fields)))


class VersionDeletionView(ApiView):
    """One version of a policy."""

    permission_classes = (has_scope(Scope.ADMIN),)

    @extend_schema(
        operation_id="delete_version",
        summary="Delete one version of a policy",
        description="As DELETE policies/{slug}; its number is never given to another text.",
        request=DeletionSerializer,
        responses={200: DeletedSchema, **schemas.problems(400, 403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Delete, or the same 404 whether it is missing or another department's."""
        _require(request, DELETE_VERSION)
        fields = _deletion(request)
        version_id = stewards.managed_version_numbered(user_of(request), slug, number)
        if version_id is None:
            raise NotFoundError
        return Response(_gone_json(deletion.delete_version(version_id, **fields)))


def _require(request: Request, right: str) -> None:
    if not user_of(request).has_perm(right):
        raise PermissionDenied("Deleting is for administrators.")


def _deletion(request: Request) -> dict[str, Any]:
    given = DeletionSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    fields: dict[str, Any] = given.validated_data
    return {"typed": fields["name"], "note": fields["note"], "actor": user_of(request)}


def _gone_json(gone: deletion.Deleted) -> dict[str, Any]:
    return {
        "policy": gone.policy_slug,
        "document": gone.title,
        "versions": list(gone.numbers),
        "passages": gone.passages,
    }
