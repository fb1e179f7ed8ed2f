"""What a question asks for: its content words, and the sort of thing that answers it.

Lexical on purpose: the extractive answerer must explain every refusal by words the asker
used. English and Chinese question forms; other languages get words and no sort.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.clauses import is_cjk
from qa.answering.question_words import NO_TOPIC
from qa.answering.verify import units
from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities, fold


class Wanted(StrEnum):
    """The sort of thing that would answer."""

    MONEY = "money"
    QUANTITY = "quantity"
    DURATION = "duration"
    COUNT = "count"
    TIME = "time"
    FREQUENCY = "frequency"
    PERSON = "person"
    NAME = "name"
    PLACE = "place"
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
    term: str = ""  # what `what does X mean` wants defined
    role: str = ""  # whose holder `who is the X` wants named
    is_extent: bool = False  # `how many days of leave`: how much there is, not by when
    unit: frozenset[str] = frozenset()  # in which `how many weeks` wants it
    pairs: tuple[tuple[int, int], ...] = ()  # keywords that stand side by side: `expense claims`


_MONEY: Final = (
    r"how much|(?:what|which)(?: is| are| was)?(?: the| my| our)?(?: \w+){0,3}? (?:cost|price|fee|"
    r"deposit|allowance|budget|fine|charge|amount|excess|salary|bonus)s?\b|how (?:large|big|"
    r"high) is"
    r"|(?:above|below|up to|over|from) what (?:amount|sum|price|value)|what does .+ cost\b|"
    r"\bin (?:dollars|euros|pounds|us ?d|gbp|money)\b"
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
        (Wanted.QUANTITY, r"^(?!.*\b(?:mean|fee|cost|price|allowance|budget|fine|charge)s?\b)\W*"
                          r"what(?:'s| is| are) (?:the |my |our )?(?:[\w'’-]+ ){0,4}?(?:limit|"
                          r"maximum|minimum|cap|ceiling|threshold|age|percentage|rate|length|"
                          r"duration)s?\b"),
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
        (Wanted.TIME, r"^\W*(?:\w+ )?when\b|, when\b|\bwhen (?:must|may|do|does|did|can|will|"
                       r"should|shall)\b|"
                       r"\b(?:by|at|until|from|since) (?:what|which) (?:time|date|day|"
                      r"hour)\b|\bwhat time\b|"
                      r"\bby when\b|\buntil when\b|\bwhat (?:date|day)\b|何時|何时|什麼時候|"
                      r"什么时候|幾點|几点|哪一?天|何日"),
        (Wanted.PLACE, r"^\W*(?:and |so )?where\b"),
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
_AUXILIARY: Final = (
    r"(?:of|do|does|did|is|are|must|may|can|has|have|should|will|need|for|in|to|am|was|were|had|"
    r"would|could|per|a|each|on|at|by|from|with)"
)
_HEAD: Final = re.compile(
    r"\b(?:how many|how much|which|what|whose)\s+(?!is|are|was|were|does|do|did|must|may|can|"
    r"should|will|has|have|happens|if|about)"
    rf"(?P<head>(?:[\w'-]+\s+(?!{_AUXILIARY}\b))?[\w'-]+)"
    rf"(?=\s+(?:{_AUXILIARY}|covers|supplies|apply|\w+s)\b|\?)|"
    r"\b(?:what|where) (?:is|are|was) (?:the |our |my )?(?:[\w'-]+ ){0,3}?(?P<thing>[\w-]+)"
    r"(?= (?:for|of|in|per|to|on|at|a|when|if|after)\b|\?|$)|"
    r"\b(?:is|are) there (?:an? |any )(?P<there>[\w-]+)",
    re.IGNORECASE,
)
_WHO_DOES: Final = re.compile(
    r"\bwho (?:(?:must|may|can|should|shall|will|has to|needs to|is (?:allowed|entitled) to) )?"
    r"(?!is|are|was|were|do|does|did|has|have|else|or|to\b|responsible|contact)(?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_TERM: Final = re.compile(
    r"\bwhat (?:does|do) (?:an? |the )?(?:(?:term|word|phrase|expression) )?(?P<a>.+?) "
    r"(?:mean|stand for|refer to)\b|"
    r"\bwhat is meant by (?:an? |the )?(?:(?:term|word|phrase) )?(?P<b>.+?)\?*$|"
    r"\b(?:definition|meaning) of (?:an? |the )?(?:(?:term|word|phrase) )?(?P<c>.+?)\?*$|"
    r"^\W*what (?:is|are) (?:an? )?(?P<d>(?:(?!(?:for|in|per|at|to|on|when|if|after|by|from|"
    r"with|there)\b)[\w'’-]+ ?)+)\?*$|"
    r"(?:何謂|何谓|什麼是|什么是)(?P<e>[^？?，。]+)|^(?P<f>[^？?，。]{1,20}?)(?:是什麼意思|是什么意思|"
    r"是指什麼|指的是什麼|的定義)",
    re.IGNORECASE,
)
_NO_TERM: Final = re.compile(r"\b(?:for|after|than|when|if|before|during|without)\b", re.I)
_ROLE: Final = re.compile(
    r"^\W*who (?:is|are) (?:the |our |your )?(?P<role>[^?]+?)\W*$", re.IGNORECASE
)
_NO_HOLDER: Final = re.compile(
    r"\b(?:responsible|allowed|entitled|eligible|covered|exempt|liable|able|required|to|that|who|"
    r"in charge|accountable|informed|affected|considered|\w+ed)\b",
    re.IGNORECASE,
)
_EXTENT: Final = re.compile(
    r"\bhow (?:many (?:\w+ ){0,2}(?P<unit>seconds|minutes|hours|days|nights|weeks|months|years)|"
    r"much (?:\w+ )?leave)\b(?!.*\b(?:notice|advance|ahead|before|after|prior|beforehand|within|"
    r"until|deadline|from|following|late|early)\b)",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(r"\b(?:within|in|after|before|by|for) how many\b", re.IGNORECASE)
_NOUN_FOLLOWS: Final = r"\b(?:the|an?|any|my|our|your|on|of|for|at|in|with|from|by|which|what) "
_INVERTED: Final = (  # `may a car stand`: a subject meets its verb
    r"\b(?:may|can|must|do|does|did|will|shall|should|is|are|has|have)(?: the| an?| my| our)? "
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
    extent = _EXTENT.search(text)
    return Question(
        text,
        in_cjk,
        wanted,
        keywords,
        quantities,
        term=_term(text) if wanted is Wanted.DEFINITION else "",
        role=_role(text) if wanted is Wanted.PERSON else "",
        is_extent=bool(extent) and not _WITHIN.search(text),
        unit=units.canonical(extent["unit"]) if extent and extent["unit"] else frozenset(),
        pairs=() if in_cjk else tuple(_pairs(text, keywords)),
    )


def _pairs(text: str, keywords: Sequence[Keyword]) -> Iterator[tuple[int, int]]:
    """Words that name one thing together: neighbours behind an article or preposition."""
    is_open = False
    for index, (first, second) in enumerate(pairwise(keywords)):
        name = rf"\b{re.escape(first.surface)}[ -]{re.escape(second.surface)}\b"
        is_near = first.weight >= 1 <= second.weight and re.search(name, text) is not None
        is_noun = is_open or re.search(rf"{_NOUN_FOLLOWS}{name}", text, re.IGNORECASE) is not None
        is_open = is_near and is_noun and not re.search(rf"{_INVERTED}{name}", text, re.IGNORECASE)
        if is_open:
            yield index, index + 1


def _term(text: str) -> str:
    match = _TERM.search(text)
    term = next((found for found in match.groups() if found), "") if match else ""
    if _NO_TERM.search(term):
        return ""
    return re.sub(r"^(?:the|an?) ", "", term.strip(" \"'“”‘’「」?？"))


def _role(text: str) -> str:
    """The role of `who is the X`; not of `who is responsible for X`, which any role answers."""
    match = _ROLE.match(text)
    role = re.sub(r"\s+(?:of|at|for|in) .*$", "", match["role"]) if match else ""
    return "" if _NO_HOLDER.search(role) else role


def _without(text: str, quantities: Iterable[Quantity]) -> str:
    text = fold(text)
    for quantity in quantities:
        text = text[: quantity.start] + " " * (quantity.end - quantity.start) + text[quantity.end :]
    return text


def _keywords(text: str, language: str) -> tuple[Keyword, ...]:
    heads = {
        word.casefold()
        for match in _HEAD.finditer(text)
        for word in (match["head"] or match["thing"] or match["there"] or "").split()
    }
    heads |= {match["verb"].casefold() for match in _WHO_DOES.finditer(text)}
    if not heads and (many := re.search(r"\bhow many ([\w'-]+)", text, re.IGNORECASE)):
        heads = {many[1].casefold()}
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
