"""Which lines open sections.

A label alone proves nothing: `30 days of notice`, a row of a table, an item of a list, a
cross reference and a table of contents begin like a heading too. A line is taken when it
reads like a title or a clause, fits the numbering that runs, and stands where a heading
may stand. What the format marks as a heading always is one.
"""

from __future__ import annotations

from documents.ingestion import titles
from documents.ingestion.counting import Counting
from documents.ingestion.enumerations import Enumerations
from documents.ingestion.lines import Line
from documents.ingestion.numbering import INSERTED, Label, Scheme
from documents.ingestion.openings import Heading, open_numbered, reads_as_title
from documents.ingestion.sequence import MAX_DEEP_GAP, MAX_GAP, Fit
from documents.ingestion.surroundings import TEXT_KINDS, Form, Surroundings
from documents.ingestion.unnumbered import is_unnumbered_heading
from documents.records import BlockKind, ParsedDocument

_KEYWORDS = frozenset(
    {Scheme.BOOK, Scheme.PART, Scheme.TITLE, Scheme.CHAPTER, Scheme.DIVISION, Scheme.ANNEX,
     Scheme.ARTICLE, Scheme.SECTION, Scheme.PARAGRAPH_SIGN}
)  # fmt: skip
_HAN = frozenset(
    {Scheme.HAN_PART, Scheme.HAN_CHAPTER, Scheme.HAN_SECTION, Scheme.HAN_SUBSECTION,
     Scheme.HAN_ITEM, Scheme.HAN_ARTICLE, Scheme.HAN_SUPPLEMENT}
)  # fmt: skip
_CONTAINERS = (_KEYWORDS | _HAN | {Scheme.ROMAN, Scheme.LETTER}) - {
    Scheme.ARTICLE, Scheme.SECTION, Scheme.PARAGRAPH_SIGN, Scheme.HAN_ARTICLE,
}  # fmt: skip
# Units that ordinary sentences count too (`第一款`), so nothing but a heading's blank tells them.
_HAN_MINOR = frozenset({Scheme.HAN_SUBSECTION, Scheme.HAN_ITEM})
_HAN_OUTLINE = frozenset({Scheme.HAN_FORMAL, Scheme.HAN_ENUMERATION})
_BEGIN_OR_GO_ON = frozenset({Fit.FIRST, Fit.NEXT, Fit.RESTART})
_MAX_TOP_DECIMAL = 200  # larger numbers are years and amounts
_MAX_INLINE_STEP = 3
_CONFIRMATIONS = 2  # numbers that must follow for a count to begin inside a printed line
_MAX_FIRST = 3


def find_headings(parsed: ParsedDocument) -> list[Heading]:
    """The headings of a document, in order. Their spans do not overlap."""
    return _Finder(parsed).find()


class _Finder:
    """Walks over the lines once, and remembers how the numbering runs."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._media_type = parsed.media_type
        self._around = Surroundings(parsed)
        self._lines = self._around.lines
        self._count = Counting()
        self._lists = Enumerations(self._around, self._count)

    def find(self) -> list[Heading]:
        headings = []
        for index, line in enumerate(self._lines):
            if index <= self._around.skip:
                continue
            heading = self._heading_at(index)
            if heading is not None:
                if heading.body_start >= line.end:
                    self._around.heading_lines.add(index)
                self._lists.leave()
                self._count.remember(heading.label, None if line.is_inline else line.indent)
                headings.append(heading)
        return headings

    def _heading_at(self, index: int) -> Heading | None:
        line, label = self._lines[index], self._around.labels[index]
        if line.level is not None:
            return self._marked(line, label)
        if line.kind not in TEXT_KINDS or index in self._around.contents:
            return None
        if label is not None:
            return self._numbered(index, line, label)
        if not is_unnumbered_heading(self._around, index, self._media_type):
            return None
        return Heading(line.start, line.end, None, titles.tidy_title(line.text.rstrip(":")))

    # Headings that the format marks.

    def _marked(self, line: Line, label: Label | None) -> Heading:
        if label is not None:
            label = self._count.resolve(label)
        rest = line.text[label.rest_start :].strip() if label else line.text
        if label is None or not self._is_marked_number(label, rest):
            return Heading(line.start, line.end, None, titles.tidy_title(line.text), line.level)
        title = titles.tidy_title(rest) or None
        return Heading(line.start, line.end, label, title, line.level, self._restarts(label))

    def _is_marked_number(self, label: Label, rest: str) -> bool:
        if label.scheme in (Scheme.ROMAN, Scheme.LETTER):
            return bool(rest)
        if label.scheme is Scheme.DECIMAL:
            if _is_bare_insertion(label):
                return self._count.fit(label) is Fit.NEXT
            if not label.delimiter and len(label.value) == 1 and (not rest or rest[0].islower()):
                return False
            return not titles.is_measure(rest) or self._names_a_subject(label, rest)
        return bool(label.delimiter) or not rest[:1].islower()

    def _names_a_subject(self, label: Label, rest: str) -> bool:
        """`8 Hours and availability` after 7 is a heading, though it begins like a period."""
        fits = self._count.fit(label) is Fit.NEXT or label.value == (1,)
        is_long = len(rest.split()) > 1 or (not rest.isascii() and len(rest) > 3)
        is_closed = label.delimiter == "." and rest[:1].isupper()  # `1. Hours`, not `8 hours`
        return fits and (is_long or is_closed) and not label.is_glued and titles.begins_words(rest)

    def _restarts(self, label: Label) -> bool:
        return label.scheme is Scheme.DECIMAL and self._count.fit(label) is Fit.RESTART

    # Lines with a label.

    def _numbered(self, index: int, line: Line, label: Label) -> Heading | None:
        label = self._count.resolve(label)
        rest = line.text[label.rest_start :].strip()
        if self._around.continues_sentence(index):
            return None
        opens_inner = label.delimiter == "." and titles.opens_sub_clause(rest)
        if not opens_inner and titles.is_reference(rest, is_glued=label.is_glued):
            return None
        if label.scheme in self._around.marked_schemes and label.scheme is not Scheme.DECIMAL:
            return None  # the format marks the headings of this kind; the rest is body
        last = self._count.last.get(label.scheme)
        if last is not None and self._around.comes_in_its_place(index, label, last):
            return None
        if line.is_inline and not self._opens_inline(index, label, rest):
            return None
        if not self._takes(index, label, rest, self._around.form(index, rest)):
            return None
        return open_numbered(self._around, index, label, restarts=self._restarts(label))

    def _takes(self, index: int, label: Label, rest: str, form: Form) -> bool:
        if label.scheme is Scheme.DECIMAL:
            return self._takes_decimal(index, label, rest, form)
        if label.scheme in _KEYWORDS:
            return self._takes_keyword(index, label, rest, form)
        if label.scheme in _HAN:
            return self._takes_han(index, label, form)
        return self._takes_letter(index, label, rest, form)

    def _opens_inline(self, index: int, label: Label, rest: str) -> bool:
        """Whether the numbering alone is proof enough inside a printed line."""
        if label.scheme is Scheme.DECIMAL:
            fit, last = self._count.fit(label), self._count.decimal
        else:
            fit, last = self._count.keyword_fit(label), self._count.last.get(label.scheme)
        if not rest or not titles.begins_words(rest):
            return False
        if fit is Fit.NEXT:
            return True
        if fit is Fit.AHEAD and last is not None and len(last) >= len(label.value):
            is_near = label.value[-1] - last[len(label.value) - 1] <= _MAX_INLINE_STEP
            return is_near and self._around.counts_on(index, label, 1)
        begins = fit is Fit.FIRST and label.value[-1] <= _MAX_FIRST
        return (begins or fit is Fit.RESTART) and self._around.counts_on(
            index, label, _CONFIRMATIONS
        )

    def _takes_decimal(self, index: int, label: Label, rest: str, form: Form) -> bool:
        is_titled = form is Form.TITLE and self._names_a_subject(label, rest)
        if self._lines[index].lead:
            return self._count.fit(label) is not Fit.BACK
        is_next = self._count.fit(label) is Fit.NEXT
        # `5.1 Hours of work are …`: amounts and dates are not written like this.
        is_clause = is_next and len(label.value) > 1 and rest[:1].isupper() and rest[1:2].islower()
        is_measure = titles.is_measure(rest) and not is_titled and not is_clause
        if is_measure or (label.value[0] > _MAX_TOP_DECIMAL and not is_next):
            return False
        if len(label.value) == 1:
            return self._takes_top_decimal(index, label, rest, form)
        return self._takes_deep_decimal(index, label, rest, form)

    def _takes_deep_decimal(self, index: int, label: Label, rest: str, form: Form) -> bool:
        fit = self._count.fit(label)
        if _is_bare_insertion(label) and fit is not Fit.NEXT:
            return False
        if form is Form.ALONE and self._around.text(index + 1) is None:
            return False
        if rest[:1].islower():
            return fit is Fit.NEXT and self._around.stands_free(index)
        if fit is Fit.AHEAD:
            is_letter = label.value[-1] > INSERTED  # `3D printing` is no clause
            return (label.value[-1] <= MAX_DEEP_GAP or form is Form.TITLE) and (
                not is_letter or self._around.stands_free(index)
            )
        if fit is Fit.FIRST:
            if label.value[-1] in (1, INSERTED + 1):
                return True
            return not self._around.is_mostly_marked and label.value[-1] <= MAX_DEEP_GAP
        if fit is Fit.FAR:
            is_titled = form is Form.TITLE and self._lines[index].is_after_blank
            return is_titled or self._recovers(index, label, rest)
        return fit in (Fit.NEXT, Fit.RESTART)

    def _recovers(self, index: int, label: Label, rest: str) -> bool:
        """Whether the count goes on here after a number between was missed."""
        last = self._count.decimal or ()
        steps = label.value[0] - last[0] if last else 0
        is_near = 0 < steps <= MAX_GAP and label.value[-1] <= _MAX_FIRST
        is_free = self._around.stands_free(index) and titles.begins_words(rest)
        return is_near and is_free and self._around.counts_on(index, label, 1)

    def _takes_top_decimal(self, index: int, label: Label, rest: str, form: Form) -> bool:
        if self._around.is_bold_top(index, form):
            return True
        if self._around.is_between_bold_tops(index) or self._lists.holds(index, label, rest, form):
            return False
        if self._around.is_of_minor_style(label):
            return False
        fit = self._count.fit(label)
        if form is Form.ALONE:
            return self._takes_number_alone(index, label, fit)
        if not titles.begins_words(rest) or (not label.delimiter and titles.is_table_row(rest)):
            return False
        if fit is Fit.NEXT or (fit is Fit.FIRST and label.value == (1,)):
            return form is Form.TITLE or self._may_be_clause(index, label, rest)
        if fit is Fit.RESTART:
            is_in_container = self._count.container in _CONTAINERS
            is_clause = is_in_container or self._may_be_clause(index, label, rest)
            return form is Form.TITLE or is_clause
        is_titled = form is Form.TITLE or titles.run_in_title(rest) is not None
        if not is_titled and fit is Fit.AHEAD and label.delimiter:
            is_titled = self._around.counts_on(index, label, _CONFIRMATIONS)
        is_near = fit in (Fit.FIRST, Fit.AHEAD) or self._has_its_first_right_below(index, label)
        return is_titled and is_near and self._around.stands_free(index)

    def _has_its_first_right_below(self, index: int, label: Label) -> bool:
        """`10. Closing` over `10.1`, in an extract that leaves out what stood before."""
        below = self._around.label(index + 1)
        is_later = self._count.decimal is not None and label.value > self._count.decimal
        return is_later and below is not None and below.value == (*label.value, 1)

    def _takes_number_alone(self, index: int, label: Label, fit: Fit) -> bool:
        """`3.` above its title; without the full stop a page number looks the same."""
        if fit not in _BEGIN_OR_GO_ON or not reads_as_title(self._around, index + 1):
            return False
        if label.delimiter == ".":
            return True
        return fit is Fit.NEXT and not self._lines[index].is_before_blank

    def _may_be_clause(self, index: int, label: Label, rest: str) -> bool:
        """Whether a numbered sentence is a clause.

        Below a heading without a number a list is likelier: there it must have a title of its
        own, or be the first of several that are long.
        """
        if not self._count.holds_clauses:
            has_title = bool(label.delimiter) and titles.run_in_title(rest) is not None
            return has_title or self._lists.begins_long_clauses(index, label)
        if label.delimiter or self._count.decimal is not None:
            return True
        place = self._around.next_place(index, Scheme.DECIMAL, (label.value[0] + 1,))
        following = self._around.label(place) if place is not None else None
        return following is not None and following.delimiter == label.delimiter

    def _takes_keyword(self, index: int, label: Label, rest: str, form: Form) -> bool:
        line = self._lines[index]
        is_clause = form is Form.CLAUSE
        fit = self._count.keyword_fit(label)
        counts_on = line.kind is BlockKind.LIST_ITEM and fit is Fit.NEXT  # Word's own numbers
        begins_apart = line.is_after_blank or counts_on
        if self._around.is_mostly_marked and (is_clause or not begins_apart):
            return False
        if rest[:1].islower() and label.delimiter not in (":", "–", "—", "-"):
            return False
        is_free = self._around.stands_free(index)
        if form is Form.ALONE and label.delimiter == "." and not is_free:
            return False
        if is_clause:
            return is_free and (bool(label.delimiter) or fit in _BEGIN_OR_GO_ON)
        if fit in (Fit.BACK, Fit.RESTART):
            is_annex = label.scheme is Scheme.ANNEX
            return self._count.is_fresh or line.is_after_blank or is_annex
        return True

    def _takes_han(self, index: int, label: Label, form: Form) -> bool:
        if label.scheme in _HAN_MINOR:
            return form is Form.TITLE and not label.is_glued and self._around.stands_free(index)
        if label.scheme is not Scheme.HAN_ARTICLE:
            return form is not Form.CLAUSE
        if self._count.keyword_fit(label) in (Fit.BACK, Fit.RESTART):
            is_fresh = self._count.is_fresh or self._lines[index].is_after_blank
            return label.value == (1,) and is_fresh
        return not label.is_glued or self._around.stands_free(index)

    def _takes_letter(self, index: int, label: Label, rest: str, form: Form) -> bool:
        if self._around.is_mostly_marked or rest[:1].islower() or form is Form.ALONE:
            return False
        if label.scheme in _HAN_OUTLINE:
            return self._takes_han_outline(index, label, form)
        last = self._count.last.get(label.scheme)
        if label.scheme is Scheme.LETTERED_DECIMAL:
            is_first = last is None and label.value[-1] == 1
            return is_first or (last is not None and label.value > last)
        if form is not Form.TITLE or self._around.follows_lead_in(index):
            return False
        if last is not None and label.value == (last[0] + 1,):
            return True
        if label.scheme is Scheme.ROMAN:
            return last is None or (label.value == (1,) and self._count.is_fresh)
        is_first = label.value == (1,)
        return is_first and self._around.next_place(index, Scheme.LETTER, (2,)) is not None

    def _takes_han_outline(self, index: int, label: Label, form: Form) -> bool:
        """`一、` is a section of a guideline, but an item inside an article or after a colon."""
        is_item = self._count.container is Scheme.HAN_ARTICLE
        if is_item or self._around.follows_lead_in(index):
            return False
        last = self._count.last.get(label.scheme)
        if last is not None and label.value == (last[0] + 1,):
            return True
        begins = label.value == (1,) and (last is None or self._count.is_fresh)
        return begins and (form is Form.TITLE or self._count.holds_clauses)


def _is_bare_insertion(label: Label) -> bool:
    """`2A` without a full stop: an address or a size may begin so too (`12A Mill Lane`)."""
    return len(label.value) == 2 and label.value[-1] > INSERTED and not label.delimiter
