"""A stemmer for English that undoes inflection and spelling, and little more.

Porter2 without its derivational steps: plural, -ed, -ing, final y and e. The whole of Porter2
makes one word of organic and organizer, universal and university, public and publication,
intern and internal; a wrong clause quoted costs more than a synonym missed. Two families of
derived nouns are joined to their verbs because policies switch between them in one breath
(approve and approval, notify and notification): see `_DERIVED`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWELS = frozenset("aeiouy")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

# Words whose ending only looks like an inflection, or whose inflection is irregular.
_EXCEPTIONS = {
    "news": "news", "lens": "lens", "gas": "gas", "bus": "bus", "always": "always",
    "perhaps": "perhaps", "sos": "sos", "proceed": "proceed", "proceeds": "proceed",
    "exceed": "exceed", "exceeds": "exceed", "succeed": "succeed", "succeeds": "succeed",
    "proceedings": "proceed", "indeed": "indeed", "hundred": "hundred", "hundreds": "hundred",
    "kindred": "kindred", "sacred": "sacred", "inbred": "inbred", "during": "during",
    "inning": "inning", "outing": "outing", "evening": "evening", "evenings": "evening",
    "morning": "morning", "mornings": "morning", "ceiling": "ceiling", "string": "string",
    "strings": "string", "spring": "spring", "sibling": "sibling", "siblings": "sibling",
    "wedding": "wedding", "housing": "housing", "clothing": "clothing", "embed": "embed",
    "dying": "die", "dies": "die", "died": "die", "lying": "lie", "tying": "tie", "ties": "tie",
    "tied": "tie", "policed": "polic", "people": "people", "children": "child", "men": "man",
    "women": "woman", "paid": "pay", "pays": "pay", "given": "give", "gave": "give",
    "taken": "take", "took": "take", "written": "write", "wrote": "write", "kept": "keep",
    "held": "hold", "made": "make", "sent": "send", "left": "left", "chosen": "choose",
    "chose": "choose", "worn": "wear", "drove": "drive", "driven": "drive", "went": "go",
    "gone": "go", "goes": "go", "stolen": "steal", "lost": "lose", "sold": "sell",
    "bought": "buy", "brought": "bring", "met": "meet", "leaves": "leave", "lives": "live",
    "data": "data", "datum": "data", "criteria": "criterion", "indices": "index",
    "appendices": "appendix", "annexes": "annex", "bases": "basis", "analyses": "analysis",
}  # fmt: skip

# Derived nouns and the verb they come from, where the ending alone would not tell.
_DERIVED = {
    "approval": "approve", "refusal": "refuse", "removal": "remove", "renewal": "renew",
    "dismissal": "dismiss", "disposal": "dispose", "proposal": "propose", "denial": "deny",
    "withdrawal": "withdraw", "retention": "retain", "notification": "notify",
    "verification": "verify", "certification": "certify", "classification": "classify",
    "identification": "identify", "modification": "modify", "application": "apply",
    "termination": "terminate", "cancellation": "cancel", "authorization": "authorize",
    "violation": "violate", "escalation": "escalate", "investigation": "investigate",
    "compensation": "compensate", "registration": "register", "resignation": "resign",
    "submission": "submit", "permission": "permit", "deletion": "delete",
    "destruction": "destroy", "encryption": "encrypt", "deduction": "deduct",
    "completion": "complete", "rejection": "reject", "inspection": "inspect",
    "collection": "collect", "protection": "protect", "reimbursement": "reimburse",
    "payment": "pay", "assessment": "assess", "replacement": "replace",
    "appointment": "appoint", "disclosure": "disclose", "closure": "close",
    "breached": "breach", "acceptance": "accept", "attendance": "attend",
    "compliance": "comply", "employment": "employ", "assignment": "assign",
    "enforcement": "enforce", "entitlement": "entitle", "amendment": "amend",
    "agreement": "agree", "expiry": "expire", "expiration": "expire", "delivery": "deliver",
    "publication": "publish", "expenditure": "expend", "storage": "store",
}  # fmt: skip

_ISE = re.compile(r"(?<=[a-z]{3}[a-z])is(e|ed|es|er|ers|ing|ation|ations)$")
_OUR = re.compile(r"(?<=[a-z])(avi|ol|ab|on|ei?ghb|fav|arm|hum|vap|end?eav|harb)our")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Stem one folded word; words shorter than three letters come back as they are."""
    if len(word) < 3 or not word.isascii():
        return word
    word = _OUR.sub(r"\1or", _ISE.sub(r"iz\1", word))
    singular = _EXCEPTIONS.get(word) or _plural(word)
    singular = _EXCEPTIONS.get(singular, singular)
    base = _DERIVED.get(singular)
    return _final_letter(base if base is not None else _participle(singular))


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("xes", "ches", "shes", "oes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def _participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _has_vowel(word[:-3]) and len(word) > 5 else word
    for ending in ("ingly", "edly", "ing", "ed"):
        base = word.removesuffix(ending)
        if base != word:
            return _mend(base) if _has_vowel(base) and len(base) > 1 else word
    if word.endswith("ied"):
        return word[:-3] + "y"
    return word


def _mend(base: str) -> str:
    """Put right what -ed and -ing did to the verb: stopped, controlled, copied, used."""
    if base.endswith(_DOUBLES) and len(base) > 3:
        return base[:-1]
    if base.endswith("ll") and _syllables(base) > 1:
        return base[:-1]
    if base.endswith("i") and len(base) > 2:
        return base[:-1] + "y"
    if _is_short(base):
        return base + "e"
    return base


def _final_letter(word: str) -> str:
    """Final y after a consonant becomes i; final e goes where the stem stays longer than short."""
    if len(word) > 2 and word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    if word[-1:] == "e" != word[-2:-1] and not _is_short(word[:-1]) and _has_vowel(word[:-1]):
        return word[:-1]
    return word


def _is_short(base: str) -> bool:
    """One syllable that needs its e: vowel and consonant at the end (us, rat, not box)."""
    if _syllables(base) != 1 or len(base) < 2:
        return False
    if len(base) == 2:
        return base[0] in _VOWELS and base[1] not in _VOWELS
    return base[-1] not in "aeiouywx" and base[-2] in _VOWELS and base[-3] not in _VOWELS


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word)


def _syllables(word: str) -> int:
    return len(re.findall(r"[aeiouy]+", word))
