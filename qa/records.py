"""Frozen records of the answering flow, and the events that every door forwards.

retrieve -> Passage… -> gate -> GateDecision -> generate -> DraftClaim… -> verify ->
VerifiedClaim… -> Answer or Refusal, always exactly one, last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum


class RefusalCode(StrEnum):
    """Why the reader gets no answer; the values are what the API shows."""

    NO_DOCUMENTS = "no_documents"
    BELOW_THRESHOLD = "below_threshold"
    NOT_ANSWERABLE = "not_answerable"
    NO_VALID_CITATION = "no_valid_citation"
    QUOTE_NOT_FOUND = "quote_not_found"
    NUMBER_NOT_SUPPORTED = "number_not_supported"
    MODALITY_MISMATCH = "modality_mismatch"
    NOT_SUPPORTED = "not_supported"
    OUTPUT_POLICY = "output_policy"
    MODEL_ERROR = "model_error"
    BUDGET_EXHAUSTED = "budget_exhausted"
    INVALID_QUESTION = "invalid_question"


class Confidence(StrEnum):
    """How sure the verification is; the model's own word can only lower it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class PassagePart:
    """One readable chunk inside a passage.

    `start` is where its text begins in `Passage.text`; `chunk_start` is where it begins in
    the version's canonical text. `kind` is a `documents.records.ChunkKind` value. `pages` holds
    where each page begins in the canonical text, and its number.
    """

    chunk_id: str  # random public id
    start: int
    end: int
    chunk_start: int
    page: int | None
    kind: str
    pages: tuple[tuple[int, int], ...] = ()

    def page_at(self, canonical: int) -> int | None:
        """The page on which a character of the canonical text stands."""
        begun = [number for start, number in self.pages if start <= canonical]
        return begun[-1] if begun else self.page


@dataclass(frozen=True, slots=True)
class Passage:
    """What a reader may read of one section, supplied for one question.

    `id` (`p1`, `p2`…) means nothing outside this request. `text` is put together from the
    section's readable chunks in order, without the overlap; where a chunk between two
    readable ones is left out the two are joined by the gap mark `GAP`. Scores belong to the
    best chunk of the section: `cosine` in -1 to 1 (None: no vector in that language),
    `bm25` >= 0, `score` fused in 0 to 1.
    """

    id: str
    text: str
    document: str  # policy title
    policy: str  # policy slug
    version: int
    effective_from: date
    effective_to: date | None  # last day in force; None: open
    section_id: str  # number, else title
    section_title: str
    section_path: tuple[str, ...]
    section_public_id: str
    language: str  # "en", "zh-Hant", "zh-Hans"…
    score: float
    cosine: float | None
    bm25: float
    dense_rank: int | None
    lexical_rank: int | None
    matched_terms: tuple[str, ...] = ()
    parts: tuple[PassagePart, ...] = ()
    owner: str = ""  # whom to ask about this policy
    has_pending_review: bool = False  # a passage of this policy awaits review
    hosted_model_allowed: bool = True

    GAP = "\n[…]\n"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The ranked passages with what the gate needs; `readable` says if there is anything."""

    passages: tuple[Passage, ...]
    is_anything_readable: bool
    question_terms: tuple[str, ...]  # content terms after analysis
    unseen_terms: tuple[str, ...]  # those that no readable chunk holds
    corpus_revision: str
    language: str


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether to go on: `score` is a calibrated probability that the passages answer."""

    is_open: bool
    score: float
    threshold: float
    inputs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """A pointer that an answerer proposes: a passage id and the words it relies on."""

    passage: str
    quote: str


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """One sentence that an answerer proposes; nothing of it is shown before it is verified."""

    text: str
    citations: tuple[DraftCitation, ...]


@dataclass(frozen=True, slots=True)
class DraftEnd:
    """The end of a draft: whether the passages answer, what is missing, own confidence."""

    is_answerable: bool
    missing: str | None = None
    confidence: Confidence = Confidence.HIGH
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check said of one claim; `reason` is a sentence a reader understands."""

    check: str  # "citation", "quote", "numbers", "modality", "support", "output_policy"
    passed: bool
    code: RefusalCode | None = None
    reason: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class VerifiedCitation:
    """A quote found in a supplied passage; `start` and `end` count in `Passage.text`."""

    passage: Passage
    quote: str  # exactly as it stands in the passage
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A sentence that may be shown."""

    text: str
    citations: tuple[VerifiedCitation, ...]
    verdicts: tuple[Verdict, ...]
    support: float  # 0 to 1


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """A sentence that may not be shown, and the first check that failed it."""

    text: str
    verdicts: tuple[Verdict, ...]

    @property
    def code(self) -> RefusalCode:
        """The reason code of the first failed check."""
        for verdict in self.verdicts:
            if not verdict.passed and verdict.code is not None:
                return verdict.code
        return RefusalCode.NO_VALID_CITATION


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and price of the model calls of one question."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Step:
    """One of the five steps: rewrite, retrieve, gate, generate, verify."""

    name: str
    status: str  # "ok", "skipped", "refused", "failed"
    ms: float
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer that declines: a code, a standard text, and what a reader can do next."""

    code: RefusalCode
    message: str
    missing: str | None = None
    looked_at: tuple[str, ...] = ()  # titles this reader may see
    ask: str | None = None  # the owner of the nearest policy
    top_score: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question ended in; exactly one per question, the last event of the flow.

    `status` is `answered` or `refused`. `support` is the lowest support of the claims shown,
    0 to 1. `notices` are sentences for the reader (a passage awaits review, a model was not
    used because a label forbids it, information and not legal advice).
    """

    id: str
    status: str
    question: str
    as_of: date
    claims: tuple[VerifiedClaim, ...]
    sources: tuple[Passage, ...]
    refusal: Refusal | None
    confidence: Confidence | None
    support: float | None
    steps: tuple[Step, ...]
    usage: Usage
    model: str
    corpus_revision: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepDone:
    """Event: a step has ended."""

    step: Step


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """Event: the passages that were retrieved for this reader, best first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class ClaimVerified:
    """Event: one sentence that may be shown; `n` counts from 1."""

    n: int
    claim: VerifiedClaim


@dataclass(frozen=True, slots=True)
class Finished:
    """Event, always last: the outcome. `is_retracted` when claims had been shown before."""

    outcome: Outcome
    is_retracted: bool = False


Event = StepDone | SourcesFound | ClaimVerified | Finished
