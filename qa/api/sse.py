"""The flow's events as server-sent events, with a heartbeat while nothing happens.

In order: `step`…, `sources`, `claim`…, then exactly one of `answer`, `refused`, `retracted` or
`error`, so a reader can tell a finished stream from a broken one. When the reader leaves, the
flow is cancelled, and with it the model's stream.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer

from qa import pipeline
from qa.answering.present import (
    citation_numbers,
    claim_json,
    outcome_json,
    source_json,
    step_json,
)
from qa.api.problems import StreamTooLongError, problem_of
from qa.pipeline import Asked
from qa.records import (
    ClaimVerified,
    Event,
    Finished,
    Outcome,
    SourcesFound,
    Step,
    StepDone,
    VerifiedClaim,
)

MEDIA_TYPE = "text/event-stream"
HEADERS = {
    "Cache-Control": "no-cache, no-store, private",
    "X-Accel-Buffering": "no",  # nginx would otherwise hold the events back
}
HEARTBEAT = b": heartbeat\n\n"
# Sent before anything is looked up, so that the page can say at once that work has begun.
STARTED = Step("retrieve", "running", 0.0)


class EventStreamRenderer(BaseRenderer):
    """Lets a client ask for `text/event-stream`; the view makes the stream itself."""

    media_type = MEDIA_TYPE
    format = "event-stream"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Never used: a stream is not rendered, and problems are responses of their own."""
        return json.dumps(data).encode()


class EventStreamResponse(StreamingHttpResponse):
    """A response that closes its generator itself, in the task that sent it.

    Django's own leaves that to the garbage collector when a reader goes while bytes are sent.
    """

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        *,
        when_closed: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(events, content_type=MEDIA_TYPE, headers=HEADERS)
        self._events = events
        if when_closed is not None:
            self._resource_closers.append(when_closed)  # type: ignore[attr-defined]  # Django's stubs lack it

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The events, and their end whatever happens."""
        async with aclosing(self._events) as events:
            async for event in events:
                yield event


def encode(name: str, data: Mapping[str, Any]) -> bytes:
    """One event: its data is one line of ASCII JSON, whatever line ends the texts hold."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def stream(
    asked: Asked, *, heartbeat_seconds: float, life_seconds: float = 120
) -> AsyncGenerator[bytes, None]:
    """A question as encoded events.

    Args:
        asked: a question that was found valid.
        heartbeat_seconds: the longest silence; a comment breaks it.
        life_seconds: after which the stream ends with an error, whatever is still to come.
    """
    yield encode("step", step_json(STARTED))
    shown: list[VerifiedClaim] = []
    try:
        async with aclosing(_with_pauses(asked, heartbeat_seconds, life_seconds)) as events:
            async for event in events:
                yield HEARTBEAT if event is None else encode(*_named(event, shown))
    except Exception as error:  # noqa: BLE001 - any failure must end the stream with its own event
        yield encode("error", problem_of(error).as_json())


def _named(event: Event, shown: list[VerifiedClaim]) -> tuple[str, dict[str, Any]]:
    match event:
        case StepDone(step):
            return "step", step_json(step)
        case SourcesFound(passages):
            return "sources", {"sources": [source_json(passage) for passage in passages]}
        case ClaimVerified(n, claim):
            shown.append(claim)
            return "claim", {"n": n, **claim_json(claim, citation_numbers(shown))}
        case Finished(outcome, is_retracted):
            return _last(outcome, is_retracted), outcome_json(outcome)


def _last(outcome: Outcome, is_retracted: bool) -> str:
    if is_retracted:
        return "retracted"
    return "answer" if outcome.status == "answered" else "refused"


async def _with_pauses(
    asked: Asked, seconds: float, life_seconds: float
) -> AsyncGenerator[Event | None, None]:
    """The flow's events, and None after each silence of `seconds`.

    The flow runs in one task of its own from beginning to end: a timeout around each event
    would cancel it, and the time limits inside it must begin and end in the same task.
    """
    queue: asyncio.Queue[Event | BaseException | None] = asyncio.Queue(maxsize=1)
    flow = asyncio.create_task(_pump(asked, queue))
    ends_at = time.monotonic() + life_seconds
    try:
        while True:
            if time.monotonic() > ends_at:
                raise StreamTooLongError
            try:
                event = await asyncio.wait_for(queue.get(), seconds)
            except TimeoutError:
                yield None
                continue
            if isinstance(event, BaseException):
                raise event
            if event is None:
                return
            yield event
    finally:
        flow.cancel()
        await asyncio.wait({flow})


async def _pump(asked: Asked, queue: asyncio.Queue[Event | BaseException | None]) -> None:
    """Put the flow's events, then None or what ended it early."""
    try:
        async with aclosing(pipeline.answer_question(asked)) as events:
            async for event in events:
                await queue.put(event)
    except Exception as error:  # noqa: BLE001 - handed to the reader's side, which reports it
        await queue.put(error)
    else:
        await queue.put(None)
