"""Check 6: nothing in a claim that could act, lead away, or ask for a secret.

Addresses must stand in the cited passage or have an allowed host; there is no markup but
plain text; a claim never asks for credentials, forges a citation mark or speaks to an
assistant, not even when a passage does. Statements about passwords pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from documents.ingestion.folding import fold_for_quotes
from qa.answering.verify import addresses
from qa.answering.verify.addresses import Address
from qa.records import RefusalCode, Verdict

if TYPE_CHECKING:
    from qa.answering.verify.source import Source

CHECK: Final = "output_policy"
_TAGS: Final = (
    "a abbr applet article audio b base big blink body br button canvas center code dd details "
    "dialog "
    "div dl dt em embed fieldset font footer form frame frameset h1 h2 h3 head header hr html i "
    "iframe "
    "img input isindex keygen label li link main map marquee math meta nav noscript object ol "
    "option p "
    "param picture plaintext portal pre s script section select slot small source span strong "
    "style sub "
    "summary sup svg table tbody td template textarea th title tr track u ul var video wbr xml xss"
)
_HTML = re.compile(
    rf"<\s*/?\s*(?:{'|'.join(_TAGS.split())})(?=[\s/>]|$)|<[a-z!?/][^<>]*(?:=|/>)|<!|<\?|"
    r"\bon[a-z]{3,18}\s*=\s*[\"'\w(]|&(?:lt|#0*60|#x0*3c);?|expression\s*\(|@import|\burl\s*\(|"
    r"\{\{|\{%|\$\{|srcdoc|<\s*script",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\s*\[[^\]\n]*\]\s*[(\[]|^\s*\[[^\]\n]+\]:\s*\S", re.MULTILINE)
_MARKER = re.compile(
    r"\[\[|\]\]|[⟦⟧【】]|\[\s*(?:doc|document|source|citation|section)\s*:|</?(?:document|cite|"
    r"citation|"
    r"source|claim|quote|antml|function)[\s:>_]|\[\s*[cp]\d{1,3}\s*\]|\^\[|<\|[^|]*\|>|\[/?inst\]|"
    r"(?:^|\n)\s*(?:system|assistant|user|human)\s*:\s",
    re.IGNORECASE,
)
_PRIVATE: Final = (
    r"(?:pass ?words?|passcodes?|pass ?phrases?|log-?in(?: details| data)?|credentials?|"
    r"pin(?: number| code)?s?|one[- ]time (?:code|password|pin)s?|otps?|(?:security|verification|"
    r"access|authentication|confirmation|recovery|sms|2fa|mfa|texted) (?:code|token|key)s?|cvv|cvc|"
    r"card (?:number|details|data)s?|number on (?:your|the) card|(?:long )?number on (?:your|the) "
    r"(?:\w+ )?card|(?:bank|account) (?:details|number)s?|sort code|iban|social security number|"
    r"national insurance number|api keys?|private keys?|seed phrase|secret (?:key|answer|word)s?|"
    r"mother'?s maiden name|user ?names? and pass\w+|sign-in details)"
)
_ASKS: Final = (
    r"(?:send|give|tell|provide|share|reply|type|enter|submit|confirm|disclose|verify|e-?mail|text|"
    r"forward|paste|post|write|state|supply|upload|let (?:me|us) (?:know|have)|need|want|repeat|"
    r"fill in|input|hand over|message|re-?enter|validate|quote|read (?:me|us|out))"
)
_REQUEST = re.compile(
    rf"\b{_ASKS}\b[^.?!\n。]{{0,60}}?\b(?:your|the|his|her|their|my|"
    rf"our)?\s*[^.?!\n。]{{0,30}}?\b{_PRIVATE}\b",
    re.IGNORECASE,
)
_TO_US = re.compile(
    r"\b(?:me|us|here|below|this (?:chat|form|page|window|box|link|field)|the (?:chat|assistant|"
    r"form "
    r"below|link)|in (?:chat|reply|your (?:reply|answer|next message))|reply|so that i|so i can|we "
    r"need|i need|i will|i can|to continue|to proceed|to unlock|first)\b|https?:|www\.|@",
    re.IGNORECASE,
)
# What stands before the verb when the reader is told to do it: nothing, "please", "you must".
_DIRECT = re.compile(
    r"(?:^|[,;:.—–]|\b(?:please|kindly|just|now|then|first|and|so|you|must|should|i|we|will|would|"
    r"simply|also))\W*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(rf"\b(?:what|which|may i|can i|could you|can you|would you|will you)\b"
                       rf"[^.!\n]{{0,80}}\b{_PRIVATE}\b[^.!\n]{{0,80}}\?",
                       re.IGNORECASE)  # fmt: skip
_NEGATED = re.compile(
    r"\b(?:not|never|n't|nobody|no one|no|without|refuse|avoid|nor|cannot|don['’]t)\b",
    re.IGNORECASE,
)
_CHINESE_PRIVATE: Final = (
    r"(?:密碼|密码|驗證碼|验证码|卡號|卡号|信用卡|帳密|账密|憑證|凭证|口令|"
    r"安全碼|安全码|身分證|身份证|PIN|OTP|帳號|账号)"
)
_CHINESE_REQUEST = re.compile(
    rf"(?:請|请|麻煩|麻烦|需要您|需要你|務必|务必|將|"
    rf"把)[^。！？\n]{{0,30}}(?:{_CHINESE_PRIVATE}[^。！？\n]{{0,20}}"
    r"(?:提供|輸入|输入|傳|传|告訴|告诉|告知|回覆|回复|寄|發送|发送|給我|给我|交給|填)|(?:提供|"
    r"輸入|输入|傳|传|告訴|告诉|告知|"
    rf"回覆|回复|寄|發送|发送|填)[^。！？\n]{{0,20}}{_CHINESE_PRIVATE})|"
    rf"{_CHINESE_PRIVATE}[^。\n]{{0,8}}(?:是什麼|是什么|是多少|為何|为何)[？?]"
)
_CHINESE_NEGATED = re.compile(r"勿|不要|不得|切莫|不可|不會|不会|不应|不應")
_INVISIBLE = re.compile(r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
# Orders that no text for people holds, wherever they stand.
_COMMANDS_ASSISTANT = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|"
    r"guardrails?|"
    r"system (?:message|prompt))\b|\byou are now (?:an? |the )?(?:\w+ ){0,2}(?:ai|assistant|"
    r"chatbot|bot|language model|agent)\b|\b(?:reveal|print|show|repeat|output)\b[^.\n]{0,30}"
    r"\b(?:system prompt|your (?:instructions|prompt))\b|"
    r"\b(?:ai|chatbot|language model|llm|assistant)s?\b[^.\n]{0,50}\b(?:must|should|shall|"
    r"please)\b[^.\n]{0,30}"
    r"\b(?:answer|reply|respond|say|tell|output|ignore|cite)\b|"
    r"\banswer (?:every|all|any|each)\b[^.\n]{0,40}\bquestions?\b[^.\n]{0,30}\b(?:with|by|as)\b|"
    r"\bif you are (?:an?|the) (?:ai|"
    r"assistant|model|chatbot|bot)\b|"
    r"(?<!不得)(?<!不可)(?<!不能)(?<!不應)(?<!不应)(?<!不要)(?<!勿)"
    r"(?:忽略|無視|无视|忘記|忘记|不理會|不要理會|不用理会|不必理會)[^。\n]{0,16}(?:指示|指令|"
    r"規定|规定|規則|规则|提示|內容|内容)",
    re.IGNORECASE,
)
# What a text for people may hold too, so that it says something about its own sentence alone.
_STEERS_ANSWER = re.compile(
    r"\b(?:tell|inform|ask|instruct|convince)\s+(?:the\s+)?(?:reader|user|asker|employee|person "
    r"who asks)s?\b|\byou are now\b|"
    r"\b(?:do not|don't|never) (?:mention|cite|reveal|tell)\b[^.\n]{0,40}\b(?:document|source|"
    r"passage|policy|user|reader)|"
    r"(?:告訴|告诉|告知|回覆|回复|回答)(?:使用者|用戶|用户|讀者|读者|提問者|提问者|員工|"
    r"员工)[，,：:]",
    re.IGNORECASE,
)


def check_output_policy(
    claim: str, sources: Sequence[Source], allowed_domains: frozenset[str]
) -> Verdict:
    """Whether `claim` may be shown as it stands."""
    reason = (
        _markup(claim, sources)
        or _forged_marker(claim)
        or _foreign_address(claim, sources, allowed_domains)
        or _credential_request(claim)
        or _instruction(claim)
    )
    if reason:
        return Verdict(CHECK, passed=False, code=RefusalCode.OUTPUT_POLICY, reason=reason)
    return Verdict(CHECK, passed=True, reason="Plain text without foreign addresses or requests.")


def plain_text(text: str) -> str:
    """The claim as it is shown: control and invisible characters removed, blanks tidied."""
    kept = "".join(
        character
        for character in text
        if (
            unicodedata.category(character) not in {"Cc", "Co", "Cs", "Cn"}
            and character not in "\u200b\u2060\ufeff\u00ad"
        )
        or character in "\n\t"
    )
    return re.sub(r"[ \t]+", " ", kept).strip()


def speaks_to_assistant(text: str) -> bool:
    """Whether the text gives orders to whoever answers, in the plainest forms.

    The screen at ingestion holds such passages; this is what still stands when it is off.
    """
    return commands_assistant(text) or _STEERS_ANSWER.search(_normal(text)) is not None


def commands_assistant(text: str) -> bool:
    """Whether the text holds an order that can only be meant for whoever answers."""
    return _COMMANDS_ASSISTANT.search(_normal(text)) is not None


def is_safe_sentence(text: str) -> bool:
    """Whether the extractive answerer may choose this sentence from a passage."""
    is_plain = not (_HTML.search(text) or _MARKER.search(text) or _IMAGE.search(text))
    return is_plain and not (_credential_request(text) or _instruction(text))


def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def _markup(claim: str, sources: Sequence[Source]) -> str:
    if _INVISIBLE.search(claim):
        return "The sentence holds invisible control characters."
    text = _normal(claim)
    if _IMAGE.search(text):
        return "The sentence holds an image or a reference link."
    match = _HTML.search(text)
    is_quoted = match and match.group() in {"{{", "{%", "${"} and _is_in(sources, match.group())
    return "The sentence holds markup." if match and not is_quoted else ""


def _is_in(sources: Sequence[Source], text: str) -> bool:
    return any(text in source.passage.text for source in sources)


def _forged_marker(claim: str) -> str:
    return "The sentence imitates a citation or role mark." if _MARKER.search(claim) else ""


def _instruction(claim: str) -> str:
    return "The sentence gives orders to an assistant." if speaks_to_assistant(claim) else ""


def _foreign_address(claim: str, sources: Sequence[Source], allowed_domains: frozenset[str]) -> str:
    allowed = frozenset(domain.casefold().strip(".") for domain in allowed_domains)
    held = [a for source in sources for a in addresses.find_addresses(source.passage.text)]
    for address in addresses.find_addresses(claim):
        if not _is_allowed(address, held, allowed):
            return "The sentence holds an address that the cited passage does not."
    return ""


def _is_allowed(address: Address, held: Sequence[Address], allowed: frozenset[str]) -> bool:
    if address.kind == "active":
        return False
    if address.kind == "phone":
        return any(a.host == address.host for a in held if a.kind == "phone")
    is_web = re.match(r"(?:https?://)?[^:@\\]+(?::\d+)?(?:[/?#]|$)", address.text, re.IGNORECASE)
    if address.host in allowed and (is_web or address.kind == "mail"):
        return True
    same = _normal_address(address.text)
    if any(_normal_address(a.text) == same for a in held):
        return True
    is_bare = _normal_address(address.text) == address.host
    return is_bare and any(a.host == address.host for a in held)


def _normal_address(text: str) -> str:
    text = fold_for_quotes(text).text.casefold().removeprefix("mailto:")
    return re.sub(r"^https?://", "", text).rstrip("/.,;:!?")


def _credential_request(claim: str) -> str:
    text = _normal(claim).replace("’", "'")
    for sentence in re.split(r"(?<=[.!?。！？])\s*|\n", text):
        if _asks_in_english(sentence) or _asks_in_chinese(sentence):
            return "The sentence asks for a password, code or card data."
    return ""


def _asks_in_english(sentence: str) -> bool:
    if _QUESTION.search(sentence):
        return True
    match = _REQUEST.search(sentence)
    if match is None or _NEGATED.search(sentence[: match.end()]):
        return False
    is_yours = re.search(r"\byour\b", sentence, re.IGNORECASE) is not None
    is_direct = _DIRECT.search(sentence[: match.start()]) is not None
    is_to_us = _TO_US.search(sentence) is not None
    is_typing = (
        re.match(r"(?:enter|type|input|re-?enter)", match.group(), re.IGNORECASE) is not None
    )
    return is_direct and (is_to_us or (is_yours and not is_typing))


def _asks_in_chinese(sentence: str) -> bool:
    match = _CHINESE_REQUEST.search(sentence)
    return match is not None and not _CHINESE_NEGATED.search(sentence[: match.end()])
