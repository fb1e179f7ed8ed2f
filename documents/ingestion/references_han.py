"""References in Chinese statutes: `第五十三條第二項`, `前條`, `前項第一款`, `本章`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from documents.ingestion.numbering import Scheme
from documents.ingestion.numerals import HAN_DIGITS, han_value
from documents.ingestion.targets import Parts, Target, Targets, han_parts
from documents.records import ReferenceRecord

_NUMBER = rf"(?:[{HAN_DIGITS}]{{1,9}}|\d{{1,4}})"
_UNITS = rf"(?:第\s*{_NUMBER}\s*[項项款目](?:之\s*{_NUMBER}(?!\w*[條条]))?)"
_MENTION = re.compile(
    rf"(?P<article>第\s*(?P<number>{_NUMBER})\s*(?:[之-]\s*(?P<inner>{_NUMBER})\s*)?[條条]"
    rf"(?:\s*(?:之|-(?=\d))\s*(?P<suffix>{_NUMBER}))?)(?P<units>{_UNITS}{{0,3}})"
    rf"|(?P<relative>前條|前条|次條|次条|下條|本條|本条|同條|同条)(?P<more>{_UNITS}{{0,3}})"
    rf"|(?P<previous>前(?P<count>[二三四五六七八九十])?(?P<unit>[項项款目]))(?P<inside>{_UNITS}{{0,2}})"
    r"|(?P<container>本[章節节編编])"
    rf"|(?P<annex>(?:附件|附錄|附录|附表)\s*{_NUMBER})"
    rf"|(?P<alone>{_UNITS}{{1,3}})"
)
# A name of a law right before a number makes it another document's, unless it is this one.
_LAW_NAME = re.compile(
    r"(?:法|條例|条例|辦法|办法|規則|规则|細則|细则|通則|規程|準則|標準|要點|憲法|公約|章程)$"
)
_OWN = re.compile(
    r"本(?:法|條例|条例|辦法|办法|規則|规则|細則|细则|通則|規程|準則|標準|要點|公約|章程|規定|规定|契約|合約)$"
)
_SAME = re.compile(r"(?:同法|同條例|該法|該條例|母法|同辦法|上開條例|同規則)$")
_JOINED = re.compile(r"[\s、，,及或和與与至到暨]*(?:第|各)?[\s、，,及或和與与至到暨]*$")
_CONTAINERS = {
    "章": {Scheme.HAN_CHAPTER}, "節": {Scheme.HAN_SECTION}, "节": {Scheme.HAN_SECTION},
    "編": {Scheme.HAN_PART}, "编": {Scheme.HAN_PART},
}  # fmt: skip
_REACH = 24

InHead = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class _Last:
    """The mention before: where it ends, and what it named."""

    end: int
    is_own: bool = True
    section: int | None = None
    parts: Parts = ()


def find_han(text: str, targets: Targets, in_head: InHead) -> Iterator[ReferenceRecord]:
    """The mentions that name a section or clause of the document itself."""
    last = _Last(end=0)
    for match in _MENTION.finditer(text):
        start = match.start()
        if in_head(start):
            continue
        is_joined = _is_joined(text, last.end, start)
        is_numbered = match["article"] is not None or match["alone"] is not None
        is_own = not is_numbered or _is_own(text, start, is_joined, last.is_own)
        found = _resolve(match, targets, last, is_joined) if is_own else None
        target, parts = found or (None, ())
        last = _Last(match.end(), is_own, target.section if target else None, parts)
        first = _first_of(match, targets) if match["count"] else None
        if first is not None and target is not None:
            yield ReferenceRecord(start, match.start("unit"), first.section, first.label)
            start = match.start("unit")
        target = target or first
        if target is not None:
            yield ReferenceRecord(start, match.end(), target.section, target.label)


def _is_joined(text: str, last_end: int, start: int) -> bool:
    """Whether a mention goes on with the list of the one before: `第三條、第五條`."""
    return start - last_end < _REACH and bool(_JOINED.fullmatch(text[last_end:start]))


def _is_own(text: str, start: int, is_joined: bool, last_was_own: bool) -> bool:
    """Whether a mention at `start` means this document."""
    before = text[max(start - _REACH, 0) : start].rstrip()
    if _OWN.search(before):
        return True
    if _SAME.search(before) or _LAW_NAME.search(before):
        return False
    return last_was_own or not is_joined  # `民法第三條、第五條`


def _resolve(
    match: re.Match[str], targets: Targets, last: _Last, is_joined: bool
) -> tuple[Target, Parts] | None:
    near = targets.section_at(match.start())
    if match["article"]:
        numbers = [match[name] for name in ("number", "inner", "suffix") if match[name]]
        value = tuple(han_value(number) for number in numbers)
        return _inside(targets, targets.find(Scheme.HAN_ARTICLE, value, near), match["units"])
    if match["relative"]:
        return _relative(match, targets, near, last)
    if match["previous"]:
        return _previous(match, targets, near, 1)
    if match["container"]:
        return _container(match["container"][1], targets, near)
    if match["annex"]:
        word, number = match["annex"][:2], match["annex"][2:].strip()
        return _inside(targets, targets.find(Scheme.ANNEX, (han_value(number),), near, word), "")
    parts = han_parts(match["alone"])
    if is_joined and last.parts:
        return _beside(targets, last, parts)
    return _exactly(targets, near, parts, match.start())


def _relative(
    match: re.Match[str], targets: Targets, near: int, last: _Last
) -> tuple[Target, Parts] | None:
    word = match["relative"]
    if word[0] == "同":
        section = last.section
    elif word[0] == "本":
        section = near if _is_article(targets, near) else None
    else:
        section = _neighbour(targets, near, 1 if word[0] in "次下" else -1)
    return _inside(targets, section, match["more"])


def _is_article(targets: Targets, ordinal: int) -> bool:
    label = targets.labels[ordinal]
    return label is not None and label.scheme is Scheme.HAN_ARTICLE


def _neighbour(targets: Targets, near: int, step: int) -> int | None:
    """The article before or after; chapter headings between are passed over."""
    if not _is_article(targets, near):
        return None
    ordinal = near + step
    while 0 <= ordinal < len(targets.sections) and not _is_article(targets, ordinal):
        ordinal += step
    return ordinal if 0 <= ordinal < len(targets.sections) else None


def _first_of(match: re.Match[str], targets: Targets) -> Target | None:
    """Where `前二項` begins; its last is found as that of `前項` is, as of any range."""
    near = targets.section_at(match.start())
    found = _previous(match, targets, near, han_value(match["count"]))
    return found[0] if found else None


def _previous(
    match: re.Match[str], targets: Targets, near: int, steps: int
) -> tuple[Target, Parts] | None:
    """`前項` in the third paragraph is the second, one step before it."""
    unit = match["unit"].replace("项", "項")
    around = targets.clause_around(match.start())
    for depth, part in enumerate(around):
        if part.startswith(unit) and part[1:].isdigit():
            value = int(part[1:]) - steps
            if int(part[1:]) <= han_value(match["count"] or "一"):
                return None  # it counts more than there are
            parts = (*around[:depth], f"{unit}{value}", *han_parts(match["inside"]))
            return _clause(targets, near, parts)
    return None


def _container(unit: str, targets: Targets, near: int) -> tuple[Target, Parts] | None:
    for ordinal in targets.ancestors(near):
        label = targets.labels[ordinal]
        if label is not None and label.scheme in _CONTAINERS[unit]:
            return Target(ordinal), ()
    return None


def _clause(targets: Targets, section: int, parts: Parts) -> tuple[Target, Parts] | None:
    clause = targets.clause(section, parts)
    return (Target(section, clause.label), parts) if clause else None


def _inside(targets: Targets, section: int | None, units: str) -> tuple[Target, Parts] | None:
    """A clause of a section, or the section where it has no such clause.

    An article of one paragraph is cited with `第一項` and without.
    """
    if section is None:
        return None
    parts = han_parts(units)
    tries = [parts, ("項1", *parts)] + ([parts[1:]] if parts[:1] == ("項1",) else [])
    for attempt in tries if parts else []:
        found = _clause(targets, section, attempt)
        if found is not None:
            return found
    return Target(section), parts


def _beside(targets: Targets, last: _Last, parts: Parts) -> tuple[Target, Parts] | None:
    """`第七條第一項、第二項`: the second paragraph of the article just named."""
    if last.section is None:
        return None
    depth = next((i for i, part in enumerate(last.parts) if part[0] == parts[0][0]), None)
    if depth is None:
        return None
    return _clause(targets, last.section, (*last.parts[:depth], *parts))


def _exactly(targets: Targets, near: int, parts: Parts, place: int) -> tuple[Target, Parts] | None:
    """`第一項` of the article that is being read, `第二款` of the paragraph."""
    if not _is_article(targets, near):
        return None
    around = targets.clause_around(place)
    for depth in range(len(around), -1, -1):
        found = _clause(targets, near, (*around[:depth], *parts))
        if found is not None:
            return found
    return None
