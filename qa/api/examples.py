"""One example of each kind of request and reply, for the published schema."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from qa.api.problems import MEDIA_TYPE

_SOURCE: dict[str, Any] = {
    "document": "Leave policy",
    "policy": "leave",
    "version": 2,
    "effective_from": "2026-01-01",
    "effective_to": None,
    "section_id": "4.2",
    "section_title": "Carry-over",
    "section_public_id": "7f1c9f0e-0000-4000-8000-000000000000",
    "section_path": ["4 Leave", "4.2 Carry-over"],
    "text": "Up to five days of annual leave may be carried over.",
    "score": 0.91,
    "cosine": 0.78,
    "bm25": 11.2,
    "dense_rank": 1,
    "lexical_rank": 1,
    "matched_terms": ["annual", "leave", "carry"],
    "is_cited": True,
    "has_pending_review": False,
    "url": "/sections/7f1c9f0e-0000-4000-8000-000000000000/",
}
_CITATION: dict[str, Any] = {
    "n": 1,
    "document": "Leave policy",
    "version": 2,
    "effective_from": "2026-01-01",
    "section_id": "4.2",
    "section_title": "Carry-over",
    "section_public_id": "7f1c9f0e-0000-4000-8000-000000000000",
    "quote": "Up to five days of annual leave may be carried over.",
    "start": 1520,
    "end": 1572,
    "page": None,
    "chunk_id": "0b0c44be-0000-4000-8000-000000000000",
    "url": "/sections/7f1c9f0e-0000-4000-8000-000000000000/?start=1520&end=1572#cited",
}
_ANSWER: dict[str, Any] = {
    "id": "3c5d8a52-0000-4000-8000-000000000000",
    "status": "answered",
    "question": "How many days of annual leave may I carry over?",
    "as_of": "2026-07-01",
    "answer": "Up to five days of annual leave may be carried over."
    " [Doc: Leave policy, Section: 4.2]",
    "claims": [
        {
            "text": "Up to five days of annual leave may be carried over.",
            "citations": [_CITATION],
        }
    ],
    "sources": [_SOURCE],
    "confidence": "high",
    "support": 1.0,
    "refusal": None,
    "steps": [{"name": "retrieve", "status": "ok", "ms": 12.0, "detail": {"passages": 1}}],
    "usage": {
        "model": "extractive",
        "input_tokens": 0,
        "output_tokens": 0,
        "cached_tokens": 0,
        "cost_usd": 0.0,
    },
    "model": "extractive",
    "corpus_revision": "5d41402abc4b2a76",
    "notices": ["Information from your organisation's policies, not legal advice."],
}
_REFUSAL: dict[str, Any] = {
    "code": "below_threshold",
    "message": "The policies that you may read do not seem to cover this question.",
    "missing": None,
    "looked_at": ["Leave policy"],
    "ask": "People team",
    "top_score": 0.12,
    "threshold": 0.35,
}

QUESTION = OpenApiExample(
    "question",
    value={"question": "How many days of annual leave may I carry over?", "as_of": "2026-07-01"},
    request_only=True,
)
ANSWERED = OpenApiExample("answered", value=_ANSWER, response_only=True, status_codes=["200"])
REFUSED = OpenApiExample(
    "refused",
    value=_ANSWER
    | {
        "status": "refused",
        "question": "What is the capital of France?",
        "answer": None,
        "claims": [],
        "confidence": None,
        "support": None,
        "refusal": _REFUSAL,
    },
    response_only=True,
    status_codes=["200"],
)
INGEST = OpenApiExample(
    "text",
    value={
        "document_name": "leave.md",
        "content": "# Leave policy\n\n## 4.2 Carry-over\n\nUp to five days may be carried over.",
        "labels": ["all-staff"],
        "effective_from": "2026-01-01",
        "wait": 20,
    },
    request_only=True,
    media_type="application/json",
)
EVENTS = OpenApiExample(
    "events",
    value=(
        'event: step\ndata: {"name": "retrieve", "status": "running", "ms": 0.0, "detail": {}}\n\n'
        'event: sources\ndata: {"sources": []}\n\n'
        'event: claim\ndata: {"n": 1, "text": "…", "citations": []}\n\n'
        'event: answer\ndata: {"id": "…", "status": "answered"}\n\n'
    ),
    response_only=True,
    status_codes=["200"],
    media_type="text/event-stream",
)


def problem(status: int, code: str, title: str, detail: str, **more: Any) -> OpenApiExample:
    """An example of one problem."""
    return OpenApiExample(
        code,
        value={
            "type": f"urn:legalqa:problem:{code}",
            "title": title,
            "status": status,
            "detail": detail,
            "code": code,
            **more,
        },
        response_only=True,
        status_codes=[str(status)],
        media_type=MEDIA_TYPE,
    )


UNKNOWN_FIELD = problem(
    400,
    "invalid",
    "Invalid request",
    "topk: There is no such field.",
    errors=[{"field": "topk", "message": "There is no such field."}],
)
NO_DOCUMENTS = problem(
    404,
    "no_documents",
    "Not found",
    "There is no policy that you may read on this date.",
    hint="Ask whoever looks after the policies for a label.",
)
EMPTY = problem(
    400, "empty", "Invalid request", "leave.md is empty. Upload a file that holds text."
)
NOT_FOUND = problem(404, "not_found", "Not found", "There is nothing here that you may read.")
