"""A cited passage, prepared once for all checks of one question.

Holds its quantities, its clauses with their content words, and the text that counts as its
own besides the body: title and section path, which say what a short clause is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from documents.ingestion.analysis import content_words
from documents.ingestion.folding import Folded, fold_for_quotes
from qa.answering.clauses import Clause, is_cjk, split_clauses
from qa.answering.verify.planted import planted_spans
from qa.answering.verify.quantities import Quantity, find_quantities, fold
from qa.records import Passage

# Words that speak about a rule rather than say it, and light verbs: they support nothing.
GENERIC: Final = frozenset(
    """accord answer appli applic ask case come count document done du find follow full
    get give given go gone got grant include includ keep know let make mean mention must need
    note number only onli own paragraph plus polici pleas possibl provid receiv regard requir rule
    said same say section set shown sourc specif state stat still take text than then thing
    under use want way within yes no not cannot unless all any each everi never non
    none nobody nothing without""".split()  # noqa: SIM905 - a list of words reads better
)
_FINE: Final = re.compile(
    r"[,;:，；：。、\n]|\s[–—-]\s|\b(?:and|but|while|whereas|plus)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A clause, or a part of one, that a claim's clause can be compared with."""

    text: str
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    clause: int  # position of the whole clause it belongs to


def language_of(text: str) -> str:
    """The language whose word forms `text` has, as far as the checks care."""
    return "zh-Hant" if is_cjk(text) else "en"


def topic_words(text: str, language: str | None = None) -> list[str]:
    """Content words without quantities and generic words, in order."""
    folded = fold(text)
    for quantity in reversed(find_quantities(text)):
        folded = folded[: quantity.start] + " " + folded[quantity.end :]
    words = content_words(folded, language or language_of(text))
    return [word for word in words if word not in GENERIC and not word.isdigit()]


def fine_parts(text: str) -> list[str]:
    """Parts of a sentence between commas, semicolons and coordinating words."""
    masked = re.sub(r"(?<=\d)[,，](?=\d)", "\0", text)
    return [part.replace("\0", ",").strip() for part in _FINE.split(masked) if part.strip()]


class Source:
    """One passage with what the checks ask of it, computed when first asked."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.heading = "\n".join([passage.document, *passage.section_path, passage.section_title])

    @cached_property
    def folded(self) -> Folded:
        """The text as quotes are compared: NFKC, plain dashes, quotes and blanks."""
        return fold_for_quotes(self.passage.text)

    @cached_property
    def clauses(self) -> list[Clause]:
        """The passage's sentences, items and rows."""
        return split_clauses(self.passage.text)

    @cached_property
    def planted(self) -> list[tuple[int, int]]:
        """Spans of paragraphs that speak to whoever answers; they support nothing."""
        return planted_spans(self.passage.text)

    @cached_property
    def language(self) -> str:
        """Whose word forms the passage has."""
        language = self.passage.language
        return language if language[:2] not in {"en", "zh"} else language_of(self.passage.text)

    @cached_property
    def is_cjk(self) -> bool:
        """Whether the passage is in a script without blanks."""
        return is_cjk(self.passage.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Content words of text and heading."""
        return frozenset(content_words(f"{self.heading}\n{self.passage.text}", self.language))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Quantities of the text."""
        return find_quantities(self.passage.text)

    @cached_property
    def heading_quantities(self) -> tuple[Quantity, ...]:
        """Quantities of title and headings."""
        return find_quantities(self.heading)

    @cached_property
    def units(self) -> list[Unit]:
        """Whole clauses (an item with its stem) in order."""
        return [self._unit(index, self._with_stem(c)) for index, c in enumerate(self.clauses)]

    @cached_property
    def fine_units(self) -> list[Unit]:
        """Parts of clauses, for comparisons that a compound sentence would blur."""
        return [
            self._unit(index, part)
            for index, clause in enumerate(self.clauses)
            for part in fine_parts(self._with_stem(clause))
        ]

    def units_at(self, spans: Sequence[tuple[int, int]]) -> list[Unit]:
        """The whole clauses that any of the spans touches; all of them without spans."""
        if not spans:
            return self.units
        return [
            unit
            for unit, clause in zip(self.units, self.clauses, strict=True)
            if any(clause.start < end and start < clause.end for start, end in spans)
        ]

    def _with_stem(self, clause: Clause) -> str:
        if clause.stem is None:
            return clause.text
        start, end = clause.stem
        return f"{self.passage.text[start:end].rstrip(' :：')} {clause.text}"

    def _unit(self, index: int, text: str) -> Unit:
        words = frozenset(topic_words(text, self.language))
        return Unit(text, words, find_quantities(text), index)
