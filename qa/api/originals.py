"""Page images and files: to whom they are given, `documents.access` decides."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response

from documents import access, actions
from documents.access import PageView
from documents.errors import ParseError
from qa import originals
from qa.api import examples, schemas
from qa.api.authentication import reader_of, user_of
from qa.api.permissions import Scope, has_scope
from qa.api.problems import NotFoundError
from qa.api.serializers import AsOfSerializer, SectionQuerySerializer
from qa.api.views import ApiView


class _AnyType(BaseContentNegotiation):
    """A file has one media type, whatever was asked for."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first."""
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        """The first: problems are responses of their own."""
        return renderers[0], renderers[0].media_type


def _page(request: Request, public_id: UUID, number: int) -> tuple[PageView, dict[str, Any]]:
    """The page of a section and what was asked of it.

    Raises:
        NotFoundError: there is no such section or page, or the caller may not see it.
    """
    query = SectionQuerySerializer(data=request.query_params)
    query.is_valid(raise_exception=True)
    fields: dict[str, Any] = query.validated_data
    reader, as_of = reader_of(request), fields["as_of"]
    with access.reading_as(reader, as_of) as reading:
        section = access.readable_section(reading, public_id)
    if section is None or number not in section.pages:
        raise NotFoundError
    view = access.readable_page(
        reader,
        section.policy_slug,
        section.version_number,
        number,
        as_of=as_of,
        span=(fields["start"], fields["end"]) if fields["start"] is not None else None,
    )
    if view is None:
        raise NotFoundError
    return view, fields


class PageOfSectionView(ApiView):
    """A page of the file on which a section stands."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="get_section_page",
        summary="See on which page of the file a section stands, and where the cited words are",
        description=(
            "For files that have pages. A page is given only where the caller may read all that "
            "is on it. With `start` and `end` of a citation, `boxes` are around its words."
        ),
        parameters=[SectionQuerySerializer],
        responses={200: schemas.PageSchema, **schemas.problems(400, 403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, public_id: UUID, number: int) -> Response:
        """The page, or the same 404 whether it is missing or forbidden."""
        view, fields = _page(request, public_id, number)
        day = urlencode({"as_of": fields["as_of"].isoformat()}) if fields["as_of"] else ""
        image = reverse("api-section-page-image", args=[public_id, number])
        return Response(
            {
                "section": str(public_id),
                "page": view.number,
                "label": view.label or str(view.number),
                "width": view.width,
                "height": view.height,
                "boxes": [list(box) for box in view.boxes],
                "image": f"{image}?{day}" if day else image,
            }
        )


class PageImageView(ApiView):
    """The image of a page."""

    permission_classes = (has_scope(Scope.READ),)
    content_negotiation_class = _AnyType

    @extend_schema(
        operation_id="get_section_page_image",
        summary="Get a page of the file as an image",
        parameters=[SectionQuerySerializer],
        responses={
            (200, "image/png"): OpenApiResponse(OpenApiTypes.BINARY, "The page."),
            **schemas.problems(400, 403, 404),
        },
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, public_id: UUID, number: int) -> HttpResponseBase:
        """The image, or the same 404 whether it is missing or forbidden."""
        view, _ = _page(request, public_id, number)
        try:
            return originals.image_response(view)
        except (ParseError, FileNotFoundError) as error:
            raise NotFoundError from error


class FileView(ApiView):
    """The original file of a version."""

    permission_classes = (has_scope(Scope.READ),)
    content_negotiation_class = _AnyType

    @extend_schema(
        operation_id="get_file",
        summary="Download the original file of a version",
        description=(
            "Always as an attachment. Only where the caller may read all of it, and where it "
            "holds no comments, tracked changes, hidden text, attachments or active content."
        ),
        parameters=[AsOfSerializer],
        responses={
            (200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, "The file."),
            **schemas.problems(400, 403, 404),
        },
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, slug: str, number: int) -> HttpResponseBase:
        """The file, or the same 404 whether it is missing or forbidden."""
        query = AsOfSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        as_of = query.validated_data["as_of"]
        original = access.readable_file(reader_of(request), slug, number, as_of=as_of)
        if original is None:
            raise NotFoundError
        try:
            response = originals.FileResponse(original)
        except FileNotFoundError as error:
            raise NotFoundError from error
        actions.record_download(original, actor=user_of(request))
        return response
