"""Files inside a PDF: their names, and whether one could run.

Named by extension and by the first bytes, whatever the extension says. A plain attachment is a
warning, since its text is not read; one that is or carries a program is dangerous.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from pypdf.generic import DictionaryObject, StreamObject

from documents.ingestion.parsers.pdf.actions import shown
from documents.ingestion.parsers.pdf.graph import entry, stream_bytes, text_entry
from documents.records import ActiveContent

# What Windows, macOS or a shell would run, and Office files that may hold macros.
_RUNNABLE = re.compile(
    r"ade|adp|apk|app|appimage|application|appx|ba[st]|bash|cab|chm|class|cmd|com|command|cpl|csh"
    r"|dll|dmg|do[ct]m|elf|exe|gadget|hlp|hta|in[fs]|iso|isp|jar|jnlp|jse?|ksh|library-ms|lnk"
    r"|md[be]|ms[chipt]|msix|ops|osd|out|paf|pif|pkg|pl|p[op]tm|ppam|ppsm|prg|ps[12]|ps1xml|psc1"
    r"|psm1|py|pyc|pyw|rb|reg|run|scf|scpt|scr|sct|settingcontent-ms|sh|sh[bs]|sldm|swf|url"
    r"|vb|vb[es]|vhdx?|vxd|wasm|ws|ws[cfh]|xbap|xla[m]|xll|xls[bm]|xltm|zsh"
)
_MAGIC = (
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"),
    (b"\xfe\xed\xfa", "a macOS program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\xca\xfe\xba\xbe", "a Java or macOS program"),
    (b"\x00asm", "a WebAssembly program"),
    (b"#!", "a script"),
    (b"L\x00\x00\x00\x01\x14\x02\x00", "a Windows shortcut"),
    (b"FWS", "a Flash film"),
    (b"CWS", "a Flash film"),
)
_MACROS = (b"vbaProject.bin", b"macrosheets/", "_VBA_PROJECT".encode("utf-16-le"))
_SCRIPT_IN_PDF = re.compile(rb"/(?:JavaScript|Launch)\b")


def embedded_file(spec: DictionaryObject, page: int | None) -> ActiveContent | None:
    """The file that a file specification carries, or None where it carries none."""
    files = entry(spec, "/EF")
    if not isinstance(files, DictionaryObject):
        return None
    name = shown(text_entry(spec, "/UF") or text_entry(spec, "/F")) or "unnamed"
    stream = next((s for s in (entry(files, key) for key in files) if _is_stream(s)), None)
    data = stream_bytes(stream) if isinstance(stream, StreamObject) else b""
    kind = "macro" if _has_macros(data) else "embedded_file"
    risk = _risk(name, data)
    return ActiveContent(kind, f"{name} ({risk})" if risk else name, bool(risk), page)


def _is_stream(value: object) -> bool:
    return isinstance(value, StreamObject)


def _has_macros(data: bytes) -> bool:
    is_office = data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    return is_office and any(mark in data for mark in _MACROS)


def _risk(name: str, data: bytes) -> str:
    """Why the file could run, in words; empty where nothing speaks for it."""
    # A name may end in blanks or dots that Windows drops.
    suffix = PurePath(name.rstrip(" .").lower()).suffix.lstrip(".")
    if _RUNNABLE.fullmatch(suffix):
        return "a file that can run"
    if _has_macros(data):
        return "an Office file with macros"
    if data.lstrip()[:5] == b"%PDF-" and _SCRIPT_IN_PDF.search(data):
        return "a PDF with scripts"
    return next((risk for magic, risk in _MAGIC if data.startswith(magic)), "")
