"""Web, mail and telephone addresses in a text, however they are dressed up.

A host is read as a browser would read it: after the last `@`, backslashes as slashes, the
ideographic full stop as a dot, case and full-width letters folded. Written-out forms
(`portal dot example dot org`, `portal[.]example`) count as well.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_TLD: Final = (
    "com net org edu gov mil int info biz name pro io ai app dev co me tv cc ly to sh gg xyz site "
    "online shop store tech cloud link click top live club vip icu work world page web zip mov "
    "example test invalid localhost local internal lan corp uk us de fr es it nl be ch at eu se no "
    "fi dk pl cz ru ua cn tw hk jp kr sg my id th vn in au nz ca mx br ar za ng ke tr il ae sa ie "
    "pt gr hu ro bg lt lv ee su tk ml ga cf gq pw ws"
)
_TLDS: Final = frozenset(_TLD.split())
_SCHEME = re.compile(
    r"\b(?P<scheme>[a-z][a-z0-9+.-]{1,20})\s?:\s?(?:[/\\]{1,4})(?P<rest>[^\s<>\"')\]}，。；、]+)",
    re.I,
)
_ACTIVE = re.compile(r"\b(?:javascript|vbscript|data|file|blob|about)\s*:\s*(?=\S)", re.I)
_DATA = re.compile(r"\bdata:\s*[a-z]+/[a-z0-9.+-]+|\b(?:javascript|vbscript)\s*:|\bfile:/", re.I)
_RELATIVE = re.compile(r"(?<![:\w/\\])[/\\]{2}(?P<rest>[\w.-]+\.[a-z][\w-]+[^\s<>\"')\]]*)", re.I)
_MAIL = re.compile(r"(?:mailto:)?[\w.+%-]+@(?P<host>[\w-]+(?:\.[\w-]+)+)", re.I)
_BARE = re.compile(
    r"(?<![\w@.-])(?P<host>(?:[\w](?:[\w-]{0,61}[\w])?\.)+(?P<tld>[A-Za-z][\w-]{1,24}))(?![\w-])"
    r"(?P<path>[/?#:][^\s<>\"')\]]*)?"
)
_IP = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)(?:[:/][^\s]*)?")
_IPV6 = re.compile(r"\[[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*\]", re.I)
_PHONE = re.compile(r"(?<![\w.,/-])(?P<n>\+?\(?\d[\d ().\-/]{5,18}\d)(?![\w%])")
_SPOKEN_DOT = re.compile(
    r"\s*[\[({]\s*(?:dot|\.|點|点)\s*[\])}]\s*|\s+dot\s+(?=[a-z]{2,})|(?<=[A-Za-z0-9])[。．｡](?=[A-Za-z0-9])",
    re.I,
)
_SPOKEN_AT = re.compile(
    r"\s*[\[({]\s*(?:at|@)\s*[\])}]\s*|(?<=[a-z0-9])\s+at\s+(?=[\w-]+\s+dot\s)", re.I
)
_SPACED = re.compile(
    r"(?<=[\w-])\s+\.\s*(?=[a-z]{2,}(?:\b|/))|(?<=\w)\.\s+(?=(?:com|net|org|io)\b)", re.I
)
_DATE_LIKE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}")


@dataclass(frozen=True, slots=True)
class Address:
    """One address: as written, its host (or digits), and whether it can run something."""

    kind: str  # "url", "domain", "mail", "ip", "phone", "active"
    text: str
    host: str


def fold_address(text: str) -> str:
    """Text in which addresses can be found: compatibility forms and written-out dots undone."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = re.sub(r"\bhxxp(s?)\b", r"http\1", text, flags=re.IGNORECASE)
    return _SPACED.sub(".", _SPOKEN_DOT.sub(".", _SPOKEN_AT.sub("@", text)))


def find_addresses(text: str) -> list[Address]:
    """All addresses in `text`, in any order."""
    text = fold_address(text)
    found = [Address("active", m.group(), "") for m in _DATA.finditer(text)]
    for pattern in (_SCHEME, _RELATIVE):
        for match in pattern.finditer(text):
            found.append(Address("url", match.group().rstrip(".,;:!?"), host_of(match["rest"])))
            text = _blank(text, match)
    for match in _MAIL.finditer(text):
        found.append(Address("mail", match.group(), _host(match["host"])))
        text = _blank(text, match)
    for pattern, kind in ((_IP, "ip"), (_IPV6, "ip")):
        for match in pattern.finditer(text):
            if kind == "ip" and _is_clause_number(text, match):
                continue
            found.append(Address(kind, match.group().rstrip(".,;:"), match.group()))
            text = _blank(text, match)
    found += [
        Address("domain", m.group().rstrip(".,;:!?"), _host(m["host"]))
        for m in _BARE.finditer(text)
        if _is_domain(m)
    ]
    return found + _phones(text)


def host_of(rest: str) -> str:
    """The host that a browser would go to for what follows `//`."""
    authority = re.split(r"[/?#]", rest.replace("\\", "/"), maxsplit=1)[0]
    return _host(re.sub(r":\d*$", "", authority.rpartition("@")[2]))


def _host(host: str) -> str:
    host = host.strip(".").casefold()
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _blank(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match.group()) + text[match.end() :]


def _is_domain(match: re.Match[str]) -> bool:
    tld, host = match["tld"], match["host"]
    if "xn--" in host.casefold() or not host.isascii():
        return len(host) > 4 and not re.fullmatch(r"[^\x00-\x7f.]+\.[^\x00-\x7f.]+", host)
    if tld.casefold() not in _TLDS or (host.count(".") == 1 and len(host.split(".")[0]) < 2):
        return False
    is_sentence_end = tld[:1].isupper() and not host.split(".")[0].isupper()
    return not is_sentence_end or match["path"] is not None


def _is_clause_number(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 12) : match.start()]
    return bool(re.search(r"(?:section|clause|article|version|§|v)\s*$", before, re.IGNORECASE))


def _phones(text: str) -> list[Address]:
    found = []
    for match in _PHONE.finditer(text):
        written = match["n"]
        digits = re.sub(r"\D", "", written)
        if 7 <= len(digits) <= 15 and _is_phone(written):
            found.append(Address("phone", written, digits))
    return found


def _is_phone(written: str) -> bool:
    """A number in the shape of a telephone number: not a date, not an amount like 1 200 000."""
    starts_with_zero = written.startswith("0")
    is_grouped = re.fullmatch(r"\d{1,3}(?: \d{3})+", written) is not None and not starts_with_zero
    has_marks = re.search(r"[ ()+\-]", written) is not None
    return not is_grouped and not _DATE_LIKE.search(written) and (has_marks or starts_with_zero)
