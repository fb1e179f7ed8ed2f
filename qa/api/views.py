"""Asking, searching and reading: one view per operation; each parses, calls, renders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from documents import access
from qa import answer_log, limits, pipeline
from qa.answering import gates
from qa.answering.present import outcome_json, source_json
from qa.api import examples, schemas, sse
from qa.api.authentication import key_of, reader_of, user_of
from qa.api.parsers import JsonParser
from qa.api.permissions import Scope, has_scope, may
from qa.api.problems import NotFoundError, Problem, TooLargeError
from qa.api.serializers import AsOfSerializer, QuestionSerializer, SectionQuerySerializer
from qa.api.throttling import AskThrottle
from qa.pipeline import Asked
from qa.records import RefusalCode
from qa.retrieval.search import Scope as SearchScope
from qa.retrieval.sections import read_section, section_json

NOTHING_READABLE = (
    "You can read no policy on this date. Choose another date, or ask whoever looks after the "
    "policies for a label."
)

_SPARE_SECONDS = 10  # a stream that ends in time gives its place back before it runs out
_RETRY_STREAM_SECONDS = 5


class ApiView(APIView):
    """What all operations share: nothing of a body that is too large is read."""

    parser_classes: Sequence[type[BaseParser]] = (JsonParser,)
    max_body_bytes = 64 * 1024

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check who calls, then the size.

        Raises:
            TooLargeError: the body is longer than this operation can need.
        """
        super().initial(request, *args, **kwargs)
        length = str(request.META.get("CONTENT_LENGTH") or "0")
        if length.isdigit() and int(length) > self.max_body_bytes:
            raise TooLargeError


class _AskingView(ApiView):
    permission_classes = (has_scope(Scope.ASK),)
    throttle_classes = (AskThrottle,)

    def asked(self, request: Request) -> Asked:
        """The question of a request.

        Raises:
            ValidationError: unknown or invalid fields.
            InvalidQuestionError: nothing to ask, or too long.
        """
        given = QuestionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        fields = given.validated_data
        key = key_of(request)
        return Asked(
            asker=reader_of(request),
            question=gates.clean_question(fields["question"]),
            as_of=fields["as_of"],
            n_results=fields["n_results"],
            scope=SearchScope(fields["policy"], fields["department"], fields["jurisdiction"]),
            door="api",
            key_id=key.pk if key else None,
        )


class AskView(_AskingView):
    """Asks a question and waits for its outcome."""

    @extend_schema(
        operation_id="ask",
        summary="Ask a question",
        description="The answer with its citations, or a refusal with its reason.",
        request=QuestionSerializer,
        responses={200: schemas.AnswerSchema, **schemas.problems(400, 403, 404, 413, 429)},
        examples=[
            examples.QUESTION,
            examples.ANSWERED,
            examples.REFUSED,
            examples.UNKNOWN_FIELD,
            examples.NO_DOCUMENTS,
        ],
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Answer or refuse; 404 when the caller can read nothing at all."""
        outcome = pipeline.ask(self.asked(request)).outcome
        refusal = outcome.refusal
        if refusal is not None and refusal.code is RefusalCode.NO_DOCUMENTS:
            return Problem(
                404, refusal.code.value, refusal.message, hint=NOTHING_READABLE
            ).response()
        return Response(outcome_json(outcome))


class AskStreamView(_AskingView):
    """Asks a question and streams what happens."""

    renderer_classes = (sse.EventStreamRenderer, JSONRenderer)

    @extend_schema(
        operation_id="ask_stream",
        summary="Ask a question, answered as a stream of events",
        description=(
            "Events in order: `step`, `sources`, `claim` (one verified sentence each), then "
            "exactly one of `answer`, `refused`, `retracted` or `error`. A stream that ends "
            "without one of these was broken: ask again. `retracted` replaces every sentence "
            "sent before it. Comments are heartbeats. The data of `answer`, `refused` and "
            "`retracted` is what POST ask returns, that of `error` a problem document."
        ),
        request=QuestionSerializer,
        responses={
            (200, sse.MEDIA_TYPE): OpenApiResponse(OpenApiTypes.STR, "Server-sent events."),
            **schemas.problems(400, 403, 413, 429),
        },
        examples=[examples.QUESTION, examples.EVENTS, examples.UNKNOWN_FIELD],
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Check the question while a plain problem can still be told, then stream."""
        asked = self.asked(request)
        if asked.as_of is not None:
            with access.reading_as(asked.asker, asked.as_of):
                pass  # a date that may not be asked for raises
        slots = limits.take_slots(
            [
                (f"streams:{request.user.pk}", settings.STREAMS_PER_USER),
                ("streams", settings.STREAMS),
            ],
            seconds=settings.STREAM_SECONDS + _SPARE_SECONDS,
        )
        if slots is None:
            raise Throttled(wait=_RETRY_STREAM_SECONDS)
        events = sse.stream(
            asked,
            heartbeat_seconds=settings.STREAM_HEARTBEAT_SECONDS,
            life_seconds=settings.STREAM_SECONDS,
        )
        return sse.EventStreamResponse(events, when_closed=slots.give_back)


class SearchView(_AskingView):
    """Searches without answering."""

    @extend_schema(
        operation_id="search",
        summary="Find passages",
        description="The passages for a question, best first, with both ranks and scores.",
        request=QuestionSerializer,
        responses={200: schemas.SearchSchema, **schemas.problems(400, 403, 413, 429)},
        examples=[examples.QUESTION, examples.UNKNOWN_FIELD],
    )
    def post(self, request: Request) -> Response:
        """Retrieve and show."""
        asked = self.asked(request)
        result = pipeline.search_passages(asked)
        return Response(
            {
                "question": asked.question,
                "as_of": (asked.as_of or access.today()).isoformat(),
                "results": [source_json(passage) for passage in result.passages],
                "corpus_revision": result.corpus_revision,
            }
        )


class AnswerView(ApiView):
    """A stored outcome."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="get_answer",
        summary="Read one of your own answers again",
        description=(
            "As it was shown, while all that it rests on may still be read; else its question "
            "and status alone. An interrupted one is `aborted`."
        ),
        responses={200: schemas.StoredAnswerSchema, **schemas.problems(403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, public_id: UUID) -> Response:
        """The answer, if it is the caller's own."""
        found = answer_log.stored_answer(reader_of(request), public_id)
        if found is None:
            raise NotFoundError
        return Response(found)


class PoliciesView(ApiView):
    """The policies of which the caller may read something."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="list_policies",
        summary="List the policies that you may read",
        parameters=[AsOfSerializer],
        responses={200: schemas.PoliciesSchema, **schemas.problems(400, 403)},
    )
    def get(self, request: Request) -> Response:
        """By title."""
        query = AsOfSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        with access.reading_as(reader_of(request), query.validated_data["as_of"]) as reading:
            found = access.readable_policies(reading)
        policies = [
            {
                "slug": policy.slug,
                "title": policy.title,
                "department": policy.department,
                "category": policy.category,
                "language": policy.language,
                "jurisdiction": policy.jurisdiction,
                "ask": policy.contact or None,
                "review_by": policy.review_by.isoformat() if policy.review_by else None,
                "url": f"/policies/{policy.slug}/",
            }
            for policy in found
        ]
        return Response({"as_of": reading.as_of.isoformat(), "policies": policies})


class SectionView(ApiView):
    """One section, put together from what the caller may read of it."""

    permission_classes = (has_scope(Scope.READ),)

    @extend_schema(
        operation_id="get_section",
        summary="Read a section",
        description=(
            "Whatever of it you may read, with `[…]` where something is left out. With `start` "
            "and `end` of a citation, `cited` is that stretch of `text`."
        ),
        parameters=[SectionQuerySerializer],
        responses={200: schemas.SectionSchema, **schemas.problems(400, 403, 404)},
        examples=[examples.NOT_FOUND],
    )
    def get(self, request: Request, public_id: UUID) -> Response:
        """The section, or the same 404 whether it is missing or forbidden."""
        query = SectionQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        fields = query.validated_data
        span = (fields["start"], fields["end"]) if fields["start"] is not None else None
        found = read_section(reader_of(request), public_id, as_of=fields["as_of"], span=span)
        if found is None:
            raise NotFoundError
        return Response(section_json(found))


class MeView(ApiView):
    """Who calls."""

    @extend_schema(
        operation_id="me",
        summary="Who you are, and what you may read and do",
        responses={200: schemas.MeSchema, **schemas.problems()},
    )
    def get(self, request: Request) -> Response:
        """Name, labels and usable scopes."""
        return Response(
            {
                "name": user_of(request).get_username(),
                "labels": sorted(access.labels_of(reader_of(request))),
                "scopes": [scope.value for scope in Scope if may(request, scope)],
            }
        )
