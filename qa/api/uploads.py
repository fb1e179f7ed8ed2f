"""Handing in a document, and seeing where its version stands."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import connection
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from documents import actions, stewards
from documents.stewards import VersionStatus
from qa.api import examples, schemas
from qa.api.authentication import user_of
from qa.api.parsers import JsonParser
from qa.api.permissions import Scope, has_scope, may
from qa.api.problems import NotFoundError
from qa.api.serializers import (
    IngestFileSerializer,
    IngestTextSerializer,
    StrictSerializer,
    body_limit_bytes,
)
from qa.api.views import ApiView

# What a version rests in, and what that means for whoever handed it in.
MESSAGES = {
    "published": "Published: readers with its labels can read it from its first day on.",
    "awaiting_approval": "Read and divided; it awaits approval.",
    "held": "A passage waits for review before the version can go on.",
    "failed": "It could not be taken: see the failure.",
    "rejected": "A reviewer has rejected it.",
    "withdrawn": "It was withdrawn.",
}
DUPLICATE = "This policy already holds the same text; no second version was made."
_POLL_SECONDS = 0.2


class IngestView(ApiView):
    """Takes a document as a version of a policy."""

    permission_classes = (has_scope(Scope.INGEST),)
    parser_classes = (JsonParser, MultiPartParser)

    @property
    def max_body_bytes(self) -> int:  # type: ignore[override]  # follows a setting
        """JSON may write one character in up to six."""
        return body_limit_bytes()

    @extend_schema(
        operation_id="ingest",
        summary="Hand in a document",
        description=(
            "202 with the version's address, or 200 when the version rests within `wait` "
            "seconds, or when the policy held the same text already."
        ),
        request={
            "application/json": IngestTextSerializer,
            "multipart/form-data": IngestFileSerializer,
        },
        responses={
            200: schemas.IngestedSchema,
            202: schemas.AcceptedSchema,
            **schemas.problems(400, 403, 413, 415),
        },
        examples=[examples.INGEST, examples.EMPTY, examples.UNKNOWN_FIELD],
    )
    def post(self, request: Request) -> Response:
        """Take it, and wait as long as was asked for."""
        fields = _fields(request)
        if fields["publish"] and not may(request, Scope.REVIEW):
            raise PermissionDenied("To publish, you need the scope and the right to review.")
        user = user_of(request)
        received = actions.upload(_upload(request, fields), actor=user)
        public_id = UUID(received.version_public_id)
        status = _rested(request, public_id, 0 if received.is_duplicate else fields["wait"])
        if received.is_duplicate:
            return Response(_ingested(request, status, DUPLICATE))
        if fields["wait"] and status.state in MESSAGES:
            return Response(_ingested(request, status, status.failure or MESSAGES[status.state]))
        url = _address(request, status)
        accepted = {
            "version": status.public_id,
            "number": status.number,
            "policy": status.policy_slug,
            "state": status.state,
            "url": url,
        }
        return Response(accepted, status=202, headers={"Location": url})


def _fields(request: Request) -> dict[str, Any]:
    is_form = str(request.content_type).startswith("multipart/")
    kind: type[StrictSerializer] = IngestFileSerializer if is_form else IngestTextSerializer
    given = kind(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def _upload(request: Request, fields: dict[str, Any]) -> actions.Upload:
    if "file" in fields:
        data, name = fields["file"].read(), fields["document_name"] or fields["file"].name
    else:
        data, name = fields["content"].encode(), fields["document_name"]
    home = stewards.home_of(
        user_of(request),
        policy_slug=fields["policy"],
        title=fields["title"],
        file_name=name,
        department=fields["department"],
    )
    return actions.Upload(
        data=data,
        file_name=name,
        policy_slug=home.policy_slug,
        title=fields["title"],
        labels=tuple(fields["labels"]),
        effective_from=fields["effective_from"],
        effective_to=fields["effective_to"],
        publish=fields["publish"],
        department=home.department,
    )


def _rested(request: Request, public_id: UUID, wait_seconds: float) -> VersionStatus:
    """The version's status once it rests, or when the time is over."""
    end = time.monotonic() + wait_seconds
    while True:
        status = stewards.version_status(user_of(request), public_id)
        if status is None:
            raise NotFoundError
        if status.state in MESSAGES or time.monotonic() >= end:
            return status
        if not connection.in_atomic_block:
            connection.close()  # back to the pool while nothing is asked of it
        time.sleep(min(_POLL_SECONDS, max(0.0, end - time.monotonic())))


def _ingested(request: Request, status: VersionStatus, message: str) -> dict[str, Any]:
    return {
        "message": message,
        "document": status.document,
        "version": status.public_id,
        "number": status.number,
        "policy": status.policy_slug,
        "state": status.state,
        "chunks_created": status.chunk_count,
        "warnings": [asdict(notice) for notice in status.warnings],
        "url": _address(request, status),
    }


def _address(request: Request, status: VersionStatus) -> str:
    return reverse("api-version", args=[status.public_id])


class VersionView(ApiView):
    """Where a version stands."""

    permission_classes = (has_scope(Scope.INGEST),)

    @extend_schema(
        operation_id="get_version",
        summary="See where a version stands",
        description="State, progress and warnings, for those who may manage its policy.",
        responses={200: schemas.VersionSchema, **schemas.problems(403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, public_id: UUID) -> Response:
        """The status, or the same 404 whether it is missing or another's."""
        status = stewards.version_status(user_of(request), public_id)
        if status is None:
            raise NotFoundError
        first, last = status.effective_from, status.effective_to
        return Response(
            {
                "version": status.public_id,
                "number": status.number,
                "policy": status.policy_slug,
                "document": status.document,
                "state": status.state,
                "effective_from": first.isoformat() if first else None,
                "effective_to": last.isoformat() if last else None,
                "labels": list(status.labels),
                "chunks": status.chunk_count,
                "chunks_embedded": status.embedded_count,
                "waiting_for_review": status.waiting_for_review,
                "warnings": [asdict(notice) for notice in status.warnings],
                "failure": status.failure or None,
                "url": _address(request, status),
            }
        )
