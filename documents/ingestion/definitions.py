"""English definitions: a term, quoted, bold or capitalised, before `means` or `refers to`."""

from __future__ import annotations

import re

# What may stand before a sentence: a bullet, `(a)`, `2.4`.
LABEL = r"(?:[\s\-*•>]*(?:\(?(?:[\da-zA-Z]{1,4}(?:\.\d+)*[.)]|\d{1,3}(?:\.\d+)*)\s+)?)"
_QUOTED = (
    r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|'[^'\n]{1,80}'|‘[^’\n]{1,80}’"
    r"|\*\*[^*\n]{1,80}\*\*|__[^_\n]{1,80}__)"
)
_TERM = (
    r"(?:(?!(?:By|It|This|That|These|Which|What|No|He|She|We|You|They|There|Please|See|To|You)\b)[A-Z][\w-]*"
    r"(?:\s+(?:[A-Z][\w-]*|of|and|or|the|in|for|an?|data|information|\d+)){0,9})"
)
_DEFINES = (
    r"(?:means?|refers?\s+to|(?:is|are|should\s+be|shall\s+be)\s+defined\s+(?:as|in|by)"
    r"|(?:shall|will)\s+mean|(?:(?:shall\s+)?(?:have|bear)|has|bears)\s+the\s+(?:same\s+)?meanings?"
    r"|(?:shall|will|does|do)\s+not\s+include)\b(?!\s+(?:of|well|to)\b)"
)
_SUM = (
    r"(?:is|are|shall\s+be)\s+the\s+(?:aggregate|sum|amount|total|difference|product|ratio"
    r"|higher|lower|greater|lesser)\s+(?:of|between)\b"
)
_DEFINITION = re.compile(
    rf"^{LABEL}(?:(?:In|For|As\s+used\s+in)\s[^,\n]{{1,90}},\s*)?"
    rf"(?:(?:[Tt]he|[Aa]n?)\s+)?(?:(?:term|expression|word|phrase)s?\s+)?"
    rf"(?:{_QUOTED}(?:(?:,|\s+or|\s+and)+\s+{_QUOTED})*(?:\s*\([^)\n]{{1,60}}\))?,?\s+"
    rf"(?:{_DEFINES}|includes?\b|(?:is|are)\s+(?:an?|the|any)\b)"
    rf"|{_TERM}(?:\s*\([^)\n]{{1,60}}\))?,?\s+(?:{_DEFINES}|{_SUM}))"
)
_SEPARATE_TERM = re.compile(
    r"\b(?!(?:[Bb]y|[Aa]ll|[Nn]o|[Tt]his|[Tt]hat|[Ww]hich|[Ii]t|[Oo]ther|[Tt]hese)\b)\w+\s+means\s+"
    r"(?:an?|any|each|every|those|one|information|data|all)\b(?=\s\w+)"
)
_DEFINED_TERMS = re.compile(
    rf"^{LABEL}(?:an?|the)\s+(?:\w+\s+){{1,10}}means(?!\s+(?:that|well|of|to)\b),?\s|"
    r"\bby\b[^.]{1,80}\bwe\s+mean\b"
    r"|^[\W\d]*words\s[^.;]{0,200}\b(?:includes?|mean|be\s+construed)\b"
    r"|(?:^[\W\d]*|,\s+)(?:an?\s+)?references?\s+(?:in\s[^.;]{1,40}\s)?to\b[^.;]{0,160}"
    r"\b(?:includes?|mean|refer|be\s+construed|(?:is|are)\s+(?:an?\s+)?references?)\b|"
    r"following\s+(?:terms|definitions|words|expressions)\b[^.\n]{0,60}\b(?:appl|mean|defin|set)"
    r"|terms\b[^.\n]{0,60}\bfollowing\s+meanings",
    re.IGNORECASE,
)


def is_definition(sentence: str) -> bool:
    """Whether a term stands before `means`, `refers to` and their like."""
    return bool(
        _DEFINITION.match(sentence)
        or _DEFINED_TERMS.search(sentence)
        or _SEPARATE_TERM.search(sentence[:160])
    )
