"""Ask a question as a user, or with given labels, and print the cited answer or the refusal."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from documents.management.base import ClearErrorsCommand, translated
from qa import pipeline
from qa.answering.present import outcome_json
from qa.errors import QAError
from qa.management.reader import add_reader_arguments, reader_from
from qa.records import Outcome


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_reader_arguments(parser)
        parser.add_argument("--answerer", choices=("claude", "extractive"))

    @translated(QAError)
    def handle(self, *args: Any, **options: Any) -> None:
        finished = pipeline.ask(
            pipeline.Asked(
                asker=reader_from(options),
                question=options["question"],
                as_of=options["as_of"],
                n_results=options["k"],
                answerer=options["answerer"],
                door="cli",
            )
        )
        if options["json"]:
            self.print_json(outcome_json(finished.outcome))
        else:
            self.stdout.write(as_text(finished.outcome))


def as_text(outcome: Outcome) -> str:
    """An outcome for a terminal: claims with `[title §section]`, quotes, sources."""
    lines: list[str] = []
    for claim in outcome.claims:
        marks = {f"[{c.passage.document} §{c.passage.section_id}]" for c in claim.citations}
        lines.append(f"{claim.text} {' '.join(sorted(marks))}")
        lines += [f'    "{citation.quote}"' for citation in claim.citations]
    if outcome.refusal is not None:
        lines += _refusal_lines(outcome)
    if outcome.claims:
        lines.append(f"Confidence: {outcome.confidence}; support {outcome.support:.2f}.")
    lines.append("Sources:" if outcome.sources else "Sources: none.")
    for passage in outcome.sources:
        cosine = "-" if passage.cosine is None else f"{passage.cosine:.2f}"
        lines.append(
            f"  {passage.document} §{passage.section_id} (version {passage.version}, from "
            f"{passage.effective_from}): score {passage.score:.2f}, cosine {cosine}, "
            f"BM25 {passage.bm25:.2f}"
        )
    return "\n".join([*lines, *outcome.notices])


def _refusal_lines(outcome: Outcome) -> list[str]:
    refusal = outcome.refusal
    if refusal is None:
        return []
    lines = [f"Not answered ({refusal.code.value}): {refusal.message}"]
    if refusal.missing:
        lines.append(f"Missing: {refusal.missing}")
    if refusal.threshold is not None and refusal.top_score is not None:
        lines.append(f"Score {refusal.top_score:.2f}, threshold {refusal.threshold:.2f}.")
    if refusal.looked_at:
        lines.append("Looked at: " + ", ".join(refusal.looked_at))
    if refusal.ask:
        lines.append(f"Ask: {refusal.ask}")
    return lines
