"""Answers as plain text with citation marks (`[c1]`), read into claims.

Used where an answer comes from elsewhere: the `verify` command and the evaluate endpoint.
A mark is an id in square brackets that has the shape of the supplied ids; other brackets
(`see note [3]`) and everything inside code are text. A claim is a sentence or list item; a
mark before or after its final full stop belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from documents.ingestion.sentences import split_sentences
from qa.answering.verify.quantities import find_quantities
from qa.records import DraftCitation, DraftClaim

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ABSTAINS: Final = re.compile(
    r"\b(?:could not|couldn['’]t|cannot|can['’]t|can not|was unable to|am unable to|were unable to|"
    r"unable to|did not|didn['’]t|do not|don['’]t)\b[^.\n]{0,30}\b(?:find|locate|answer|see|say|"
    r"tell|"
    r"determine|confirm|have|hold|know)\b|"
    r"\b(?:no|nothing|not (?:any|enough))\b[^.\n]{0,60}\b(?:information|mention|rule|answer|policy|"
    r"policies|documents?|sources?|passages?|text|details?)\b|"
    r"\b(?:documents?|policies|policy|sources?|passages?|texts?|"
    r"rules?)\b[^.\n]{0,60}\b(?:do(?:es)? not|"
    r"don['’]t|doesn['’]t|(?:is|are) silent|never)\b|"
    r"\bnot (?:mentioned|covered|addressed|stated|described|answered|regulated|found|specified)\b"
    r"[^.\n]{0,40}\b(?:documents?|policies|policy|sources?|passages?|here|rules?)\b|"
    r"(?:找不到|查無|查无|沒有找到|没有找到|未能找到|無法找到|无法找到|沒有相關|没有相关|未提及|"
    r"未載明|未规定|未規定|無相關|无相关|無法回答|无法回答|沒有規定|没有规定)",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"\b(?:but|however|generally|usually|typically|normally|probably|likely|in general|most)\b|"
    r"但|不過|不过|通常|一般而言",
    re.IGNORECASE,
)
_BARE_REPLY: Final = re.compile(
    r"\W*(?:yes|no|sure|certainly|correct|是|是的|否|不是|可以|不可以|不行)\W*", re.IGNORECASE
)
_LEAD_IN: Final = re.compile(r"[:：]\s*$")
_LONGEST_LEAD_IN: Final = 12  # words


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer read: its claims, and the sentences that say that nothing was found."""

    claims: tuple[DraftClaim, ...]
    abstentions: tuple[str, ...] = ()


@dataclass(slots=True)
class _Piece:
    text: str
    marks: list[str] = field(default_factory=list)


def read_answer(answer: str, supplied: Collection[str], *, question: str = "") -> MarkedAnswer:
    """Read an answer with marks into claims, in order, none of its text left out."""
    text, marks = strip_marks(answer, supplied)
    pieces = _with_marks(_sentences(text), marks, text)
    claims: list[DraftClaim] = []
    abstentions: list[str] = []
    for piece in _joined(pieces, question):
        if not piece.marks and is_abstention(piece.text, question):
            abstentions.append(piece.text)
            continue
        citations = tuple(DraftCitation(mark, "") for mark in dict.fromkeys(piece.marks))
        claims.append(DraftClaim(piece.text, citations))
    return MarkedAnswer(tuple(claims), tuple(abstentions))


def strip_marks(answer: str, supplied: Collection[str]) -> tuple[str, list[tuple[int, str]]]:
    """The answer without its marks, and each mark's position in what is left."""
    mark = _mark_pattern(supplied)
    out: list[str] = []
    marks: list[tuple[int, str]] = []
    length = cursor = 0
    code = [match.span() for match in _CODE.finditer(answer)]
    for match in mark.finditer(answer):
        if any(start <= match.start() < end for start, end in code):
            continue
        before = answer[cursor : match.start()]
        follows_word = re.match(r"\s*(?:[.,;:!?。，；：！？)]|$|\n)", answer[match.end() :])
        before = before.rstrip(" ") if follows_word else before
        out.append(before)
        length += len(before)
        marks += [(length, name.strip()) for name in re.split("[,;]", match["ids"])]
        cursor = match.end()
    out.append(answer[cursor:])
    return "".join(out), marks


def is_abstention(text: str, question: str = "") -> bool:
    """Whether a sentence says that the documents hold no answer, and nothing else."""
    if not _ABSTAINS.search(text) or _GOES_ON.search(text):
        return False
    asked = find_quantities(question)
    return all(any(q.agrees_with(other) for other in asked) for q in find_quantities(text))


def _mark_pattern(supplied: Collection[str]) -> re.Pattern[str]:
    shapes = {re.sub(r"\\?\d+", r"\\d+", re.escape(name)) for name in supplied} or {r"c\d+"}
    one = "(?:" + "|".join(sorted(shapes)) + ")"
    return re.compile(rf"\[\s*(?P<ids>{one}(?:\s*[,;]\s*{one})*)\s*\]", re.IGNORECASE)


def _sentences(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for line in re.finditer(r"[^\n]+", text):
        if line.group().strip():
            spans += [
                (line.start() + start, line.start() + end)
                for start, end in split_sentences(line.group())
            ]
    return spans


def _with_marks(
    spans: list[tuple[int, int]], marks: list[tuple[int, str]], text: str
) -> list[_Piece]:
    pieces: list[_Piece] = []
    for index, (start, end) in enumerate(spans):
        following = spans[index + 1][0] if index + 1 < len(spans) else len(text) + 1
        previous = spans[index - 1][1] if index else -1
        own = [
            (at, name) for at, name in marks
            if (start < at < following and (at <= end or not text[end:at].strip()))
            or (at <= start and "\n" in text[max(previous, 0) : at] + "\n" * (index == 0)
                and at > previous)
        ]  # fmt: skip
        pieces += _by_semicolon(text, start, end, own)
    return pieces


def _by_semicolon(text: str, start: int, end: int, own: list[tuple[int, str]]) -> list[_Piece]:
    """Halves of a sentence that each have a mark are claims of their own."""
    cuts = [m.end() for m in re.finditer(r"[;；]", text[start:end])]
    stops = [*(start + cut for cut in cuts), end]
    halves, left = [], start
    for stop in stops:
        inside = [name for at, name in own if left < at <= stop or (stop == end and at > left)]
        if inside or stop == end:
            halves.append(_Piece(text[left:stop].strip(), inside))
            left = stop
    if len(halves) > 1 and all(piece.marks for piece in halves):
        return halves
    return [_Piece(text[start:end].strip(), [name for _, name in own])]


def _joined(pieces: Iterable[_Piece], question: str) -> list[_Piece]:
    """Lead-ins (`Here is what the rules say:`) and a bare `Yes.` go with what follows them."""
    waiting: list[str] = []
    joined: list[_Piece] = []
    for piece in pieces:
        if not piece.marks and _only_introduces(piece.text):
            waiting.append(piece.text)
            continue
        joined.append(_Piece(" ".join([*waiting, piece.text]), piece.marks))
        waiting = []
    if waiting:
        joined.append(_Piece(" ".join(waiting)))
    return joined


def _only_introduces(text: str) -> bool:
    words = re.findall(r"\w+", text)
    if find_quantities(text):
        return False
    is_lead_in = _LEAD_IN.search(text) is not None and len(words) <= _LONGEST_LEAD_IN
    return is_lead_in or _BARE_REPLY.fullmatch(text) is not None
