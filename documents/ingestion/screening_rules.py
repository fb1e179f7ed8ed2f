"""The screening rules as data: read, checked and compiled once, when first needed.

`rules/families.yaml` names families of words; every other file there holds rules. A pattern
is a regular expression over folded text, one a line, in which `<family>` stands for any word
of that family and a blank for a blank or a line break; `^` is the start of a line. Gaps are
bounded, so that matching stays linear, and a pattern is tried only near the words it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from documents.ingestion.windows import Windows, WordIndex, intersection, literal_windows
from documents.records import Severity

FOLDER = Path(__file__).parent / "rules"
CONTEXT = 64  # characters before and after a match that `not_before` and `not_after` see

_FAMILY = re.compile(r"<([a-z_]+\d*)>")
_LOOK_BEHIND = re.compile(r"\(\?<[!=][^)]*\)")
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]| ", re.DOTALL)
_CHINESE = frozenset({"zh-Hant", "zh-Hans"})
_KEYS = {
    "id", "severity", "description", "languages", "patterns", "needs_words", "needs_text",
    "whole_words", "not_before", "not_after", "hidden_only", "examples_match",
    "examples_no_match",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One screening rule, compiled.

    `needs_words`: groups of words; a match holds one of each group. `needs_text`: strings,
    one of which a match holds. Without either the whole text is searched.
    `not_before`, `not_after`: what, beside a match, makes it harmless (a negation, say).
    `squeezed` are the patterns with optional blanks, for text whose letters were spaced out.
    `hidden_only`: a weak sign, which counts only in text that people cannot see.
    """

    id: str
    severity: Severity
    description: str
    languages: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    squeezed: tuple[re.Pattern[str], ...]
    needs_words: tuple[re.Pattern[str], ...]
    needs_text: tuple[str, ...]
    hidden_only: bool
    not_before: re.Pattern[str] | None
    not_after: re.Pattern[str] | None
    examples_match: tuple[str, ...]
    examples_no_match: tuple[str, ...]

    def spans(self, index: WordIndex, within: Windows | None = None) -> Iterator[tuple[int, int]]:
        """Yield where the rule matches in an indexed text, by pattern, left to right.

        Args:
            index: the folded text with its words.
            within: stretches to keep to, in order; None for the whole text.
        """
        windows: Windows = [(0, len(index.text))] if within is None else within
        if self.needs_text:
            windows = intersection(windows, literal_windows(index.text, self.needs_text))
        elif self.needs_words:
            windows = intersection(windows, index.windows(self.needs_words))
        elif _CHINESE.issuperset(self.languages):
            windows = intersection(windows, index.ideograph_windows())
        return self._matches(self.patterns, index.text, windows)

    def squeezed_spans(self, text: str, within: Windows) -> Iterator[tuple[int, int]]:
        """Yield where the rule matches with its blanks optional."""
        return self._matches(self.squeezed, text, within)

    def _matches(
        self,
        patterns: Sequence[re.Pattern[str]],
        text: str,
        windows: Sequence[tuple[int, int]],
    ) -> Iterator[tuple[int, int]]:
        for pattern in patterns:
            for start, end in windows:
                for match in pattern.finditer(text, start, end):
                    if match.end() > match.start() and self._stands(text, *match.span()):
                        yield match.span()

    def _stands(self, text: str, start: int, end: int) -> bool:
        before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
        if self.not_before is not None and self.not_before.search(before):
            return False
        return self.not_after is None or not self.not_after.match(after)


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of their files and places; read once a process.

    Raises:
        ValueError: a file is malformed; the message names the rule.
    """
    families = _families(_read("families.yaml")["families"])
    found = [
        _rule(entry, families)
        for path in sorted(FOLDER.glob("*.yaml"))
        if path.name != "families.yaml"
        for entry in _read(path.name)["rules"]
    ]
    identifiers = [rule.id for rule in found]
    if len(set(identifiers)) != len(identifiers):
        raise ValueError("two screening rules have the same id")
    return tuple(found)


def _read(name: str) -> dict[str, Any]:
    content = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{name}: expected a mapping")
    return content


def _families(entries: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Each family as (pattern, squeezed pattern); a family may use those before it."""
    families = {f"words{n}": _gap(n) for n in (1, 2, 3, 4, 6, 8)}
    for name, words in entries.items():
        joined = "|".join(_lines(words))
        families[name] = (
            f"(?:{_plain(joined, families)})",
            f"(?:{_expand(_squeeze(joined), families, 1)})",
        )
    return families


def _lines(block: str) -> list[str]:
    """The lines of a literal block; a trailing blank in a line counts."""
    return [line for line in block.split("\n") if line.strip()]


def _gap(words: int) -> tuple[str, str]:
    """At most so many words of one sentence; their length is bounded to stay linear."""
    return rf"(?:[^ \n.!?;]{{1,30}}[ \n]){{0,{words}}}", rf"[^.!?;]{{0,{words * 5}}}"


def _expand(pattern: str, families: Mapping[str, tuple[str, str]], form: int) -> str:
    def family(match: re.Match[str]) -> str:
        if match[1] not in families:
            raise ValueError(f"unknown family <{match[1]}>")
        return families[match[1]][form]

    return _FAMILY.sub(family, pattern)


def _with_blanks(pattern: str, blank: str) -> str:
    """Let a blank stand for `blank`, and inside a character class for a line break too."""

    def atom(match: re.Match[str]) -> str:
        found = match.group()
        if found == " ":
            return blank
        return found.replace(" ", " \\n") if found.startswith("[") else found

    return _ATOM.sub(atom, pattern)


def _squeeze(pattern: str) -> str:
    """Make blanks optional; look-behinds go, since they need a fixed width."""
    optional = _with_blanks(_LOOK_BEHIND.sub("", pattern), "[ \\n]?")
    return re.sub(r"\[ \\n\]\?(?=[?*+{])", "[ \\\\n]", optional)


def _rule(entry: Mapping[str, Any], families: Mapping[str, tuple[str, str]]) -> Rule:
    identifier = entry.get("id", "without id")
    if unknown := entry.keys() - _KEYS:
        raise ValueError(f"rule {identifier}: unknown keys {sorted(unknown)}")
    try:
        return _compiled(entry, families)
    except (KeyError, re.error, ValueError) as error:
        raise ValueError(f"rule {identifier}: {error!r}") from error


def _compiled(entry: Mapping[str, Any], families: Mapping[str, tuple[str, str]]) -> Rule:
    left, right = (r"(?<!\w)", r"(?!\w)") if entry.get("whole_words", True) else ("", "")
    lines = _lines(entry["patterns"])

    def beside(key: str) -> re.Pattern[str] | None:
        joined = "|".join(_lines(entry.get(key, "")))
        return re.compile(_plain(joined, families)) if joined else None

    return Rule(
        id=entry["id"],
        severity=Severity(entry.get("severity", Severity.BLOCK)),
        description=entry["description"],
        languages=tuple(entry["languages"]),
        patterns=tuple(
            re.compile(f"{left}(?:{_plain(line, families)}){right}", re.MULTILINE) for line in lines
        ),
        squeezed=tuple(re.compile(_expand(_squeeze(line), families, 1)) for line in lines),
        needs_words=tuple(
            re.compile(_plain(line, families)) for line in _lines(entry.get("needs_words", ""))
        ),
        needs_text=tuple(entry.get("needs_text", ())),
        hidden_only=bool(entry.get("hidden_only", False)),
        not_before=beside("not_before"),
        not_after=beside("not_after"),
        examples_match=tuple(entry["examples_match"]),
        examples_no_match=tuple(entry["examples_no_match"]),
    )


def _plain(pattern: str, families: Mapping[str, tuple[str, str]]) -> str:
    return _expand(_with_blanks(pattern, "[ \\n]"), families, 0)
