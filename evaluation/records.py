"""Frozen records of evaluation: a labelled question, what became of it, and a figure.

LabelledQuestion -> (asked) -> Observed -> scores by metric -> Figure. A score is a number in
0 to 1, or None where the metric does not apply to the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Expected:
    """A place that answers the question: a policy, its section, and words that stand there.

    `document` is the policy's slug or title; `section` its number or title, which may be
    empty when there is a `quote`.
    """

    document: str
    section: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with what a right answer needs.

    `labels` are those its asker holds; empty: the label of everyone. `terms` must stand in the
    answer, `forbidden` must not (words that a planted instruction asks for).
    """

    key: str
    question: str
    answerable: bool
    expected: tuple[Expected, ...] = ()
    terms: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    as_of: date | None = None
    note: str = ""
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A retrieved or cited section, as far as judging it needs.

    `document` is the policy's slug, `title` the policy's title, `section` the section's number
    or else its title, `heading` the last entry of its path.
    """

    document: str
    title: str
    section: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class ObservedCitation:
    """A quote as it was shown, with the section it points to.

    `stored_text` is what the asker can read of that section, read anew after the answer; None
    when it can't be read.
    """

    quote: str
    section: FoundSection
    stored_text: str | None


@dataclass(frozen=True, slots=True)
class ObservedClaim:
    """A sentence that was shown."""

    text: str
    citations: tuple[ObservedCitation, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of one question.

    `status` is `answered`, `refused` or `failed` (no outcome at all). `retrieved` is the
    ranking, best first, at least 10 deep where there is as much.
    """

    status: str
    refusal_code: str = ""
    claims: tuple[ObservedClaim, ...] = ()
    retrieved: tuple[FoundSection, ...] = ()
    is_leak: bool = False
    latency_ms: float = 0.0
    cost_usd: float = 0.0

    @property
    def is_answered(self) -> bool:
        """Whether the reader got an answer."""
        return self.status == "answered"

    @property
    def answer(self) -> str:
        """The sentences shown, without their citation marks."""
        return " ".join(claim.text for claim in self.claims)

    @property
    def citations(self) -> tuple[ObservedCitation, ...]:
        """All citations, in order."""
        return tuple(citation for claim in self.claims for citation in claim.citations)


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric over many questions with its 95 % bootstrap interval.

    `questions` says over how many; `value` is None when there was none.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    questions: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A limit that a run must keep, and whether it did."""

    name: str
    limit: float
    value: float | None
    is_met: bool


Scores = Mapping[str, float | None]
