"""The encoding that a page or XML file says it is in."""

from __future__ import annotations

import codecs
import re

# Browsers read these names as their superset (WHATWG Encoding Standard, 4.2).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-8",  # a page that could be read this far is not UTF-16
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
    "utf-32": "utf-8",
}
_ALIASES = {
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "windows-949": "cp949",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "iso-8859-8-i": "iso8859-8",
    "unicode": "utf-8",
}
_PRESCANNED = 4096  # bytes; the standard says 1024, pages in the wild need more
_DECLARATIONS = (
    re.compile(rb"\A\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:\-]+)", re.IGNORECASE),
    re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:\-]+)", re.IGNORECASE),
    re.compile(rb"\A\s*@charset\s+\"([\w.:\-]+)\"", re.IGNORECASE),
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


def declared_encoding(data: bytes) -> str | None:
    """The name of Python's codec for what the file declares; None where it declares nothing."""
    head = _COMMENT.sub(b"", data[:_PRESCANNED])
    for declaration in _DECLARATIONS:
        match = declaration.search(head)
        if match:
            return _codec(match[1].decode("ascii", "replace").lower())
    return None


def _codec(label: str) -> str | None:
    try:
        name = codecs.lookup(_ALIASES.get(label, label)).name
    except LookupError:
        return None
    return _SUPERSETS.get(name, name).replace("iso8859-", "iso8859_").replace("koi8-", "koi8_")
