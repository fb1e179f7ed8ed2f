"""A small published corpus with an open and a restricted policy, and questions about both."""

from __future__ import annotations

from dataclasses import replace

from documents.tests import factories
from evaluation.records import Expected, LabelledQuestion
from evaluation.runner import Plan, RunReport, run_question_set

LEAVE = (
    "# Leave policy\n\n## 1 Annual leave\n\nStaff receive 27 days of annual leave each year.\n\n"
    "## 2 Sick leave\n\nAn employee who is ill must call the line manager by 09:30.\n"
)
PAY = (
    "# Severance policy\n\n## 3 Severance\n\n"
    "A dismissed director receives a severance payment of 61,000 euros.\n"
)
DAYS = LabelledQuestion(
    key="days",
    question="How many days of annual leave do staff receive each year?",
    answerable=True,
    expected=(Expected("leave", "1", "27 days of annual leave"),),
    terms=("27 days",),
    note="staff note",
)
SEVERANCE = LabelledQuestion(
    key="severance",
    question="How large is the severance payment of a dismissed director?",
    answerable=True,
    expected=(Expected("severance", "3", "a severance payment of 61,000 euros"),),
    terms=("61,000 euros",),
    labels=("all-staff", "hr"),
)
SEVERANCE_FOR_ALL = LabelledQuestion("severance-all", SEVERANCE.question, answerable=False)
OFF_TOPIC = LabelledQuestion("nitrogen", "What is the boiling point of nitrogen?", answerable=False)
QUESTIONS = (DAYS, SEVERANCE, SEVERANCE_FOR_ALL, OFF_TOPIC)


def corpus() -> None:
    """Publish both policies."""
    factories.published(LEAVE, policy_slug="leave", title="Leave policy")
    factories.published(PAY, policy_slug="severance", title="Severance policy", labels=("hr",))


def plan(*questions: LabelledQuestion, **fields: object) -> Plan:
    """A plan for these questions, or for all."""
    base = Plan(questions or QUESTIONS, "small", answerer="extractive")
    return replace(base, **fields)  # type: ignore[arg-type]  # fields of Plan


def run(*questions: LabelledQuestion, **fields: object) -> RunReport:
    """A finished run."""
    return run_question_set(plan(*questions, **fields))
