"""As much of CSS as tells what a person sees: inline styles and simple rules of `<style>`.

Nothing is fetched. A rule counts where its selector is made of elements, classes, ids and
descendants; others (`:hover`, `::before`, `[attr]`, `@media print`) are left out, so a doubt
shows the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from documents.ingestion.parsers.html.tree import Element, ancestors, descendants, names

Declarations = dict[str, str]

_USED = names(
    "display visibility opacity font-size font-weight color background background-color "
    "background-image position left top right bottom margin-left margin-top "
    "text-indent clip clip-path list-style list-style-type text-decoration "
    "text-decoration-line width height max-height max-width overflow overflow-x "
    "overflow-y transform content-visibility white-space"
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SCREEN = re.compile(r"@media\s*(?:only\s+)?(?:screen|all)?\s*(?:and\s*\(min-[^)]*\))?\s*\Z")
_COMPOUND = re.compile(r"([a-z][a-z0-9]*|\*)?((?:[.#][\w\-]+)*)\Z", re.IGNORECASE)
_PART = re.compile(r"([.#])([\w\-]+)")
_BRACE = re.compile("[{}]")
_MAX_NESTING = 4
_MAX_RULES = 5_000
_MAX_STEPS = 1_000_000  # rules tried on elements: a few seconds
_MAX_SHEET = 1_000_000  # characters


def declarations(style: str) -> Declarations:
    """The declarations of a style attribute or rule body that matter here, `!important` last."""
    plain: Declarations = {}
    important: Declarations = {}
    for declaration in _split(style):
        name, _, value = declaration.partition(":")
        name, value = name.strip().lower(), " ".join(value.lower().split())
        if name in _USED and value:
            goes_to = important if value.endswith("important") else plain
            goes_to[name] = value.removesuffix("important").rstrip("! ")
    return plain | important


def _split(style: str) -> Iterator[str]:
    """Cut at semicolons that stand in no brackets (`url(data:...;base64,...)`)."""
    if "(" not in style:
        yield from style.split(";")
        return
    yield from re.findall(r"(?:[^;(]|\((?:[^)]*)\)?)+", style)


@dataclass(frozen=True, slots=True)
class _Compound:
    tag: str
    classes: frozenset[str]
    ids: frozenset[str]

    def matches(self, element: Element) -> bool:
        return (
            self.tag in ("", "*", element.tag)
            and self.ids <= {element.get("id")}
            and self.classes <= set(element.get("class").split())
        )

    @property
    def key(self) -> str:
        """One word that an element must have for the compound to match."""
        for mark, words in (("#", self.ids), (".", self.classes)):
            if words:
                return mark + min(words)
        return self.tag or "*"


@dataclass(frozen=True, slots=True)
class _Rule:
    compounds: tuple[_Compound, ...]  # the outermost first
    declarations: Declarations
    weight: tuple[int, int, int, int]
    outer: frozenset[str]  # keys that the elements around must have

    def matches(self, element: Element, around: Mapping[str, int]) -> bool:
        *outer, last = self.compounds
        if not last.matches(element) or not all(around.get(key) for key in self.outer):
            return False
        above = ancestors(element)
        return all(any(part.matches(parent) for parent in above) for part in reversed(outer))


def _rule(compounds: tuple[_Compound, ...], kept: Declarations, order: int) -> _Rule:
    weight = (
        sum(len(part.ids) for part in compounds),
        sum(len(part.classes) for part in compounds),
        sum(part.tag not in ("", "*") for part in compounds),
        order,
    )
    outer = frozenset(part.key for part in compounds[:-1] if part.key != "*")
    return _Rule(compounds, kept, weight, outer)


def keys_of(element: Element) -> list[str]:
    """What a selector may name an element by: its tag, classes and id."""
    keys = [element.tag]
    if "class" in element.attributes:
        keys += [f".{name}" for name in set(element.attributes["class"].split())]
    if element.get("id"):
        keys.append(f"#{element.get('id')}")
    return keys


class Stylesheet:
    """The rules of a page's `<style>` elements that could change what a person sees."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._rules: dict[str, list[_Rule]] = defaultdict(list)
        self._count = self._steps = 0
        for text in texts:
            self._read(_COMMENT.sub(" ", text[:_MAX_SHEET]))

    @classmethod
    def of(cls, root: Element) -> Stylesheet:
        """The stylesheet of a page."""
        return cls(
            "".join(child for child in element.children if isinstance(child, str))
            for element in descendants(root)
            if element.tag == "style" and element.get("media").lower() in ("", "all", "screen")
        )

    def style_of(
        self, element: Element, keys: Sequence[str], around: Mapping[str, int]
    ) -> Declarations:
        """The declarations that hold for an element, its own style attribute last.

        `keys` are the element's (`keys_of`), `around` counts those of its ancestors.
        """
        result: Declarations = {}
        rules = [rule for key in (*keys, "*") for rule in self._rules.get(key, ())]
        self._steps += len(rules)
        if rules and self._steps < _MAX_STEPS:
            matching = [rule for rule in rules if rule.matches(element, around)]
            for rule in sorted(matching, key=lambda rule: rule.weight):
                result |= rule.declarations
        style = element.attributes.get("style")
        return result | declarations(style) if style else result

    def _read(self, text: str, depth: int = 0) -> None:
        for prelude, body in _rules(text):
            if prelude.startswith("@"):
                if depth < _MAX_NESTING and _SCREEN.match(prelude.lower()):
                    self._read(body, depth + 1)
                continue
            kept = declarations(body)
            if kept:
                self._add(prelude, kept)

    def _add(self, prelude: str, kept: Declarations) -> None:
        for selector in prelude.split(","):
            compounds = _compounds(selector)
            if compounds and self._count < _MAX_RULES:
                self._count += 1
                self._rules[compounds[-1].key].append(_rule(compounds, kept, self._count))


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Prelude and body of each top-level rule; a rule without its closing brace ends the text."""
    position = 0
    while (opening := text.find("{", position)) != -1:
        prelude = text[position:opening].rpartition(";")[2].strip()
        closing = _closing_brace(text, opening)
        yield prelude, text[opening + 1 : closing]
        position = closing + 1


def _closing_brace(text: str, opening: int) -> int:
    depth = 0
    for match in _BRACE.finditer(text, opening):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.start()
    return len(text)


def _compounds(selector: str) -> tuple[_Compound, ...]:
    parts = []
    for piece in selector.replace(">", " ").split():
        match = _COMPOUND.match(piece)
        if match is None:
            return ()
        found = _PART.findall(match[2])
        parts.append(
            _Compound(
                (match[1] or "").lower(),
                frozenset(name for mark, name in found if mark == "."),
                frozenset(name for mark, name in found if mark == "#"),
            )
        )
    return tuple(parts)
