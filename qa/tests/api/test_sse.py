from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from documents import access
from documents.access import Reader
from documents.tests import factories
from qa import keys, pipeline
from qa.api import sse
from qa.models import QuestionRecord
from qa.pipeline import Asked
from qa.records import Finished, StepDone
from qa.tests import fake_claude as fake
from qa.tests.api.support import (
    DISCIPLINE,
    HR_QUESTION,
    LEAVE,
    QUESTION,
    events_of,
    masked,
    use_claude,
)
from qa.tests.fake_claude import FakeClaude

TERMINAL = {"answer", "refused", "retracted", "error"}
HARD_TEXTS = [
    "line one\nline two",
    "a\r\nb",
    "sep\u2028para\u2029nel\u0085end",
    "data: not a field\n\nid: 7",
    "快递费由寄件人承担 👍🏽",
    "\u0000\u0007",
    "",
    '"quotes" and \\ backslash',
]


def read(*parts: bytes) -> list[tuple[str, Any]]:
    return events_of(b"".join(parts))


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_any_text_survives_the_framing(text: str) -> None:
    encoded = sse.encode("claim", {"text": text})

    assert encoded.count(b"\n") == 3
    assert read(encoded, sse.HEARTBEAT) == [("claim", {"text": text})]


@given(st.text(), st.sampled_from(["step", "claim", "answer"]))
def test_event_is_one_line_of_ascii_json(text: str, name: str) -> None:
    first, second, *rest = sse.encode(name, {"text": text}).decode("ascii").split("\n")

    assert first == f"event: {name}"
    assert json.loads(second.removeprefix("data: ")) == {"text": text}
    assert rest == ["", ""]


# The flow


@pytest.fixture
def emp(transactional_db: None) -> User:
    factories.published(LEAVE, policy_slug="leave")
    return factories.user("emp")


async def streamed(user: User, question: str = QUESTION, **options: Any) -> bytes:
    reader = await sync_to_async(Reader.for_user)(user)
    stream = sse.stream(Asked(reader, question, **options), heartbeat_seconds=10)
    return b"".join([part async for part in stream])


def names(events: list[tuple[str, Any]]) -> list[str]:
    return [name for name, _ in events]


async def test_answer_comes_as_steps_sources_claims_and_one_end(emp: User) -> None:
    events = read(await streamed(emp))

    assert events[0] == ("step", {"name": "retrieve", "status": "running", "ms": 0.0, "detail": {}})
    assert names(events)[-1] == "answer"
    assert sum(name in TERMINAL for name in names(events)) == 1
    assert names(events).index("sources") < names(events).index("claim")
    claims = [data for name, data in events if name == "claim"]
    answer = events[-1][1]
    assert [claim["n"] for claim in claims] == list(range(1, len(claims) + 1))
    assert [{k: c[k] for k in ("text", "citations")} for c in claims] == answer["claims"]


async def test_refusal_ends_the_stream_and_shows_no_claim(emp: User) -> None:
    events = read(await streamed(emp, "What is the capital of France?"))

    assert names(events)[-1] == "refused"
    assert "claim" not in names(events)


async def test_reader_of_nothing_gets_the_refusal_no_documents(emp: User) -> None:
    reader = await sync_to_async(Reader.for_user)(emp, key_labels=["board"])
    stream = sse.stream(Asked(reader, QUESTION), heartbeat_seconds=10)
    events = read(*[part async for part in stream])

    assert events[-1][0] == "refused"
    assert events[-1][1]["refusal"]["code"] == "no_documents"


async def test_later_claim_that_fails_takes_all_back(emp: User, settings: Any) -> None:
    def model(body: dict[str, Any]) -> dict[str, Any]:
        passage = fake.documents_in(body)[0]
        quote = "Staff receive 27 days of annual leave each year."
        return fake.answered(
            fake.claim(quote, (passage.id, quote)),
            fake.claim("Staff receive 99 days of annual leave each year.", (passage.id, quote)),
        )

    with FakeClaude() as claude:
        claude.reply_by(model)
        use_claude(settings, claude)
        events = read(await streamed(emp))

    assert names(events)[-1] == "retracted"
    assert "claim" in names(events)
    assert events[-1][1]["status"] == "refused"
    assert events[-1][1]["claims"] == []


async def test_failure_ends_in_an_error_event_without_internals(
    emp: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(asked: Asked) -> AsyncIterator[StepDone]:
        yield StepDone(sse.STARTED)
        raise RuntimeError("canary")

    monkeypatch.setattr(pipeline, "answer_question", fail)
    body = await streamed(emp)
    name, problem = read(body)[-1]

    assert name == "error"
    assert (problem["status"], problem["code"]) == (500, "internal_error")
    assert b"canary" not in body


async def test_silence_is_broken_by_a_comment(emp: User, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pipeline.answer_question

    async def slow(asked: Asked) -> AsyncIterator[Any]:
        async for event in real(asked):
            if isinstance(event, Finished):
                await asyncio.sleep(0.35)
            yield event

    monkeypatch.setattr(pipeline, "answer_question", slow)
    reader = await sync_to_async(Reader.for_user)(emp)
    parts = [p async for p in sse.stream(Asked(reader, QUESTION), heartbeat_seconds=0.1)]

    assert parts.count(sse.HEARTBEAT) >= 2
    assert read(*parts)[-1][0] == "answer"


async def test_hidden_policies_change_no_byte_of_a_stream(emp: User) -> None:
    questions = (QUESTION, HR_QUESTION)
    before = [masked(await streamed(emp, question, n_results=20)) for question in questions]
    await sync_to_async(factories.published)(DISCIPLINE, policy_slug="discipline", labels=("hr",))
    after = [masked(await streamed(emp, question, n_results=20)) for question in questions]

    assert after == before


# Over a real server


@contextmanager
def serving() -> Iterator[str]:
    config = uvicorn.Config(
        get_asgi_application(), port=0, lifespan="off", log_level="error", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def ask_stream(base: str, key: str, question: str = QUESTION) -> Any:
    return httpx.stream(
        "POST",
        f"{base}/api/v1/ask/stream",
        json={"question": question},
        headers={
            "Authorization": f"Bearer {key}",
            "Accept": "text/event-stream",
            "Accept-Encoding": "gzip",
        },
        timeout=30,
        trust_env=False,
    )


def status_of_last_question() -> str | None:
    with access.editing():
        record = QuestionRecord.objects.select_related("outcome").first()
        return record.outcome.status if record and hasattr(record, "outcome") else None


def test_stream_over_http_is_unbuffered_and_complete(emp: User) -> None:
    key = keys.create_key(emp, name="t", scopes=["ask"])

    with serving() as base, ask_stream(base, key) as reply:
        chunks = reply.iter_raw()
        first = next(chunks)
        body = first + b"".join(chunks)

    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert "no-cache" in reply.headers["Cache-Control"]
    assert "no-store" in reply.headers["Cache-Control"]
    assert reply.headers["X-Accel-Buffering"] == "no"
    assert "Content-Length" not in reply.headers
    assert "Content-Encoding" not in reply.headers
    assert read(first)[0][1]["status"] == "running"
    assert "answer" not in [name for name, _ in read(first)]  # it did not wait for the last
    assert read(body)[-1][0] == "answer"


def test_invalid_question_is_a_plain_problem_before_the_stream(emp: User) -> None:
    key = keys.create_key(emp, name="t", scopes=["ask"])

    with serving() as base, ask_stream(base, key, " ") as reply:
        body = reply.read()

    assert reply.status_code == 400
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert json.loads(body)["code"] == "invalid_question"


def test_reader_who_leaves_stops_the_model_and_is_on_record_as_aborted(
    emp: User, settings: Any
) -> None:
    key = keys.create_key(emp, name="t", scopes=["ask"])
    with FakeClaude() as claude, serving() as base:
        claude.reply_with(fake.stall(60.0, ping_every_seconds=0.05))
        use_claude(settings, claude)
        with ask_stream(base, key) as reply:
            chunks = reply.iter_raw()  # kept: httpx hangs up when it is dropped
            next(chunks)
            deadline = time.monotonic() + 10
            while not claude.requests and time.monotonic() < deadline:
                time.sleep(0.05)
        assert claude.wait_for_disconnect(5.0)
        deadline = time.monotonic() + 5
        while status_of_last_question() is None and time.monotonic() < deadline:
            time.sleep(0.05)

    assert status_of_last_question() == "aborted"
    connections.close_all()
