"""Check 3: every quantity of a claim is in a passage that the claim cites.

Presence first: same value, same unit. Then two ways of lying with true numbers: a bound
turned round (`within 14 days` for `after 14 days`), and a number moved to another subject
(`dinner £15` where £15 is for lunch).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities, normal_label
from qa.answering.verify.source import Source, Unit, topic_words
from qa.records import RefusalCode, Verdict

CHECK: Final = "numbers"
_OTHERWISE: Final = re.compile(
    r"\b(?:later|thereafter|otherwise|afterwards|earlier|late|then|beyond that)\b|逾期|屆期|否則",
    re.IGNORECASE,
)
_LEADING_NUMBER: Final = re.compile(
    r"^(?:\w+ )?(?P<n>\d+(?:\.\d+)*[a-z]?)\b|^第(?P<cn>\S+?)[條条章節节]"
)


def check_numbers(claim: str, sources: Sequence[Source]) -> Verdict:
    """Whether each quantity of `claim` is in the cited passages, about the same thing."""
    quantities = [q for q in find_quantities(claim) if not _is_article(q)]
    for quantity in quantities:
        if not any(_holds(source, quantity) for source in sources):
            return _failed(f"“{quantity.text.strip()}” is not in the cited passage.")
    for part in _number_parts(claim):
        for source in sources:
            reason = _wrong_bound(part, source) or _wrong_subject(part, source)
            if reason and len(sources) == 1:
                return _failed(reason)
    reason = "Every number is in the cited passage." if quantities else "The sentence has none."
    return Verdict(CHECK, passed=True, reason=reason)


def matched_quantities(claim: str, sources: Sequence[Source]) -> int:
    """How many quantities of `claim` the cited passages hold."""
    found = [q for q in find_quantities(claim) if not _is_article(q)]
    return sum(any(_holds(source, quantity) for source in sources) for quantity in found)


def _failed(reason: str) -> Verdict:
    return Verdict(CHECK, passed=False, code=RefusalCode.NUMBER_NOT_SUPPORTED, reason=reason)


def _is_article(quantity: Quantity) -> bool:
    """`a month`, `each year`: counted in sources, never asked of a claim."""
    is_once = quantity.text.casefold() == "once"  # as often "as soon as" as "one time"
    return (quantity.kind is QuantityKind.ORDINAL and bool(quantity.units)) or is_once


def _holds(source: Source, quantity: Quantity) -> bool:
    own = (*source.quantities, *source.heading_quantities)
    if quantity.kind is QuantityKind.LABEL:
        return quantity.label in _labels(source)
    if any(quantity.agrees_with(other) for other in own):
        return True
    if quantity.kind is QuantityKind.ORDINAL:
        return any(quantity.values & q.values for q in own) or any(
            label.isdigit() and int(label) in quantity.values for label in _labels(source)
        )
    return quantity.is_money and _is_silent_on_currency(source, quantity)


def _is_silent_on_currency(source: Source, quantity: Quantity) -> bool:
    """A passage that never names a currency cannot contradict the claim's."""
    if any(q.is_money for q in source.quantities):
        return False
    return any(q.kind is QuantityKind.NUMBER and q.values & quantity.values
               for q in source.quantities)  # fmt: skip


def _labels(source: Source) -> set[str]:
    """Clause numbers that the passage bears or names."""
    passage = source.passage
    own = (*source.quantities, *source.heading_quantities)
    labels = {q.label for q in own if q.kind is QuantityKind.LABEL}
    for heading in (passage.section_id, passage.section_title, *passage.section_path):
        match = _LEADING_NUMBER.match(heading)
        labels.add(normal_label(heading))
        if match:
            labels.add(normal_label(match["n"] or match["cn"]))
    return labels


def _number_parts(claim: str) -> list[tuple[frozenset[str], tuple[Quantity, ...]]]:
    """Parts of the claim with a quantity: their words and quantities."""
    parts = []
    for text in re.split(r"[;；]|, (?=and |but |after |within )|\band\b|，(?=但|逾)", claim):
        quantities = tuple(q for q in find_quantities(text) if not _is_article(q))
        if quantities:
            parts.append((frozenset(topic_words(text)), quantities))
    return parts


def _best(part: tuple[frozenset[str], tuple[Quantity, ...]], units: Iterable[Unit]) -> list[Unit]:
    """The units that share most quantities, then most words, with the part."""
    words, quantities = part
    scored = [
        (sum(any(q.agrees_with(o) for o in u.quantities) for q in quantities),
         len(words & u.words), u)
        for u in units
    ]  # fmt: skip
    top = max(((count, shared) for count, shared, _ in scored), default=(0, 0))
    return [u for count, shared, u in scored if (count, shared) == top and count > 0]


def _wrong_bound(part: tuple[frozenset[str], tuple[Quantity, ...]], source: Source) -> str:
    best = _best(part, source.units)
    for quantity in part[1]:
        theirs = [o for u in best for o in u.quantities if quantity.agrees_with(o)]
        if not quantity.bound or not theirs or any(o.bound in {"", quantity.bound} for o in theirs):
            continue
        followers = {u.clause + 1 for u in best}
        if any(_OTHERWISE.search(u.text) for u in source.units if u.clause in followers):
            continue
        return f"“{quantity.text.strip()}” is a limit in the other direction in the passage."
    return ""


def _wrong_subject(part: tuple[frozenset[str], tuple[Quantity, ...]], source: Source) -> str:
    words, quantities = part
    for quantity in quantities:
        same = [u for u in source.fine_units if _states(u, quantity)]
        rivals = [u for u in source.fine_units if _rivals(u, quantity)]
        for rival in rivals:
            if same and all(_is_moved(words, mine, rival) for mine in same):
                return f"“{quantity.text.strip()}” stands beside something else in the passage."
    return ""


def _states(unit: Unit, quantity: Quantity) -> bool:
    return any(quantity.agrees_with(other) for other in unit.quantities)


def _rivals(unit: Unit, quantity: Quantity) -> bool:
    """Whether the unit has a quantity of the same sort, but not this one."""
    comparable = any(
        other.kind is quantity.kind and (bool(other.units & quantity.units) or not quantity.units)
        for other in unit.quantities
    )
    return comparable and not _states(unit, quantity)


def _is_moved(words: frozenset[str], mine: Unit, rival: Unit) -> bool:
    """Whether the claim's words point at the rival and away from the number's own clause."""
    for_rival, for_mine = words & (rival.words - mine.words), words & (mine.words - rival.words)
    if not for_rival or for_mine:
        return False
    shared, union = mine.words & rival.words, mine.words | rival.words
    is_parallel = len(shared) * 3 >= len(union)
    return is_parallel or (mine.clause == rival.clause and not words & mine.words)
