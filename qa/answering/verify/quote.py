"""Check 2: the quoted words stand in the cited passage, one after the other.

Compared after folding (NFKC, dashes, quotation marks, white space, invisible characters),
never digits or letters. A quote is 3 to 60 words, or a whole clause however short. It does
not reach across a gap where a passage leaves out text, and a paragraph that gives orders to
whoever answers is not quoted from.
"""

from __future__ import annotations

from typing import Final

from documents.ingestion.folding import fold_for_quotes
from qa.answering.clauses import count_words
from qa.answering.verify.source import Source
from qa.records import Passage, RefusalCode, Verdict, VerifiedCitation

CHECK: Final = "quote"
MIN_WORDS: Final = 3
MAX_WORDS: Final = 60
_EDGE: Final = " \t\n\"'"


def find_quote(source: Source, quote: str) -> tuple[VerifiedCitation | None, str]:
    """Find `quote` in the passage.

    Returns:
        The citation with the exact original slice and its span in `Passage.text`, and an
        empty reason; or None and the reason why it does not count.
    """
    wanted = fold_for_quotes(quote).text.strip(_EDGE)
    if not wanted:
        return None, "The quote is empty."
    at = find_whole(source.folded.text, wanted)
    if at < 0:
        return None, "The quoted words are not in the cited passage."
    start, end = source.folded.span(at, at + len(wanted))
    found = source.passage.text[start:end]
    if Passage.GAP.strip() in found:
        return None, "The quote reaches across a gap in the passage."
    if any(start < last and first < end for first, last in source.planted):
        return None, "The quoted words stand in a paragraph that gives orders to an assistant."
    words = count_words(found)
    if words > MAX_WORDS:
        return None, f"The quote has {words} words; at most {MAX_WORDS} may be quoted at once."
    if words < MIN_WORDS and not _is_whole_clause(source, start, end):
        return None, f"The quote has {words} words and is not a whole clause."
    return VerifiedCitation(source.passage, found, start, end), ""


def check_quotes(found: int, reasons: list[str]) -> Verdict:
    """The verdict on a claim's quotes: it stands when at least one was found."""
    if found:
        return Verdict(CHECK, passed=True, reason="The quoted words are in the cited passage.")
    reason = reasons[0] if reasons else "The sentence quotes nothing."
    return Verdict(CHECK, passed=False, code=RefusalCode.QUOTE_NOT_FOUND, reason=reason)


def find_whole(text: str, wanted: str) -> int:
    """Like `str.find`, but a match does not begin or end inside a word or a number."""
    at = text.find(wanted)
    while at >= 0:
        if not (_cuts(text, at) or _cuts(text, at + len(wanted))):
            return at
        at = text.find(wanted, at + 1)
    return -1


def _cuts(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if (before.isdigit() and after in "%‰°") or (after.isdigit() and before in "$£€¥"):
        return True
    if before.isdigit() and after in ".," and at + 1 < len(text) and text[at + 1].isdigit():
        return True
    if after.isdigit() and before in ".," and at > 1 and text[at - 2].isdigit():
        return True
    return _is_letter(before) and _is_letter(after)


def _is_letter(character: str) -> bool:
    return character.isalnum() and ord(character) < 0x2E80  # scripts without blanks have no cuts


def _is_whole_clause(source: Source, start: int, end: int) -> bool:
    inside = source.passage.text[start:end].strip(" .;:,。；，")
    return any(
        clause.start <= start and end <= clause.end
        and clause.text.lstrip("-*• ").strip(" .;:,。；，") == inside
        for clause in source.clauses
    )  # fmt: skip
