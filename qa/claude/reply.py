"""One try at an answer: what its events have said so far, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from anthropic.types import MessageDeltaUsage, RawMessageStreamEvent
from anthropic.types import Usage as ReportedUsage

from qa.answering.draft_parser import DraftParser
from qa.answering.prices import cost_usd
from qa.errors import ModelOutputError
from qa.records import DraftClaim, DraftEnd, Usage

_CHARS_PER_TOKEN = 3
_CUT_OFF = {
    "max_tokens": "was cut off at the limit of LEGALQA_MAX_TOKENS",
    "model_context_window_exceeded": "outgrew the model's context",
    "refusal": "was a refusal",
}


@dataclass(slots=True)
class _Tokens:
    """Counts as the API reports them; the three kinds of input do not overlap."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0


class Reply:
    """Takes the events of one stream; an answer counts only if `end` lets it.

    `has_claims` turns true with the first claim, and stays so.
    """

    def __init__(self) -> None:
        self.has_claims = False
        self.stop_reason: str | None = None
        self._is_complete = False
        self._parser = DraftParser()
        self._chars = 0
        self._tokens = _Tokens()

    def take(self, event: RawMessageStreamEvent) -> list[DraftClaim]:
        """Take the next event; return the claims that it completes.

        Raises:
            ModelOutputError: the event or the JSON in it is not what was agreed.
        """
        try:
            text = self._text_of(event)
            is_wellformed = isinstance(text, str)
        except (AttributeError, TypeError):
            is_wellformed = False
        if not is_wellformed:
            raise ModelOutputError("The model's reply held a malformed event.")
        self._chars += len(text)
        claims = self._parser.feed(text)
        self.has_claims = self.has_claims or bool(claims)
        return claims

    def end(self) -> DraftEnd:
        """The end of the draft, without usage.

        Raises:
            ModelOutputError: the stream closed early, or the model did not finish its answer.
        """
        if not self._is_complete:
            raise ModelOutputError("The model's reply broke off before its end.")
        if self.stop_reason != "end_turn":
            how = _CUT_OFF.get(str(self.stop_reason), "stopped before its end")
            raise ModelOutputError(f"The model's reply {how}.")
        return self._parser.close()

    def usage(self, model: str) -> Usage:
        """Tokens and price; tokens written to the cache count as input tokens.

        A stream that broke off never said how many tokens it had written: they are estimated
        from its text.
        """
        tokens = self._tokens
        estimate = 0 if self.stop_reason else self._chars // _CHARS_PER_TOKEN
        output_tokens = max(tokens.output, estimate)
        cost = cost_usd(
            model,
            input_tokens=tokens.input,
            output_tokens=output_tokens,
            cache_write_tokens=tokens.cache_write,
            cache_read_tokens=tokens.cache_read,
        )
        input_tokens = tokens.input + tokens.cache_write
        return Usage(model, input_tokens, output_tokens, tokens.cache_read, cost)

    def _text_of(self, event: RawMessageStreamEvent) -> str:
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            self._count(event.usage)
        elif event.type == "message_stop":
            self._is_complete = True
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            return event.delta.text
        return ""

    def _count(self, reported: ReportedUsage | MessageDeltaUsage) -> None:
        """Take over what was reported: counts grow, and a count left out has not changed."""
        tokens = self._tokens
        tokens.input = _known(reported.input_tokens, tokens.input)
        tokens.output = _known(reported.output_tokens, tokens.output)
        tokens.cache_write = _known(reported.cache_creation_input_tokens, tokens.cache_write)
        tokens.cache_read = _known(reported.cache_read_input_tokens, tokens.cache_read)


def total_usage(model: str, replies: Sequence[Reply]) -> Usage:
    """Tokens and price of all tries together."""
    usages = [reply.usage(model) for reply in replies]
    return Usage(
        model=model,
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        cost_usd=sum((usage.cost_usd for usage in usages), Decimal(0)),
    )


def _known(count: int | None, before: int) -> int:
    return before if count is None else int(count)
