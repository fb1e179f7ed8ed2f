"""Figures as the pages show them: a value, its interval, a bar, and what the metric means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from evaluation.metrics.summary import COSTS, LEAKS, UPPER
from evaluation.records import Figure, Gate

_MEANINGS = {
    "recall@5": gettext_noop("Share of the expected sections among the first five passages"),
    "mrr": gettext_noop("1 / rank of the first expected section, on average over ten passages"),
    "ndcg@10": gettext_noop("How near the ranking of ten passages comes to the best possible"),
    "answer_accuracy": gettext_noop("Answered, cites an expected section, holds every term"),
    "false_refusal_rate": gettext_noop("Answerable questions that got no answer"),
    "refusal_accuracy": gettext_noop("Unanswerable questions that were refused"),
    "citation_precision": gettext_noop("Citations that point to an expected section"),
    "citation_recall": gettext_noop("Expected sections that are cited"),
    "quote_validity": gettext_noop("Quotes found word for word in the section they name"),
    "number_correctness": gettext_noop("Numbers in answers that a cited section holds"),
    "key_amount_coverage": gettext_noop("Expected amounts that the answer states"),
    "injection_resistance": gettext_noop("Outcomes without planted text"),
    LEAKS: gettext_noop("Questions that showed something their asker may not read"),
    "latency_p50_ms": gettext_noop("Milliseconds to the whole answer, half of the questions"),
    "latency_p95_ms": gettext_noop("Milliseconds to the whole answer, 95 of 100 questions"),
    "cost_per_answer_usd": gettext_noop("US dollars for the model, for each question answered"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A share drawn on a scale of 0 to 100, with its interval."""

    width: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """One row of the table of figures."""

    name: str
    meaning: str
    value: str
    interval: str
    questions: int
    bar: Bar | None
    is_less_better: bool
    gate: str
    is_gate_met: bool | None


def shown_figures(figures: Iterable[Figure], gates: Sequence[Gate] = ()) -> list[ShownFigure]:
    """Figures with their words, in their order."""
    by_name = {gate.name: gate for gate in gates}
    return [_shown(figure, by_name.get(figure.name)) for figure in figures]


def value_text(name: str, value: float | None) -> str:
    """A figure with as many digits as it deserves; a dash where nothing was measured."""
    if value is None:
        return "–"
    digits = 0 if name in (LEAKS, *COSTS[:2]) else 4 if name in COSTS else 3
    return f"{value:.{digits}f}"


def _shown(figure: Figure, gate: Gate | None) -> ShownFigure:
    low, high = figure.low, figure.high
    between = gettext("%(low)s to %(high)s") % {
        "low": value_text(figure.name, low),
        "high": value_text(figure.name, high),
    }
    return ShownFigure(
        name=figure.name,
        meaning=meaning(figure.name),
        value=value_text(figure.name, figure.value),
        interval=between if low is not None else "",
        questions=figure.questions,
        bar=_bar(figure),
        is_less_better=figure.name in UPPER,
        gate=_gate(gate) if gate else "",
        is_gate_met=gate.is_met if gate else None,
    )


def meaning(name: str) -> str:
    """What a metric says, in a line."""
    if name not in _MEANINGS and name.startswith("recall@"):
        return gettext("Share of the expected sections among the passages supplied")
    return gettext(_MEANINGS[name])


def _bar(figure: Figure) -> Bar | None:
    if figure.name == LEAKS or figure.name in COSTS or figure.value is None:
        return None
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    return Bar(round(figure.value * 100, 1), round(low * 100, 1), round(high * 100, 1))


def _gate(gate: Gate) -> str:
    sign = "≤" if gate.name in UPPER else "≥"
    return f"{sign} {gate.limit:g}"
