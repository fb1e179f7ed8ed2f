"""Units of quantities: spellings on one side, one canonical name on the other.

Synonyms are equal (`hrs`, `hours`, `小時`); conversions are not trusted: 72 hours in the
source is not 3 days in the answer, since the clock may start differently. A currency sign
that several countries share stands for each of them.
"""

from __future__ import annotations

import re
from typing import Final

_DURATIONS: Final = {
    "second": "seconds second secs sec 秒鐘 秒钟 秒",
    "minute": "minutes minute mins min 分鐘 分钟",
    "hour": "hours hour hrs hr 個小時 个小时 小時 小时 個鐘頭 鐘頭",
    "night": "nights night 晚 夜",
    "day": "calendar-days calendar-day days day 日曆天 日历天 天 日",
    "working day": (
        "working-days working-day business-days business-day workdays workday weekdays "
        "weekday work-days work-day 個工作日 个工作日 個工作天 个工作天 工作日 工作天 營業日 "
        "营业日 個營業日"
    ),
    "week": "calendar-weeks calendar-week weeks week wks wk 個星期 个星期 星期 週 周 個禮拜 禮拜",
    "month": "calendar-months calendar-month months month mths 個月 个月 月",
    "quarter year": "quarters quarter 季度 季",
    "year": "calendar-years calendar-year years year yrs yr 年",
}
_MEASURES: Final = {
    "percent": "percentage percent per-cent pct % ％ 巴仙",
    "percentage point": "percentage-points percentage-point pp 個百分點 个百分点 百分點 百分点",
    "age": "years-of-age year-of-age years-old year-old 足歲 周歲 周岁 歲 岁",
    "kilogram": "kilograms kilogram kilos kilo kgs kg 公斤",
    "gram": "grams gram g 公克",
    "tonne": "tonnes tonne tons ton t 公噸 公吨 噸 吨",
    "pound weight": "lbs lb",
    "kilometre": "kilometres kilometre kilometers kilometer kms km 公里",
    "metre": "metres metre meters meter m 公尺 米",
    "centimetre": "centimetres centimetre centimeters centimeter cm 公分 厘米",
    "millimetre": "millimetres millimetre millimeters millimeter mm 毫米",
    "mile": "miles mile",
    "foot": "feet foot ft",
    "inch": "inches inch",
    "litre": "litres litre liters liter 公升",
    "degree": "degrees degree °C ℃ °F 度",
    "bar": "bar",
    "kilobyte": "kilobytes kilobyte kB KB",
    "megabyte": "megabytes megabyte MB",
    "gigabyte": "gigabytes gigabyte GB",
    "terabyte": "terabytes terabyte TB",
    "times": "times time 次 回",
}
_CURRENCIES: Final = {
    "£ pounds-sterling pound-sterling pounds pound GBP quid 英鎊 英镑": "GBP",
    "€ euros euro EUR 歐元 欧元": "EUR",
    "$ dollars dollar bucks": "USD AUD CAD HKD SGD NZD",
    "US$ US-dollars US-dollar USD 美元 美金": "USD",
    "NT$ NT-dollars NT-dollar TWD NTD 新臺幣 新台幣 新台币 臺幣 台幣": "TWD",
    "HK$ HKD 港幣 港币 港元": "HKD",
    "A$ AU$ AUD 澳幣 澳元": "AUD",
    "C$ CA$ CAD 加幣 加元": "CAD",
    "S$ SGD": "SGD",
    "NZ$ NZD": "NZD",
    "¥ ￥": "JPY CNY",
    "yen JPY 日圓 日元 日幣": "JPY",
    "RMB CNY 人民幣 人民币 yuan": "CNY",
    "CHF francs franc": "CHF",
    "元 圓 塊": "TWD CNY HKD",
    "cents cent": "cent",
    "pence": "penny",
}


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for unit, words in {**_DURATIONS, **_MEASURES}.items():
        for word in words.split():
            table[word.replace("-", " ")] = frozenset({unit})
    for words, units in _CURRENCIES.items():
        for word in words.split():
            table[word.replace("-", " ")] = frozenset(units.split())
    return table


_TABLE: Final = _table()
_FOLDED: Final = {word.casefold(): units for word, units in _TABLE.items()}
DURATIONS: Final = frozenset(_DURATIONS)
CURRENCIES: Final = frozenset(code for units in _CURRENCIES.values() for code in units.split())
PERCENT: Final = frozenset({"percent"})
_SHARED: Final = re.compile(r"[A-Za-z]$")


def _alternatives(words: list[str]) -> str:
    parts = []
    for word in sorted(words, key=len, reverse=True):
        pattern = re.escape(word).replace(r"\ ", "[ -]")
        parts.append(pattern + (r"(?![A-Za-z])" if _SHARED.search(word) else ""))
    return "|".join(parts)


_MONEY_WORDS: Final = [word for words in _CURRENCIES for word in words.replace("-", " - ").split()]
PREFIX: Final = _alternatives(
    [
        word.replace("-", " ")
        for words in _CURRENCIES
        for word in words.split()
        if word.isupper() or "$" in word or word in {"£", "€", "¥", "￥"} or "幣" in word
        or "币" in word
    ]
)  # fmt: skip
SUFFIX: Final = _alternatives(list(_TABLE))
PER_WORDS: Final = {
    "day": "day", "daily": "day", "night": "night", "week": "week", "weekly": "week",
    "month": "month", "monthly": "month", "quarter": "quarter", "quarterly": "quarter",
    "year": "year", "yearly": "year", "annum": "year", "annually": "year", "hour": "hour",
    "hourly": "hour", "person": "person", "head": "person", "employee": "person",
    "mile": "mile", "km": "km", "kilometre": "km", "日": "day", "天": "day", "週": "week",
    "周": "week", "月": "month", "年": "year", "人": "person", "小時": "hour", "小时": "hour",
    "次": "time",
}  # fmt: skip


def canonical(word: str) -> frozenset[str]:
    """The units that `word` may stand for; empty when it is no unit we know."""
    spaced = re.sub(r"[ -]+", " ", word.strip())
    return _TABLE.get(spaced) or _FOLDED.get(spaced.casefold(), frozenset())
