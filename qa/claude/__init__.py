"""Claude, over the official SDK: the only package that imports it.

`draft` sends the fixed rules and one message, and yields each claim the moment its JSON object
closes, then one DraftEnd. What stays true: an answer counts only if the stream ended with
`message_stop` and the stop reason `end_turn`; a try is repeated only while nothing has been
yielded; every wait ends at one deadline; a consumer that stops closes the model's stream; and
no question, passage, reply or key reaches a log or an error's text.
"""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeVar, cast

import anthropic
import httpx2
from anthropic.types import OutputConfigParam, RawMessageStreamEvent

from qa.answering.prompt import ANSWER_SCHEMA
from qa.claude.failures import (
    LIBRARY_ERRORS,
    SPENDING_LIMIT,
    TryAgainError,
    too_late,
    translated,
)
from qa.claude.reply import Reply, total_usage
from qa.errors import ClaudeRequestError, GenerationError
from qa.records import DraftClaim, DraftEnd, Usage

__all__ = ["SPENDING_LIMIT", "ClaudeSettings", "draft"]

log = logging.getLogger(__name__)
# At DEBUG the SDK logs whole requests, question and passages included. This holds whatever
# ANTHROPIC_LOG or the level of the root logger says.
logging.getLogger("anthropic").setLevel(logging.WARNING)

T = TypeVar("T")

# Named here, or the SDK reads ANTHROPIC_BASE_URL itself, where an empty value is an address.
_PROVIDER_URL = "https://api.anthropic.com"
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """How to reach the model. `base_url` None is the provider's own address."""

    api_key: str = field(repr=False)
    base_url: str | None
    model: str
    effort: str  # "low", "medium", "high", "xhigh" or "max"
    max_tokens: int  # of the reply, thinking included
    connect_timeout_seconds: float
    read_timeout_seconds: float  # the longest silence
    deadline_seconds: float  # for everything: tries, pauses, the whole stream
    max_attempts: int


async def draft(
    settings: ClaudeSettings,
    *,
    system: str,
    user: str,
    on_usage: Callable[[Usage], None] | None = None,
) -> AsyncGenerator[DraftClaim | DraftEnd, None]:
    """Ask the model; yield its claims as they are finished, then one DraftEnd.

    Nothing that is yielded has been verified. A claim may be followed by an error: then it
    belongs to no answer. Close this generator (`contextlib.aclosing`) when you stop early:
    that closes the model's stream at once.

    Args:
        settings: key, model and limits.
        system: the fixed rules, `prompt.system_prompt()`; the only part that is cached.
        user: documents and question, `prompt.build_user_message(…)`.
        on_usage: called once, however it ends, with tokens and price of all tries together:
            a draft that fails or is left costs money too.

    Raises:
        ClaudeUnavailableError: no connection, silence, 429, 529 or 5xx, after retries.
        ModelOutputError: the reply was cut off, refused, not JSON or not of the schema.
        ClaudeRequestError: our request, key or spending limit was refused; the code is
            `model_spending_limit` for the last.
    """
    deadline = asyncio.get_running_loop().time() + settings.deadline_seconds
    tries: list[Reply] = []
    try:
        async with _client(settings) as client:
            while True:
                tries.append(Reply())
                async with aclosing(_events(client, settings, system, user, deadline)) as events:
                    try:
                        async for event in events:
                            for claim in tries[-1].take(event):
                                yield claim
                        end = tries[-1].end()
                    except GenerationError as error:
                        failure = error
                    else:
                        yield replace(end, usage=total_usage(settings.model, tries))
                        return
                await asyncio.sleep(_pause_or_raise(failure, settings, deadline, tries))
    finally:
        if on_usage is not None:
            on_usage(total_usage(settings.model, tries))


async def _events(
    client: anthropic.AsyncAnthropic,
    settings: ClaudeSettings,
    system: str,
    user: str,
    deadline: float,
) -> AsyncGenerator[RawMessageStreamEvent, None]:
    """The events of one try; raises nothing but GenerationError."""
    opening = client.messages.create(
        model=settings.model,
        max_tokens=settings.max_tokens,
        system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        messages=[{"role": "user", "content": user}],
        output_config=_output_config(settings),
        stream=True,
    )
    stream = await _waited(opening, deadline)
    async with stream:
        while (event := await _waited(anext(stream, None), deadline)) is not None:
            yield event
            if event.type == "message_stop":
                return  # a proxy may hold the connection open for long


async def _waited(step: Awaitable[T], deadline: float) -> T:
    """Wait for the SDK until the deadline, and translate whatever it raises.

    The limit is set around each wait and not around the stream: a generator may not hold a
    timeout across a yield, where it would interrupt its consumer.
    """
    try:
        async with asyncio.timeout_at(deadline):
            return await step
    except TimeoutError:
        failure: GenerationError = too_late()
    except LIBRARY_ERRORS as error:
        failure = translated(error)
    raise failure


def _output_config(settings: ClaudeSettings) -> OutputConfigParam:
    effort = cast("Literal['low', 'medium', 'high', 'xhigh', 'max']", settings.effort)
    return {"format": {"type": "json_schema", "schema": ANSWER_SCHEMA}, "effort": effort}


def _client(settings: ClaudeSettings) -> anthropic.AsyncAnthropic:
    """A client for one draft: a pool kept for longer would belong to one event loop."""
    key = settings.api_key
    if not key.strip() or not key.isascii() or not key.isprintable():
        raise ClaudeRequestError("The API key is empty or damaged: check ANTHROPIC_API_KEY.")
    timeout = anthropic.Timeout(
        settings.read_timeout_seconds, connect=settings.connect_timeout_seconds
    )
    # A redirect would take the passages along to a host that nobody chose.
    http_client = anthropic.DefaultAsyncHttpxClient(
        verify=_tls_context(), timeout=timeout, follow_redirects=False
    )
    return anthropic.AsyncAnthropic(
        api_key=key,
        base_url=settings.base_url or _PROVIDER_URL,
        timeout=timeout,
        max_retries=0,
        http_client=http_client,
        open_telemetry=False,  # its spans may hold content, by an environment variable
    )


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    # Reading the certificates takes 55 ms, a client with them at hand 1 ms.
    return httpx2.create_ssl_context()


def _pause_or_raise(
    failure: GenerationError, settings: ClaudeSettings, deadline: float, tries: list[Reply]
) -> float:
    """Seconds to wait before the next try; raises `failure` where there may be none."""
    _log(failure, settings, tries)
    if not isinstance(failure, TryAgainError) or tries[-1].has_claims:
        raise failure
    pause = failure.retry_after_seconds
    if pause is None:
        longest = min(_FIRST_PAUSE_SECONDS * 2 ** (len(tries) - 1), _LONGEST_PAUSE_SECONDS)
        pause = random.SystemRandom().uniform(longest / 2, longest)
    is_last = len(tries) >= settings.max_attempts
    if is_last or asyncio.get_running_loop().time() + pause >= deadline:
        raise failure
    return pause


def _log(failure: GenerationError, settings: ClaudeSettings, tries: list[Reply]) -> None:
    # A spending limit is an alarm: nobody gets an answer until someone acts.
    level = logging.ERROR if failure.code == SPENDING_LIMIT else logging.WARNING
    log.log(
        level,
        "Claude failed: model=%s try=%d code=%s stop_reason=%s",
        settings.model,
        len(tries),
        failure.code,
        tries[-1].stop_reason,
    )
