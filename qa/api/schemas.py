"""What goes out, as the published schema tells it.

The values themselves are made in `qa.answering.present` and `qa.retrieval.sections`, for every
door alike; a test holds real replies against these declarations.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from qa.api.problems import MEDIA_TYPE
from qa.records import Confidence, RefusalCode


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """The key in the Authorization header, as OpenAPI tells it."""

    target_class = "qa.api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """A bearer scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An API key: `lqa_…`"}


class FieldErrorSchema(serializers.Serializer[Any]):
    """What is wrong with one field."""

    field = serializers.CharField()
    message = serializers.CharField()


class ProblemSchema(serializers.Serializer[Any]):
    """An error (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = FieldErrorSchema(many=True, required=False)  # type: ignore[assignment]  # a field's name
    hint = serializers.CharField(required=False)


class CitationSchema(serializers.Serializer[Any]):
    """A verbatim quote and where it stands."""

    n = serializers.IntegerField(help_text="Number of the cited passage, from 1.")
    document = serializers.CharField()
    version = serializers.IntegerField()
    effective_from = serializers.DateField()
    section_id = serializers.CharField()
    section_title = serializers.CharField()
    section_public_id = serializers.UUIDField(help_text="For GET sections/{id}.")
    quote = serializers.CharField()
    start = serializers.IntegerField(help_text="Offset into the version's canonical text.")
    end = serializers.IntegerField()
    page = serializers.IntegerField(allow_null=True)
    chunk_id = serializers.CharField(allow_null=True)
    url = serializers.CharField()


class ClaimSchema(serializers.Serializer[Any]):
    """One verified sentence."""

    text = serializers.CharField()
    citations = CitationSchema(many=True)


class SourceSchema(serializers.Serializer[Any]):
    """A retrieved passage with both ranks and scores."""

    document = serializers.CharField()
    policy = serializers.CharField()
    version = serializers.IntegerField()
    effective_from = serializers.DateField()
    effective_to = serializers.DateField(allow_null=True)
    section_id = serializers.CharField()
    section_title = serializers.CharField()
    section_public_id = serializers.UUIDField(help_text="For GET sections/{id}.")
    section_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    score = serializers.FloatField()
    cosine = serializers.FloatField(allow_null=True)
    bm25 = serializers.FloatField()
    dense_rank = serializers.IntegerField(allow_null=True)
    lexical_rank = serializers.IntegerField(allow_null=True)
    matched_terms = serializers.ListField(child=serializers.CharField())
    is_cited = serializers.BooleanField()
    has_pending_review = serializers.BooleanField()
    url = serializers.CharField()


class RefusalSchema(serializers.Serializer[Any]):
    """Why there is no answer, and what a reader can do."""

    code = serializers.ChoiceField(choices=[code.value for code in RefusalCode])
    message = serializers.CharField()
    missing = serializers.CharField(allow_null=True)
    looked_at = serializers.ListField(child=serializers.CharField())
    ask = serializers.CharField(allow_null=True)
    top_score = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField(allow_null=True)


class StepSchema(serializers.Serializer[Any]):
    """One step with its status and milliseconds."""

    name = serializers.CharField()
    status = serializers.CharField()
    ms = serializers.FloatField()
    detail = serializers.DictField()


class UsageSchema(serializers.Serializer[Any]):
    """Tokens and price of the model calls."""

    model = serializers.CharField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    cost_usd = serializers.FloatField()


class AnswerSchema(serializers.Serializer[Any]):
    """How a question ended: verified sentences, or a refusal with its reason."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=["answered", "refused"])
    question = serializers.CharField()
    as_of = serializers.DateField()
    answer = serializers.CharField(allow_null=True)
    claims = ClaimSchema(many=True)
    sources = SourceSchema(many=True)
    confidence = serializers.ChoiceField(choices=[c.value for c in Confidence], allow_null=True)
    support = serializers.FloatField(allow_null=True)
    refusal = RefusalSchema(allow_null=True)
    steps = StepSchema(many=True)
    usage = UsageSchema()
    model = serializers.CharField()
    corpus_revision = serializers.CharField()
    notices = serializers.ListField(child=serializers.CharField())


class StoredAnswerSchema(AnswerSchema):
    """A stored outcome; an interrupted one is `aborted` and has no answer."""

    status = serializers.ChoiceField(choices=["answered", "refused", "aborted"])
    confidence = serializers.ChoiceField(
        choices=[c.value for c in Confidence], allow_null=True, required=False
    )
    support = serializers.FloatField(allow_null=True, required=False)
    steps = StepSchema(many=True, required=False)
    usage = UsageSchema(required=False)
    model = serializers.CharField(required=False)
    corpus_revision = serializers.CharField(required=False)


class SearchSchema(serializers.Serializer[Any]):
    """The passages for a question, best first."""

    question = serializers.CharField()
    as_of = serializers.DateField()
    results = SourceSchema(many=True)
    corpus_revision = serializers.CharField()


class PolicySchema(serializers.Serializer[Any]):
    """A policy of which the caller may read something."""

    slug = serializers.CharField()
    title = serializers.CharField()
    department = serializers.CharField()
    category = serializers.CharField()
    language = serializers.CharField()
    jurisdiction = serializers.CharField()
    ask = serializers.CharField(allow_null=True, help_text="Whom to ask about it.")
    review_by = serializers.DateField(allow_null=True)
    url = serializers.CharField()


class PoliciesSchema(serializers.Serializer[Any]):
    """The readable policies, by title."""

    as_of = serializers.DateField()
    policies = PolicySchema(many=True)


class SpanSchema(serializers.Serializer[Any]):
    """A stretch of `text`."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class ClauseSchema(SpanSchema):
    """A labelled clause, as a stretch of `text`."""

    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name


class ReferenceSchema(SpanSchema):
    """Words of `text` that name another clause which the caller may read too."""

    section = serializers.UUIDField(help_text="For GET sections/{id}.")
    section_title = serializers.CharField()
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a field of that name


class SectionSchema(serializers.Serializer[Any]):
    """What the caller may read of one section; `[…]` stands where something is left out."""

    id = serializers.UUIDField()
    document = serializers.CharField()
    policy = serializers.CharField()
    version = serializers.IntegerField()
    effective_from = serializers.DateField()
    effective_to = serializers.DateField(allow_null=True)
    section_id = serializers.CharField()
    section_title = serializers.CharField()
    section_path = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField()
    text = serializers.CharField()
    cited = SpanSchema(allow_null=True)
    has_gaps = serializers.BooleanField()
    clauses = ClauseSchema(many=True)
    references = ReferenceSchema(many=True)
    pages = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Of the file, where it has pages; for GET sections/{id}/pages/{page}.",
    )
    source_url = serializers.CharField(allow_null=True, help_text="The official text.")
    ask = serializers.CharField(allow_null=True)
    url = serializers.CharField()


class NoticeSchema(serializers.Serializer[Any]):
    """Something the owner should know about a file; `pages` is empty where it is all of it."""

    code = serializers.CharField()
    message = serializers.CharField()
    pages = serializers.ListField(child=serializers.IntegerField())


class AcceptedSchema(serializers.Serializer[Any]):
    """An upload that was taken and is being worked on."""

    version = serializers.UUIDField()
    number = serializers.IntegerField()
    policy = serializers.CharField()
    state = serializers.CharField()
    url = serializers.CharField()


class IngestedSchema(serializers.Serializer[Any]):
    """An upload that rests: published, awaiting a person, or failed with a reason."""

    message = serializers.CharField()
    document = serializers.CharField()
    version = serializers.UUIDField()
    number = serializers.IntegerField()
    policy = serializers.CharField()
    state = serializers.CharField()
    chunks_created = serializers.IntegerField()
    warnings = NoticeSchema(many=True)
    url = serializers.CharField()


class VersionSchema(serializers.Serializer[Any]):
    """Where a version stands."""

    version = serializers.UUIDField()
    number = serializers.IntegerField()
    policy = serializers.CharField()
    document = serializers.CharField()
    state = serializers.CharField()
    effective_from = serializers.DateField(allow_null=True)
    effective_to = serializers.DateField(allow_null=True)
    labels = serializers.ListField(child=serializers.CharField())
    chunks = serializers.IntegerField()
    chunks_embedded = serializers.IntegerField()
    waiting_for_review = serializers.IntegerField()
    warnings = NoticeSchema(many=True)
    failure = serializers.CharField(allow_null=True)
    url = serializers.CharField()


class PageSchema(serializers.Serializer[Any]):
    """A page of the file; lengths are points, from the upper left corner."""

    section = serializers.UUIDField()
    page = serializers.IntegerField()
    label = serializers.CharField(help_text="What the document itself calls the page.")  # type: ignore[assignment]  # a field of that name
    width = serializers.FloatField()
    height = serializers.FloatField()
    boxes = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=4, max_length=4),
        help_text="Around the words from `start` to `end`: left, top, right, bottom.",
    )
    image = serializers.CharField(help_text="Address of the page as PNG.")


class MeSchema(serializers.Serializer[Any]):
    """Who the caller is, and what they may read and do."""

    name = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    scopes = serializers.ListField(child=serializers.CharField())


def problems(*statuses: int) -> dict[tuple[int, str], type[ProblemSchema]]:
    """The problem responses of an operation; 401, 406 and 503 may come from each."""
    return {(status, MEDIA_TYPE): ProblemSchema for status in sorted({401, 503, *statuses})}
