"""The grammar of Chinese clauses: 指/係指/謂 define, 應 obliges, 不得 forbids, 得 permits.

Han characters have no word borders, so each rule names the neighbours that make another word
of it: 應用, 反應, 取得, 可能. A verb inside a noun phrase (應記載事項, 得抵充之金額) rules nothing.
"""

from __future__ import annotations

import re

from documents.records import ChunkKind

_DEFINITION = re.compile(
    '[「“"『"《][^」”"』》\n]{1,40}[」”"』》][，：:\\s]*(?:係指|系指|是指|指的是|謂|指)(?![定派示導导令引])'
    "|所[稱称][^，。；\n]{1,40}[，：:]?(?:係指|系指|是指|指|謂|谓|為|为)(?![定派示導导令引])"
    "|(?<![名簡简通])[稱称][^，。；\n]{1,30}者，(?:係指|是指|指|謂|谓)"
    "|^[^，。；\n]{1,30}[，：]?(?:係指|系指|是指)"
    "|(?:用[詞词語语]|名[詞词]|[術术][語语])[^。；\n]{0,12}(?:定義|定义|意義|意义|涵義|含义)"
    "|(?:定義|定义)(?:如下|為|为|如次)"
)
# In the order of the sentence the first that applies decides.
_OPERATOR = re.compile(
    "(?P<prohibition>不得(?!不)|(?<![之的所])禁止(?![令之的]|事項|事项|行為|行为)|[嚴严]禁|不可(?!抗|或缺|避免|能|分|逆|撤|執|执)|不准|不應|不应|[请請切]勿"
    "|(?:不会|不會|[绝絕]不)(?!受|有|影响|影響|因|是|在|对|對|被|超|再))"
    "|(?P<right>(?<![所没沒])(?:有權|有权)|享有|保留[^。，；]{0,30}(?:權利|权利)|授予[^。；]{0,80}(?:權利|权利|授權|授权|許可|许可|權限|权限))"
    "|(?P<permission>(?<![必須须應应])可以|(?:無|无|毋|不必|不)[須须需]|得免|免[予於于]"
    "|(?<![不許許认認])可(?![能靠行用見见疑以觀观信讀读])"
    "|(?<![不取獲获所覺觉記记値值難难使購购應应懂贏赢心])得(?![到知出分失])|得以)"
    "|(?P<obligation>必須|必须|務必|务必|(?<![不無无毋])[須须](?![知要])"
    "|(?<![相對对適适反供響响因效回不感順顺呼])[應应](?![用變变對对徵聘試试答酬邀屆届])"
    "|[負负][^。，；]{0,16}[責责](?!人)|有[^。，；]{0,10}(?:義務|义务)(?!人)"
    "|[規规]定如下|[您你]同意(?![^。，；]*[不無无])"
    "|同意[^。，；]{0,6}(?:遵守|承擔|承担|支付|賠償|赔偿))"
)
# 應繳納金額, 應負擔之補償, 得抵充之金額: the verb describes a noun.
_ATTRIBUTIVE = re.compile(
    "[應应得須须可](?![於于依由自就向以與与將将按在遵為为])[\u3400-\u9fff]{1,3}"
    "(?:[之的](?![。，；：日])|事項|事项|金額|金额)"
)
_CLAUSE_EXCEPTION = re.compile("[，；](?:但|惟).*", re.DOTALL)
_OPEN_BRACKET = re.compile(r"[(（][^)）]*$")
_WEAK, _PLANS = 0.5, "会會"  # 我們不會: a plan more than a rule
_STEPS = re.compile(
    "(?:程序|步驟|步骤|流程|手續|手续)(?:如下|如次|為|为|規定如下)?[：:]\\s*\n?\\s*"
    "(?:一、|1[.、)]|[（(]一[）)]|第一步)|(?:下列|以下)(?:程序|步驟|步骤|流程)"
)
_NOT_LIABLE = re.compile("[不無无毋免][^，。；]*$")
_CONDITION = re.compile("(?:^|[，。；：(（])\\s*(?:如果|若|除非|倘若|倘|假如)[^，。；：]*$")


def sentence_kind(sentence: str) -> tuple[ChunkKind, float] | None:
    """What the sentence does and how surely, 0 to 1; None where it neither defines nor rules."""
    if _DEFINITION.search(sentence):
        return ChunkKind.DEFINITION, 1.0
    for match in _OPERATOR.finditer(_CLAUSE_EXCEPTION.sub("", sentence) or sentence):
        if match.lastgroup and not _is_inside_phrase(sentence, match):
            return ChunkKind(match.lastgroup), _WEAK if match[0][-1] in _PLANS else 1.0
    return None


def announces_steps(text: str) -> bool:
    """Whether a list follows that the text calls a procedure."""
    match = _STEPS.search(text)
    return match is not None and "。" not in text[: match.start()]


def _is_inside_phrase(sentence: str, match: re.Match[str]) -> bool:
    """Whether the verb describes a noun, denies a liability, or stands in a condition."""
    start = match.start()
    before = sentence[:start]
    if _ATTRIBUTIVE.match(sentence, start) or _CONDITION.search(before):
        return True
    if _OPEN_BRACKET.search(before):
        return True
    if match[0][-1] in "責责" and _NOT_LIABLE.search(before):
        return True
    stop = min((at for at in (sentence.find(c, start) for c in "，。；：") if at >= 0), default=-1)
    return stop > 0 and sentence[stop] == "，" and sentence[stop - 1] in "者時时"
