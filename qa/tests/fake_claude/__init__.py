"""A stand-in for Claude's HTTP API on loopback: the only fake in the test suite.

A real HTTP server in a thread that speaks `POST /v1/messages`, streamed and not, keeps what
was asked and plays whatever a test wants to see: answers, limits, cuts, stalls and junk. It
needs nothing but the standard library and knows nothing of legalqa's code, so that it cannot
share a mistake with it.

    with FakeClaude() as claude:
        claude.reply_with(overloaded(), answer({"answerable": False, …}))  # one a request
        claude.reply_by(obedient)  # after those: a function of the request's body

Without either it quotes the sentence of the prompt that is nearest to the question
(`quoting`), which is enough to try the whole path by hand:
`python -m qa.tests.fake_claude --port 8787`, then ANTHROPIC_BASE_URL=http://127.0.0.1:8787.
"""

from __future__ import annotations

from qa.tests.fake_claude.models import (
    PromptDocument,
    answered,
    claim,
    documents_in,
    not_answerable,
    question_in,
    quoting,
)
from qa.tests.fake_claude.replies import (
    Reply,
    answer,
    broken_event,
    clean_close,
    error,
    error_event,
    hard_cut,
    overloaded,
    rate_limited,
    raw,
    server_error,
    silence,
    stall,
    unauthorised,
)
from qa.tests.fake_claude.server import FakeClaude
from qa.tests.fake_claude.wire import Request, Wire

__all__ = [
    "FakeClaude",
    "PromptDocument",
    "Reply",
    "Request",
    "Wire",
    "answer",
    "answered",
    "broken_event",
    "claim",
    "clean_close",
    "documents_in",
    "error",
    "error_event",
    "hard_cut",
    "not_answerable",
    "overloaded",
    "question_in",
    "quoting",
    "rate_limited",
    "raw",
    "server_error",
    "silence",
    "stall",
    "unauthorised",
]
