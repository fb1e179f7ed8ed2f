"""How likely a decoded text is, by the letters that languages use.

Each character outside ASCII has a rough probability: of its rank among a language's letters,
of being an everyday Chinese character or Hangul syllable, or of being a sign that typesetters
use. A wrong guess of the encoding gives rare characters, capitals inside words and two scripts
in one word. Sums of logarithms of the same bytes can be compared between encodings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise

from documents.ingestion.parsers.scripts import EVERYDAY_HAN, is_han, is_kana, votes_by_language

# The letters outside ASCII of languages in Latin script, the commonest first.
_ACCENTED = {
    "cs": "áíěéřčžýšůúťňďó",
    "da": "øåæéö",
    "de": "üäößéà",
    "en": "éèïçêñöàü",
    "es": "óíáñéúü",
    "et": "äõüöšž",
    "fi": "äöåšž",
    "fr": "éèàêçùîôâûœëïüÿæ",
    "ga": "áéíóúḃċḋḟġṁṗṡṫ",
    "hr": "čžšćđ",
    "hu": "áéöóőüíúű",
    "is": "íáððþéóöæúýÞ",
    "it": "èàùòìéó",
    "lt": "ėšųžįčąūę",
    "lv": "āīšēūķļņčģžōŗ",
    "mt": "ħżġċàèìòù",
    "nl": "ëéïóèöüĳ",
    "no": "øåæéòô",
    "pl": "łąężóśćńź",
    "pt": "ãçáéíóêõúâôàü",
    "ro": "ăîâșțşţ",
    "sk": "áíéčžýšúľťôňďäóŕĺ",
    "sl": "čšžćđ",
    "sq": "ëç",
    "sv": "äöåéü",
    "tr": "ıüşçğöİâîû",
    "vi": "đưôơăâêàáảãạèéẻẽẹìíỉĩịòóỏõọùúủũụỳýỷỹỵ\u0300\u0301\u0303\u0309\u0323",
}
# All letters of languages in other scripts, the commonest first.
_ALPHABETS = {
    "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "uk": "оаинвіерткслудмпзяьбгйчюхцжїшщєфґ’",
    "be": "анісерваклотдпмязыугьбўчйшхцжёэюф",
    "bg": "аиоентрсвлкдпмзгябъучцйжщхшфюь",
    "sr": "аиоенсрјтувдкмлпгзбчшцћхжђљњџф",
    "mk": "аоиетнрсвдкјплмузгбчшцжќхфѓњѕљџ",
    "el": "αοτιενσηρπκμλυςίγόάδωέθχήύώφβξζψϊ",
    "he": "יוהלאמרתבשנכעדקםפחגצזטסןךףץ",
    "ar": "اليمنورتبةعدسفهكقحجشصطخأذضزثإغئىظءآؤ،",
    "fa": "ایرندمهوتسبکشزگلفخقچعپحجصآطغذضژظثئ،",
    "th": "านรกอเ่งมยลวด้ทสตะปบคัหีแจพชขใไโผิ็์ืึุูถศฐณธภษซญฉฝฎฏฆฑฌฟฮๆฯฤำ",
}
_TYPOGRAPHY = frozenset("“”‘’„‚–—…•«»°§€£©®™²³½·\u00a0№¿¡±×†´ºª、。《》「」，：；（）！？")
_COMMON_HANGUL = frozenset(
    "이다는에을를의가고하지로한은도사서기어인자대시나해리그스아라일정수전여부과원장상으니게보주"
    "조제안있들거구만성무동선신오연적관문세경소우와면유비되용공요업산국및할내계위교회차근직법"
    "생실체학방건모개진발단간분년월시호각행작마치화트물당규칙항등금급출결승본식출입후예약미레않았습"
)
_WIDE_SIGNS = frozenset(
    "、。，：；？！（）「」『』《》【】〈〉・ー　～％﹐“”‘’…—·０１２３４５６７８９①②③④⑤※○●□■"
)
_RARE = math.log(1e-5)
_FOREIGN = math.log(8e-4)  # a letter of the script that the language does not use
_SIGN = math.log(0.02)
_ODD_SIGN = math.log(2e-4)
_HAN_EVERYDAY, _HAN_COMMON, _HAN_KNOWN, _HAN_RARE = (
    math.log(1 / n) for n in (700, 5_000, 60_000, 2_000_000)
)
_KANA, _HANGUL, _HANGUL_RARE = (math.log(1 / n) for n in (60, 200, 8_000))
_VOTE = 1.5  # what a common word of the language adds
_MAX_VOTES = 6
_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL_INSIDE = math.log(0.02)
_ALL_CAPITALS = math.log(0.4)
_TWO_SCRIPTS = math.log(0.01)
_BESIDE_DIGIT = math.log(0.3)
_SAMPLE = 20_000


def alphabetic_score(text: str) -> float:
    """The log likelihood of the characters outside ASCII in text of an alphabet."""
    sample = text[:_SAMPLE]
    counts = Counter(char for char in sample.lower() if char > "\x7f")
    if not counts:
        return 0.0
    votes = votes_by_language(sample)
    best = max(
        sum(count * _letter(char, language) for char, count in counts.items())
        + _VOTE * min(votes.get(language, 0), _MAX_VOTES)
        for language in _LANGUAGES
    )
    return best + _shape_score(sample)


def ideographic_score(text: str, encoding: str) -> float:
    """The same for text in Chinese, Japanese or Korean that was read in `encoding`."""
    counts = Counter(char for char in text[:_SAMPLE] if char > "\x7f")
    return sum(count * _wide(char, encoding) for char, count in counts.items())


def has_only_typography(text: str) -> bool:
    """Whether all characters outside ASCII are signs that typesetters use."""
    return all(char <= "\x7f" or char in _TYPOGRAPHY for char in text)


_LANGUAGES = (*_ACCENTED, *_ALPHABETS)


@cache
def _table(language: str) -> dict[str, float]:
    accented = language in _ACCENTED
    letters = _ACCENTED.get(language) or _ALPHABETS[language]
    ratio = 0.75 if accented else 1 - 3 / len(letters)
    return {
        char: math.log(max((1 - ratio) * ratio**rank, 0.003))
        for rank, char in enumerate(letters.lower())
    }


def _letter(char: str, language: str) -> float:
    known = _table(language).get(char)
    if known is not None:
        return known
    if char in _TYPOGRAPHY:
        return _SIGN
    if not char.isprintable():
        return _RARE
    if not char.isalpha():
        return _ODD_SIGN
    is_latin = char < "\u0250"
    return _FOREIGN if is_latin == (language in _ACCENTED) else _RARE


def _shape_score(text: str) -> float:
    """What speaks against words: capitals inside, two scripts, letters beside digits."""
    score = 0.0
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        pairs = list(pairwise(word))
        score += sum(a.islower() and b.isupper() for a, b in pairs) * _CAPITAL_INSIDE
        score += sum(a.isupper() and b.isupper() for a, b in pairs) * _ALL_CAPITALS
        scripts = {_script(char) for char in word}
        score += (len(scripts) - 1) * _TWO_SCRIPTS
    score += len(_DIGIT_LETTER.findall(text)) * _BESIDE_DIGIT
    return score + len(_SIGN_INSIDE.findall(text)) * _CAPITAL_INSIDE


_DIGIT_LETTER = re.compile(r"\d[^\W\d_\x00-\x7f]|[^\W\d_\x00-\x7f]\d")
_SIGN_INSIDE = re.compile(
    r"(?<=[^\W\d_])[^\w\s\x00-\x7f’‘–—·\u00ad\u200c\u200d\u0300-\u036f](?=[^\W\d_])"
)


def _script(char: str) -> str:
    if char < "\u0250" or "\u1e00" <= char < "\u1f00":
        return "latin"
    if char < "\u0400":
        return "greek"
    return "cyrillic" if char < "\u0530" else chr(ord(char) >> 8)


def _wide(char: str, encoding: str) -> float:
    is_japanese = encoding in ("cp932", "euc_jp", "iso2022_jp", "utf_16")
    if is_han(char):
        if encoding == "cp949":
            return _HAN_KNOWN
        if char in EVERYDAY_HAN:
            return _HAN_EVERYDAY
        return _HAN_COMMON if _is_common(char, encoding) else _known_or_rare(char)
    if is_kana(char):
        return _KANA if is_japanese else _HAN_RARE
    if "\uac00" <= char <= "\ud7a3":
        if encoding not in ("cp949", "utf_16"):
            return _HAN_RARE
        return _HANGUL if char in _COMMON_HANGUL else _HANGUL_RARE
    if (
        char
        in "、。，：；？！（）「」『』《》【】〈〉・ー　～％“”‘’…—·０１２３４５６７８９①②③④⑤※○●□■"
    ):
        return _SIGN
    return _RARE + (_RARE if "\uff61" <= char <= "\uff9f" or not char.isprintable() else 0)


def _is_common(char: str, encoding: str) -> bool:
    """Whether a character is of the first level in the standard behind an encoding."""
    if encoding == "utf_16":
        return _lead(char, "gb2312", 0xB0, 0xD7) or _lead(char, "big5", 0xA4, 0xC6)
    if encoding == "gb18030":
        return _lead(char, "gb2312", 0xB0, 0xD7)
    if encoding.startswith("big5") or encoding == "cp950":
        return _lead(char, "big5", 0xA4, 0xC6)
    return _lead(char, "euc_jp", 0xB0, 0xCF)


def _known_or_rare(char: str) -> float:
    is_known = _lead(char, "gb2312", 0xA1, 0xF7) or _lead(char, "big5", 0xA1, 0xF9)
    return _HAN_KNOWN if is_known else _HAN_RARE


@cache
def _lead(char: str, encoding: str, first: int, last: int) -> bool:
    try:
        return first <= char.encode(encoding)[0] <= last
    except UnicodeEncodeError:
        return False
