"""Whether a sentence speaks of the very thing that was asked, not merely in its words.

A quantity measures something: the ten days before leave begins are no days of leave. A
definition has its term as subject, a pointer to another document says nothing itself, and
`a country on the list` names no country.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.question_words import synonyms
from qa.answering.questions import Question
from qa.answering.verify import units
from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities, fold

_OFFSET_AFTER: Final = re.compile(
    r"[\s’']*(?:notice|(?:in )?advance|ahead|before|beforehand|prior|earlier|after|following|from|"
    r"later|of (?:its |his |her |their )?(?:receipt|receiving|the date|being|request|notice|"
    r"termination)|前|以前|之前|後|之後|以後|內|内|以內|以内|之內)\b",
    re.IGNORECASE,
)
_OFFSET_BEFORE: Final = re.compile(
    r"(?:\bwithin(?: a period of)?|\bafter|\bbefore|\bevery|\bonce (?:in|every)|(?:於|每))\s*"
    r"(?:the (?:first|last|next) |about |approximately )?$",
    re.IGNORECASE,
)
_VERB: Final = re.compile(
    r"^[^.,;:]{0,60}?\b(?:may|must|can|will|shall|is|are)(?: not| only| also)? (?:be )?"
    r"(?P<verb>[a-z]{3,}ed|bought|sold|lost|kept|paid|given|taken)\b"
)
_LOOSE_UNIT: Final = re.compile(
    r"\s+\w+\s+(?:seconds|minutes|hours|days|nights|weeks|months|years)\b", re.IGNORECASE
)
_NAMES: Final = frozenset({QuantityKind.LABEL, QuantityKind.CODE, QuantityKind.ORDINAL})
_LIMIT: Final = re.compile(
    r"\b(?:up to|limit(?:ed|s)?|maximum|minimum|cap(?:ped)?|ceiling|threshold|most|least|exceed\w*|"
    r"only|highest|lowest)\b",
    re.IGNORECASE,
)
_ENTITLES: Final = re.compile(
    r"\b(?:entitle[ds]?|entitlement|receives?|granted?|gets?|offers?|given|taken|take|have|has|"
    r"available|eligible|allowed|allowance|paid|accrues?)\b",
    re.IGNORECASE,
)
_ELSEWHERE: Final = (
    r"(?:polic(?:y|ies)|sections?|annex|appendix|guidelines?|schedules?|statement|procedures?|"
    r"handbook|pages?|article|clause|chapter|terms|agreement|guide|form|document|table|rules|"
    r"code|site|website|faq|portal|intranet)"
)
_POINTS: Final = re.compile(
    rf"^(?:\W*please )?\W*(?:see|refer to|consult|visit|check out|review|read)\b.{{0,120}}"
    rf"\b{_ELSEWHERE}\b|"
    rf"\b(?:is|are|be) (?:\w+ )?(?:governed|covered|described|set out|set forth|laid down|claimed|"
    rf"dealt with|handled|regulated|listed|explained|defined|found|specified|detailed|contained|"
    rf"subject) (?:by|in|under|on|to|according to|separately in)\b.{{0,80}}\b{_ELSEWHERE}\b|"
    r"^\W*(?:this|these) (?:polic(?:y|ies)|documents?|sections?|chapter|pages?|agreement|statement|"
    r"notice|guidelines?|terms|rules|procedure)\b.{0,40}?\b(?:covers?|sets? out|describes?|"
    r"appl(?:y|ies)|explains?|governs?|is about|contains?)\b|"
    r"\bfor (?:more|further|additional|other) (?:information|details|guidance|examples)\b|"
    r"^\W*(?:另|請|请)?(?:參照|参照|參見|参见|詳見|详见|依照?|準用).{0,30}(?:規定|规定|辦法|办法)"
    r"(?:辦理|办理)?[。；]?$",
    re.IGNORECASE,
)
_ASKS_WHERE: Final = re.compile(
    r"\b(?:where|polic(?:y|ies)|sections?|documents?|rules?|guidelines?|handbook|form|"
    r"governs?|governed|covered|covers?|apply|applies)\b|哪條|哪条|何處|哪裡|哪里|辦法|規定",
    re.IGNORECASE,
)
_MAX_POINTER_WORDS: Final = 32
_COPULA: Final = (
    r"(?:shall )?(?:also )?(?:means?|refers? to|is (?:defined as|understood)|are defined as|"
    r"stands? for|includes?|is|are|consists? of|comprises?|describes?)\b"
)
_BEFORE_TERM: Final = (
    r"^\W*(?:\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-z])[.)]?\s+)?"
    r"(?:(?:the terms?|the words?|by|an?|the|our|any|for the purposes? of[^,]{0,60},)\W+)*\W*"
)
_PASSIVE: Final = re.compile(r"(?:is|are) (?:not |only |also )?(?:\w+ed|held|made|paid|given)\b")
_NEAR_WORDS: Final = 6
_HOW_LONG: Final = re.compile(
    r"\bhow long (?:is|are|does|do|will|did) (?:the |an? |my |our )?"
    r"(?P<thing>(?:(?!for|in|of|at|on|last|take|run|be)[\w'-]+ ?){1,3}?)"
    r"(?= (?:for|in|of|at|on|last|take|run|be)\b|\?|$)",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(
    r"\b(?:during|after|before|within|throughout|until|following)\s+"
    r"(?:(?:the|an?|his|her|their|your|its|our|any)\s+)?$",
    re.IGNORECASE,
)
_MEMBERSHIP: Final = re.compile(
    r"\b(?:which|what)\s+(?P<head>[\w-]+)\s+(?:are|is|stand|appear)\s+(?:on|in|part of|listed|"
    r"included|contained|named)\b",
    re.IGNORECASE,
)


def points_elsewhere(asked: Question, text: str) -> bool:
    """Whether `text` only says where something else says it, and that was not asked."""
    if _ASKS_WHERE.search(asked.text) or len(text.split()) > _MAX_POINTER_WORDS:
        return False
    return bool(_POINTS.search(text)) and not find_quantities(text)


def measures(asked: Question, text: str) -> bool:
    """Whether a length of time in `text` is how much there is, no distance to a date."""
    folded = fold(text)
    found = [q for q in find_quantities(text) if q.is_duration or _is_loose(q, folded)]
    return any(not _is_offset(quantity, folded) for quantity in found)


def _is_loose(quantity: Quantity, text: str) -> bool:
    """`12 contiguous weeks`: a word between the number and its unit."""
    is_bare = quantity.kind is QuantityKind.NUMBER and not quantity.units
    return is_bare and bool(_LOOSE_UNIT.match(text, quantity.end))


def limits(text: str) -> bool:
    """Whether `text` states a limit: a quantity with a bound, or one beside such a word."""
    found = [q for q in find_quantities(text) if q.kind not in _NAMES and not _is_one(q)]
    return bool(found) and (any(q.bound for q in found) or bool(_LIMIT.search(text)))


def _is_offset(quantity: Quantity, text: str) -> bool:
    return bool(
        _OFFSET_AFTER.match(text, quantity.end)
        or _OFFSET_BEFORE.search(text[max(0, quantity.start - 40) : quantity.start])
    )


def _is_one(quantity: Quantity) -> bool:
    """`in one agreement at a time`: no amount."""
    return quantity.values == {1} and quantity.units <= {"times"}


def names_limit(text: str) -> bool:
    """Whether `text` itself uses a word for a limit."""
    return bool(_LIMIT.search(text))


def is_in_unit(asked: Question, text: str) -> bool:
    """Whether a length of time in `text` is in the very unit that was asked for."""
    folded = fold(text)
    return any(
        bool(q.units & asked.unit)
        or (_is_loose(q, folded) and bool(units.canonical(_loose_unit(q, folded)) & asked.unit))
        for q in find_quantities(text)
        if not _is_offset(q, folded)
    )


def _loose_unit(quantity: Quantity, text: str) -> str:
    match = _LOOSE_UNIT.match(text, quantity.end)
    return match.group().split()[-1] if match else ""


def does_other_things(asked: Question, text: str) -> bool:
    """Whether what happens to the quantity is not what was asked: `five days may be sold`."""
    folded = fold(text)
    own = {stem for keyword in asked.keywords for stem in keyword.stems}
    for quantity in find_quantities(text):
        match = _VERB.match(folded[quantity.end :])
        if match is None or _ENTITLES.fullmatch(match["verb"]):
            continue
        if not set(content_words(match["verb"], "en")) & own:
            return True
    return False


def entitles(text: str) -> bool:
    """Whether `text` speaks of what somebody has, gets or may take."""
    return bool(_ENTITLES.search(text))


def counts(asked: Question, text: str) -> bool:
    """Whether a number in `text` stands near the word for what is counted."""
    heads = [keyword.stems for keyword in asked.keywords if keyword.is_head]
    if asked.is_cjk or not heads:
        return True
    folded = fold(text)
    table = synonyms()
    wanted = frozenset().union(*heads)
    wanted |= frozenset().union(*(table.get(stem, frozenset()) for stem in wanted))
    return any(
        set(content_words(_around(quantity, folded), "en")) & wanted
        for quantity in find_quantities(text)
        if quantity.kind in {QuantityKind.NUMBER, QuantityKind.MEASURE} and not quantity.is_duration
    )


def _around(quantity: Quantity, text: str) -> str:
    before = re.findall(r"\S+", text[: quantity.start])[-_NEAR_WORDS:]
    after = re.findall(r"\S+", text[quantity.end :])[:_NEAR_WORDS]
    return " ".join([*before, *after])


def defines_term(term: str, text: str, headings: Iterable[str] = ()) -> bool:
    """Whether `text` says what `term` is: the term is its subject, a definition its predicate.

    Args:
        term: as asked, without articles.
        text: a sentence.
        headings: titles above it, which name the term for `This means…`.
    """
    if re.search(r"[\u3400-\u9fff]", term):
        name = re.escape(term)
        return bool(re.search(rf"{name}[」』》\"”]?[，,]?(?:係指|系指|是指|指|謂|即|是|為)", text))
    words = re.findall(r"[\w'’-]+", re.sub(r"s\b", "", term))
    name = r"[\s-]+".join(rf"{re.escape(word)}(?:s|es)?" for word in words)
    subject = rf"{_BEFORE_TERM}{name}(?:\s*\([^)]{{1,40}}\))?[\"”’'»*_]*"
    if re.match(rf"{subject}\s*,?\s*(?:we mean|we understand)\b", text, re.IGNORECASE):
        return True
    if match := re.match(rf"{subject}[:\s,–—-]{{0,4}}\s*(?={_COPULA})", text, re.IGNORECASE):
        return not _PASSIVE.match(text[match.end() :])
    if re.match(rf"{subject}\s*:\s+\S", text, re.IGNORECASE):
        return True
    is_titled = any(re.fullmatch(rf"\W*[\d.]*\s*{name}\W*", h, re.IGNORECASE) for h in headings)
    return is_titled and bool(re.match(rf"(?:this|it|these|they)\s+{_COPULA}", text, re.IGNORECASE))


def names_holder(role: str, text: str) -> bool:
    """Whether `text` says who `role` is: a person's name stands right beside it."""
    person = r"(?-i:[A-Z][\w'’-]+(?: [A-Z][\w'’.-]*){1,3})"
    name = r"\s+".join(map(re.escape, role.split()))
    return bool(
        re.search(rf"{name}\s*(?:is|:|,|\(|–|—|-)\s*{person}", text, re.IGNORECASE)
        or re.search(rf"{person}\s*(?:,| is|\()\s*(?:the |our )?{name}", text, re.IGNORECASE)
    )


def only_mentions(asked: Question, text: str) -> bool:
    """Whether `text` speaks of a member of a list (`a country on the list`) and names none."""
    match = _MEMBERSHIP.search(asked.text)
    if match is None:
        return False
    head = re.escape(re.sub(r"(?:ies|s)$", "", match["head"]))
    lists = re.search(rf"\b{head}\w*\b[^.]{{0,60}}(?::|\b(?:are|includ\w+|such as)\b)", text, re.I)
    return lists is None


def only_frames(asked: Question, text: str) -> bool:
    """Whether what `how long is the X` asks about only dates something else: `during the X`."""
    match = _HOW_LONG.search(asked.text)
    if match is None:
        return False
    name = r"\s+".join(map(re.escape, match["thing"].split()))
    starts = [found.start() for found in re.finditer(rf"\b{name}", text, re.IGNORECASE)]
    return bool(starts) and all(_FRAME.search(text[:start]) for start in starts)
