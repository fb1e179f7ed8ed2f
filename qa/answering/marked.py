"""Judge a whole answer with citation marks: shown or not, and why.

One JSON-like case in, one result out, as `manage.py verify` prints it. Since such answers
have no quotes the quote check is skipped; the other checks run against the cited chunks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from qa.answering.markers import MarkedAnswer, read_answer
from qa.answering.verify.checked import Checked
from qa.answering.verify.output_policy import check_output_policy
from qa.errors import QAError
from qa.records import Passage, RefusalCode, RejectedClaim, Verdict, VerifiedClaim


class InvalidCaseError(QAError):
    """A case that does not have the fields it needs."""

    code = "invalid_case"


def judge_case(case: Mapping[str, object]) -> dict[str, object]:
    """Check one answer.

    Args:
        case: `{id, question, chunks: [{id, title, section, text}], allowed_domains, answer,
            stop_reason}`; all but `chunks` and `answer` may be missing.

    Returns:
        `{id, shown, reasons, claims: [{text, citations, verdicts}]}`.

    Raises:
        InvalidCaseError: a field is missing or of the wrong type.
    """
    passages = _passages(case.get("chunks"))
    answer, question = _text(case, "answer"), str(case.get("question") or "")
    allowed = _allowed_domains(case.get("allowed_domains"))
    checked = Checked(passages, allowed_domains=allowed, question=question, requires_quotes=False)
    marked = read_answer(answer, {p.id for p in passages}, question=question)
    results = [checked.accept(claim) for claim in marked.claims]
    reasons = _reasons(case, answer, marked, results, allowed)
    return {
        "id": case.get("id"),
        "shown": not reasons,
        "reasons": reasons,
        "claims": [_claim(result) for result in results],
    }


def _reasons(
    case: Mapping[str, object],
    answer: str,
    marked: MarkedAnswer,
    results: list[VerifiedClaim | RejectedClaim],
    allowed: frozenset[str],
) -> list[str]:
    stop_reason = case.get("stop_reason")
    reasons = []
    if stop_reason not in (None, "end_turn"):
        reasons.append(f"{RefusalCode.MODEL_ERROR}: the answer did not end ({stop_reason}).")
    if not answer.strip():
        reasons.append(f"{RefusalCode.MODEL_ERROR}: the answer is empty.")
    for sentence in marked.abstentions:
        verdict = check_output_policy(sentence, (), allowed)
        reasons += [_reason(verdict)] if not verdict.passed else []
    for result in results:
        if isinstance(result, RejectedClaim):
            reasons += [_reason(v) for v in result.verdicts if not v.passed]
    return list(dict.fromkeys(reasons))


def _reason(verdict: Verdict) -> str:
    return f"{verdict.code}: {verdict.reason}"


def _claim(result: VerifiedClaim | RejectedClaim) -> dict[str, object]:
    citations = (
        [c.passage.id for c in result.citations] if isinstance(result, VerifiedClaim) else []
    )
    return {
        "text": result.text,
        "citations": citations,
        "verdicts": [
            {"check": v.check, "passed": v.passed, "code": v.code, "reason": v.reason,
             "score": v.score}
            for v in result.verdicts
        ],
    }  # fmt: skip


def _text(case: Mapping[str, object], name: str) -> str:
    value = case.get(name)
    if not isinstance(value, str):
        raise InvalidCaseError(f"“{name}” must be text")
    return value


def _allowed_domains(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidCaseError("“allowed_domains” must be a list of host names")
    return frozenset(value)


def _passages(chunks: object) -> list[Passage]:
    if not isinstance(chunks, list):
        raise InvalidCaseError("“chunks” must be a list")
    passages = []
    for chunk in chunks:
        if not isinstance(chunk, dict):
            raise InvalidCaseError("each chunk must be an object with id, title, section, text")
        passages.append(_passage(chunk))
    if len({passage.id for passage in passages}) < len(passages):
        raise InvalidCaseError("two chunks have the same id")
    return passages


def _passage(chunk: Mapping[str, object]) -> Passage:
    text, name = _text(chunk, "text"), chunk.get("id")
    if not isinstance(name, str) or not name.strip():
        raise InvalidCaseError("each chunk needs an “id”")
    section = str(chunk.get("section") or "")
    number = re.match(r"(?:[\d.]+|第\S+?[條条章節节]|§ ?\d+)", section)
    return Passage(
        id=name, text=text, document=str(chunk.get("title") or ""), policy="", version=0,
        effective_from=date.min, effective_to=None,
        section_id=number.group().rstrip(".") if number else section,
        section_title=section, section_path=(section,) if section else (), section_public_id="",
        language="", score=0.0, cosine=None, bm25=0.0, dense_rank=None, lexical_rank=None,
    )  # fmt: skip
