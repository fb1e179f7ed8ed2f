"""What language a text is in, cheaply: by script, then by a few telling characters or words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from documents.ingestion.analysis.stop_words import STOP_WORDS
from documents.ingestion.folding import strip_accents

_SAMPLE = 4000  # characters; a heading's worth decides, a book adds nothing

# Characters that one Chinese script has and the other does not, from the common ones.
_TRADITIONAL = frozenset(
    "個們來時會國學對說為這還經發長開門問間關與產業務動應當員報單運種專總續證據規則條項請給付費"
    "資訊處機構權責義務賠償損壞違約辦理審決議協調課稅薪職離勞災險養補貼銀號碼號簽署檔輸傳遞儲備"
    "護監測評估標準確認過濾處罰責從達適遠選擇錄錯鍵門閱覽親見觀視計許訂設訓練習識議論買賣貨車輛"
    "電腦網絡線級組織結統維無萬葉號兩並後縣鄉鎮區屬層廠廣廳應戶於繳額頁頭類顧風飛餐館體點黨嗎"
)
_SIMPLIFIED = frozenset(
    "个们来时会国学对说为这还经发长开门问间关与产业务动应当员报单运种专总续证据规则条项请给费"
    "资讯处机构权责义务赔偿损坏违约办审决议协调课税职离劳灾险养补贴银号码签档输传递储备"
    "护监测评标准确认过滤罚从达适远选择录错键阅览亲见观视计许订设训练习识论买卖货车辆"
    "电脑网络线级组织结统维无万叶两并后县乡镇区属层厂广厅户于缴额页头类顾风飞馆体点党吗"
)
_ONLY_TRADITIONAL = _TRADITIONAL - _SIMPLIFIED
_ONLY_SIMPLIFIED = _SIMPLIFIED - _TRADITIONAL

_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30fa]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("th", re.compile(r"[\u0e01-\u0e5b]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LATIN_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str:
    """Tell the language of a text: `zh-Hant`, `zh-Hans`, or an ISO 639-1 code.

    By script where that decides, else by the most frequent function words among those
    known (English, French, German, Spanish, Italian, Dutch, Portuguese). In doubt `en`.
    Chinese in characters that both scripts share counts as `zh-Hant`.
    """
    sample = text[:_SAMPLE]
    counts = {code: len(pattern.findall(sample)) for code, pattern in _SCRIPTS}
    latin = len(_LATIN.findall(sample))
    # One ideograph says about as much as half a dozen letters; kana settle for Japanese.
    if counts["ja"] and counts["ja"] * 8 > counts["zh"] and counts["ja"] * 5 >= latin:
        return "ja"
    script = max(counts, key=lambda code: counts[code])
    weight = 5 if script in ("zh", "ja", "ko") else 1
    if not counts[script] or counts[script] * weight < latin:
        return _latin_language(sample)
    return _chinese_script(sample) if script == "zh" else script


def _chinese_script(text: str) -> str:
    simplified = sum(character in _ONLY_SIMPLIFIED for character in text)
    traditional = sum(character in _ONLY_TRADITIONAL for character in text)
    return "zh-Hans" if simplified > traditional else "zh-Hant"


def _latin_language(text: str) -> str:
    words = [strip_accents(word) for word in _LATIN_WORD.findall(text.casefold())]
    scores = {code: _share(words, stop_words) for code, stop_words in STOP_WORDS.items()}
    best = max(scores, key=lambda code: scores[code])
    # English words among foreign ones are rarer than the reverse: English wins a tie.
    return best if scores[best] > scores["en"] and scores[best] >= 2 else "en"


def _share(words: Iterable[str], stop_words: frozenset[str]) -> int:
    return sum(word in stop_words for word in words)
