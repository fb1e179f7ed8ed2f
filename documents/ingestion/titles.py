"""Does a line read like a title, like a whole clause, or like the middle of a sentence?"""

from __future__ import annotations

import re

_MAX_TITLE_WORDS = 14
_MAX_TITLE_CHARACTERS = 110
_MAX_HAN_TITLE_CHARACTERS = 30
_SENTENCE_END = tuple(".;:!,。；：！，、…")
_VERB_WORDS = """
    shall must will may should would is are was were has have had can cannot could does do
    applies apply means includes include need needs
    est sont doit doivent peut peuvent ist sind muss müssen kann können darf dürfen gilt gelten
"""
_VERBS = frozenset(_VERB_WORDS.split())
_HAN_CLAUSE = re.compile("[，；。]|不得|應當|应当|必須|必须|是指|係指")
_CONNECTOR_WORDS = """
    a an the of in on at by to from for with and or nor but under over than within least most
    about approximately per via as into upon between through until since before after during
    that which who whose if when where unless is are was were be been has have had shall must
    may will should not no any each every all their its his her our your this these those
    de la le les du des au aux et ou dans par pour sur sous der die das den dem des und oder
    im in nach gemäß mit von zu für bis auf nr.
"""
# A line of running text that ends with one of these goes on with the number; a title may end so.
_REFERENCE_WORDS = """
    section sections article articles clause clauses paragraph paragraphs annex schedule
    appendix part chapter rule rules see regulation page pages no. art. sec. para. § §§
    artikel abschnitt absatz anlage chapitre annexe
"""
_REFERENCES = frozenset(_REFERENCE_WORDS.split())
_CONNECTORS = frozenset(_CONNECTOR_WORDS.split())
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}
)
_UNIT_WORDS = """
    days? weeks? months? years? hours? hrs? minutes? mins? seconds? business working calendar
    percent percentage euros? dollars? pounds? cents? million billion thousand
    kg km cm mm m g l mb gb tb kb ghz mhz hz kw kwh usd eur gbp chf twd ntd jpy cny
    am pm times fte ftes points? people persons?
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sept? oct nov dec tage? jahre? stunden? jours ans mois heures
"""
_UNIT = re.compile(
    rf"(?:(?:{'|'.join(_UNIT_WORDS.split())}|per cent|[ap]\.m\.)(?!\w)|[%°€$£¥‰]|[×x]\s?\d)",
    re.IGNORECASE,
)
_MONTH_OF_A_NAME = re.compile(r"(?:May|March)\s+[A-Z][a-z]")
_HAN_UNIT = re.compile("[日天個个年月週周小時时元歲岁人次分％%度公]")
_TABLE_ROW_END = re.compile(
    r"\d[\d.,]*\s*(?:[%€$£¥]|[A-Z]{3}|euros?|dollars?|days?|hours?|kg|km)$|[€$£¥]\s?\d[\d.,]*$"
)
_SUB_CLAUSE = re.compile(r"\([a-z\d]{1,4}\)\s+[A-Z\"“‘]")
_ANY_SUB_CLAUSE = re.compile(r"\([a-z\d]{1,4}\)\s+[A-Za-z\"“‘]")
_REFERENCE = re.compile(
    r"[(,;)\]/]|(?:and|or|to|of|through|above|below|et|ou|und|oder|bis|du|de|des|der|lit|para|"
    r"paragraph|subsection|sub-section|point)\b|(?:Abs|Satz|Nr|S|al)\b\.?"
)
_HAN_REFERENCE = re.compile(
    "第|有關|有关|[的中内內之所規规訂订定、，,及或和與与至前後后項项款為为等但以時时者]"
)
_RUN_IN = re.compile(
    r"(?P<title>[A-Z][\w’'/&-]*(?:[ ,]{1,2}(?:[A-Z][\w’'/&-]*|a|an|and|as|by|for|from|in|of|on|or|"
    r"the|to|with)){0,7})(?P<mark>[.:])\s+(?=[A-Z\"“‘(])"
)
_STARTERS = """
    The This These Those Each You All If In Upon Any No Neither Either Both Except Subject Unless
    During For It There We Notwithstanding As At By Where When Nothing Without Such Every Within
    Company Licensor Licensee Customer Supplier Distributor Contractor Consultant Executive
"""
_UNMARKED_RUN_IN = re.compile(
    r"(?P<title>[A-Z][\w’'/&-]*(?:[ ,]{1,2}(?:[A-Z][\w’'/&-]*|a|an|and|as|by|for|from|in|of|on|or|"
    rf"the|to|with)){{0,7}}?)(?:[^\S\n]{{3,}}(?=\S)|\s+(?=\([a-z1A]\)\s|(?:{'|'.join(_STARTERS.split())})\s))"
)
WRAP = 160  # characters; a longer line has lost its line breaks
_BRACKETED = re.compile(r"[（(【\[](?P<title>[^（）()【】\[\]\n]{1,40})[）)】\]]\s*")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tabelle|abbildung|tableau|box|chart|graph|exhibit|map|diagram)\s*"
    r"[A-Z]{0,2}\.?\d+(?:[.–-]\d+)*[a-z]?(?:\s*[.:–—-]|\s*$|\s+[A-Z])"
    r"|[圖图表]\s*[一二三四五六七八九十\d]+",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\b(?:No|Nos|Art|Sec|Dr|Mr|Mrs|Ms|Inc|Ltd|Co|St|Note|[A-Z])$")


def is_title(text: str, following: str | None) -> bool:
    """Whether `text` reads like a heading rather than a sentence or its beginning.

    Args:
        text: the line without its label.
        following: the next line of the same paragraph, which may go on with the sentence.
    """
    if not text or text.endswith(_SENTENCE_END) or len(text) > _MAX_TITLE_CHARACTERS:
        return False
    if not any(char.isalpha() for char in text):
        return False
    if _has_han(text):
        return len(text) <= _MAX_HAN_TITLE_CHARACTERS and not _HAN_CLAUSE.search(text)
    words = text.split()
    if len(words) > _MAX_TITLE_WORDS or ends_open(text):
        return False
    if following and following[0].islower():
        return False
    if text.endswith("?") or is_title_case(text):
        return True
    return not any(word.strip("\"'“”(),") in _VERBS for word in words[1:])


def begins_words(text: str) -> bool:
    """Whether `text` begins like a title or sentence: a capital, a wide character, a quote."""
    return text[:1] in tuple("\"'“‘«「『（([*¿¡") or (text[:1].isalpha() and not text[0].islower())


def is_title_case(text: str) -> bool:
    """Whether every word that carries meaning begins with a capital or digit."""
    words = [word.strip("\"'“”‘’()[]&–—-") for word in text.split()]
    meaning = [word for word in words if word and word not in _SMALL_WORDS]
    return bool(meaning) and all(not word[0].islower() for word in meaning)


def announces_number(text: str) -> bool:
    """Whether a line of running text must go on, perhaps with a number, on the next line."""
    words = text.split()
    return ends_open(text) or (bool(words) and words[-1].casefold() in _REFERENCES)


def ends_open(text: str) -> bool:
    """Whether a line ends where its sentence must go on: after `of`, `the`, a comma."""
    words = text.split()
    if not words or is_lead_in(text):
        return False
    last = words[-1].casefold()
    return last in _CONNECTORS or last.endswith((",", "(", "-", "/", "、", "，"))


def is_lead_in(text: str) -> bool:
    """Whether a line introduces what follows it: `as follows:`, `hereby agreed:-`."""
    return text.rstrip("-–—").endswith((":", "："))


def ends_closed(text: str) -> bool:
    """Whether a line ends with the end of a sentence, item or lead-in."""
    return is_lead_in(text) or text.rstrip("\"'”’»)]」』）").endswith(tuple(".;:!?。；：！？…"))


def is_measure(rest: str) -> bool:
    """Whether what follows a number makes it an amount, a period or a date.

    `May Day` does not, though `5 May` is a date.
    """
    if _MONTH_OF_A_NAME.match(rest):
        return False
    if _has_han(rest[:1]):
        return _HAN_UNIT.match(rest) is not None
    return _UNIT.match(rest) is not None


def is_table_row(rest: str) -> bool:
    """Whether a line without a delimiter ends like a row of figures."""
    return _TABLE_ROW_END.search(rest) is not None


def is_reference(rest: str, *, is_glued: bool) -> bool:
    """Whether what follows a label makes it a reference inside a sentence."""
    if _has_han(rest[:1]) or rest[:1] in "、，":
        return is_glued and _HAN_REFERENCE.match(rest) is not None
    return _REFERENCE.match(rest) is not None and not _SUB_CLAUSE.match(rest)


def opens_sub_clause(rest: str) -> bool:
    """Whether the words after a label begin with a label of their own: `(1) Any person`."""
    return _ANY_SUB_CLAUSE.match(rest) is not None


def run_in_title(rest: str) -> tuple[str, int] | None:
    """A title on the clause's own line, with where the clause's words begin.

    `Definitions. In this agreement …`, `（目的）為規範…`.
    """
    match = _BRACKETED.match(rest)
    if match is not None and _has_han(rest):
        return match["title"].strip(), match.end()
    match = _RUN_IN.match(rest)
    if match is None or _ABBREVIATION.search(match["title"]):
        return None
    if match["title"].split()[-1].casefold() in _SMALL_WORDS:
        return None
    return match["title"], match.end()


def unmarked_run_in_title(rest: str) -> tuple[str, int] | None:
    """A title that lost the line break after it: `Office Space You will provide …`.

    The clause is told by a word that begins sentences, a sub-clause or a wide gap.
    """
    match = _UNMARKED_RUN_IN.match(rest)
    if match is None or match["title"].split()[-1].casefold() in _SMALL_WORDS:
        return None
    return " ".join(match["title"].split()), match.end()


def is_caption(text: str) -> bool:
    """Whether a line names a figure or table: `Figure 3. Staff by year`, `表一`."""
    return _CAPTION.match(text) is not None


def tidy_title(text: str) -> str:
    """A title without the blanks that spread Chinese characters (`總　則`)."""
    parts = text.split()
    if len(parts) > 1 and all(len(part) == 1 and _has_han(part) for part in parts):
        return "".join(parts)
    return " ".join(parts)


def _has_han(text: str) -> bool:
    return re.search("[\u3400-\u9fff]", text) is not None
