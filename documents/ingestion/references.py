"""Places where the text names another clause of the same document: `see 4.3`, `前條第二項`.

Only what can be found is a reference: its section must exist and be the only one of that
number, as seen from where the words stand. What names another document (`section 3 of the
Act`, `民法第十條`) is none, whatever its number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from documents.ingestion.numbering import Label, Scheme, parse_label
from documents.ingestion.references_han import find_han
from documents.ingestion.targets import Target, Targets
from documents.records import ClauseRecord, ParsedDocument, ReferenceRecord, SectionRecord

_WORD = (
    r"sections?|sub-?sections?|secs?\.|clauses?|sub-?clauses?|articles?|arts?\.|rules?|"
    r"regulations?|paragraphs?|sub-?paragraphs?|paras?\.?|points?|items?|parts?|chapters?|titles?|"
    r"annex(?:es)?|schedules?|appendix|appendices|exhibits?|attachments?|§§?|"
    r"artikel|abschnitt|absatz|anlage|anhang|kapitel|chapitre|annexe|artículo|anexo|articolo"
)
_NUMBER = (
    r"(?:\d{1,3}(?:[A-Z]?\.\d{1,3})*(?:-\d{1,2}(?!\d))?[A-Za-z]?|[IVXLC]{1,7}"
    r"|[A-Z](?:[.-]?\d{1,2})?)(?![\w])"
)
_SUB = r"(?:\s?\([a-zA-Z\d]{1,5}\))"
_ONE = rf"(?:{_NUMBER}{_SUB}{{0,5}}|{_SUB}{{1,5}})"
_NAMED = re.compile(
    rf"(?<![\w-])(?P<word>{_WORD})(?:(?<=§)[^\S\n]*|[^\S\n]*\n?[^\S\n]*(?<=\s))(?P<list>{_ONE}"
    rf"(?:(?:\s*,\s*(?:and|or)?\s*|\s+(?:and|or|to|through|und|bis|et|y)\s+|\s*[–—-]\s*){_ONE}){{0,12}})",
    re.IGNORECASE,
)
_ITEM = re.compile(rf"(?P<number>{_NUMBER})?(?P<subs>{_SUB}{{0,5}})")
# `point (f) of Article 6(1)`, `clause 2 of Schedule 1`; what is `of the first …` is not read.
_OF = re.compile(
    rf"(?:\s+(?:and|or)\s+\([a-z\d]{{1,4}}\))?\s+(?:of|to|in)\s+(?:(?P<word>{_WORD})\s+"
    rf"(?P<number>{_NUMBER})(?P<subs>{_SUB}{{0,5}})|(?P<far>the\s+(?:\w+\s+)?(?:sub-?)?paragraph)\b)",
    re.IGNORECASE,
)
# `Article 6(1), point (f)`, `Art. 2 para. 1`: the smaller unit is inside what stands before it.
_INSIDE = re.compile(
    rf"(?<![\w-])(?P<word>{_WORD})[^\S\n]*(?P<number>{_NUMBER})(?P<subs>{_SUB}{{0,5}})"
    r"(?P<far>\s*,?\s+(?:para(?:graph)?s?\.?|absatz)\s+\(?\d+\)?)?\s*,?\s+$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<!\w)(?:see(?:\s+also)?|under|per|pursuant\s+to|accordance\s+with|subject\s+to|set\s+out\s+in|"
    rf"defined\s+in|referred\s+to\s+in)\s+(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{1,5}})(?P<subs>{_SUB}{{0,5}})"
    r"(?![\w%]|\.\d)",
    re.IGNORECASE,
)
_THIS = re.compile(
    r"\bthis\s+(?P<word>section|article|clause|rule|part|chapter|annex|schedule|appendix|exhibit|"
    r"title)\b(?!\s+(?:[\dIVX(]|of\s+the\s+[A-Z]))",
    re.IGNORECASE,
)
_SCHEMES = {
    "section": Scheme.SECTION, "sec": Scheme.SECTION, "clause": Scheme.SECTION,
    "rule": Scheme.SECTION, "regulation": Scheme.SECTION, "paragraph": Scheme.SECTION,
    "para": Scheme.SECTION, "abschnitt": Scheme.SECTION, "absatz": Scheme.SECTION,
    "article": Scheme.ARTICLE, "art": Scheme.ARTICLE, "artikel": Scheme.ARTICLE,
    "artículo": Scheme.ARTICLE, "articolo": Scheme.ARTICLE, "§": Scheme.PARAGRAPH_SIGN,
    "part": Scheme.PART, "chapter": Scheme.CHAPTER, "chapitre": Scheme.CHAPTER,
    "kapitel": Scheme.CHAPTER, "title": Scheme.TITLE, "annex": Scheme.ANNEX,
    "annexe": Scheme.ANNEX, "schedule": Scheme.ANNEX, "appendix": Scheme.ANNEX,
    "exhibit": Scheme.ANNEX, "attachment": Scheme.ANNEX, "anlage": Scheme.ANNEX,
    "anhang": Scheme.ANNEX, "anexo": Scheme.ANNEX,
}  # fmt: skip
_SMALL_UNITS = ("paragraph", "para", "point", "item", "sub", "clause", "absatz")
# What follows such a mention belongs to another document.
_OTHERS_AFTER = re.compile(
    r"(?:\s*\([\w.]{1,5}\))*\s*,?\s*(?:thereof|thereto|therein|ibid"
    r"|(?:of|in|to|under|from)\s+(?:"
    r"(?!this\b|these\b|our\b|hereof\b)(?:the\s+|that\s+|those\s+|its\s+|their\s+|an?\s+|said\s+|such\s+)"
    r"(?:[\w’'&().-]+\s+){0,7}?(?:Acts?|Regulations?|Directives?|Codes?|Laws?|Treat(?:y|ies)|"
    r"Conventions?|Constitution|Statutes?|Ordinances?|Orders?|Decrees?|Charter|Protocol|GDPR|TFEU|TEU|"
    r"Guidelines|Standards?|Handbook|Rulebook|Agreement|Contract|Lease|Plan|Policy|Manual|Decision)\b"
    r"|(?:(?:Council|Commission|Implementing|Delegated|Framework)\s+)*(?:Regulation|Directive|Decision|"
    r"Law|Act)\s+(?:\(|No|\d)|(?:[A-Z][\w’'&-]*\s+){1,6}(?:Act|Code|Law|Regulations?|Rules|Directive)\b"
    r"|[A-Z]{3,}\b|(?:19|20)\d\d\b)"
    r"|\s*(?:GDPR|TFEU|TEU|DSGVO|BGB|HGB|GG|ZPO|StGB|U\.?S\.?C|C\.?F\.?R)\b)"
)
_OTHERS_BEFORE = re.compile(
    r"(?:\b(?:Act|Code|Law|Regulations?|Directive|Order|GDPR|TFEU|U\.?S\.?C\.?|C\.?F\.?R\.?)"
    r"(?:\s*\(?(?:19|20)\d\d\)?)?,?\s*(?:\(|[’']s\s+)?|\b(?:ISO|IEC|EN|NIST|RFC|IFRS|IAS)\s)$"
)
_REACH = 40
_LABEL_REACH = 80


@dataclass(frozen=True, slots=True)
class _Base:
    """The section that a mention is inside of, and the parts of the clause in it."""

    section: int
    parts: tuple[str, ...]


def find_references(
    parsed: ParsedDocument, sections: Sequence[SectionRecord], clauses: Sequence[ClauseRecord]
) -> tuple[ReferenceRecord, ...]:
    """The references of a document to itself, in order, without overlap."""
    finder = _Finder(parsed.text, Targets(sections, clauses))
    found = sorted(finder.find(), key=lambda reference: (reference.start, -reference.end))
    kept: list[ReferenceRecord] = []
    for reference in found:
        if not kept or reference.start >= kept[-1].end:
            kept.append(reference)
    return tuple(kept)


class _Finder:
    """Looks for mentions and resolves each."""

    def __init__(self, text: str, targets: Targets) -> None:
        self._text = text
        self._targets = targets
        self._heads = [
            (section.start, _head_end(section, text))
            for section in targets.sections
            if section.number
        ]
        self._head_starts = [start for start, _ in self._heads]

    def find(self) -> Iterator[ReferenceRecord]:
        for match in _NAMED.finditer(self._text):
            if not self._is_elsewhere(match.start(), match.end()):
                yield from self._named(match)
        for match in _BARE.finditer(self._text):
            if not self._is_elsewhere(match.start("number"), match.end()):
                yield from self._bare(match)
        for match in _THIS.finditer(self._text):
            yield from self._this(match)
        yield from find_han(self._text, self._targets, self._in_head)

    def _in_head(self, place: int) -> bool:
        """Whether a place is inside the label or heading of a section."""
        index = bisect_right(self._head_starts, place) - 1
        return index >= 0 and place < self._heads[index][1]

    def _is_elsewhere(self, start: int, end: int) -> bool:
        if self._in_head(start):
            return True
        after = self._text[end : end + 4 * _REACH]
        before = self._text[max(start - _REACH, 0) : start]
        return bool(_OTHERS_AFTER.match(after) or _OTHERS_BEFORE.search(before))

    def _named(self, match: re.Match[str]) -> Iterator[ReferenceRecord]:
        word = _singular(match["word"])
        outer = _OF.match(self._text, match.end())
        if outer is None and word.startswith(_SMALL_UNITS):
            outer = _INSIDE.search(self._text, max(match.start() - _REACH, 0), match.start())
        base = self._outer(outer) if outer else None
        if outer and base is None:
            return
        near = base.section if base else self._targets.section_at(match.start())
        for item in _ITEM.finditer(match["list"]):
            subs = tuple(re.findall(r"[A-Za-z\d]+", item["subs"] or ""))
            if not item["number"] and not subs:
                continue
            if base is not None:
                target = self._within(base, word, item["number"], subs)
            else:
                target = self._resolve(word, item["number"], subs, near, match.start())
            if target is not None:
                blank = len(item.group()) - len(item.group().lstrip())
                start = match.start() if item.start() == 0 else match.start("list") + item.start()
                start += blank if item.start() else 0
                yield _record(start, match.start("list") + item.end(), target)

    def _outer(self, match: re.Match[str]) -> _Base | None:
        """What a mention is inside of, where the text says so right after it."""
        if match["far"]:
            return None
        near = self._targets.section_at(match.start())
        subs = tuple(re.findall(r"[A-Za-z\d]+", match["subs"] or ""))
        word = _singular(match["word"])
        target = self._resolve(word, match["number"], subs, near, match.start())
        if target is None:
            return None
        is_small = target.section == near and word.startswith(_SMALL_UNITS)
        return _Base(target.section, (match["number"], *subs) if is_small else subs)

    def _within(
        self, base: _Base, word: str, number: str | None, subs: tuple[str, ...]
    ) -> Target | None:
        """The clause or section inside another one."""
        parts = (*base.parts, *((number,) if number else ()), *subs)
        clause = self._targets.clause(base.section, parts)
        if clause is not None or number is None:
            return Target(base.section, clause.label) if clause else None
        target = self._resolve(word, number, subs, base.section, -1)
        is_inside = target is not None and base.section in self._targets.ancestors(target.section)
        return target if is_inside else None

    def _resolve(
        self,
        word: str,
        number: str | None,
        subs: tuple[str, ...],
        near: int,
        place: int,
    ) -> Target | None:
        if number is None:
            return self._in_section(subs, near, place)
        if word.startswith(_SMALL_UNITS) and number.isdigit():
            clause = self._targets.clause(near, (number, *subs))
            if clause is not None:
                return Target(near, clause.label)
        label = _label(word, number)
        scheme = _SCHEMES.get(word)
        if label is None or scheme is None:
            return None
        section = self._targets.find(scheme, label.value, near, word)
        return None if section is None else self._inside(section, subs)

    def _inside(self, section: int, subs: tuple[str, ...]) -> Target:
        """The clause of a section that `subs` names, else the section."""
        clause = self._targets.clause(section, subs) if subs else None
        return Target(section, clause.label if clause else None)

    def _in_section(self, subs: tuple[str, ...], near: int, place: int) -> Target | None:
        """`paragraph (a)`: of the clause around, or of one further out."""
        around = self._targets.clause_around(place)
        for depth in range(len(around), -1, -1):
            clause = self._targets.clause(near, (*around[:depth], *subs))
            if clause is not None:
                return Target(near, clause.label)
        return None

    def _bare(self, match: re.Match[str]) -> Iterator[ReferenceRecord]:
        label = parse_label(match["number"])
        near = self._targets.section_at(match.start())
        if label is None:
            return
        section = self._targets.find(Scheme.SECTION, label.value, near)
        if section is not None:
            subs = tuple(re.findall(r"[A-Za-z\d]+", match["subs"]))
            yield _record(match.start("number"), match.end(), self._inside(section, subs))

    def _this(self, match: re.Match[str]) -> Iterator[ReferenceRecord]:
        if self._in_head(match.start()):
            return
        word = match["word"].casefold()
        scheme = _SCHEMES[word]
        near = self._targets.section_at(match.start())
        for ordinal in self._targets.ancestors(near):
            label = self._targets.labels[ordinal]
            is_meant = label is not None and label.scheme is scheme
            is_decimal = label is not None and label.scheme is Scheme.DECIMAL
            if is_meant or (is_decimal and scheme in (Scheme.SECTION, Scheme.ARTICLE)):
                yield _record(match.start(), match.end(), Target(ordinal))
                return


def _record(start: int, end: int, target: Target) -> ReferenceRecord:
    return ReferenceRecord(start, end, target.section, target.label)


def _head_end(section: SectionRecord, text: str) -> int:
    """Where the label of a section, or its whole heading, ends."""
    if section.body_start > section.start:
        return section.body_start
    line = text[section.start : section.start + _LABEL_REACH]
    indent = len(line) - len(line.lstrip())
    label = parse_label(line.lstrip().split("\n", 1)[0])
    return section.start + indent + (label.rest_start if label else 0)


def _singular(word: str) -> str:
    """`Sections` and `sec.` as `section`."""
    tidy = word.casefold().rstrip(".")
    tidy = {"appendices": "appendix", "annexes": "annex", "§§": "§", "secs": "sec"}.get(tidy, tidy)
    return tidy.removesuffix("s") if tidy.removesuffix("s") in _SCHEMES else tidy


def _label(word: str, number: str) -> Label | None:
    """The number as it would be read after its keyword in a heading."""
    if word == "§":
        return parse_label(f"§ {number}")
    stem = "annex" if _SCHEMES.get(word) is Scheme.ANNEX else "section"
    return parse_label(f"{stem} {number}")
