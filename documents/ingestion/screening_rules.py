"""The screening rules as data: read, checked and compiled once, when first needed.

`rules/families.yaml` names families of words; every other file there holds rules. A pattern
is a regular expression over folded text in which `<family>` stands for any word of that
family and a blank for one blank. Gaps are bounded, so that matching stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from documents.records import Severity

FOLDER = Path(__file__).parent / "rules"
CONTEXT = 64  # characters before and after a match that `not_before` and `not_after` see
WINDOW = 400  # characters around a needed word in which a pattern is tried; no match is longer

_FAMILY = re.compile(r"<([a-z_]+\d*)>")
_LOOK_BEHIND = re.compile(r"\(\?<[!=][^)]*\)")
_KEYS = {
    "id", "severity", "description", "languages", "patterns", "needs", "at_line_start",
    "whole_words", "not_before", "not_after", "hidden_only", "examples_match",
    "examples_no_match",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One screening rule, compiled.

    `needs`: words without which no pattern can match; empty means always try.
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
    needs: tuple[str, ...]
    at_line_start: bool
    hidden_only: bool
    not_before: re.Pattern[str] | None
    not_after: re.Pattern[str] | None
    examples_match: tuple[str, ...]
    examples_no_match: tuple[str, ...]

    def spans(self, text: str, *, squeezed: bool = False) -> Iterator[tuple[int, int]]:
        """Yield where the rule matches in a folded text, half open, left to right by pattern."""
        patterns = self.squeezed if squeezed else self.patterns
        windows = [(0, len(text))] if squeezed else _windows(text, self.needs)
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
    families = {f"words{n}": _gap(n) for n in (1, 2, 3, 4, 6, 8, 12)}
    for name, words in entries.items():
        joined = "|".join(_lines(words))
        families[name] = (
            f"(?:{_expand(joined, families, 0)})",
            f"(?:{_squeeze(_expand(joined, families, 1))})",
        )
    return families


def _lines(block: str) -> list[str]:
    """The lines of a literal block; a trailing blank in a line counts."""
    return [line for line in block.split("\n") if line.strip()]


def _gap(words: int) -> tuple[str, str]:
    """At most so many words of one sentence; word length is bounded to stay linear."""
    return rf"(?:[^ .!?;]{{1,30}} ){{0,{words}}}", rf"[^.!?;]{{0,{words * 8}}}"


def _expand(pattern: str, families: Mapping[str, tuple[str, str]], form: int) -> str:
    def family(match: re.Match[str]) -> str:
        if match[1] not in families:
            raise ValueError(f"unknown family <{match[1]}>")
        return families[match[1]][form]

    return _FAMILY.sub(family, pattern)


def _squeeze(pattern: str) -> str:
    """Make blanks optional and drop look-behinds, which need a fixed width.

    A blank inside a character class gains a question mark there, harmlessly.
    """
    return re.sub(r" (?![?*+{])", " ?", _LOOK_BEHIND.sub("", pattern))


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

    def patterns(form: int) -> tuple[re.Pattern[str], ...]:
        expanded = [_expand(p, families, form) for p in _lines(entry["patterns"])]
        if form == 1:
            return tuple(re.compile(f"(?:{_squeeze(p)})") for p in expanded)
        return tuple(re.compile(f"{left}(?:{p}){right}") for p in expanded)

    def beside(key: str) -> re.Pattern[str] | None:
        lines = _lines(entry.get(key, ""))
        return re.compile(_expand("|".join(lines), families, 0)) if lines else None

    return Rule(
        id=entry["id"],
        severity=Severity(entry.get("severity", Severity.BLOCK)),
        description=entry["description"],
        languages=tuple(entry["languages"]),
        patterns=patterns(0),
        squeezed=patterns(1),
        needs=tuple(str(word) for word in entry.get("needs", ())),
        at_line_start=bool(entry.get("at_line_start", False)),
        hidden_only=bool(entry.get("hidden_only", False)),
        not_before=beside("not_before"),
        not_after=beside("not_after"),
        examples_match=tuple(entry["examples_match"]),
        examples_no_match=tuple(entry["examples_no_match"]),
    )


def _windows(text: str, needs: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches of a text near a needed word, merged; the whole text where none is needed."""
    if not needs:
        return [(0, len(text))]
    windows: list[tuple[int, int]] = []
    for position in sorted(position for word in needs for position in _find_all(text, word)):
        start, end = max(0, position - WINDOW), min(len(text), position + WINDOW)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return windows


def _find_all(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        yield position
        position = text.find(word, position + len(word))
