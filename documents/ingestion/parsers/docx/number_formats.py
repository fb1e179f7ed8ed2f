"""How a counter is printed: `4` as `iv`, `d`, `fourth`, `四`, `丁` (ECMA-376 part 1, 17.18.59)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_MAX = 32767  # Word counts no further
_MAX_REPEATED = 780  # thirty times the alphabet
_ONES_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
"""
_ONES = _ONES_WORDS.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_HAN = "〇一二三四五六七八九"
_LEGAL_TRADITIONAL = "零壹貳參肆伍陸柒捌玖"
_LEGAL_SIMPLIFIED = "零壹贰叁肆伍陆柒捌玖"
_LEGAL_JAPANESE = "零壱弐参四伍六七八九"
_HANGUL = "영일이삼사오육칠팔구"
_KOREAN_COUNT = ["하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"]
_KOREAN_TENS = ["열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"]
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウ"
    "ヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
)
_AIUEO = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)

_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשת"
_ARABIC_ALPHABET = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_ARABIC_ABJAD = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_THAI = "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ"
_CHICAGO = "*†‡§"


def format_number(count: int, kind: str, custom: str | None = None) -> str:
    """A counter as it is printed; a format that is not known prints digits, as Word does."""
    if not 0 <= count <= _MAX:
        return str(count)
    if kind == "custom":
        return _custom(count, custom or "")
    return _FORMATS.get(kind, str)(count)


def roman(count: int) -> str:
    """Roman capitals; zero has none."""
    printed = ""
    for size, letters in _ROMAN:
        printed += letters * (count // size)
        count %= size
    return printed


def letter(count: int) -> str:
    """`A` to `Z`, then `AA`, `BB`: Word repeats the letter."""
    return _repeated("ABCDEFGHIJKLMNOPQRSTUVWXYZ", count)


def ordinal(count: int) -> str:
    """`1st`, `2nd`, `11th`."""
    is_teen = 10 < count % 100 < 14
    return f"{count}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"


def cardinal_words(count: int) -> str:
    """`Twenty-one`, with a capital, as Word prints it."""
    return _capital(_words(count))


def ordinal_words(count: int) -> str:
    """`Twenty-first`."""
    words = _words(count)
    start = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:start], words[start:]
    irregular = _ORDINALS.get(last)
    word = irregular or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return _capital(f"{head}{word}")


def _words(count: int) -> str:
    if count < 20:
        return _ONES[count]
    if count < 100:
        tens, rest = _TENS[count // 10 - 2], count % 10
        return f"{tens}-{_ONES[rest]}" if rest else tens
    size, name = (1000, "thousand") if count >= 1000 else (100, "hundred")
    head, rest = f"{_words(count // size)} {name}", count % size
    return f"{head} {_words(rest)}" if rest else head


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _repeated(letters: str, count: int) -> str:
    """The letter of a count, once more for each time the alphabet is used up."""
    if not 1 <= count <= _MAX_REPEATED:
        return str(count)
    return letters[(count - 1) % len(letters)] * ((count - 1) // len(letters) + 1)


def _cycled(letters: str, count: int) -> str:
    return letters[(count - 1) % len(letters)] if count else "0"


def _digits(figures: str) -> Callable[[int], str]:
    return lambda count: "".join(figures[int(digit)] for digit in str(count))


def _positional(
    figures: str, units: str, *, keeps_one: str, zero: str = ""
) -> Callable[[int], str]:
    """Chinese, Japanese and Korean numerals with their units (`units`: ten to ten thousand).

    `keeps_one` says before which units a one is printed (`一百`, but `十`); `zero` stands for
    skipped places (`一百零一`).
    """

    def printed(count: int) -> str:
        if count == 0:
            return figures[0]
        if count >= 10_000:
            head, rest = divmod(count, 10_000)
            tail = printed(rest) if rest else ""
            gap = zero if rest and rest < 1000 else ""
            return f"{printed(head)}{units[3]}{gap}{tail}"
        parts, is_skipped = "", False
        for position in range(3, -1, -1):
            digit = count // 10**position % 10
            if not digit:
                is_skipped = bool(parts)
                continue
            unit = units[position - 1] if position else ""
            shows_one = digit > 1 or not unit or unit in keeps_one or (bool(parts) and bool(zero))
            parts += (zero if is_skipped else "") + (figures[digit] if shows_one else "") + unit
            is_skipped = False
        return parts

    return printed


def _below_hundred(count: int) -> str:
    """`一` to `九十九` with the unit ten, then digit by digit: `一〇〇`."""
    return _HAN_THOUSAND(count) if count < 100 else _digits(_HAN)(count)


def _korean_count(count: int) -> str:
    if not 0 < count < 100:
        return str(count)
    tens, ones = divmod(count, 10)
    return (_KOREAN_TENS[tens - 1] if tens else "") + (_KOREAN_COUNT[ones - 1] if ones else "")


def _hebrew_number(count: int) -> str:
    if not 0 < count < 1000:
        return str(count)
    hundreds, rest = divmod(count, 100)
    printed = "ת" * (hundreds // 4) + ("קרש"[hundreds % 4 - 1] if hundreds % 4 else "")
    if rest in (15, 16):  # written so that no name of God is spelled
        return printed + ("טו" if rest == 15 else "טז")
    tens, ones = divmod(rest, 10)
    return printed + (" יכלמנסעפצ"[tens].strip()) + ("אבגדהוזחט"[ones - 1] if ones else "")


def _ranged(first: int, last: int, start: str) -> Callable[[int], str]:
    """Enclosed figures that Unicode has for a range; beyond it plain digits."""
    return lambda count: chr(ord(start) + count - first) if first <= count <= last else str(count)


def _enclosed_circle(count: int) -> str:
    for first, last, start in ((1, 20, "①"), (21, 35, "㉑"), (36, 50, "㊱")):
        if first <= count <= last:
            return chr(ord(start) + count - first)
    return str(count)


def _custom(count: int, pattern: str) -> str:
    """`001, 002, 003, ...` gives the number of digits."""
    first = pattern.split(",")[0].strip()
    return str(count).zfill(len(first)) if first.isdigit() else str(count)


_HAN_THOUSAND = _positional(_HAN, "十百千萬", keeps_one="百千萬", zero="零")
_HAN_THOUSAND_SIMPLE = _positional(_HAN, "十百千万", keeps_one="百千万", zero="零")
_JAPANESE = _positional(_HAN, "十百千万", keeps_one="万")
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")

_FORMATS: Mapping[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalHalfWidth": str,
    "upperRoman": roman,
    "lowerRoman": lambda count: roman(count).lower(),
    "upperLetter": letter,
    "lowerLetter": lambda count: letter(count).lower(),
    "ordinal": ordinal,
    "cardinalText": cardinal_words,
    "ordinalText": ordinal_words,
    "hex": lambda count: f"{count:X}",
    "chicago": lambda count: _repeated(_CHICAGO, count),
    "decimalZero": lambda count: f"{count:02d}",
    "numberInDash": lambda count: f"- {count} -",
    "decimalFullWidth": lambda count: str(count).translate(_FULL_WIDTH),
    "decimalFullWidth2": lambda count: str(count).translate(_FULL_WIDTH),
    "decimalEnclosedCircle": _enclosed_circle,
    "decimalEnclosedCircleChinese": _enclosed_circle,
    "decimalEnclosedFullstop": _ranged(1, 20, "⒈"),
    "decimalEnclosedParen": _ranged(1, 20, "⑴"),
    "ideographEnclosedCircle": _ranged(1, 10, "㊀"),
    "ideographDigital": _digits(_HAN),
    "taiwaneseDigital": _digits(_HAN),
    "japaneseDigitalTenThousand": _digits(_HAN),
    "koreanDigital": _digits(_HANGUL),
    "koreanDigital2": _digits("零一二三四五六七八九"),
    "chineseCounting": _below_hundred,
    "taiwaneseCounting": _below_hundred,
    "chineseCountingThousand": _HAN_THOUSAND_SIMPLE,
    "taiwaneseCountingThousand": _HAN_THOUSAND,
    "japaneseCounting": _JAPANESE,
    "chineseLegalSimplified": _positional(
        _LEGAL_SIMPLIFIED, "拾佰仟万", keeps_one="拾佰仟万", zero="零"
    ),
    "ideographLegalTraditional": _positional(
        _LEGAL_TRADITIONAL, "拾佰仟萬", keeps_one="拾佰仟萬", zero="零"
    ),
    "japaneseLegal": _positional(_LEGAL_JAPANESE, "拾百阡萬", keeps_one="拾百阡萬"),
    "koreanLegal": _korean_count,
    "koreanCounting": _positional(_HANGUL, "십백천만", keeps_one="만"),
    "ideographTraditional": lambda count: _cycled(_STEMS, count),
    "ideographZodiac": lambda count: _cycled(_BRANCHES, count),
    "ideographZodiacTraditional": lambda count: _cycled(_STEMS, count) + _cycled(_BRANCHES, count),
    "iroha": lambda count: _cycled(_IROHA, count),
    "irohaFullWidth": lambda count: _cycled(_IROHA, count),
    "aiueo": lambda count: _cycled(_AIUEO, count),
    "aiueoFullWidth": lambda count: _cycled(_AIUEO, count),
    "ganada": lambda count: _cycled(_GANADA, count),
    "chosung": lambda count: _cycled(_CHOSUNG, count),
    "russianLower": lambda count: _repeated(_RUSSIAN, count),
    "russianUpper": lambda count: _repeated(_RUSSIAN.upper(), count),
    "hebrew1": _hebrew_number,
    "hebrew2": lambda count: _repeated(_HEBREW, count),
    "arabicAlpha": lambda count: _repeated(_ARABIC_ALPHABET, count),
    "arabicAbjad": lambda count: _repeated(_ARABIC_ABJAD, count),
    "thaiLetters": lambda count: _repeated(_THAI, count),
    "thaiNumbers": lambda count: "".join(chr(0x0E50 + int(digit)) for digit in str(count)),
    "hindiNumbers": lambda count: "".join(chr(0x0966 + int(digit)) for digit in str(count)),
    "none": lambda count: "",
    "bullet": lambda count: "",
}
