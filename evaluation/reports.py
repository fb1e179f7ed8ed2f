"""The queries behind the evaluation pages, with the rights of whoever looks.

A viewer sees a result while they hold every label of its question and may read every chunk
that it rests on, on the day it was asked for; the database decides. All figures here are
computed over the rows that the viewer sees: what they don't see is neither shown nor counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from documents import access
from documents.access import Reader
from evaluation.metrics.summary import combined_revision, figures, judge_gates, metric_names
from evaluation.models import EvaluationRun, RunResult
from evaluation.records import Figure, Gate, Scores

HEADLINES = ("recall@5", "mrr", "answer_accuracy", "false_refusal_rate", "refusal_accuracy")
_AT_ONCE = 20
_LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as far as it says nothing about questions that a viewer does not see."""

    public_id: UUID
    set_name: str
    set_version: int | None
    answerer: str
    settings: dict[str, Any]
    code_version: str
    started_at: datetime
    finished_at: datetime | None
    corpus_revision: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list with its headline figures over the questions that the viewer sees."""

    facts: RunFacts
    questions: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One question of a run, as the viewer may see it."""

    key: str
    question: str
    answerable: bool
    is_passed: bool
    status: str
    error: str
    as_of: date
    labels: tuple[str, ...]
    expected: tuple[dict[str, Any], ...]
    terms: tuple[str, ...]
    outcome: dict[str, Any] | None
    retrieved: tuple[dict[str, Any], ...]
    scores: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run with every question that the viewer sees, and the figures over just those."""

    facts: RunFacts
    results: tuple[ShownResult, ...]
    figures: tuple[Figure, ...]
    gates: tuple[Gate, ...]


def visible_runs(viewer: Reader) -> list[RunLine]:
    """The newest runs of which the viewer sees at least one question."""
    with access.editing():
        ids = list(EvaluationRun.objects.values_list("pk", flat=True)[:_LOOKED_THROUGH])
    lines: list[RunLine] = []
    for begin in range(0, len(ids), _AT_ONCE):
        lines += _lines(viewer, ids[begin : begin + _AT_ONCE])
        if len(lines) >= _AT_ONCE:
            break
    return lines[:_AT_ONCE]


def _lines(viewer: Reader, run_ids: Sequence[int]) -> list[RunLine]:
    runs: dict[int, EvaluationRun] = {}
    rows: dict[int, list[tuple[Scores, str]]] = defaultdict(list)
    for day in _days(viewer, run_ids):
        with access.reading_as(viewer, day):
            seen = RunResult.objects.filter(run__in=run_ids).values_list(
                "run_id", "scores", "corpus_revision"
            )
            for run_id, scores, revision in seen:
                rows[run_id].append((scores, revision))
            runs |= {run.pk: run for run in _open_runs(pk__in=list(rows))}
    return [_line(runs[pk], rows[pk]) for pk in sorted(runs, reverse=True)]


def _days(viewer: Reader, run_ids: Iterable[int]) -> list[date]:
    """The days that these runs asked for: a result is readable on its own day alone.

    Days to come are left out for a viewer who may not read ahead: they see nothing of them.
    """
    with access.editing():
        found = RunResult.objects.filter(run__in=list(run_ids)).order_by("as_of")
        if not viewer.may_read_scheduled:
            found = found.filter(as_of__lte=access.today())
        return list(found.values_list("as_of", flat=True).distinct())


def _open_runs(**which: object) -> Iterable[EvaluationRun]:
    """Runs with the columns that a reader's role may select; no other can be asked for."""
    return EvaluationRun.objects.filter(**which).only(*EvaluationRun.OPEN_FIELDS)


def _line(run: EvaluationRun, rows: Sequence[tuple[Scores, str]]) -> RunLine:
    measured = {f.name: f for f in figures([scores for scores, _ in rows], with_intervals=False)}
    facts = _facts(run, [revision for _, revision in rows])
    return RunLine(facts, len(rows), tuple(measured[name] for name in HEADLINES))


def _facts(run: EvaluationRun, revisions: Sequence[str]) -> RunFacts:
    return RunFacts(
        public_id=run.public_id,
        set_name=run.set_name,
        set_version=run.set_version,
        answerer=run.answerer,
        settings=run.settings,
        code_version=run.code_version,
        started_at=run.started_at,
        finished_at=run.finished_at,
        corpus_revision=combined_revision(revisions),
    )


def run_page(viewer: Reader, public_id: UUID) -> RunPage | None:
    """A run, or None when there is none or the viewer sees nothing of it: both look alike."""
    with access.editing():
        ids = list(EvaluationRun.objects.filter(public_id=public_id).values_list("pk", flat=True))
    run: EvaluationRun | None = None
    rows: list[RunResult] = []
    for day in _days(viewer, ids):
        with access.reading_as(viewer, day):
            rows += RunResult.objects.filter(run__in=ids)
            run = next(iter(_open_runs(pk__in=ids)), run)
    if run is None:
        return None
    rows.sort(key=lambda row: row.ordinal)
    measured = figures([row.scores for row in rows])
    return RunPage(
        facts=_facts(run, [row.corpus_revision for row in rows]),
        results=tuple(map(_shown, rows)),
        figures=measured,
        gates=judge_gates(run.settings.get("gates", {}), measured),
    )


def _shown(row: RunResult) -> ShownResult:
    return ShownResult(
        key=row.key,
        question=row.question,
        answerable=row.answerable,
        is_passed=row.passed,
        status=row.status,
        error=row.error,
        as_of=row.as_of,
        labels=tuple(row.labels),
        expected=tuple(row.expected),
        terms=tuple(row.terms),
        outcome=row.outcome,
        retrieved=tuple(row.retrieved),
        scores=_in_order(row.scores),
    )


def _in_order(scores: dict[str, float | None]) -> dict[str, float | None]:
    """Scores in the order of the metrics: the database sorts the keys of JSON."""
    order = {name: place for place, name in enumerate(metric_names())}
    return dict(sorted(scores.items(), key=lambda item: order.get(item[0], len(order))))
