"""Equations on one line: `a/b`, `x^2`, `√(y)`."""

from __future__ import annotations

from documents.ingestion.parsers.docx.markup import Element, M, W, local

_SKIPPED_WORDS = """
    ctrlPr rPr fPr sSupPr sSubPr sSubSupPr radPr naryPr dPr accPr barPr boxPr mPr groupChrPr
    limLowPr limUppPr funcPr oMathParaPr eqArrPr sPrePr phantPr borderBoxPr
"""
_SKIPPED = frozenset(_SKIPPED_WORDS.split())


def linear(element: Element) -> str:
    """An equation as one line of text; nested ones are bracketed where it matters."""
    name = local(element)
    if name in ("t", "delText") or element.tag == W + "t":
        return element.text or ""
    if name in _SKIPPED:
        return ""
    if name == "f":
        return f"{_group(_part(element, 'num'))}/{_group(_part(element, 'den'))}"
    if name in ("sSup", "sSub", "sSubSup", "nary"):
        return _scripts(element, name)
    if name == "rad":
        degree = _part(element, "deg")
        return f"{'' if degree in ('', '2') else degree}√{_group(_part(element, 'e'))}"
    if name in ("func", "limLow", "limUpp"):
        return _named(element, name)
    if name == "d":
        inner = ", ".join(linear(part) for part in element if local(part) == "e")
        return (
            f"{_sign(element, 'dPr', 'begChr', '(')}{inner}{_sign(element, 'dPr', 'endChr', ')')}"
        )
    return "".join(linear(part) for part in element)


def _scripts(element: Element, name: str) -> str:
    base = _sign(element, "naryPr", "chr", "∫") if name == "nary" else _part(element, "e")
    lower, upper = _part(element, "sub"), _part(element, "sup")
    printed = base + (f"_{_group(lower)}" if lower else "") + (f"^{_group(upper)}" if upper else "")
    return f"{printed} {_part(element, 'e')}" if name == "nary" else printed


def _named(element: Element, name: str) -> str:
    if name == "func":
        return f" {_part(element, 'fName').strip()} {_part(element, 'e')}"
    mark = "_" if name == "limLow" else "^"
    return f"{_part(element, 'e')}{mark}{_group(_part(element, 'lim'))}"


def _part(element: Element, name: str) -> str:
    part = element.find(M + name)
    return "" if part is None else "".join(linear(inner) for inner in part)


def _group(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _sign(element: Element, properties: str, name: str, default: str) -> str:
    found = element.find(f"{M}{properties}/{M}{name}")
    return default if found is None else found.get(f"{M}val", "")
