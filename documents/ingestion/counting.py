"""How the numbering of a document runs while its lines are read from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from documents.ingestion.numbering import Label, Scheme
from documents.ingestion.sequence import Fit, follow

# Schemes whose count begins anew inside an annex.
_RESTARTING = (Scheme.ROMAN, Scheme.LETTER, Scheme.HAN_FORMAL, Scheme.HAN_ENUMERATION)
# Schemes whose number begins the numbers of what is inside: `Section 3`, `3.1`.
_COUNTED_ON = frozenset(
    {Scheme.SECTION, Scheme.ARTICLE, Scheme.CHAPTER, Scheme.PART, Scheme.PARAGRAPH_SIGN,
     Scheme.ROMAN, Scheme.TITLE}
)  # fmt: skip


@dataclass(slots=True)
class Counting:
    """The last number of each scheme, and what may follow.

    `container` is the scheme of the last heading that is no decimal; `holds_clauses` says that
    what is open may have numbered clauses of its own; `is_fresh` that a count may begin anew.
    """

    decimal: tuple[int, ...] | None = None
    last: dict[Scheme, tuple[int, ...]] = field(default_factory=dict)
    is_fresh: bool = True
    container: Scheme | None = None
    container_value: tuple[int, ...] = ()
    holds_clauses: bool = True
    top_indent: int | None = None
    top_delimiter: str | None = None

    def resolve(self, label: Label) -> Label:
        """`C.` after `B.` is a letter, though it is a roman numeral too."""
        if label.scheme is not Scheme.ROMAN or len(label.number) > 1:
            return label
        letter = ord(label.number) - 64
        follows_letter = self.last.get(Scheme.LETTER) == (letter - 1,)
        follows_roman = self.last.get(Scheme.ROMAN) == (label.value[0] - 1,)
        if follows_letter or (not follows_roman and label.number != "I"):
            return replace(label, scheme=Scheme.LETTER, value=(letter,))
        return label

    def fit(self, label: Label) -> Fit:
        """How a decimal number follows the one before."""
        last, value = self.decimal, label.value
        outer = self.container_value
        if outer and len(value) > 1 and value[: len(outer)] == outer:
            # `3.1` below `Section 3` counts on from there.
            last = last if last is not None and last[: len(outer)] == outer else outer
        if last is None:
            return Fit.FIRST
        fit = follow(last, value)
        begins = value[-1] == 1 and (len(value) <= 2 or self.container is Scheme.ANNEX)
        return Fit.RESTART if fit is Fit.BACK and self.is_fresh and begins else fit

    def keyword_fit(self, label: Label) -> Fit:
        """How the number of a keyword follows the last one of its scheme."""
        last = self.last.get(label.scheme)
        if last is None:
            return Fit.FIRST
        if label.value > last:
            return follow(last, label.value)
        return Fit.RESTART if self.is_fresh and label.value[-1] == 1 else Fit.BACK

    def remember(self, label: Label | None, indent: int | None) -> None:
        """Take a heading into account; `indent` is None where its line does not show it."""
        if label is None:
            self.is_fresh, self.container, self.holds_clauses = True, None, False
            self.container_value = ()
            return
        if label.scheme is Scheme.DECIMAL:
            self.decimal, self.is_fresh, self.holds_clauses = label.value, False, True
            self.container_value = ()
            if len(label.value) == 1:
                self.top_indent, self.top_delimiter = indent, label.delimiter
            return
        self.last[label.scheme] = label.value
        self.is_fresh, self.container, self.holds_clauses = True, label.scheme, True
        self.top_indent = None
        self.container_value = label.value if label.scheme in _COUNTED_ON else ()
        if label.scheme is Scheme.HAN_FORMAL:
            self.last.pop(Scheme.HAN_ENUMERATION, None)
        if label.scheme in (Scheme.ANNEX, Scheme.HAN_SUPPLEMENT):
            self.decimal = None
            for scheme in _RESTARTING:
                self.last.pop(scheme, None)
