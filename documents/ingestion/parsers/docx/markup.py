"""XML of an Office part: parsed safely, with one set of names.

Strict Open XML (ISO 29500-1) uses other namespaces than what most programs write; its names are
turned into the common ones, so that the rest of the parser knows one. Of alternate content one
branch is kept. A document type declaration is refused: no Office part needs one, and entities
are a known way to read files and to fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element

from documents.errors import ParseError

Element = _Element
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
WPS = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
V = "{urn:schemas-microsoft-com:vml}"
OFFICE = "{urn:schemas-microsoft-com:office:office}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_STRICT = "http://purl.oclc.org/ooxml/"
_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_MICROSOFT = ("http://schemas.microsoft.com/", "urn:schemas-microsoft-com:")
# Charts and models that a text reader cannot show: what the file offers instead is better.
_UNREADABLE = re.compile(r"/(?:chartex|cx\d*|3d|am3d|model3d|svg|ink|webextension)", re.IGNORECASE)
_PROLOG = re.compile(
    rb"(?s)\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:\s|<\?.*?\?>|<!--.*?-->)*+<!(?:DOCTYPE|ENTITY)"
)


def parse_part(data: bytes, name: str) -> Element:
    """The root of an XML part.

    Raises:
        ParseError: the part is not XML, is nested too deep, or declares a document type.
    """
    if has_document_type(data):
        raise _declares_a_type(name)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        dtd_validation=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        message = f"The Word file is damaged: its part {name} cannot be read. Save it again."
        raise ParseError(message, code="refused") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise _declares_a_type(name)
    _use_common_names(root)
    _choose_branches(root)
    return root


def has_document_type(data: bytes) -> bool:
    """Whether a declaration stands before the root element, in any encoding of two bytes too."""
    return _PROLOG.match(data[:100_000].replace(b"\0", b"")) is not None


def _declares_a_type(name: str) -> ParseError:
    message = f"The Word file declares a document type in {name}, which is not safe to read."
    return ParseError(message, code="refused")


def local(element: Element) -> str:
    """The name of an element without its namespace; empty for what is no element."""
    return element.tag.rpartition("}")[2]


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along `path`, names of the Word namespace."""
    for name in path:
        if element is None:
            return None
        element = next(element.iterchildren(W + name), None)  # `find` takes five times as long
    return element


def value(element: Element | None, name: str = "val") -> str | None:
    """An attribute of the Word namespace."""
    return None if element is None else element.get(W + name)


def number(element: Element | None, name: str = "val") -> int | None:
    """A whole number in an attribute, or None where it is missing or is none."""
    text = value(element, name)
    if text is None or not re.fullmatch(r"[+-]?\d{1,9}(?:\.\d+)?", text.strip()):
        return None
    return int(float(text))


def switch(parent: Element | None, name: str) -> bool | None:
    """A property that is on, off, or not said."""
    element = child(parent, name)
    if element is None:
        return None
    return value(element) not in ("0", "false", "off", "none")


def is_on(parent: Element | None, name: str) -> bool:
    """Whether a property is there and on."""
    return switch(parent, name) is True


def _use_common_names(root: Element) -> None:
    if not any((uri or "").startswith(_STRICT) for uri in root.nsmap.values()):
        return
    for element in root.iter():
        element.tag = _common(element.tag)
        for name in [str(key) for key in element.attrib if _STRICT in str(key)]:
            element.set(_common(name), element.attrib.pop(name))


def _common(name: str) -> str:
    """`{…purl…/wordprocessingml/main}p` to `{…openxmlformats…/wordprocessingml/2006/main}p`."""
    prefix, brace, rest = name.rpartition("}")
    uri = prefix[1:]
    if not uri.startswith(_STRICT):
        return name
    subject, _, kind = uri.removeprefix(_STRICT).partition("/")
    return f"{{{_TRANSITIONAL}{subject}/2006/{kind}{brace}{rest}"


def common_type(uri: str) -> str:
    """The last word of a relationship's type, the same in both kinds of file."""
    return uri.rpartition("/")[2]


def _choose_branches(root: Element) -> None:
    """Put the chosen branch of each alternate content in its place, inner ones first."""
    for alternate in reversed(list(root.iter(_MC + "AlternateContent"))):
        parent = alternate.getparent()
        if parent is None:
            continue
        branch = _branch(alternate)
        position = parent.index(alternate)
        parent[position : position + 1] = list(branch) if branch is not None else []


def _branch(alternate: Element) -> Element | None:
    choices = alternate.findall(_MC + "Choice")
    for choice in choices:
        if all(_is_readable(choice, prefix) for prefix in choice.get("Requires", "").split()):
            return choice
    fallback = alternate.find(_MC + "Fallback")
    return fallback if fallback is not None else next(iter(choices), None)


def _is_readable(choice: Element, prefix: str) -> bool:
    uri = choice.nsmap.get(prefix) or ""
    is_known = uri.startswith(_MICROSOFT) or uri.startswith((_TRANSITIONAL, _STRICT))
    return is_known and not _UNREADABLE.search(uri)


def texts(element: Element, name: str) -> Iterator[str]:
    """The text of all descendants of that full name."""
    for found in element.iter(name):
        if found.text:
            yield found.text
