"""Writing systems: which script a character belongs to, and which language a text is in.

Only what can be told cheaply and surely: a script that one language owns, characters that
differ between traditional and simplified Chinese, and the commonest words of a few Latin
languages. Everything else is None, never a guess.
"""

from __future__ import annotations

import re
from collections import Counter

TRADITIONAL = frozenset(
    "國會條為應與處規則關於後無個開來時過對這說們學業務員報請標準費機車備"
    "認證據資訊電話單價買賣發還進選擇將據權責範圍項實際東門問間題見現類"
    "當營構總統計劃辦護讓議課該變體點產險檢驗節約線網絡級給緊經紀結錄銷"
    "鐵錯長陳陸陽隊階際隨難雲離雙風飛飲餘館馬駕駛騎齊龍圖書團園圓場壓報"
    "處罰緩執違獎勵廠廢廣張強彙徑從復徵憲懲戰戶擔擬擴據攝數斷舊曆樓樣檔"
)
SIMPLIFIED = frozenset(
    "国会条为应与处规则关于后无个开来时过对这说们学业务员报请标准费机车备"
    "认证据资讯电话单价买卖发还进选择将据权责范围项实际东门问间题见现类"
    "当营构总统计划办护让议课该变体点产险检验节约线网络级给紧经纪结录销"
    "铁错长陈陆阳队阶际随难云离双风飞饮余馆马驾驶骑齐龙图书团园圆场压报"
    "处罚缓执违奖励厂废广张强汇径从复征宪惩战户担拟扩据摄数断旧历楼样档"
)
_ONLY_TRADITIONAL = TRADITIONAL - SIMPLIFIED
_ONLY_SIMPLIFIED = SIMPLIFIED - TRADITIONAL
EVERYDAY_HAN = (
    TRADITIONAL
    | SIMPLIFIED
    | frozenset(
        "的一是不了人我在有他中大上年以到可下出本月日分之第十二三四五六七八九百千"
        "及或其者由公司部法用使工作行期限內内自前向所得須须不且若未已每次元至止"
        "天地理事同意方式主管政府保存全部位定安合和成立生活名字文件提供服加入入"
        "家小子也要就你她它那都而去看好想心手知道能者如此些什麼么因只很更最又但"
        "面目的代表社會新高相交通路水火金木土田市縣县區区街號号民共用品物質质量"
        "住宿罰款借書期審批差旅票交訂订約约簽签署章則请假薪資工時加班休息離职職"
        "日本人年月時分今見行出生大小中学校先生思言気持前後入手自社会員仕事方"
    )
)

_SCRIPT_LANGUAGES = (
    (re.compile("[\u3040-\u30fa\u31f0-\u31ff]"), "ja"),
    (re.compile("[\uac00-\ud7a3]"), "ko"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "el"),
    (re.compile("[\u0590-\u05ff]"), "he"),
    (re.compile("[\u0e00-\u0e7f]"), "th"),
    (re.compile("[\u0900-\u097f]"), "hi"),
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE_CHARACTERS = 50_000
_COMMON_WORDS = {
    "en": "the of and to in is for that be by with this are or not must shall may any"
    " a on as at from if it all each has have been than will can no",
    "fr": "le la les des et est dans pour que qui une un du sur pas par sont avec aux ou",
    "de": "der die das und ist nicht mit von den für auf ein eine zu im werden sind oder dem",
    "es": "el la los las de que y en para por con una se del es al su como no",
    "it": "il di che e la per un una del della con non sono i gli le nel al da",
    "nl": "de het een van en in is dat op te voor met zijn niet aan door worden of bij",
    "pt": "o a os as de que e em para por com uma um do da não se dos das ao",
    "sv": "och att det som en på är av för med till den har inte ett om ska",
    "da": "og at det som en på er af for med til den har ikke et om skal",
    "pl": "i w na z do nie że się jest oraz przez dla od są lub po jak",
    "tr": "ve bir bu için ile da de olan olarak gün çalışan veya her",
    "hu": "a az és hogy nem is egy van meg ez csak el ha kell vagy",
    "cs": "a v na se je že za do pro nebo být jsou jako podle musí které",
    "ro": "și în de la cu pe nu este sunt sau care din pentru prin orice",
    "hr": "i u na je se za da od su ili koji ne kao sve biti prava",
    "fi": "ja on ei se että tai ovat joka kun mutta sekä hän niin myös olla",
    "et": "ja on ei et see või kui ning oma kes mis ka nad peab",
    "lt": "ir yra į kad su ne turi arba kurie visi savo iš už apie būti",
    "lv": "un ir ar no par uz vai kas tiek visi savu nav būt jābūt",
    "vi": "và của là có được cho các không người trong với phải một những",
}
_VOTES = {
    word: tuple(lang for lang, words in _COMMON_WORDS.items() if word in words.split())
    for words in _COMMON_WORDS.values()
    for word in words.split()
}


def is_han(char: str) -> bool:
    """Whether `char` is a Chinese character."""
    return _HAN.match(char) is not None


def is_kana(char: str) -> bool:
    """Whether `char` is Japanese hiragana or full-width katakana."""
    return "\u3041" <= char <= "\u30fe"


def is_wide_mark(char: str) -> bool:
    """Whether `char` is East Asian punctuation or a full-width digit or mark."""
    return "\u3001" <= char <= "\u3011" or "\uff01" <= char <= "\uff1f"


def is_hangul(char: str) -> bool:
    """Whether `char` is a Korean syllable."""
    return "\uac00" <= char <= "\ud7a3"


def detect_language(text: str) -> str | None:
    """The language of `text`: `zh-Hant`, `zh-Hans`, an ISO 639-1 code, or None.

    Latin text needs a clear lead in common words; short or mixed text gives None.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    letters = sum(char.isalpha() for char in sample)
    if not letters:
        return None
    for pattern, language in _SCRIPT_LANGUAGES:
        if len(pattern.findall(sample)) > 0.15 * letters:
            return language
    if len(_CYRILLIC.findall(sample)) > 0.3 * letters:
        return "uk" if re.search("[іїєґ]", sample) else "ru"
    if len(_ARABIC.findall(sample)) > 0.3 * letters:
        return "fa" if re.search("[پچژگ]", sample) else "ar"
    if len(_HAN.findall(sample)) > 0.2 * letters:
        return _chinese(sample)
    return _latin(sample)


def _chinese(sample: str) -> str:
    traditional = sum(char in _ONLY_TRADITIONAL for char in sample)
    simplified = sum(char in _ONLY_SIMPLIFIED for char in sample)
    return "zh-Hans" if simplified > traditional else "zh-Hant"


def votes_by_language(text: str) -> Counter[str]:
    """How many different common words of each language stand in the text."""
    words = set(_WORD.findall(text.casefold()))
    return Counter(language for word in words for language in _VOTES.get(word, ()))


def _latin(sample: str) -> str | None:
    """The language with the most different common words; ties go by how often they stand."""
    words = Counter(_WORD.findall(sample.casefold()))
    kinds = votes_by_language(sample)
    votes: Counter[str] = Counter()
    for word, count in words.items():
        for language in _VOTES.get(word, ()):
            votes[language] += count
    ranked = sorted(kinds, key=lambda language: (kinds[language], votes[language]), reverse=True)
    if not ranked or kinds[ranked[0]] < 2:
        return None
    is_tie = kinds["en"] == kinds[ranked[0]] and votes["en"] == votes[ranked[0]]
    return "en" if is_tie else ranked[0]
