"""The words that questions are read with: those that name no topic, and synonyms.

Short lists on purpose: a synonym that is wrong in one policy gives a wrong answer there.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from documents.ingestion.analysis import content_words

_NO_TOPIC_WORDS: Final = """
many much long soon often quick quickly late far big large larg high tall old fast kind kinds
sort type types case cases circumstances situation exactly actually please tell know say happen
happens happened possible allowed anything something somebody someone anyone everyone one there
thing way question policy policies rule rules document documents company employer firm business
organisation organization staff employee employees worker workers colleague colleagues person
people i'm i've i'd yes no not want wants need needs get gets got give given gives go goes make
makes made let take takes do does did done put use using still ever also maximum minimum max min
limit amount number time times date day days hour hours week weeks month months year years
before after last currently own highest lowest largest smallest longest shortest permitted
entitled eligible able receive required necessary must apply applies new mean means meaning
meant call called mentioned work deadline cap ceiling
"""
NO_TOPIC: Final = frozenset(_NO_TOPIC_WORDS.split())
_SYNONYMS: Final = (
    "notebook laptop computer pc",
    "holiday vacation leave",
    "dismiss fire sack terminate",
    "reimburse refund repay reimbursement claim claimed back",
    "cost price fee charge costs pay paid",
    "ill sick illness sickness",
    "boss manager supervisor superior",
    "start begin commence",
    "end finish expire stop",
    "phone telephone mobile",
    "car vehicle",
    "report notify inform tell",
    "allow permit permitted",
    "forbid prohibit ban prohibited forbidden",
    "buy purchase bought",
    "erase delete destroy erasure deletion",
    "keep retain store retention kept stored",
    "approve authorise consent approval sign-off authorisation",
    "child baby",
    "spouse wife husband partner",
    "doctor physician",
    "wage salary pay",
    "hotel accommodation lodging",
    "flight plane fly air",
    "trip journey travel travelling",
    "train rail railway",
    "dinner supper",
    "replace renew swap exchange renewal",
    "lose lost missing",
    "remote remotely telework home",
    "carry carried roll transfer",
    "appeal contest challenge",
    "breach incident leak",
    "password passcode",
    "acknowledge confirm",
    "death die died bereavement funeral",
    "marry marriage wedding",
    "relocate move moving",
    "anonymous anonymously",
    "acceptable permitted",
    "shareable share sharing disclose disclosure",
    "lock locked block blocked",
    "safe secure",
    "gift present gifts",
    "alcohol drink drinks wine beer",
    "course training",
    "fill submit hand",
    "answer reply respond",
    "quick soon",
    "mandatory compulsory obligatory",
    "employment job",
    "bike bicycle",
    "money cash",
    "park parking stand",
    "announce publish notice",
)
_CHINESE_SYNONYMS: Final = (
    "休假 請假 放假",
    "核准 同意 批准 准許",
    "主管 老闆 上司",
    "申請 提出 請求",
    "費用 金額 價格 費",
    "結婚 婚假",
    "生病 病假 傷病",
    "離職 辭職",
    "加班 延長",
)


@cache
def synonyms() -> dict[str, frozenset[str]]:
    """Stem to the stems that may stand for it in a policy."""
    table: dict[str, frozenset[str]] = {}
    for group in _SYNONYMS:
        stems = frozenset(s for word in group.split() for s in content_words(word, "en"))
        for stem in stems:
            table[stem] = table.get(stem, frozenset()) | stems
    for group in _CHINESE_SYNONYMS:
        words = frozenset(group.split())
        for word in words:
            table[word] = table.get(word, frozenset()) | words
    return table
