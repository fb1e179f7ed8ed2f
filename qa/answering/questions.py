"""What a question asks for: its content words, and the sort of thing that answers it.

Lexical on purpose: the extractive answerer must explain every refusal by words the asker
used. English and Chinese question forms; other languages get words and no sort.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.clauses import is_cjk
from qa.answering.question_words import NO_TOPIC
from qa.answering.verify import units
from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities, fold


class Wanted(StrEnum):
    """The sort of thing that would answer."""

    MONEY = "money"
    DURATION = "duration"
    COUNT = "count"
    TIME = "time"
    FREQUENCY = "frequency"
    PERSON = "person"
    NAME = "name"
    CONTACT = "contact"
    DEFINITION = "definition"
    LIST = "list"
    YES_NO = "yes_no"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Keyword:
    """One content word of the question: as written, its stems, and how much it matters."""

    surface: str
    stems: frozenset[str]
    weight: float
    is_head: bool = False  # what the answer must be: the X of "which X", "how many X"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    is_cjk: bool
    wanted: Wanted
    keywords: tuple[Keyword, ...]
    quantities: tuple[Quantity, ...] = ()  # `above £5,000`, `after 23:00`


_MONEY: Final = (
    r"how much|(?:what|which)(?: is| are| was)?(?: the| my| our)?(?: \w+){0,3}? (?:cost|price|fee|"
    r"deposit|allowance|budget|fine|charge|amount|excess|salary|bonus)s?\b|how (?:large|big|"
    r"high) is"
    r"|(?:above|below|up to|over|from) what (?:amount|sum|price|value)|what does .+ cost\b"
)
_FORMS: Final = tuple(
    (wanted, re.compile(pattern, re.IGNORECASE))
    for wanted, pattern in (
        (Wanted.CONTACT, r"\b(?:phone|telephone|mobile|hotline|fax|extension|e-?mail|web ?site|"
                         r"url|postal|"
                         r"mailing)\b(?: number| address)?[^?]*\??$|電話號碼|电话号码|電子郵件|"
                         r"网址|網址|信箱|分機"),
        (Wanted.NAME, r"\b(?:which|what)(?:'s the name of| is the name of)? (?:[\w-]+ "
                      r"){0,1}(?:company|vendor|supplier|"
                      r"brand|bank|insurer|firm|agency|provider|tool|app|software|city|country|"
                      r"airline|maker|"
                      r"manufacturer|make|product|newspaper|hospital|university|court)\b|"
                      r"\bname of\b|哪家|哪間|什麼品牌|哪個品牌|名稱"),
        (Wanted.DEFINITION, r"^\W*what (?:is|are) (?:an? )?(?!the\b|our\b|my\b|your\b)[\w\"'“” "
                            r"-]{3,40}\?$|"
                            r"\bwhat (?:does|do|is meant by) .+ (?:mean|stand for|refer to)\b|"
                            r"\bwhat is meant by\b|"
                            r"\bdefin(?:e|ition)\b|\bmeaning of\b|何謂|何谓|所稱|所称|什麼是|"
                            r"什么是|定義|定义|是指什麼|指的是"),
        (Wanted.FREQUENCY, r"\bhow (?:often|frequently|many times|regularly)\b|多久.{0,4}一次|"
                           r"幾次|几次"),
        (Wanted.DURATION, r"\bhow (?:long|soon|quickly|fast|late|far in advance|far ahead|much "
                          r"(?:time|notice)|"
                          r"many (?:\w+ ){0,2}(?:seconds|minutes|hours|days|nights|weeks|months|"
                          r"years)|old)\b|"
                          r"\b(?:within|in|after|for) (?:what|which|how much) (?:time|period|"
                          r"notice)\b|\bdeadline\b|"
                          r"\bnotice period\b|幾個?(?:工作日|工作天|日|天|週|周|星期|個?月|月|年|"
                          r"小時|分鐘)|"
                          r"几个?(?:工作日|工作天|日|天|周|星期|个?月|年|小时|分钟)|多久|多長|"
                          r"多长|多少(?:日|天|個?月|年|小時)|期限"),
        (Wanted.MONEY, rf"\b(?:{_MONEY})|多少(?:錢|钱|元|費用?|费用?|.{{0,6}}[費费金額额])|幾元|"
                       rf"几元|費用.{{0,4}}多少|"
                       r"金額|金额|上限.{0,4}多少"),
        (Wanted.COUNT, r"\bhow many\b|\bwhat (?:percentage|share|proportion|per ?cent)\b|多少|"
                       r"[幾几]號|幾[個名人次件份倍位張]|几[个名人次件份倍位张]"),
        (Wanted.TIME, r"\bwhen\b|\b(?:by|at|until|from|since) (?:what|which) (?:time|date|day|"
                      r"hour)\b|\bwhat time\b|"
                      r"\bby when\b|\buntil when\b|\bwhat (?:date|day)\b|何時|何时|什麼時候|"
                      r"什么时候|幾點|几点|哪一?天|何日"),
        (Wanted.PERSON, r"^(?:\W*(?:and|so|by|to|with|from) )?who(?:m|se)?\b|\bwho(?:m|se)? "
                        r"(?:must|may|can|has|do|"
                        r"does|is|approves?|decides?|should|needs?|will)\b|\b(?:which|what) "
                        r"(?:person|role|manager|"
                        r"officer|department|team|committee|director)\b|誰|谁|何人|哪個部門|"
                        r"哪个部门|哪位|由何"),
        (Wanted.LIST, r"\b(?:list|name) (?:all|the|every)\b|\bin (?:which|what) (?:cases|"
                      r"circumstances|situations)\b|"
                      r"\b(?:which|what) (?:\w+ ){0,2}\w+s (?:are|is|must|may|can|do|does|have|"
                      r"count|will|need)\b|"
                      r"\bwhat (?:are|kinds?|types?|sorts?)\b|哪些|哪幾|有何|列出"),
        (Wanted.YES_NO, r"^\W*(?:and |so |but )?(?:is|are|am|was|were|do|does|did|may|can|could|"
                        r"must|shall|should|"
                        r"will|would|has|have|need|if)\b|[嗎吗]|是否|可否|能否|可不可以|能不能|"
                        r"要不要|需不需要|可以.{0,30}[嗎吗]"),
    )
)  # fmt: skip
_HEAD: Final = re.compile(
    r"\b(?:how many|how much|which|what|whose)\s+(?!is|are|was|were|does|do|did|must|may|can|"
    r"should|"
    r"will|has|have|happens|if|about)(?P<head>(?:[\w'-]+\s+){0,1}?[\w'-]+)(?=\s+(?:of|do|does|"
    r"did|is|are|"
    r"must|may|can|has|have|should|will|need|for|in|to|am|was|were|had|would|could|per|a|each|on|"
    r"at|by|"
    r"from|with|covers|supplies|apply|\w+s)\b|\?)|"
    r"\b(?:what|where) (?:is|are|was) (?:the |our |my )?(?:[\w'-]+ ){0,3}?(?P<thing>[\w-]+)"
    r"(?= (?:for|of|in|per|to|on|at|a|when|if|after)\b|\?|$)",
    re.IGNORECASE,
)
_LIGHT: Final = 0.25
_ASKED_ABOUT: Final = frozenset(
    {QuantityKind.NUMBER, QuantityKind.MEASURE, QuantityKind.CLOCK, QuantityKind.DATE}
)
_CJK_FUNCTION: Final = re.compile(
    r"[一二兩三四五六七八九十百千萬\d幾几]+[個个]?(?:工作日|小時|小时|分鐘|分钟|日|天|月|年|元|"
    r"次|人|週|周)|"
    r"多少|幾個?|几个?|什麼|什么|何時|何时|何謂|何人|哪些|哪位|哪個|哪个|是否|可否|能否|可不可以|"
    r"能不能|如果|如何|"
    r"怎麼|怎么|怎樣|請問|请问|可以|需要|應該|应该|必須|必须|不得|我們|我们|你們|規定|规定|公司|"
    r"員工|员工|時候|时候|"
    r"[的了嗎吗呢於于之者我您你他它應应得將将在與与及或為为是有要會会能可誰谁何哪請请須须"
    r"也都就又並并而且但若如]"
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*")


def read_question(text: str, language: str) -> Question:
    """Read a question: what sort of answer it wants, and by which words."""
    text = " ".join(text.split())
    in_cjk = is_cjk(text) or language.startswith(("zh", "ja"))
    wanted = next((w for w, form in _FORMS if form.search(text)), Wanted.ANY)
    quantities = tuple(q for q in find_quantities(text) if q.kind in _ASKED_ABOUT)
    bare = text if in_cjk else _without(text, quantities)
    keywords = _cjk_keywords(bare) if in_cjk else _keywords(bare, language)
    return Question(text, in_cjk, wanted, keywords, quantities)


def _without(text: str, quantities: Iterable[Quantity]) -> str:
    text = fold(text)
    for quantity in quantities:
        text = text[: quantity.start] + " " * (quantity.end - quantity.start) + text[quantity.end :]
    return text


def _keywords(text: str, language: str) -> tuple[Keyword, ...]:
    heads = {
        word.casefold()
        for match in _HEAD.finditer(text)
        for word in (match["head"] or match["thing"] or "").split()
    }
    found: dict[frozenset[str], Keyword] = {}
    for match in _TOKEN.finditer(text):
        surface = re.sub(r"['’]s$", "", match.group())
        stems = frozenset(content_words(surface, language))
        if not stems or stems in found:
            continue
        is_light = surface.casefold() in NO_TOPIC or bool(units.canonical(surface))
        is_light = is_light and not (surface.isupper() and len(surface) > 1)
        is_head = surface.casefold() in heads and not is_light
        weight = _LIGHT if is_light else 1.0
        found[stems] = Keyword(surface, stems, weight, is_head)
    return tuple(found.values())


def _cjk_keywords(text: str) -> tuple[Keyword, ...]:
    found: dict[frozenset[str], Keyword] = {}
    for run in re.findall(r"\w+", _CJK_FUNCTION.sub(" ", text)):
        for stem in _runs(content_words(run, "zh-Hant")):
            key = frozenset({stem})
            found.setdefault(key, Keyword(stem, key, 1.0))
    return tuple(found.values())


def _runs(stems: Iterable[str]) -> list[str]:
    return [stem for stem in stems if len(stem) > 1]
