"""Numbered lists inside a section, so that their items are not taken for sections."""

from __future__ import annotations

from documents.ingestion import titles
from documents.ingestion.counting import Counting
from documents.ingestion.numbering import Label, Scheme
from documents.ingestion.sequence import Fit
from documents.ingestion.surroundings import Form, Surroundings
from documents.records import BlockKind

_ARTICLES = frozenset({Scheme.ARTICLE, Scheme.SECTION, Scheme.PARAGRAPH_SIGN, Scheme.HAN_ARTICLE})
_MAX_INDENT_STEP = 2
_CLAUSE_LENGTH = 120  # characters, on average; items of lists measured well below
_MIN_CLAUSES = 3
_MAX_STEPS = 60


class Enumerations:
    """Follows the list that is open, if one is."""

    def __init__(self, around: Surroundings, count: Counting) -> None:
        self._around = around
        self._count = count
        self._run = 0  # the number of the last item
        self._line = -1

    def leave(self) -> None:
        """A section begins: no list is open."""
        self._run = 0

    def holds(self, index: int, label: Label, rest: str, form: Form) -> bool:
        """Whether `1.` is an item inside the section that is open, not a section."""
        line, value = self._around.lines[index], label.value[0]
        if self._around.is_mostly_marked or self._count.container in _ARTICLES:
            return not self._holds_numbers(index, label, form)
        fit = self._count.fit(label)
        top_indent = self._count.top_indent
        if top_indent is not None and line.indent > top_indent + _MAX_INDENT_STEP:
            counts_on = fit is Fit.NEXT and label.delimiter == self._count.top_delimiter
            if not counts_on or self._run:
                return True
        runs_on = self._run and value == self._run + 1
        if runs_on and not self._ends(index, rest, form, fit):
            self._run, self._line = value, index
            return True
        if value == 1 and self._begins(index, rest, form, fit):
            self._run, self._line = 1, index
            return True
        return False

    def _holds_numbers(self, index: int, label: Label, form: Form) -> bool:
        """Whether `2. Probation` has a `2.1` of its own before the count goes on: no item has."""
        inner = self._around.next_place(index, Scheme.DECIMAL, (*label.value, 1))
        after = self._around.next_place(index, Scheme.DECIMAL, (label.value[0] + 1,))
        is_near = inner is not None and (after is None or inner < after)
        is_printed = bool(label.delimiter) or not self._around.lines[index].is_inline
        is_titled = form is Form.TITLE and is_printed
        return is_titled and is_near and self._around.stands_free(index)

    def _begins(self, index: int, rest: str, form: Form, fit: Fit) -> bool:
        line, following = self._around.lines[index], self._around.label(index + 1)
        if fit is Fit.BACK or self._begins_below(following):
            return True
        is_item = line.kind is BlockKind.LIST_ITEM and bool(self._around.marked_count)
        if is_item and form is Form.CLAUSE:
            return True
        is_introduced = self._around.follows_lead_in(index)
        return is_introduced and not self._begins_clauses(index, rest, fit)

    @staticmethod
    def _begins_below(following: Label | None) -> bool:
        """Whether the next line begins the same count, as in a table of contents."""
        return (
            following is not None
            and following.scheme is Scheme.DECIMAL
            and (following.value == (1,))
        )

    def _begins_clauses(self, index: int, rest: str, fit: Fit) -> bool:
        """Whether `the parties agree as follows:` leads to the clauses of the whole document."""
        may_hold = self._count.holds_clauses or titles.run_in_title(rest) is not None
        is_first = fit in (Fit.FIRST, Fit.RESTART) and may_hold
        label = self._around.labels[index]
        return is_first and label is not None and self.begins_long_clauses(index, label)

    def begins_long_clauses(self, index: int, label: Label) -> bool:
        """Whether `1.` and what counts on from it are too long for the items of a list."""
        if label.value != (1,):
            return False
        lines = self._around.lines
        last, steps = index, 0
        while steps < _MAX_STEPS:
            place = self._around.next_place(last, Scheme.DECIMAL, (steps + 2,))
            if place is None:
                break
            last, steps = place, steps + 1
        length = lines[last].start - lines[index].start
        return steps >= _MIN_CLAUSES - 1 and length >= _CLAUSE_LENGTH * steps

    def _ends(self, index: int, rest: str, form: Form, fit: Fit) -> bool:
        """Whether a number that goes on with a list rather goes on with the sections."""
        if fit is not Fit.NEXT or form is not Form.TITLE:
            return False
        item = self._around.lines[self._line].text
        differs = titles.ends_closed(item) and not titles.ends_closed(rest)
        return differs or self._around.lines[index].is_after_blank or index - self._line > 1
