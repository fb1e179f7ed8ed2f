"""Check 4: must, may, must not and need not, and their conditions, stay what they are.

A dropped "not" is the worst error an answer can have: every word of it is in the source.
Each clause of a claim is compared with the part of the cited text that shares most of its
words. What is compared is a `Stance`: how binding the clause is and whether it denies.
Where the clause and the source have little in common nothing is concluded: support decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from qa.answering.verify.quantities import fold
from qa.answering.verify.source import Source, Unit, topic_words
from qa.records import RefusalCode, Verdict, VerifiedCitation

CHECK: Final = "modality"
COPY_RATIO: Final = 0.85  # of words in order, for a sentence to count as a copy
MIN_SHARED: Final = 0.5  # of a clause's words, to conclude anything from the comparison


class Force(StrEnum):
    """How binding a clause is."""

    FACT = "fact"
    OBLIGATION = "obligation"
    RECOMMENDATION = "recommendation"
    PERMISSION = "permission"
    PROHIBITION = "prohibition"
    EXEMPTION = "exemption"


_NAMES: Final = {
    Force.FACT: "a statement",
    Force.OBLIGATION: "an obligation",
    Force.RECOMMENDATION: "a recommendation",
    Force.PERMISSION: "a permission",
    Force.PROHIBITION: "a prohibition",
    Force.EXEMPTION: "an exemption",
}


@dataclass(frozen=True, slots=True)
class Stance:
    """What a clause does, and whether it denies (an odd number of negations)."""

    force: Force
    is_negative: bool
    has_exception: bool


# "no later than" and "may not exceed" set limits, which the numbers check compares.
_LIMIT = re.compile(
    r"\b(?:(?:may|must|shall|can|should|does|do|will)(?: not|n't|not) (?:be )?"
    r"(?:exceed|(?:more|less|fewer|later|earlier|longer|older|greater|higher) than)|"
    r"(?:no|not) (?:more|less|fewer|later|earlier|longer|older|greater|higher|sooner)(?: than)?|"
    r"not (?:to )?exceed(?:ing)?|not only|not least|whether or not|if not|no\. ?(?=\d))|"
    r"不得?超過|不得?超过|不得?逾|不[得可]?(?:少|低|高|多)[於于]|不僅|不仅|不論|不论|無論|无论|"
    r"非常|未來|未来|"
    r"不同|不斷|不断|不但|是否|可否|能否",
    re.IGNORECASE,
)
_APOSTROPHE = re.compile(r"(?<=n)['’]t\b", re.IGNORECASE)
_PROHIBITION = re.compile(
    r"\b(?:(?:must|shall|may|can|could|should)(?:\s+\w+ly)?\s+(?:not|never)|cannot|can ?not|"
    r"(?:is|are|be|been|was|were)?\s*(?:strictly |expressly )?(?:prohibited|forbidden|banned|"
    r"disallowed)|"
    r"(?:not|never)(?: \w+ly)? (?:be )?(?:permitted|allowed|entitled|authori[sz]ed)|"
    r"(?:no right|no permission) to|(?:do|does) not have the right|not have permission)|"
    r"不得|禁止|不可|不能|不准|不許|不许|嚴禁|严禁|切勿|請勿|请勿|勿",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"\b(?:no|nobody|none|no one|neither|nothing)\b", re.IGNORECASE)
_EXEMPTION = re.compile(
    r"\b(?:need not|(?:do|does|did|will)(?: not) (?:have to|need|require)\w*|(?:is|are|be) not "
    r"(?:\w+ly )?(?:required|obliged|needed|necessary|mandatory|obligatory|compulsory)|"
    r"no (?:need|obligation|requirement|duty)|no\b[^.;,]{0,50}?\b(?:is|are) (?:needed|required|"
    r"necessary)|(?:not|without) (?:having|needing) to|is optional|are optional)\b|"
    r"無須|无须|無需|无需|毋須|毋需|不必|不需|不用|免[予於]?(?=[附提繳缴辦办])",
    re.IGNORECASE,
)
_OBLIGATION = re.compile(
    r"\b(?:must|shall|(?:has|have|having|had) to|(?:is|are|be) (?:required|obliged|mandatory|"
    r"compulsory|obligatory|bound)|required to|needs? (?:to|the|an?|approval|prior|written)|"
    r"requires?|obliged|(?:is|are) needed|necessary|obligation)\b|"
    r"必須|必须|應(?![用變变答酬徵征])|应(?![用变答酬征])|(?<!無)(?<!毋)須|(?<!无)须|務必|务必|"
    r"需要?(?!求)",
    re.IGNORECASE,
)
_RECOMMENDATION = re.compile(
    r"\b(?:should|ought to|(?:is|are) (?:recommended|advised|encouraged))\b|宜|建議|建议|儘量|尽量",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\bmay\b|\bcan\b|\b(?:is|are|be) (?:\w+ly )?(?:allowed|permitted|entitled|free|eligible|"
    r"authori[sz]ed)\b|\b(?:has|have) the right\b|\bat (?:\w+ )?(?:\w+'s )?discretion\b|"
    r"\boptional\b|可以|得以|有權|有权|(?<![許认認许不])可(?![能否靠])|"
    r"(?<![不取獲获所值覺觉免懂記记使])得(?!到|知|分|出|失|標)|允許|允许|准予",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|no one|neither|nor|nothing|without|unless|except(?!ion))\b|"
    r"\bnon-?(?=[a-z]{4})|不(?=[^\s])|未|無(?!線)|无(?!线)|非(?!洲|營利)|沒有?|没有?|除非",
    re.IGNORECASE,
)
# Words that deny by themselves; "the excess is waived" and "do not pay the excess" agree.
_IMPLICIT: Final = (
    "waive", "exempt", "refus", "reject", "deni", "deny", "declin", "unpaid", "ineligible",
    "invalid", "free of charge", "excluded", "disqualif",
    "拒", "免除", "豁免", "取消", "失效", "駁回", "驳回",
)  # fmt: skip
_EXCEPTION = re.compile(
    r"\b(?:unless|except(?:ed|ing)?(?! ion)(?: where| when| for| with| if| that)?|excluding|save "
    r"(?:for|where|that)|other than|apart from|only (?:if|when|where|with|after|once)|provided "
    r"that|on condition that)\b|除非|但書|但书|，但|不在此限|為限(?=。|$)|除(?=.{1,20}外)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when|where|provided|as long as|subject to|once|only|while|until|except\w*|unless|"
    r"other than|apart from|without|but|however|with|after|before)\b|若|如(?!何)|倘|經|经|於|时|"
    r"時|者|但|除|惟",
    re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|only if|only when|only where|provided that|subject to)\b|若|倘|如(?!何)")
_LEADING = re.compile(
    r"^\s*(?:yes|no|indeed|correct|是的?|否|不是|不行|不可以?|可以|對|对)\s*[,，:：.。;；—–-]\s*",
    re.IGNORECASE,
)
_WILL = re.compile(r"\b(?:will|is always|are always|always)\b|一律|一定", re.IGNORECASE)
_SPLIT = re.compile(
    r"[;；]|,\s+(?=(?:and|but|while|whereas)\b)|，(?=但|惟|且|並)|\b(?:but|whereas)\b",
    re.IGNORECASE,
)
_MODALS: Final = frozenset({"must", "may", "should", "not", "never"})
_MODAL_PHRASES: Final = tuple(
    (re.compile(pattern), modal)
    for pattern, modal in (
        (r"\bcannot\b|\b(?:can|must|shall|may) (?:not|never)\b", "may not"),
        (r"\b(?:(?:is|are) (?:required|obliged)|ha(?:s|ve)|needs?) to\b|\bshall\b", "must"),
        (r"\b(?:is|are) (?:allowed|permitted|entitled|free) to\b|\bcan\b", "may"),
    )
)
_OPPOSITES: Final = tuple(
    (re.compile(first, re.IGNORECASE), re.compile(second, re.IGNORECASE))
    for first, second in (
        (r"\bbefore\b|以前|之前", r"\bafter\b|以後|之後"),
        (r"\babove\b|\bover\b|以上", r"\bbelow\b|\bunder\b|以下"),
        (r"\bat least\b|\bminimum\b|至少|最低",
         r"\bat most\b|\bmaximum\b|\bup to\b|至多|最多|最高"),
        (r"\bearliest\b", r"\blatest\b"),
        (r"\bincreas|增加|提高", r"\b(?:de|re)(?:creas|duc)|減少|降低"),
        (r"\bincluding\b|\bincluded\b|包含|包括", r"\bexcluding\b|\bexcluded\b|不含"),
        (r"\binternal\b", r"\bexternal\b"),
        (r"\bfull[- ]time\b", r"\bpart[- ]time\b"),
    )
)  # fmt: skip


def check_modality(
    claim: str, sources: Sequence[Source], citations: Sequence[VerifiedCitation]
) -> Verdict:
    """Whether no clause of `claim` turns a cited clause into something else."""
    claim = _LEADING.sub("", fold(claim))
    comparable = [source for source in sources if source.is_cjk == _is_cjk(claim)]
    if not comparable:
        return Verdict(CHECK, passed=True, reason="The passage is in another language.")
    units = _cited_units(comparable, citations)
    reason = _exception_dropped(claim, units)
    for part in _parts(claim):
        reason = reason or _turned(part, units)
    if reason:
        return Verdict(CHECK, passed=False, code=RefusalCode.MODALITY_MISMATCH, reason=reason)
    return Verdict(CHECK, passed=True, reason="Duties, permissions and negations agree.")


def stance_of(text: str) -> Stance:
    """How binding `text` is, and whether it denies."""
    text = _APOSTROPHE.sub(
        " not", fold(text).replace("can't", "cannot").replace("won't", "will not")
    )
    text = _LIMIT.sub(" ", text.replace("’", "'"))
    has_exception = bool(_EXCEPTION.search(text))
    if _EXEMPTION.search(text):
        return Stance(Force.EXEMPTION, True, has_exception)
    if match := _PROHIBITION.search(text):
        rest = text[: match.start()] + " " + text[match.end() :]
        return Stance(Force.PROHIBITION, not _is_odd(rest), has_exception)
    is_negative = _is_odd(text)
    for force, pattern in (
        (Force.OBLIGATION, _OBLIGATION),
        (Force.RECOMMENDATION, _RECOMMENDATION),
        (Force.PERMISSION, _PERMISSION),
    ):
        if pattern.search(text):
            if force is Force.PERMISSION and _DETERMINER.search(text):
                force = Force.PROHIBITION
            return Stance(force, is_negative, has_exception)
    return Stance(Force.FACT, is_negative, has_exception)


def _parts(claim: str) -> list[str]:
    """Clauses of the claim; `Cosmetic: not covered` is one, `Do not give it: staff …` two."""
    parts: list[str] = []
    for part in _SPLIT.split(claim):
        before, colon, after = re.sub("：", ":", part).partition(":")
        is_sentence = len(before.strip(" -*•").split()) >= 3 or (
            _is_cjk(before) and len(before) > 7
        )
        parts += [before, after] if colon and is_sentence else [part]
    return parts


def _is_odd(text: str) -> bool:
    return len(_NEGATION.findall(text)) % 2 == 1


def _is_cjk(text: str) -> bool:
    return bool(re.search(r"[\u3400-\u9fff]{2}", text))


def _cited_units(
    sources: Sequence[Source], citations: Sequence[VerifiedCitation]
) -> list[tuple[Source, Unit]]:
    units = []
    for source in sources:
        spans = [(c.start, c.end) for c in citations if c.passage.id == source.passage.id]
        units += [(source, unit) for unit in source.units_at(spans)]
    return units


def _turned(part: str, units: Sequence[tuple[Source, Unit]]) -> str:
    """Why a clause of the claim contradicts what it was taken from; empty when it does not."""
    best = _closest(part, units)
    if not best:
        return ""
    reasons = [_difference(part, text) for text in best]
    return reasons[0] if all(reasons) else ""


def _closest(part: str, units: Sequence[tuple[Source, Unit]]) -> list[str]:
    """The texts that share most of the part's words: whole clauses, then parts of those."""
    words = topic_words(part)
    if not words:
        return []
    whole = _top(words, [unit for _, unit in units])
    if not whole:
        return []
    positions = {(id(source), unit.clause) for source, unit in units if unit in whole}
    fine = [
        unit
        for source in {id(s): s for s, _ in units}.values()
        for unit in source.fine_units
        if (id(source), unit.clause) in positions
    ]
    best_fine = _top(words, fine)
    whole_texts = [unit.text for unit in whole]
    if best_fine and _share(words, best_fine[0]) >= _share(words, whole[0]) - 0.01:
        return [unit.text for unit in best_fine]
    return whole_texts


def _share(words: Sequence[str], unit: Unit) -> float:
    return sum(word in unit.words for word in words) / len(words)


def _top(words: Sequence[str], units: Sequence[Unit]) -> list[Unit]:
    """Units with the highest share; rare words and the last one (the predicate) weigh more."""
    if not units:
        return []
    rarity = Counter(word for unit in units for word in unit.words)

    def weight(unit: Unit) -> float:
        shared = sum(1 / rarity[word] for word in set(words) if word in unit.words)
        return shared + 0.25 * (words[-1] in unit.words)

    top = max(weight(unit) for unit in units)
    best = [unit for unit in units if weight(unit) >= top - 0.05]
    return best if _share(words, best[0]) >= MIN_SHARED else []


def _difference(part: str, source: str) -> str:
    claimed, stated = stance_of(part), stance_of(source)
    if _is_denial(claimed, part, source) != _is_denial(stated, source, part):
        return "The sentence says the opposite of the cited clause: a negation differs."
    if _is_altered_copy(part, source):
        return "The sentence is the cited clause with must, may or not exchanged."
    is_conditional = claimed.has_exception or stated.has_exception
    is_denied = claimed.is_negative or stated.is_negative
    if not (is_conditional and is_denied) and _clash(claimed.force, stated.force, part):
        return (
            f"The cited clause is {_NAMES[stated.force]}, "
            f"the sentence makes it {_NAMES[claimed.force]}."
        )
    return _opposite_word(part, source)


def _is_altered_copy(part: str, source: str) -> bool:
    """Whether the part repeats the source almost word by word, but for a modal word.

    Catches the exchange in a sentence with several modal words, where the force of the
    whole sentence does not tell.
    """
    mine, theirs = _modal_tokens(part), _modal_tokens(source)
    first, second = ([word for word in words if word not in _MODALS] for words in (mine, theirs))
    likeness = SequenceMatcher(None, first, second, autojunk=False).ratio()
    if len(first) < 4 or likeness < COPY_RATIO:
        return False
    ours, stated = ([word for word in words if word in _MODALS] for words in (mine, theirs))
    return len(ours) == len(stated) and ours != stated


def _modal_tokens(text: str) -> list[str]:
    text = _APOSTROPHE.sub(" not", text.replace("’", "'").casefold())
    for pattern, modal in _MODAL_PHRASES:
        text = pattern.sub(modal, text)
    return re.findall(r"[a-z0-9]+", text)


def _is_denial(stance: Stance, text: str, other: str) -> bool:
    """Negation with the words counted that deny by themselves and that only one side has."""
    mine, theirs = text.casefold(), other.casefold()
    implicit = sum(word in mine and word not in theirs for word in _IMPLICIT)
    implicit += sum(
        match.group(1) in theirs for match in re.finditer(r"\bun([a-z]{4,})", mine)
        if match.group() not in theirs
    )  # fmt: skip
    return stance.is_negative != (implicit % 2 == 1)


def _clash(claimed: Force, stated: Force, part: str) -> bool:
    forces = {claimed, stated}
    if Force.FACT in forces:  # "may be accepted" is not "will be accepted"
        return stated is Force.PERMISSION and claimed is Force.FACT and bool(_WILL.search(part))
    # "shall never" and "must not" agree: that both deny has been compared before
    return claimed is not stated and forces != {Force.PROHIBITION, Force.OBLIGATION}


def _opposite_word(part: str, source: str) -> str:
    part, source = fold(part), fold(source)
    for first, second in _OPPOSITES:
        for mine, theirs in ((first, second), (second, first)):
            is_turned = mine.search(part) and not theirs.search(part)
            if is_turned and theirs.search(source) and not mine.search(source):
                return "The sentence turns a word of the cited clause into its opposite."
    return ""


def _exception_dropped(claim: str, units: Sequence[tuple[Source, Unit]]) -> str:
    """Why the claim leaves out an exception that stands in the very sentence it is taken from."""
    words = topic_words(claim)
    if not words or _CONDITION.search(claim):
        return ""
    for unit in _top(words, [unit for _, unit in units])[:1]:
        match = _EXCEPTION.search(unit.text) or _conditional_permission(unit.text)
        if match and not set(words) & set(topic_words(_exception_part(unit.text, match))):
            return "The cited sentence has an exception or condition that the answer leaves out."
    return ""


def _conditional_permission(text: str) -> re.Match[str] | None:
    is_permission = stance_of(text).force is Force.PERMISSION
    return _IF.search(text) if is_permission else None


def _exception_part(text: str, match: re.Match[str]) -> str:
    if match.start() < 3:  # "Except for …, the rule": the exception ends at the comma
        return re.split("[,，]", text, maxsplit=1)[0]
    return text[match.start() :]
