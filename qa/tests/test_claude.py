"""What the API does, and what we make of it; each row of failures is one test.

Claude is the fake server on loopback; the SDK, its HTTP library and the sockets are real.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from qa import claude
from qa.answering import prompt
from qa.errors import ClaudeRequestError, ClaudeUnavailableError, GenerationError, ModelOutputError
from qa.records import Confidence, DraftCitation, DraftClaim, DraftEnd, Usage
from qa.tests import fake_claude as fake
from qa.tests.fake_claude import FakeClaude

KEY = "sk-canary-key"
QUESTION = "May canary-question be claimed?"
SYSTEM = "canary-rules"
USER = (
    '<documents as_of="2026-10-24">\n<document id="p1">canary-passage may be claimed.</document>'
    f"\n</documents>\n<question>{QUESTION}</question>"
)

TWO_CLAIMS = fake.answered(
    fake.claim("Staff may claim 1,800 a night.", ("p1", "may claim 1,800 a night")),
    fake.claim("Receipts are due in 30 days.", ("p1", "Receipts are due in 30 days"), ("p2", "x")),
    confidence="medium",
)
CLAIMS = [
    DraftClaim("Staff may claim 1,800 a night.", (DraftCitation("p1", "may claim 1,800 a night"),)),
    DraftClaim(
        "Receipts are due in 30 days.",
        (DraftCitation("p1", "Receipts are due in 30 days"), DraftCitation("p2", "x")),
    ),
]
# As far as the first claim, and into the second.
CUT_AFTER_CLAIM = json.dumps(TWO_CLAIMS)[: json.dumps(TWO_CLAIMS).index("Receipts")]
CUT_BEFORE_CLAIM = json.dumps(TWO_CLAIMS)[:40]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClaude]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(claude, "_FIRST_PAUSE_SECONDS", 0.01)
    with FakeClaude() as running:
        yield running


def settings_for(server: FakeClaude, **changes: object) -> claude.ClaudeSettings:
    settings = claude.ClaudeSettings(
        api_key=KEY,
        base_url=server.base_url,
        model="claude-opus-5-5",
        effort="low",
        max_tokens=2_000,
        connect_timeout_seconds=5,
        read_timeout_seconds=20,
        deadline_seconds=40,
        max_attempts=2,
    )
    return replace(settings, **changes)  # type: ignore[arg-type]  # tests name the fields


async def drafted(
    settings: claude.ClaudeSettings, on_usage: Callable[[Usage], None] | None = None
) -> list[DraftClaim | DraftEnd]:
    got: list[DraftClaim | DraftEnd] = []
    await collect(claude.draft(settings, system=SYSTEM, user=USER, on_usage=on_usage), got)
    return got


async def failure_of(
    settings: claude.ClaudeSettings,
) -> tuple[list[DraftClaim | DraftEnd], GenerationError]:
    got: list[DraftClaim | DraftEnd] = []
    with pytest.raises(GenerationError) as caught:
        await collect(claude.draft(settings, system=SYSTEM, user=USER), got)
    return got, caught.value


async def collect(
    parts: AsyncGenerator[DraftClaim | DraftEnd, None], into: list[DraftClaim | DraftEnd]
) -> None:
    async with aclosing(parts):
        async for part in parts:
            into.append(part)  # one by one: those before an error count


# What is sent


async def test_request_holds_rules_message_schema_and_nothing_that_the_model_refuses(
    server: FakeClaude,
) -> None:
    server.reply_with(TWO_CLAIMS)

    await drafted(settings_for(server))

    request = server.requests[0]
    assert request.key == KEY
    assert request.body == {
        "model": "claude-opus-5-5",
        "max_tokens": 2_000,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": USER}],
        "output_config": {
            "format": {"type": "json_schema", "schema": prompt.ANSWER_SCHEMA},
            "effort": "low",
        },
        "stream": True,
    }


async def test_schema_arrives_with_answerable_first(server: FakeClaude) -> None:
    server.reply_with(TWO_CLAIMS)

    await drafted(settings_for(server))

    schema = server.bodies[0]["output_config"]["format"]["schema"]
    assert list(schema["properties"]) == ["answerable", "claims", "missing", "confidence"]
    assert schema["required"] == list(schema["properties"])


@pytest.mark.parametrize("key", ["", "  ", "sk-…", "sk-\n"])
async def test_damaged_key_is_told_before_anything_is_sent(server: FakeClaude, key: str) -> None:
    _, error = await failure_of(settings_for(server, api_key=key))

    assert isinstance(error, ClaudeRequestError)
    assert "ANTHROPIC_API_KEY" in error.message
    assert server.requests == []


def test_settings_do_not_print_the_key(server: FakeClaude) -> None:
    assert KEY not in repr(settings_for(server))


@pytest.mark.parametrize("elsewhere", ["", "http://127.0.0.1:9"])
async def test_without_a_base_url_the_address_is_the_provider_s_own(
    server: FakeClaude, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", elsewhere)

    async with claude._client(settings_for(server, base_url=None)) as client:
        assert client.base_url.host == "api.anthropic.com"


# What comes back


async def test_answer_is_yielded_claim_by_claim_then_its_end(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, thinking="Let me look at canary-passage."))

    *claims, end = await drafted(settings_for(server))

    assert claims == CLAIMS
    assert isinstance(end, DraftEnd)
    assert (end.is_answerable, end.missing, end.confidence) == (True, None, Confidence.MEDIUM)


async def test_not_answerable_gives_only_an_end_that_says_what_is_missing(
    server: FakeClaude,
) -> None:
    server.reply_with(fake.not_answerable("the dress code"))

    (end,) = await drafted(settings_for(server))

    assert isinstance(end, DraftEnd)
    assert (end.is_answerable, end.missing) == (False, "the dress code")


async def test_claim_is_yielded_while_the_model_still_writes_the_next(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, stall_after="Receipts", stall_seconds=300))

    async with aclosing(claude.draft(settings_for(server), system=SYSTEM, user=USER)) as parts:
        first = await anext(parts)

    assert first == CLAIMS[0]
    assert await asyncio.to_thread(server.wait_for_disconnect, 10)  # long before its end


async def test_reader_who_leaves_closes_the_model_stream_at_once(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, stall_after="Receipts", stall_seconds=30))

    async with aclosing(claude.draft(settings_for(server), system=SYSTEM, user=USER)) as parts:
        await anext(parts)
        assert server.disconnects == 0

    assert await asyncio.to_thread(server.wait_for_disconnect, 10)


async def test_cancelled_reader_closes_the_model_stream_too(server: FakeClaude) -> None:
    server.reply_with(fake.stall(30))
    task = asyncio.create_task(drafted(settings_for(server, read_timeout_seconds=30)))
    while not server.requests:
        await asyncio.sleep(0.01)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await asyncio.to_thread(server.wait_for_disconnect, 10)


async def test_consumer_may_be_slower_than_the_deadline_between_claims(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, stall_after="Receipts", stall_seconds=30))

    settings = settings_for(server, deadline_seconds=2)
    async with aclosing(claude.draft(settings, system=SYSTEM, user=USER)) as parts:
        await anext(parts)
        await asyncio.sleep(2.2)  # not interrupted: the limit is on waits for the model alone
        with pytest.raises(ClaudeUnavailableError):
            await anext(parts)


# Usage


async def test_usage_counts_each_kind_of_token_at_its_price(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, cached_tokens=1_000, cache_write_tokens=100))
    seen: list[Usage] = []

    end = (await drafted(settings_for(server), seen.append))[-1]

    assert isinstance(end, DraftEnd)
    usage = end.usage
    assert usage is not None
    plain_tokens = len(json.dumps(server.bodies[0])) // 4
    output_tokens = len(json.dumps(TWO_CLAIMS)) // 4
    cost = Decimal(plain_tokens * 4 + output_tokens * 20 + 100 * 5) + Decimal("0.20") * 1_000
    assert usage == Usage(
        "claude-opus-5-5", plain_tokens + 100, output_tokens, 1_000, cost / 1_000_000
    )
    assert seen == [usage]


async def test_tokens_of_a_failed_try_are_paid_too(server: FakeClaude) -> None:
    server.reply_with(fake.hard_cut(CUT_BEFORE_CLAIM), TWO_CLAIMS)

    end = (await drafted(settings_for(server)))[-1]

    assert isinstance(end, DraftEnd)
    assert end.usage is not None
    sent = sum(len(json.dumps(body)) // 4 for body in server.bodies)
    assert end.usage.input_tokens == sent
    assert end.usage.output_tokens >= len(json.dumps(TWO_CLAIMS)) // 4 + len(CUT_BEFORE_CLAIM) // 4


async def test_usage_is_told_when_the_reader_leaves(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, stall_after="Receipts", stall_seconds=30))
    seen: list[Usage] = []

    async with aclosing(
        claude.draft(settings_for(server), system=SYSTEM, user=USER, on_usage=seen.append)
    ) as parts:
        await anext(parts)

    assert len(seen) == 1
    assert seen[0].input_tokens > 0
    assert seen[0].output_tokens > 1  # estimated: the stream never came to say it


async def test_usage_is_told_when_the_answer_is_refused(server: FakeClaude) -> None:
    server.reply_with(fake.answer(TWO_CLAIMS, stop_reason="max_tokens"))
    seen: list[Usage] = []

    with pytest.raises(ModelOutputError):
        await drafted(settings_for(server), seen.append)

    assert [usage.cost_usd > 0 for usage in seen] == [True]


# What heals by itself: THREATS A5


HEALING = {
    "rate limit with retry-after": fake.rate_limited(0.01),
    "retry-after as a date": fake.rate_limited("Wed, 21 Oct 2026 07:28:00 GMT"),
    "overloaded": fake.overloaded(),
    "500": fake.server_error(500),
    "502 from a proxy": fake.raw(b"<html>Bad gateway</html>", status=502),
    "503": fake.server_error(503),
    "504": fake.error(504, "timeout_error"),
    "408": fake.error(408, "timeout_error"),
    "overloaded inside the stream": fake.error_event("overloaded_error"),
    "overloaded inside the stream, before a claim": fake.error_event(after=CUT_BEFORE_CLAIM),
    "api_error inside the stream": fake.error_event("api_error"),
    "error event without a type": fake.error_event(data="no JSON"),
    "cut inside the stream": fake.hard_cut(CUT_BEFORE_CLAIM),
    "reset inside the stream": fake.hard_cut(CUT_BEFORE_CLAIM, is_reset=True),
    "cut before the head": fake.silence(0),
    "silence before the head": fake.silence(30),
    "silence inside the stream": fake.stall(30),
}


@pytest.mark.parametrize("trouble", HEALING.values(), ids=HEALING)
async def test_passing_trouble_is_tried_again(server: FakeClaude, trouble: fake.Reply) -> None:
    server.reply_with(trouble, TWO_CLAIMS)

    *claims, _ = await drafted(settings_for(server, read_timeout_seconds=0.6))

    assert claims == CLAIMS
    assert len(server.requests) == 2


@pytest.mark.parametrize("trouble", HEALING.values(), ids=HEALING)
async def test_lasting_trouble_ends_as_unavailable_after_the_last_try(
    server: FakeClaude, trouble: fake.Reply
) -> None:
    server.reply_with(*[trouble] * 3)

    got, error = await failure_of(settings_for(server, read_timeout_seconds=0.6, max_attempts=3))

    assert got == []
    assert isinstance(error, ClaudeUnavailableError)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "trouble",
    [
        fake.error_event(after=CUT_AFTER_CLAIM),
        fake.hard_cut(CUT_AFTER_CLAIM),
        fake.answer(TWO_CLAIMS, stall_after="Receipts", stall_seconds=30),
    ],
    ids=["error event", "hard cut", "stall"],
)
async def test_nothing_is_tried_again_once_a_claim_is_out(
    server: FakeClaude, trouble: fake.Reply
) -> None:
    server.reply_with(trouble, TWO_CLAIMS)

    got, error = await failure_of(settings_for(server, read_timeout_seconds=0.6))

    assert got == CLAIMS[:1]
    assert isinstance(error, ClaudeUnavailableError)
    assert len(server.requests) == 1


async def test_nobody_listens(server: FakeClaude) -> None:
    settings = settings_for(server, base_url="http://127.0.0.1:9")

    got, error = await failure_of(settings)

    assert got == []
    assert isinstance(error, ClaudeUnavailableError)


async def test_retry_after_is_waited_for(server: FakeClaude) -> None:
    server.reply_with(fake.rate_limited(0.4), TWO_CLAIMS)

    await drafted(settings_for(server))

    first, second = server.requests
    assert second.at - first.at >= 0.4


async def test_retry_after_beyond_the_deadline_is_not_waited_for(server: FakeClaude) -> None:
    server.reply_with(fake.rate_limited(3_600), TWO_CLAIMS)

    _, error = await failure_of(settings_for(server))

    assert isinstance(error, ClaudeUnavailableError)
    assert len(server.requests) == 1


async def test_pings_alone_do_not_outlast_the_deadline(server: FakeClaude) -> None:
    server.reply_with(fake.stall(3_600, ping_every_seconds=0.1))

    _, error = await failure_of(settings_for(server, deadline_seconds=1))

    assert isinstance(error, ClaudeUnavailableError)
    assert await asyncio.to_thread(server.wait_for_disconnect, 10)


async def test_deadline_holds_over_all_tries(server: FakeClaude) -> None:
    server.reply_with(*[fake.silence(30)] * 20)

    await failure_of(
        settings_for(server, read_timeout_seconds=0.4, deadline_seconds=1.5, max_attempts=20)
    )

    assert 1 <= len(server.requests) < 20


# What no second try can mend


SPENT = {
    "429 without retry-after": fake.rate_limited(None),
    "429 with its code": fake.error(
        429, "rate_limit_error", error_code="enforced_spend_limit_reached", retry_after="0"
    ),
    "402": fake.error(402, "billing_error"),
    "billing error inside the stream": fake.error_event("billing_error"),
}


@pytest.mark.parametrize("trouble", SPENT.values(), ids=SPENT)
async def test_spending_limit_is_an_alarm_and_not_tried_again(
    server: FakeClaude, trouble: fake.Reply, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply_with(trouble, TWO_CLAIMS)

    _, error = await failure_of(settings_for(server))

    assert isinstance(error, ClaudeRequestError)
    assert error.code == claude.SPENDING_LIMIT
    assert [record.levelname for record in caplog.records if record.name == "qa.claude"] == [
        "ERROR"
    ]
    assert len(server.requests) == 1


REFUSED = {
    "wrong key": (fake.unauthorised(), "ANTHROPIC_API_KEY"),
    "no rights": (fake.error(403, "permission_error"), "ANTHROPIC_API_KEY"),
    "unknown model": (fake.error(404, "not_found_error"), "LEGALQA_MODEL"),
    "too large": (fake.error(413, "invalid_request_error"), "LEGALQA_CONTEXT_TOKENS"),
    "bad request": (fake.error(400, "invalid_request_error"), "request"),
    "bad request inside the stream": (fake.error_event("invalid_request_error"), "request"),
    "redirect": (
        fake.error(307, "redirect", location="http://127.0.0.1:9/"),
        "307",
    ),
}


@pytest.mark.parametrize(("trouble", "hint"), REFUSED.values(), ids=REFUSED)
async def test_refused_request_is_not_tried_again(
    server: FakeClaude, trouble: fake.Reply, hint: str
) -> None:
    server.reply_with(trouble, TWO_CLAIMS)

    got, error = await failure_of(settings_for(server))

    assert got == []
    assert isinstance(error, ClaudeRequestError)
    assert error.code == "model_request"
    assert hint in error.message
    assert len(server.requests) == 1


UNUSABLE = {
    "closed cleanly before message_stop": fake.clean_close(json.dumps(TWO_CLAIMS)),
    "closed cleanly between end_turn and message_stop": fake.clean_close(
        TWO_CLAIMS, stop_reason="end_turn"
    ),
    "closed cleanly at once": fake.clean_close(),
    "max_tokens": fake.answer(TWO_CLAIMS, stop_reason="max_tokens"),
    "refusal": fake.answer(TWO_CLAIMS, stop_reason="refusal"),
    "refusal in words": fake.answer("I cannot help with that.", stop_reason="refusal"),
    "pause_turn": fake.answer(TWO_CLAIMS, stop_reason="pause_turn"),
    "tool_use": fake.answer(TWO_CLAIMS, stop_reason="tool_use"),
    "stop_sequence": fake.answer(TWO_CLAIMS, stop_reason="stop_sequence"),
    "context window": fake.answer(TWO_CLAIMS, stop_reason="model_context_window_exceeded"),
    "no stop reason": fake.answer(TWO_CLAIMS, stop_reason=None),
    "text that is not JSON": fake.answer("canary-reply"),
    "JSON of another schema": fake.answer('{"canary-reply": 1}'),
    "unfinished JSON": fake.answer(json.dumps(TWO_CLAIMS)[:-1]),
    "JSON and then more": fake.answer(json.dumps(TWO_CLAIMS) + " canary-reply"),
    "no text": fake.answer(""),
    "answer without a claim": fake.answer(fake.answered()),
    "500 KB of text": fake.answer(fake.answered(fake.claim("canary-reply " * 40_000))),
    "event that is not JSON": fake.broken_event(CUT_AFTER_CLAIM),
    "event without its fields": fake.broken_event(data='{"type": "content_block_delta"}'),
    "event that is a number": fake.broken_event(data="5"),
    "event with a number for text": fake.broken_event(
        data='{"type": "content_block_delta", "delta": {"type": "text_delta", "text": 5}}'
    ),
    "wrong content type": fake.raw(b"<html>canary-reply</html>"),
    "JSON instead of a stream": fake.raw(b'{"canary-reply": 1}', "application/json"),
    "broken UTF-8": fake.raw(b"event: message_start\ndata: \xff\n\n", "text/event-stream"),
    "empty body": fake.raw(b"", "text/event-stream"),
}


@pytest.mark.parametrize("trouble", UNUSABLE.values(), ids=UNUSABLE)
async def test_unusable_reply_is_an_error_and_has_no_end(
    server: FakeClaude, trouble: fake.Reply
) -> None:
    server.reply_with(trouble, TWO_CLAIMS)

    got, error = await failure_of(settings_for(server))

    assert isinstance(error, ModelOutputError)
    assert not any(isinstance(part, DraftEnd) for part in got)
    assert len(server.requests) == 1


# Secrets


@pytest.mark.parametrize(
    "trouble",
    [
        *HEALING.values(),
        *UNUSABLE.values(),
        fake.error(400, "invalid_request_error", message=f"bad: {QUESTION} canary-passage"),
        fake.error_event("invalid_request_error", data=json.dumps({"error": QUESTION})),
    ],
    ids=[*HEALING, *UNUSABLE, "echo", "echo inside the stream"],
)
async def test_no_question_passage_reply_or_key_in_any_log_or_error(
    server: FakeClaude, trouble: fake.Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.reply_with(trouble)

    _, error = await failure_of(settings_for(server, read_timeout_seconds=0.6, max_attempts=1))

    printed = "".join(traceback.format_exception(error)) + caplog.text
    assert "canary" not in printed
    assert error.__cause__ is None
    assert "Claude failed" in caplog.text


async def test_success_logs_no_content_either(
    server: FakeClaude, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    server.reply_with(TWO_CLAIMS)

    await drafted(settings_for(server))

    assert "canary" not in caplog.text
    assert "1,800" not in caplog.text


# The whole way, with the honest model


async def test_prompt_and_reply_fit_together(server: FakeClaude) -> None:
    from qa.tests.answering.test_prompt import passage  # the factory of the prompt's own tests

    text = "Hotels are paid up to 1,800 & no more.\nMeals are paid up to 500."
    user = prompt.build_user_message(
        "How much is paid for hotels?", [passage(text=text)], language="en", as_of=date(2026, 1, 1)
    )

    got = [part async for part in claude.draft(settings_for(server), system="s", user=user)]

    assert got[0] == DraftClaim(
        "Hotels are paid up to 1,800 & no more.",
        (DraftCitation("p1", "Hotels are paid up to 1,800 & no more."),),
    )
