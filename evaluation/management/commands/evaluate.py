"""Ask every question of a set, print the figures, keep the run; exit 2 if a gate is unmet."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from documents.management.base import ClearErrorsCommand, translated
from evaluation.errors import EvaluationError, UnknownGateError, UnknownSetError
from evaluation.metrics.summary import metric_names
from evaluation.question_sets import load_set, read_questions
from evaluation.records import Figure, Gate
from evaluation.runner import Judged, Plan, RunReport, run_question_set
from qa.errors import QAError

GATE_UNMET = 2
_IN_UNITS = {"leaks": "{:.0f}", "latency_p50_ms": "{:.0f}", "latency_p95_ms": "{:.0f}"}


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("set", nargs="?", help="a question set's name, or a file")
        parser.add_argument(
            "--gate",
            action="append",
            nargs="+",
            default=[],
            metavar="NAME=VALUE",
            help="a limit the run must keep, such as recall@5=0.95; may be repeated",
        )
        parser.add_argument("--answerer", choices=("claude", "extractive"))
        parser.add_argument("--k", type=int, default=5, help="passages to answer from, 1 to 20")
        parser.add_argument("--limit", type=int, help="ask only the first so many questions")

    @translated(QAError)
    @translated(EvaluationError)
    def handle(self, *args: Any, **options: Any) -> None:
        name, gates = _set_and_gates(options)
        plan = _plan(name, options, gates)
        with _progress(len(plan.questions), quiet=options["verbosity"] == 0) as advance:
            report = run_question_set(plan, on_result=advance)
        if options["json"]:
            self.print_json(_as_json(plan, report))
        else:
            self.stdout.write(_as_text(plan, report))
        unmet = [gate for gate in report.gates if not gate.is_met]
        if unmet:
            listed = "; ".join(_reason(gate) for gate in unmet)
            raise CommandError(f"Gates not met: {listed}.", returncode=GATE_UNMET)


def _set_and_gates(options: dict[str, Any]) -> tuple[str, list[str]]:
    """The set and the gates; a set after `--gate A=1` was taken for one more gate."""
    tokens = [token for group in options["gate"] for token in group]
    stray = [token for token in tokens if "=" not in token]
    name = options["set"] or (stray.pop(0) if stray else None)
    if name is None:
        raise CommandError("Say what to run: the name of a question set, or a file.")
    return name, [token for token in tokens if "=" in token] + stray


def _plan(name: str, options: dict[str, Any], gates: Sequence[str]) -> Plan:
    k, limit = options["k"], options["limit"]
    if not 1 <= k <= 20:
        raise CommandError(f"--k is {k}; it must be a whole number from 1 to 20.")
    if limit is not None and limit < 1:
        raise CommandError(f"--limit is {limit}; it must be at least 1.")
    limits = dict(_limit(token, k) for token in gates)
    asked = {"answerer": options["answerer"], "k": k, "gates": limits}
    if (path := Path(name)).is_file():
        return Plan(read_questions(path)[:limit], path.name, **asked)
    if path.suffix in (".jsonl", ".csv", ".json"):
        raise UnknownSetError(f"There is no file {name}.")
    found = load_set(name)
    return Plan(found.questions[:limit], found.name, found.pk, found.version, **asked)


def _limit(token: str, k: int) -> tuple[str, float]:
    name, _, value = token.partition("=")
    names = metric_names(k)
    if name not in names:
        hint = ""
        if re.fullmatch(r"recall@\d+", name):
            hint = " Recall is measured at 5, and at the value of --k."
        raise UnknownGateError(f"There is no metric {name}. Metrics: {', '.join(names)}.{hint}")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise UnknownGateError(f"{token} sets no limit. Write a number, such as {name}=0.95.")
    return name, limit


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Any]:
    with Progress(console=Console(stderr=True), disable=quiet, transient=True) as progress:
        task = progress.add_task("Asking", total=total)

        def advance(judged: Judged) -> None:
            progress.advance(task)

        yield advance


def _as_json(plan: Plan, report: RunReport) -> dict[str, Any]:
    intervals = {f.name: [f.low, f.high] for f in report.figures if f.low is not None}
    return {
        "run": report.run_id,
        "set": plan.name,
        "version": plan.set_version,
        "answerer": report.answerer,
        "corpus_revision": report.corpus_revision,
        "code_version": report.code_version,
        "count": len(report.results),
        "metrics": {f.name: f.value for f in report.figures},
        "intervals": intervals,
        "over": {f.name: f.questions for f in report.figures},
        "gates": [
            {"name": g.name, "limit": g.limit, "value": g.value, "met": g.is_met}
            for g in report.gates
        ],
        "passed": all(gate.is_met for gate in report.gates),
        "questions": [
            {
                "id": judged.key,
                "passed": judged.is_passed,
                "status": judged.status,
                "refusal": judged.refusal_code or None,
                "error": judged.error or None,
                "scores": judged.scores,
            }
            for judged in report.results
        ],
    }


def _as_text(plan: Plan, report: RunReport) -> str:
    gates = {gate.name: gate for gate in report.gates}
    table = Table(title=f"{_title(plan)}, {report.answerer}, {len(report.results)} questions")
    for heading in ("Metric", "Value", "95 % interval", "Questions", "Gate"):
        table.add_column(heading, justify="left" if heading == "Metric" else "right")
    for figure in report.figures:
        table.add_row(
            figure.name,
            shown_value(figure.name, figure.value),
            _interval(figure),
            str(figure.questions),
            _gate(gates.get(figure.name)),
        )
    # Wide enough for every row, whatever the terminal: the table also goes into files.
    console = Console(file=io.StringIO(), width=100)
    console.print(table)
    lines = [console.file.getvalue().rstrip()]  # type: ignore[attr-defined]  # the StringIO above
    lines += [_failure(judged) for judged in report.results if not judged.is_passed]
    lines.append(f"Run {report.run_id} is kept; see /evaluation/{report.run_id}/.")
    return "\n".join(lines)


def _title(plan: Plan) -> str:
    version = f", version {plan.set_version}" if plan.set_version else ""
    return f"{plan.name}{version}"


def shown_value(name: str, value: float | None) -> str:
    """A figure as a table shows it; a dash where there was nothing to measure."""
    return "-" if value is None else _IN_UNITS.get(name, "{:.3f}").format(value)


def _interval(figure: Figure) -> str:
    if figure.low is None:
        return ""
    low, high = (shown_value(figure.name, edge) for edge in (figure.low, figure.high))
    return f"{low} to {high}"


def _gate(gate: Gate | None) -> str:
    if gate is None:
        return ""
    return f"{gate.limit:g} {'met' if gate.is_met else 'NOT MET'}"


def _reason(gate: Gate) -> str:
    return f"{gate.name} is {shown_value(gate.name, gate.value)}, the limit is {gate.limit:g}"


def _failure(judged: Judged) -> str:
    wanted = "an answer" if judged.answerable else "a refusal"
    ended = judged.refusal_code or judged.error or judged.status
    return f"Not as labelled: {judged.key} ({ended}; {wanted} was wanted): {judged.question}"
