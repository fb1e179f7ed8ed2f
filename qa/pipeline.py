"""From a question to exactly one outcome: rewrite, retrieve, gate, generate, verify.

One async generator behind every door. Database steps are short synchronous functions; none is
open while a model runs. Rights are looked up again before each event that carries text
(`releasing`), a claim is sent only once it is verified, and the outcome is always the last event.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection

from documents import access, embedding
from documents.access import Reader
from qa import answer_log, days, releasing
from qa.answering import extractive, gates, prompt
from qa.answering.refusals import refusal
from qa.answering.verify import Checked
from qa.answering.verify.missing import may_say_missing
from qa.errors import AnswererUnavailableError, GenerationError
from qa.records import (
    ClaimVerified,
    Confidence,
    DraftClaim,
    DraftEnd,
    Event,
    Finished,
    GateDecision,
    Outcome,
    Passage,
    Refusal,
    RefusalCode,
    RejectedClaim,
    SearchResult,
    SourcesFound,
    Step,
    StepDone,
    Usage,
    VerifiedClaim,
)
from qa.retrieval import search
from qa.retrieval.search import EVERYWHERE, Scope

if TYPE_CHECKING:
    from qa.claude import ClaudeSettings

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)

CLAUDE = "claude"
EXTRACTIVE = "extractive"
REVIEW_NOTICE = "A passage of a policy that was looked at awaits review and was not read."
LOCAL_NOTICE = (
    "A label of these passages forbids a hosted model, so the answer quotes them directly."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything that bears on its answer."""

    asker: Reader
    question: str
    as_of: date | None = None  # None: today
    n_results: int = 5  # 1 to 20
    scope: Scope = EVERYWHERE
    answerer: str | None = None  # "claude", "extractive"; None: as configured
    door: str = "api"
    key_id: int | None = None  # of the API key that it came with


@dataclass(slots=True)
class _Run:
    """What one question has come to so far."""

    entry: answer_log.Entry
    asked: Asked
    as_of: date
    result: SearchResult
    allowed_hosts: frozenset[str] = frozenset()
    steps: list[Step] = field(default_factory=list)
    judged: list[VerifiedClaim | RejectedClaim] = field(default_factory=list)
    shown: list[VerifiedClaim] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(model=EXTRACTIVE))
    model: str = EXTRACTIVE
    notices: list[str] = field(default_factory=list)
    is_withheld: bool = False  # a right that it rests on was lost on the way
    own_confidence: Confidence = Confidence.HIGH


class _Clock:
    """Milliseconds since the last lap."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        ms, self._started = (now - self._started) * 1000, now
        return ms


async def answer_question(asked: Asked) -> AsyncGenerator[Event, None]:
    """Answer from the policies in force on the as-of date that the asker may read.

    Yields steps, sources and verified claims, then exactly one `Finished`, last. When claims
    were shown and a later one fails, `Finished.is_retracted` is set and the outcome is the
    refusal.

    Raises:
        InvalidQuestionError: nothing to ask, or too long.
        AnswererUnavailableError: Claude is asked for by name and no key is set.
        ValidationProblem: a future date without the right to read ahead.
    """
    asked = replace(asked, question=gates.clean_question(asked.question))
    _require_answerer(asked.answerer)
    clock = _Clock()
    run = await _in_thread(_open, asked)
    try:
        async with aclosing(_steps(run, clock)) as events:
            async for event in events:
                yield event
                if isinstance(event, Finished):
                    return
    except (GeneratorExit, asyncio.CancelledError):
        await asyncio.shield(_in_thread(answer_log.abort_entry, run.entry))
        raise
    except Exception:
        await _in_thread(answer_log.abort_entry, run.entry)
        raise


def _require_answerer(answerer: str | None) -> None:
    """Whoever asks for Claude by name must not get another answerer in silence."""
    if answerer == CLAUDE and not settings.ANTHROPIC_API_KEY:
        raise AnswererUnavailableError(
            "Claude cannot answer without a key. Set ANTHROPIC_API_KEY, or leave the answerer out "
            "to get an answer quoted from the policies."
        )


def _open(asked: Asked) -> _Run:
    """Check the date, record the question and search, as the asker."""
    query = search.prepare(asked.question)
    # The date is checked (and the question recorded) before anything is searched.
    with access.reading_as(asked.asker, asked.as_of) as reading:
        as_of = reading.as_of
    entry = answer_log.open_entry(asked.asker, asked.question, as_of=as_of, door=asked.door)
    with access.reading_as(asked.asker, as_of) as reading:
        result = search.hybrid(reading, query, limit=asked.n_results, scope=asked.scope)
    result = search.marked_for_review(result, reading)
    run = _Run(entry, asked, as_of, result, allowed_hosts=access.allowed_hosts())
    if any(passage.has_pending_review for passage in result.passages):
        run.notices.append(REVIEW_NOTICE)
    run.notices += days.notices(reading, result, asked.scope.policy)
    return run


def search_passages(asked: Asked) -> SearchResult:
    """Only the retrieval: what `answer_question` would look at, without an answer.

    Raises:
        InvalidQuestionError: nothing to look for, or too long.
        ValidationProblem: a future date without the right to read ahead.
    """
    query = search.prepare(gates.clean_question(asked.question))
    with access.reading_as(asked.asker, asked.as_of) as reading:
        result = search.hybrid(reading, query, limit=asked.n_results, scope=asked.scope)
    return search.marked_for_review(result, reading)


async def _steps(run: _Run, clock: _Clock) -> AsyncGenerator[Event, None]:
    yield _done(run, "rewrite", "skipped", 0.0, reason="not a follow-up question")
    found = len(run.result.passages)
    yield _done(run, "retrieve", "ok", clock.lap(), passages=found, language=run.result.language)
    if await _in_thread(_may_release, run):
        yield SourcesFound(run.result.passages)
    declined, decision = _before_answer(run)
    status = "refused" if declined else "ok"
    yield _done(run, "gate", status, clock.lap(), **_gate_detail(decision))
    if declined is not None:
        yield await _finish(run, declined)
        return
    declined = None
    async with aclosing(_generate(run)) as events:
        async for event in events:
            if isinstance(event, ClaimVerified):
                yield event
            else:
                declined = event
    ms = clock.lap()
    status = "failed" if _is_model_error(declined) else "ok"
    yield _done(run, "generate", status, ms, model=run.model)
    kept, failed = len(run.shown), sum(isinstance(j, RejectedClaim) for j in run.judged)
    yield _done(run, "verify", "refused" if declined else "ok", 0.0, passed=kept, failed=failed)
    yield await _finish(run, declined)


def _done(run: _Run, name: str, status: str, ms: float, **detail: object) -> StepDone:
    step = Step(name, status, ms, detail)
    run.steps.append(step)
    return StepDone(step)


def _before_answer(run: _Run) -> tuple[Refusal | None, GateDecision | None]:
    """The refusals that cost no model call."""
    result = run.result
    if run.is_withheld:
        return _refuse(run, RefusalCode.NO_VALID_CITATION), None
    if not result.is_anything_readable:
        return _refuse(run, RefusalCode.NO_DOCUMENTS), None
    decision = gates.before_answer(result, run.asked.question, threshold=settings.GATE_THRESHOLD)
    if decision.is_open and result.passages:
        return None, decision
    return (
        refusal(
            RefusalCode.BELOW_THRESHOLD,
            language=result.language,
            passages=result.passages,
            top_score=decision.score,
            threshold=decision.threshold,
        ),
        decision,
    )


def _gate_detail(decision: GateDecision | None) -> dict[str, object]:
    if decision is None:
        return {}
    inputs = {name: round(value, 4) for name, value in decision.inputs.items()}
    return {"score": round(decision.score, 4), "threshold": decision.threshold, "inputs": inputs}


def _refuse(run: _Run, code: RefusalCode, missing: str | None = None) -> Refusal:
    return refusal(
        code, language=run.result.language, passages=run.result.passages, missing=missing
    )


def _is_model_error(declined: Refusal | None) -> bool:
    return declined is not None and declined.code is RefusalCode.MODEL_ERROR


async def _generate(run: _Run) -> AsyncGenerator[ClaimVerified | Refusal, None]:
    """Draft, verify and release claim by claim; a Refusal, if any, comes last."""
    if not await _in_thread(_may_release, run):  # what was lost reaches no model either
        yield _refuse(run, RefusalCode.NO_VALID_CITATION)
        return
    passages = _context(run)
    checked = Checked(
        passages,
        allowed_domains=run.allowed_hosts,
        similarity=_similarity(run.result.language),
        question=run.asked.question,
    )
    failed: RejectedClaim | None = None
    end: DraftEnd | None = None
    try:
        async with aclosing(_draft(run, passages)) as drafts:
            async for draft in drafts:
                if isinstance(draft, DraftEnd):
                    end = draft
                    continue
                judged = await sync_to_async(checked.accept)(draft)
                run.judged.append(judged)
                if isinstance(judged, VerifiedClaim):
                    if not await _in_thread(_may_release, run):
                        yield _refuse(run, RefusalCode.NO_VALID_CITATION)
                        return
                    run.shown.append(judged)
                    yield ClaimVerified(len(run.shown), judged)
                elif settings.ON_FAILED_CLAIM == "retract":
                    failed = judged
                    break
                else:
                    failed = judged
    except GenerationError as error:
        logger.warning("The model gave no answer: %s", error.code)
        yield _refuse(run, RefusalCode.MODEL_ERROR)
        return
    if declined := _after_draft(run, end, failed):
        yield declined


def _after_draft(run: _Run, end: DraftEnd | None, failed: RejectedClaim | None) -> Refusal | None:
    """The refusal that a finished draft ends in, or None when its claims stand."""
    if failed is not None and (settings.ON_FAILED_CLAIM == "retract" or not run.shown):
        return _refuse(run, failed.code)
    if end is None:
        return _refuse(run, RefusalCode.MODEL_ERROR)
    run.own_confidence = end.confidence
    if not end.is_answerable:
        return _refuse(run, RefusalCode.NOT_ANSWERABLE, _missing(run, end))
    if not run.shown:
        return _refuse(run, RefusalCode.NO_VALID_CITATION)
    if failed is not None:
        run.notices.append("A sentence that could not be verified was withheld.")
    return None


def _missing(run: _Run, end: DraftEnd) -> str | None:
    """What the documents lack, if it may be shown."""
    is_sayable = end.missing is not None and may_say_missing(
        end.missing,
        question=run.asked.question,
        passages=run.result.passages,
        allowed_domains=run.allowed_hosts,
    )
    return end.missing if is_sayable else None


def _context(run: _Run) -> tuple[Passage, ...]:
    """What the answerer is given; sets whether it may be the hosted model."""
    passages = prompt.context_within(
        run.result.passages,
        max_tokens=settings.CONTEXT_TOKENS,
        count_tokens=embedding.count_tokens,
    )
    wants_claude = run.asked.answerer != EXTRACTIVE and bool(settings.ANTHROPIC_API_KEY)
    if wants_claude and not all(passage.hosted_model_allowed for passage in passages):
        run.notices.append(LOCAL_NOTICE)
        wants_claude = False
    if wants_claude:
        run.model = settings.CLAUDE_MODEL
        return passages
    return run.result.passages  # quoting costs nothing: all of them


async def _draft(
    run: _Run, passages: Sequence[Passage]
) -> AsyncGenerator[DraftClaim | DraftEnd, None]:
    if run.model == EXTRACTIVE:
        claims, end = await sync_to_async(extractive.draft)(
            run.asked.question,
            passages,
            language=run.result.language,
            similarity=_similarity(run.result.language),
            unseen_terms=run.result.unseen_terms,
        )
        for claim in claims:
            yield claim
        yield end
        return
    message = prompt.build_user_message(
        run.asked.question, passages, language=run.result.language, as_of=run.as_of
    )
    from qa import claude  # the SDK takes seconds to import, and many sites have no key

    drafts = claude.draft(
        claude_settings(),
        system=prompt.system_prompt(),
        user=message,
        on_usage=lambda usage: setattr(run, "usage", usage),
    )
    async with aclosing(drafts):
        async for draft in drafts:
            yield draft


def claude_settings() -> ClaudeSettings:
    """How to reach the model, from the settings."""
    from qa import claude

    return claude.ClaudeSettings(
        api_key=settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.CLAUDE_MODEL,
        effort=settings.CLAUDE_EFFORT,
        max_tokens=settings.CLAUDE_MAX_TOKENS,
        connect_timeout_seconds=settings.CLAUDE_CONNECT_TIMEOUT_SECONDS,
        read_timeout_seconds=settings.CLAUDE_READ_TIMEOUT_SECONDS,
        deadline_seconds=settings.CLAUDE_DEADLINE_SECONDS,
        max_attempts=settings.CLAUDE_MAX_ATTEMPTS,
    )


def _similarity(language: str) -> Callable[[str, Sequence[str]], Sequence[float]] | None:
    """Cosine of a text to others, where a model reads the language."""
    if embedding.model_for(language) is None:
        return None
    return lambda text, others: embedding.similarity(text, others, language)


def _may_release(run: _Run) -> bool:
    """Whether all that was found may still be shown to the asker; else it is dropped, for good.

    A label, grant, key, account, version or passage may have changed since the search.
    """
    if run.is_withheld:
        return False
    asked = run.asked
    chunks = {part.chunk_id for passage in run.result.passages for part in passage.parts}
    if releasing.is_readable_now(asked.asker, chunks, as_of=run.as_of, key_id=asked.key_id):
        return True
    run.is_withheld = True
    run.result = replace(run.result, passages=())
    run.notices = [releasing.WITHHELD_NOTICE]
    releasing.record_withheld(run.entry.record_id, shown_claims=len(run.shown))
    return False


async def _finish(run: _Run, declined: Refusal | None) -> Finished:
    """Record the outcome, then hand it out: what is not on record is not shown."""
    if not await _in_thread(_may_release, run):
        declined = _refuse(run, RefusalCode.NO_VALID_CITATION)
    is_retracted = declined is not None and bool(run.shown)
    claims = () if declined else tuple(run.shown)
    outcome = Outcome(
        id=run.entry.public_id,
        status="refused" if declined else "answered",
        question=run.asked.question,
        as_of=run.as_of,
        claims=claims,
        sources=run.result.passages,
        refusal=declined,
        confidence=None if declined else _confidence(run),
        support=None if declined else min(claim.support for claim in claims),
        steps=tuple(run.steps),
        usage=run.usage,
        model=run.model,
        corpus_revision=run.result.corpus_revision,
        notices=(*run.notices, settings.NOTICE),
    )
    await _in_thread(
        answer_log.close_entry,
        run.entry,
        outcome,
        judged=run.judged,
        language=run.result.language,
    )
    return Finished(outcome, is_retracted=is_retracted)


_ORDER = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def _confidence(run: _Run) -> Confidence:
    """From the weakest claim's support; the model's own word can only lower it."""
    support = min(claim.support for claim in run.shown)
    own = Confidence.HIGH if support >= 0.9 else Confidence.MEDIUM
    own = own if support >= 0.75 else Confidence.LOW
    return min(own, run.own_confidence, key=_ORDER.index)


async def _in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a short database step, and give its connection back before anything slow."""

    def step() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    return await sync_to_async(step)()


def ask(asked: Asked, *, on_event: Callable[[Event], None] | None = None) -> Finished:
    """The same flow for synchronous doors: runs it to its end and returns the last event."""

    async def run() -> Finished:
        async with aclosing(answer_question(asked)) as events:
            async for event in events:
                if on_event is not None:
                    on_event(event)
                if isinstance(event, Finished):
                    return event
        raise GenerationError("The question ended without an outcome.")

    return async_to_sync(run)()
