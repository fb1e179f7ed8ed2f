"""Runs a question set: check, ask each question, judge it, keep it; then the figures.

Each result is kept as soon as it is there, so a run that breaks off shows how far it came.
Every question acts as a reader who holds its labels and nothing more.
"""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.utils import timezone

from documents import access
from evaluation.errors import AnswererError, QuestionFileError
from evaluation.metrics.matching import folded
from evaluation.metrics.scores import is_passed, score_question
from evaluation.metrics.summary import combined_revision, figures, judge_gates
from evaluation.models import EvaluationRun, RunResult
from evaluation.observing import Observation, asker_labels, observe
from evaluation.records import Figure, Gate, LabelledQuestion

CLAUDE = "claude"
EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run and how.

    `name` is the set's, or the file's that the questions come from; `set_id` and `set_version`
    are None for a file. `gates` are limits by metric name. `answerer` None: as configured.
    """

    questions: tuple[LabelledQuestion, ...]
    name: str
    set_id: int | None = None
    set_version: int | None = None
    answerer: str | None = None
    k: int = 5
    gates: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """One question of a run, as judged."""

    key: str
    question: str
    answerable: bool
    status: str
    refusal_code: str
    is_passed: bool
    scores: dict[str, float | None]
    error: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """A finished run over all of its questions, whoever may read them: for those who ran it."""

    run_id: str
    answerer: str
    corpus_revision: str
    code_version: str
    results: tuple[Judged, ...]
    figures: tuple[Figure, ...]
    gates: tuple[Gate, ...]


def run_question_set(plan: Plan, *, on_result: Callable[[Judged], None] | None = None) -> RunReport:
    """Ask every question of a plan, judge the outcomes, and keep the run.

    Args:
        plan: the questions and how to ask them.
        on_result: called after each question.

    Raises:
        AnswererError: Claude is asked for and no key is set.
        QuestionFileError: there is no question, or one asks about a day to come.
        UnknownLabelError: a question holds a label that does not exist.
    """
    today = access.today()
    _check(plan, today)
    run = _open_run(plan)
    results: list[Judged] = []
    revisions: list[str] = []
    for ordinal, question in enumerate(plan.questions):
        observation = observe(
            question,
            today=today,
            answerer=_answerer(plan),
            k=plan.k,
            guarded_quotes=_guarded_quotes(question, plan.questions),
        )
        judged = _judged(question, observation, plan.k)
        _keep(run, ordinal, question, observation, judged, _viewer_labels(question, plan.questions))
        results.append(judged)
        revisions.append(observation.corpus_revision)
        if on_result is not None:
            on_result(judged)
    return _close_run(run, plan, results, combined_revision(revisions))


def _check(plan: Plan, today: date) -> None:
    if not plan.questions:
        raise QuestionFileError("There is no question to ask.")
    if plan.answerer == CLAUDE and not settings.ANTHROPIC_API_KEY:
        raise AnswererError(
            "Claude cannot answer without a key. Set ANTHROPIC_API_KEY, or use "
            "--answerer extractive."
        )
    ahead = [q.key for q in plan.questions if q.as_of is not None and q.as_of > today]
    if ahead:
        raise QuestionFileError(
            f"These questions ask about a day to come: {', '.join(ahead)}. "
            f"Today is {today}; give them that date or an earlier one."
        )
    access.require_labels({label for q in plan.questions for label in asker_labels(q)})


def _answerer(plan: Plan) -> str:
    configured = CLAUDE if settings.ANTHROPIC_API_KEY else EXTRACTIVE
    return plan.answerer or configured


def _twins(
    question: LabelledQuestion, questions: Sequence[LabelledQuestion]
) -> list[LabelledQuestion]:
    """The same words asked with labels that this question's asker lacks."""
    own = set(asker_labels(question))
    return [
        other
        for other in questions
        if folded(other.question) == folded(question.question)
        and not set(asker_labels(other)) <= own
    ]


def _guarded_quotes(
    question: LabelledQuestion, questions: Sequence[LabelledQuestion]
) -> tuple[str, ...]:
    """Words that only readers with more labels may see, by the labels of the set itself."""
    if question.answerable:
        return ()
    places = [place for twin in _twins(question, questions) for place in twin.expected]
    return tuple(place.quote for place in places if place.quote)


def _viewer_labels(
    question: LabelledQuestion, questions: Sequence[LabelledQuestion]
) -> frozenset[str]:
    """Every label that a viewer of this result must hold.

    A question that is also asked with more labels is about something restricted: even that it
    is asked is then for those readers alone.
    """
    asked = (question, *_twins(question, questions))
    return frozenset(label for q in asked for label in asker_labels(q))


def _needed_classes(labels: frozenset[str]) -> list[int]:
    """Classes that only a holder of all these labels can read: an audience and all restrictions."""
    marks = access.require_labels(labels)
    restrictions = [mark for mark in marks if mark.role != "audience"]
    audiences = [mark for mark in marks if mark.role == "audience"]
    return sorted(access.class_for([mark, *restrictions]).pk for mark in audiences)


def _judged(question: LabelledQuestion, observation: Observation, k: int) -> Judged:
    observed = observation.observed
    scores = score_question(question, observed, k=k)
    return Judged(
        key=question.key,
        question=question.question,
        answerable=question.answerable,
        status=observed.status,
        refusal_code=observed.refusal_code,
        is_passed=is_passed(question, scores),
        scores=scores,
        error=observation.error,
    )


def _open_run(plan: Plan) -> EvaluationRun:
    with access.editing():
        return EvaluationRun.objects.create(
            question_set_id=plan.set_id,
            set_name=plan.name[:200],
            set_version=plan.set_version,
            answerer=_answerer(plan),
            settings=_settings(plan),
            code_version=code_version(),
        )


def _settings(plan: Plan) -> dict[str, Any]:
    """What bears on the outcome besides code and corpus."""
    return {
        "k": plan.k,
        "gates": dict(plan.gates),
        "gate_threshold": settings.GATE_THRESHOLD,
        "on_failed_claim": settings.ON_FAILED_CLAIM,
        "context_tokens": settings.CONTEXT_TOKENS,
        "screening": settings.SCREENING,
        "model": settings.CLAUDE_MODEL if _answerer(plan) == CLAUDE else None,
    }


def _keep(
    run: EvaluationRun,
    ordinal: int,
    question: LabelledQuestion,
    observation: Observation,
    judged: Judged,
    viewer_labels: frozenset[str],
) -> None:
    with access.editing():
        RunResult.objects.create(
            run=run,
            ordinal=ordinal,
            key=question.key,
            question=question.question,
            answerable=question.answerable,
            expected=list(observation.expected),
            terms=list(observation.terms),
            labels=list(asker_labels(question)),
            as_of=observation.as_of,
            status=judged.status,
            error=judged.error,
            outcome=observation.outcome,
            retrieved=list(observation.retrieved),
            scores=judged.scores,
            passed=judged.is_passed,
            corpus_revision=observation.corpus_revision,
            needed_classes=_needed_classes(viewer_labels),
            chunk_ids=sorted(observation.chunk_ids),
        )


def _close_run(
    run: EvaluationRun, plan: Plan, results: Sequence[Judged], revision: str
) -> RunReport:
    measured = figures([judged.scores for judged in results])
    gates = judge_gates(plan.gates, measured)
    run.finished_at = timezone.now()
    run.questions = len(results)
    run.corpus_revision = revision
    run.metrics = {f.name: dataclasses.asdict(f) for f in measured}
    run.thresholds = [dataclasses.asdict(gate) for gate in gates]
    with access.editing():
        run.save()
    return RunReport(
        run_id=str(run.public_id),
        answerer=run.answerer,
        corpus_revision=revision,
        code_version=run.code_version,
        results=tuple(results),
        figures=measured,
        gates=gates,
    )


def code_version() -> str:
    """The checkout's commit where there is one, else the version of the release."""
    release = str(settings.SPECTACULAR_SETTINGS["VERSION"])
    git = shutil.which("git")
    if git is None:
        return release
    described = subprocess.run(  # noqa: S603 - fixed arguments, no shell
        [git, "describe", "--always", "--dirty", "--tags"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    return described.stdout.strip()[:100] or release
