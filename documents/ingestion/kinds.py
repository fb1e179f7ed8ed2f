"""What a clause does, told by its grammar, in English and Chinese.

A clause of several sentences is what most of its sentences are; where two kinds draw, the
stricter one wins. A clause that opens with a definition is a definition.
"""

from __future__ import annotations

import re
from collections import Counter

from documents.ingestion.sentences import split_sentences
from documents.records import ChunkKind

_LABEL = r"(?:[\s\-*•]*(?:\(?[\da-zA-Z]{1,4}(?:\.\d+)*[.)]?\s+)?)"
_QUOTED = r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|'[^'\n]{1,80}'|‘[^’\n]{1,80}’|\*\*[^*\n]{1,80}\*\*)"
_TERM = (
    r"(?:(?!(?:By|It|This|That|These|Which|What|No|He|She)\b)[A-Z][\w-]*"
    r"(?:\s+(?:[A-Z][\w-]*|of|and|or|the)){0,5})"
)
_DEFINES = (
    r"(?:means|refers\s+to|is\s+defined\s+as|shall\s+mean|has\s+the\s+meaning|mean)\b(?!\s+of\b)"
)
_DEFINITION = re.compile(
    rf"^{_LABEL}(?:(?:In|For\s+the\s+purposes?\s+of)\s[^,\n]{{1,80}},\s*)?(?:The\s+term\s+)?"
    rf"(?:{_QUOTED}(?:\s+or\s+{_QUOTED})?|{_TERM})(?:\s*\([^)\n]{{1,60}}\))?,?\s+{_DEFINES}"
)
_HAN_DEFINITION = re.compile(
    '[「“"『《][^」”"』》\n]{1,40}[」”"』》][，：:\\s]*(?:係指|系指|是指|指的是|謂|指)(?![定派示導导令引])'
    "|所[稱称][^，。\n]{1,40}[，：:]?(?:係指|系指|是指|指|謂|谓)(?![定派示導导令引])"
    "|^[^，。；\n]{1,30}[，：]?(?:係指|系指|是指)"
)
_WORD_RULES = (
    (
        ChunkKind.PROHIBITION,
        re.compile(
            r"\b(?:must|shall|may|should|can|will)\s+(?:not|never|only\s+not)\b|\bcannot\b"
            r"|\bmustn[’']t\b|\bshan[’']t\b|\b(?:is|are)\s+(?:strictly\s+)?(?:prohibited|forbidden)\b"
            r"|\b(?:is|are)\s+not\s+(?:permitted|allowed)\b|\bnot\s+be\s+(?:permitted|allowed)\b"
            r"|\bno\s+(?:\w+\s+){1,4}(?:may|shall|must)\b|\bdo\s+not\b|^\W*never\b",
            re.IGNORECASE,
        ),
    ),
    (
        ChunkKind.RIGHT,
        re.compile(
            r"\b(?:is|are|be)\s+entitled\s+to\b|\bha(?:s|ve)\s+(?:the|a)\s+right\s+to\b"
            r"|\bright\s+(?:to|of)\s+(?:access|erasure|object|appeal|be)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ChunkKind.OBLIGATION,
        re.compile(
            r"\b(?:must|shall)\b(?!\s+(?:not|never)\b)"
            r"|(?<!not )\b(?:is|are|be)\s+(?:required|obliged|obligated)\s+to\b"
            r"|\b(?:has|have)\s+to\b|\bis\s+responsible\s+for\b|\bare\s+responsible\s+for\b",
            re.IGNORECASE,
        ),
    ),
    (
        ChunkKind.PERMISSION,
        re.compile(
            r"(?<![A-Za-z])may\b(?!\s+(?:not|never)\b)|\bneed\s+not\b"
            r"|\b(?:is|are)\s+(?:permitted|allowed)\s+to\b|\bnot\s+(?:required|obliged)\s+to\b"
        ),
    ),
)
_HAN_RULES = (
    (
        ChunkKind.PROHIBITION,
        re.compile("不得|禁止|嚴禁|严禁|不可(?!抗|或缺|避免|能)|不准|不應|不应"),
    ),
    (ChunkKind.RIGHT, re.compile("有權|有权|享有")),
    (
        ChunkKind.OBLIGATION,
        re.compile(
            "必須|必须|務必|务必|應當|应当|(?<![不無无毋])[須须](?!知)"
            "|(?<![相對对適适反供響响因效回不感])[應应](?![用變变對对徵聘試试答酬邀])"
        ),
    ),
    (
        ChunkKind.PERMISSION,
        re.compile(
            "可以|無須|无须|毋須|(?<![不許许認认])可(?!能|靠|行|用|見|见|疑)"
            "|(?<![不取獲获所覺觉記记值難难使購购應应])得(?![到知出分失以])|得以"
        ),
    ),
)
_STEP = re.compile(
    r"^\s*(?:step\s+\d|\(?\d{1,2}[.)]\s|第[一二三四五六七八九十]+步|步驟|步骤)", re.IGNORECASE
)
_MIN_STEPS = 2
_SAMPLE_CHARACTERS = 20_000


def classify(text: str) -> ChunkKind:
    """The kind of clause that `text` is; `general` where its grammar says nothing."""
    sentences = [text[start:end] for start, end in split_sentences(text[:_SAMPLE_CHARACTERS])]
    if not sentences:
        return ChunkKind.GENERAL
    if _is_definition(sentences[0]):
        return ChunkKind.DEFINITION
    counts: Counter[ChunkKind] = Counter()
    for sentence in sentences:
        kind = _sentence_kind(sentence)
        if kind is not None:
            counts[kind] += 1
    if _is_procedure(text, counts):
        return ChunkKind.PROCEDURE
    if not counts:
        return ChunkKind.GENERAL
    strict_first = [ChunkKind.DEFINITION, *(kind for kind, _ in _WORD_RULES)]
    return max(strict_first, key=lambda kind: (counts[kind], -strict_first.index(kind)))


def _is_definition(sentence: str) -> bool:
    if _DEFINITION.match(sentence):
        return True
    return not sentence.isascii() and _HAN_DEFINITION.search(sentence) is not None


def _sentence_kind(sentence: str) -> ChunkKind | None:
    if _is_definition(sentence):
        return ChunkKind.DEFINITION
    for kind, pattern in _WORD_RULES if sentence.isascii() else (*_WORD_RULES, *_HAN_RULES):
        if pattern.search(sentence):
            return kind
    return None


def _is_procedure(text: str, counts: Counter[ChunkKind]) -> bool:
    """Numbered steps, most of them commands without a modal verb."""
    lines = text[:_SAMPLE_CHARACTERS].split("\n")
    steps = [line for line in lines if _STEP.match(line)]
    return len(steps) >= _MIN_STEPS and sum(counts.values()) < len(steps)
