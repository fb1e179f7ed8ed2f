"""The grammar of English clauses: subject, modal verb, scope of the negation.

The first modal verb of a main clause decides. Modals inside a relative clause or condition
(`information that may be shared`) rule nothing; nor do those that state a possibility (`may
vary`) or an effect in law (`the Act shall be cited as`, `shall not apply`).
"""

from __future__ import annotations

import re

from documents.ingestion.commands import INFORMS, is_duty_by_mood
from documents.ingestion.definitions import LABEL, is_definition
from documents.records import ChunkKind

_ADVERBS = (
    r"(?:\s*,[^,]{1,80},|\s+(?:also|only|always|then|thus|still|first|at\s+all\s+times|therefore"
    r"|in\s+turn|each|all|both|strictly|(?!(?:ap|com|sup|re|im|multi)ply|rely)\w{3,}ly))*"
)
_OPERATOR = re.compile(
    rf"\b(?P<modal>shall|must|may|should|will|can|cannot)(?P<short>n[’']t)?\b{_ADVERBS}"
    rf"(?P<negation>\s+(?:not|never|neither|no\s+longer|under\s+no\s+circumstances|in\s+no\s+(?:event|case))\b)?"
    rf"{_ADVERBS}(?=(?P<verb>\s[^.;]{{0,60}})?)"
    rf"|(?P<short_modal>\b(?:mustn|shan|shouldn|won|can)[’']t\b)(?=(?P<short_verb>\s[^.;]{{0,60}})?)"
    rf"|\b(?:is|are|be|being)(?P<copula_not>\s+not)?{_ADVERBS}\s+(?P<copula>prohibited|forbidden"
    rf"|banned|required|obliged|obligated|permitted|allowed|entitled|eligible|unlawful|illegal"
    rf"|expected\s+to|responsible(?:\s+and\s+\w+)?\s+for|bound\s+(?:to|by)|free\s+to|authori[sz]ed\s+to)\b"
    rf"|\b(?:has|have|had)(?:\s+\w+ly)?\s+(?P<have>to\s+(?!do\b)|(?:the|a)\s+(?:\w+\s+){{0,2}}right"
    rf"\b|an?\s+(?:duty|obligation)\b|no\s+(?:obligation|duty)\b|no\s+right\b)"
    rf"|\b(?P<promise>agrees?|undertakes?|covenants?|commits?)(?P<promise_not>\s+not)?\s+to\s+"
    rf"(?!(?:the|this|these|those|any|our|such|all|an?|its|your|their)\b)\w"
    rf"|\b(?P<offence>commits?\s+an?\s+(?:offen[cs]e|contravention|breach|violation))\b"
    rf"|\b(?P<subject>subject\s+to\s+(?:the|an?)\s+(?:\w+\s+)?(?:obligation|requirement|duty))\b"
    rf"|\b(?P<reserve>reserves?\s+(?:the|all|any)\s+(?:\w+\s+)?rights?)\b"
    rf"|\b(?P<grant>(?:grants?|gives?)\b[^.;]{{1,140}}\b(?:licen[cs]e|rights?))\b"
    rf"|(?<!\bthe )(?<!\ba )(?<!\bno )(?<!\bany )"
    rf"\b(?P<need>needs?(?P<need_not>\s+not)?\s+(?:to\s+)?\w+)"
    rf"|(?:^{LABEL}|[,;:]\s+|\bplease\s+)(?P<forbid>(?:do\s+not|don[’']t|never|refrain\s+from|not\s+to)\b)",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:which|who|whom|whose|where|when|if|unless|until|because|whether|as(?!\s+(?:\w+ed|set|laid|given)\b)|how|what|than|while"
    r"|whenever|wherever|(?<!agrees )(?<!agree )(?<!acknowledges )(?<!ensure )(?<!provided )"
    r"(?<!undertakes )(?<!confirms )(?<!understand )(?<!means )that)\s+"
    r"(?P<between>(?:[\w’'-]+\s+){0,6})$",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:whether|how|what)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?:(?:we|you|it|they|he|she|i|one|there)\s+)?(?:\w+ly\s+|also\s+)?$", re.IGNORECASE
)
# `the steps you can take`, but not `at the office you may`
_ZERO_RELATIVE = re.compile(
    r"\b(?:the|any|all|some|of|other)\s+(?:(?!that\b)\w+\s+){1,3}(?:we|you|they)\s+(?:\w+ly\s+)?$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\s*(?:at|in|on|during|for|after|before|by|with|from|under|within|upon|until)\b", re.IGNORECASE
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|shall|must|may|should|will|can|cannot)\b", re.I
)
_NO_SUBJECT = re.compile(
    r"\b(?:no|neither|nor|none|nobody)\b(?!\s+(?:later|less|more|longer|event|case|circumstances))"
    r"(?:\s+[\w’'/-]+){0,9}\s*$",
    re.IGNORECASE,
)
_OPEN_BRACKET = re.compile(r"(?<=\s)\([^()]*$")
_NOTHING = re.compile(r"\bnothing\b[^,;]{0,60}$", re.IGNORECASE)
_IMPERSONAL = re.compile(r"\b(?:it|this|that|these|those|there|which)\s+$", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(?:you|anyone|everyone|staff|people|persons?|employees?|users?|members?|customers?|clients?"
    r"|managers?|visitors?|contractors?|participants?|workers?|individuals?|students?|colleagues?"
    r"|applicants?|candidates?|team)\s+(?:also\s+)?$",
    re.IGNORECASE,
)
_POSSIBLE = re.compile(
    r"\s*(?:(?:have|become|result|affect|vary|contain|differ|occur|arise|exist|cause|lead|seem|appear"
    r"|suffer|experience|constitute|involve|need|want|wish|try|depend|comprise|know|find|lose|come"
    r"|happen|infringe|impact|expose|feel|consist|remain|last|expire|conflict|prevent|survive"
    r"|require(?!\s+(?:that\b|[^.;,]{1,60}\bto\b)))\b"
    r"|be\s+(?:able|unable|subject|liable|necessary|affected|due|available|unavailable|different|"
    r"more|less|aware|effective|in|an?|the|at|on|of|based|possible|impossible|some|other|too)\b)",
    re.IGNORECASE,
)
# What a person may do, and a thing only might.
_POSSIBLE_OF_THINGS = re.compile(
    r"\s*(?:include|change|take|help|see|apply(?!\s+for)|continue|receive|enable|look|learn|read)\b",
    re.IGNORECASE,
)
_ACTOR = re.compile(
    r"\b(?:we|you|they|he|she|I|who|[A-Z][\w&.’'-]*|[a-z]+(?:ers?|ors?|ees?|ants?|ists?))"
    r"\s+(?:also\s+|then\s+)?$"
)
_NOT_ABLE = re.compile(r"\s*(?:guarantee|ensure|control|promise|warrant|be\s+guaranteed)\b", re.I)
_EFFECT = re.compile(
    r"\s*(?:apply|be\s+(?:in|cited|deemed|construed|interpreted|governed|effective|binding|valid|void"
    r"|liable|responsible|affected|known|treated|considered|regarded)|come\s+into|enter\s+into\s+force|take\s+effect|have\s+effect"
    r"|remain|continue|survive|terminate|expire|commence|inure|affect|limit|prejudice|preclude"
    r"|prevent|constitute|create|extend|begin|cease|become|prevail|supersede|lapse)\b",
    re.IGNORECASE,
)
_BEARS = re.compile(r"\s*be\s+(?:liable|responsible)\b", re.IGNORECASE)
_RIGHT = re.compile(
    r"\s*(?:be\s+(?:\w+ly\s+)?(?:entitled|eligible)|have\s+(?:the|a)\s+(?:\w+\s+){0,2}right"
    r"|(?:still\s+|also\s+)?(?:receive|be\s+(?:granted|given|paid))\b[^,;]{0,40}\b(?:leave|pay|"
    r"benefits?|allowances?|compensation|bonus|wages?|salary|entitlements?))\b",
    re.IGNORECASE,
)
_LEAVE = re.compile(r"\s*be\s+(?:\w+ly\s+)?(?:permitted|allowed|free|authori[sz]ed)\b", re.I)
_BAN = re.compile(r"\s*be\s+(?:\w+ly\s+)?(?:prohibited|forbidden|banned)\b", re.I)
_DUTY = re.compile(
    r"\s*(?:be\s+(?:\w+ly\s+)?(?:,[^,]{1,60},\s*)?(?:required|obliged|obligated)|(?:need|have)\s+to)\b",
    re.IGNORECASE,
)
_RIGHT_ITEM = re.compile(rf"^{LABEL}(?:[Tt]he\s+|[Aa]\s+)?[Rr]ights?\s+(?:to|of)\s+\w")
_FAIL = re.compile(r"\s*fail\s+to\b", re.IGNORECASE)
_PASSIVE = re.compile(r"\s*be\b", re.IGNORECASE)
_UNREAL = re.compile(r"\b(?:could|would|might)\s+(?:\w+ly\s+)?$", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:do|does|did)\s+not\s+$|\b(?:don|doesn|didn)[’']t\s+$", re.IGNORECASE)
_NEITHER = re.compile(r"\s*be\s+(?:neither|in\s+no)\b", re.IGNORECASE)
_BE_FACT = re.compile(
    r"\s*be\s+(?!(?:\w+ly\s+)?\w+(?:ed|en|wn|id|ne|nt|lt|ld|de|ut|et|ade)\b)", re.I
)

_WEAK = 0.5  # plans and abilities: `we will`, `you can`
_THEN = re.compile(rf"^{LABEL}(?:if|where|when)\b[^.;]{{1,400}},\s+then\s", re.IGNORECASE)


def sentence_kind(sentence: str) -> tuple[ChunkKind, float] | None:
    """What the sentence does and how surely, 0 to 1; None where it neither defines nor rules."""
    if is_definition(sentence):
        return ChunkKind.DEFINITION, 1.0
    if _RIGHT_ITEM.match(sentence):
        return ChunkKind.RIGHT, 1.0
    if sentence.endswith("?"):
        return None
    for match in _OPERATOR.finditer(sentence, _main_clause(sentence)):
        kind = _operator_kind(sentence, match)
        if kind is not None:
            return kind, _WEAK if (match["modal"] or "").lower() in ("will", "can") else 1.0
    return (ChunkKind.OBLIGATION, 1.0) if is_duty_by_mood(sentence) else None


def _main_clause(sentence: str) -> int:
    """Where the main clause begins, if a condition before it ends in `then`."""
    match = _THEN.match(sentence)
    return match.end() if match else 0


def _operator_kind(sentence: str, match: re.Match[str]) -> ChunkKind | None:
    """What one verb of the sentence says; None where it rules nothing."""
    if match["forbid"]:
        return ChunkKind.PROHIBITION
    if _OPEN_BRACKET.search(sentence[: match.start()]):
        return None
    modal = match["modal"] or match["short_modal"]
    if _is_subordinate(sentence[: match.start()], modal):
        return None
    if modal:
        return _modal_kind(sentence[: match.start()], match)
    if match["copula"]:
        if _UNREAL.search(sentence[: match.start()]):
            return None
        return _copula_kind(match["copula"].lower(), is_negated=bool(match["copula_not"]))
    if match["have"]:
        if _DENIED.search(sentence[: match.start()]):
            return _denied_kind(match["have"].lower())
        return _have_kind(match["have"].lower())
    if match["offence"]:
        return ChunkKind.PROHIBITION
    if match["subject"]:
        return ChunkKind.OBLIGATION
    if match["promise"]:
        return ChunkKind.PROHIBITION if match["promise_not"] else ChunkKind.OBLIGATION
    if match["need"]:
        return ChunkKind.PERMISSION if match["need_not"] else _need_kind(match["need"].lower())
    return ChunkKind.RIGHT  # a right is reserved, or a licence granted


def _is_subordinate(before: str, modal: str | None) -> bool:
    """Whether the verb belongs to a relative clause or a condition.

    `shall` and `must` hardly ever do unless they follow the word at once (`which we must`);
    other verbs do unless a finite verb stands between.
    """
    segment = re.split(r"[,;:.(]\s", before)[-1]
    if _ZERO_RELATIVE.search(segment) and not _PREPOSITION.match(segment):
        return True
    match = _SUBORDINATE.search(segment)
    if match is None:
        return False
    between = match["between"]
    is_strong = modal is not None and modal.lower() in ("shall", "must", "should")
    if is_strong and not _ASKS.match(match[0]):
        return _PRONOUN.match(between) is not None
    return _FINITE.search(between) is None


def _modal_kind(before: str, match: re.Match[str]) -> ChunkKind | None:
    modal = (match["modal"] or match["short_modal"]).lower()
    verb = match["verb"] or match["short_verb"] or ""
    if modal == "may" and match["modal"] != "may" and not match["modal"].isupper():
        return None  # the month
    if _NOTHING.search(before):
        return None
    negated = bool(match["negation"] or match["short"] or match["short_modal"])
    negated = negated or _NEITHER.match(verb) is not None
    negated = negated or modal == "cannot" or _NO_SUBJECT.search(before) is not None
    if negated:
        return _negated_kind(modal, verb, before)
    for pattern, kind in (
        (_RIGHT, ChunkKind.RIGHT),
        (_LEAVE, ChunkKind.PERMISSION),
        (_BAN, ChunkKind.PROHIBITION),
        (_DUTY, ChunkKind.OBLIGATION),
    ):
        if pattern.match(verb):
            return kind
    return _affirmed_kind(modal, verb, before)


def _negated_kind(modal: str, verb: str, before: str) -> ChunkKind | None:
    if _DUTY.match(verb):
        return ChunkKind.PERMISSION
    if _FAIL.match(verb):
        return ChunkKind.OBLIGATION
    if modal in ("shall", "shan"):
        return None if _EFFECT.match(verb) else ChunkKind.PROHIBITION
    if modal in ("must", "mustn", "should", "shouldn"):
        return ChunkKind.PROHIBITION
    if modal in ("will", "won") and not _may_plan(before, verb):
        return None
    is_fact = any(p.match(verb) for p in (_POSSIBLE, _POSSIBLE_OF_THINGS, _NOT_ABLE, _EFFECT))
    return None if is_fact else ChunkKind.PROHIBITION


def _affirmed_kind(modal: str, verb: str, before: str) -> ChunkKind | None:
    is_effect = _EFFECT.match(verb) is not None and not _BEARS.match(verb)
    if modal in ("must", "should"):
        return ChunkKind.OBLIGATION
    if modal == "shall":
        return None if is_effect else ChunkKind.OBLIGATION
    if _POSSIBLE.match(verb) or (_POSSIBLE_OF_THINGS.match(verb) and not _ACTOR.search(before)):
        return None
    if modal == "may":
        return ChunkKind.PERMISSION
    if modal == "can":
        is_allowed = _PERSON.search(before) and not INFORMS.match(verb.strip())
        return ChunkKind.PERMISSION if is_allowed else None
    is_fact = (
        is_effect
        or not _may_plan(before, verb)
        or (_BE_FACT.match(verb) and not _BEARS.match(verb))
    )
    return None if is_fact else ChunkKind.OBLIGATION


def _may_plan(before: str, verb: str) -> bool:
    """Whether `will` is a promise: somebody acts, or it is said what will be done."""
    if _IMPERSONAL.search(before):
        return False
    return _ACTOR.search(before) is not None or _PASSIVE.match(verb) is not None


def _copula_kind(word: str, *, is_negated: bool) -> ChunkKind | None:
    if word in ("prohibited", "forbidden", "banned", "unlawful", "illegal"):
        return ChunkKind.PERMISSION if is_negated else ChunkKind.PROHIBITION
    if word in ("permitted", "allowed") or word.startswith(("free", "authori")):
        return ChunkKind.PROHIBITION if is_negated else ChunkKind.PERMISSION
    if word in ("entitled", "eligible"):
        return None if is_negated else ChunkKind.RIGHT
    if is_negated:
        return None if word.startswith("responsible") else ChunkKind.PERMISSION
    return ChunkKind.OBLIGATION


def _have_kind(words: str) -> ChunkKind | None:
    if words.startswith("no"):
        return None
    return ChunkKind.RIGHT if "right" in words else ChunkKind.OBLIGATION


def _denied_kind(words: str) -> ChunkKind | None:
    """`do not have to`, `does not have the right to`."""
    if "right" in words:
        return ChunkKind.PROHIBITION
    return ChunkKind.PERMISSION if words.startswith("to") else None


def _need_kind(words: str) -> ChunkKind | None:
    return ChunkKind.OBLIGATION if re.match(r"needs?\s+to\s", words) else None
