"""How the numbering of a document runs while its lines are read from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from documents.ingestion.numbering import Label, Scheme
from documents.ingestion.sequence import Fit, follow

# Schemes whose count begins anew inside an annex.
_RESTARTING = (Scheme.ROMAN, Scheme.LETTER, Scheme.HAN_FORMAL, Scheme.HAN_ENUMERATION)


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
    holds_clauses: bool = True
    top_indent: int | None = None

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
        return follow(last, label.value) if label.value > last else Fit.BACK

    def remember(self, label: Label | None, indent: int) -> None:
        """Take a heading into account."""
        if label is None:
            self.is_fresh, self.container, self.holds_clauses = True, None, False
            return
        if label.scheme is Scheme.DECIMAL:
            self.decimal, self.is_fresh = label.value, False
            if len(label.value) == 1:
                self.top_indent = indent
            return
        self.last[label.scheme] = label.value
        self.is_fresh, self.container, self.holds_clauses = True, label.scheme, True
        self.top_indent = None
        if label.scheme is Scheme.HAN_FORMAL:
            self.last.pop(Scheme.HAN_ENUMERATION, None)
        if label.scheme in (Scheme.ANNEX, Scheme.HAN_SUPPLEMENT):
            self.decimal = None
            for scheme in _RESTARTING:
                self.last.pop(scheme, None)
