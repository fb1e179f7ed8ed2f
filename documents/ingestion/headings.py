"""Which lines open sections.

A label alone proves nothing: `30 days of notice`, a row of a table, an item of a list, a
cross reference and a table of contents begin like a heading too. A line is taken when it
reads like a title or a clause, fits the numbering that runs, and stands where a heading
may stand. What the format marks as a heading always is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from documents.ingestion import titles
from documents.ingestion.contents import contents_lines, is_contents_title
from documents.ingestion.lines import Line, read_lines
from documents.ingestion.numbering import Label, Scheme, parse_label
from documents.ingestion.sequence import MAX_DEEP_GAP, Fit, follow
from documents.records import BlockKind, MediaType, ParsedDocument


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that opens a section; `text[start:body_start]` is the heading itself.

    `restarts` says that its number begins a new count inside what encloses it.
    """

    start: int
    body_start: int
    label: Label | None
    title: str | None
    level: int | None = None
    restarts: bool = False

    @property
    def number(self) -> str | None:
        """The number as printed, without a closing mark."""
        return self.label.number if self.label else None


class _Form(Enum):
    TITLE = auto()
    CLAUSE = auto()
    ALONE = auto()


_CONTAINERS = frozenset(
    {Scheme.PART, Scheme.CHAPTER, Scheme.ANNEX, Scheme.ROMAN, Scheme.LETTER, Scheme.HAN_PART,
     Scheme.HAN_CHAPTER, Scheme.HAN_SECTION, Scheme.HAN_SUPPLEMENT}
)  # fmt: skip
_ARTICLES = frozenset({Scheme.ARTICLE, Scheme.SECTION, Scheme.PARAGRAPH_SIGN, Scheme.HAN_ARTICLE})
_KEYWORDS = frozenset({Scheme.PART, Scheme.CHAPTER, Scheme.ANNEX}) | (
    _ARTICLES - {Scheme.HAN_ARTICLE}
)
_HAN = frozenset(
    {Scheme.HAN_PART, Scheme.HAN_CHAPTER, Scheme.HAN_SECTION, Scheme.HAN_ARTICLE,
     Scheme.HAN_SUPPLEMENT}
)  # fmt: skip
_TEXT_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})
_MAX_INDENT_STEP = 2
_CLAUSE_LENGTH = 120  # characters, on average; items of lists measured well below
_MAX_PLAIN_WORDS = 10


def find_headings(parsed: ParsedDocument) -> list[Heading]:
    """The headings of a document, in order. Their spans do not overlap."""
    return _Finder(parsed).find()


class _Finder:
    """Walks over the lines once, and remembers how the numbering runs."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._lines = read_lines(parsed)
        self._labels = [
            parse_label(line.text) if line.kind in _TEXT_KINDS or line.level else None
            for line in self._lines
        ]
        self._is_plain = parsed.media_type is MediaType.PLAIN
        self._marked_count = sum(line.level is not None for line in self._lines)
        self._contents = contents_lines(self._lines, self._labels)
        self._is_numbered = _numbered_lines(self._labels) >= 3
        self._decimal: tuple[int, ...] | None = None
        self._last: dict[Scheme, tuple[int, ...]] = {}
        self._is_fresh = True  # a count may begin anew
        self._container: Scheme | None = None  # of the last heading that is no decimal
        self._holds_clauses = True  # what is open may have numbered clauses of its own
        self._list_run = 0
        self._list_line = -1
        self._top_indent: int | None = None
        self._heading_lines: set[int] = set()  # that hold no words of a clause
        self._skip = -1

    def find(self) -> list[Heading]:
        headings = []
        for index in range(len(self._lines)):
            if index <= self._skip:
                continue
            heading = self._heading_at(index)
            if heading is not None:
                if heading.body_start >= self._lines[index].end:
                    self._heading_lines.add(index)
                self._remember(heading, self._lines[index])
                headings.append(heading)
        return headings

    def _heading_at(self, index: int) -> Heading | None:
        line, label = self._lines[index], self._labels[index]
        if line.level is not None:
            return self._marked(line, label)
        if line.kind not in _TEXT_KINDS or index in self._contents:
            return None
        if label is not None:
            return self._numbered(index, line, label)
        return self._unnumbered(index, line)

    # Headings that the format marks.

    def _marked(self, line: Line, label: Label | None) -> Heading:
        if label is not None:
            label = self._resolve(label)
        rest = line.text[label.rest_start :].strip() if label else line.text
        if label is None or not self._is_marked_number(label, rest):
            return Heading(line.start, line.end, None, titles.tidy_title(line.text), line.level)
        is_restart = label.scheme is Scheme.DECIMAL and self._fit(label) is Fit.RESTART
        title = titles.tidy_title(rest) or None
        return Heading(line.start, line.end, label, title, line.level, is_restart)

    def _is_marked_number(self, label: Label, rest: str) -> bool:
        if label.scheme in (Scheme.ROMAN, Scheme.LETTER):
            return bool(rest)
        if label.scheme is Scheme.DECIMAL:
            if not label.delimiter and len(label.value) == 1 and (not rest or rest[0].islower()):
                return False
            return not titles.is_measure(rest) or self._names_a_subject(label, rest)
        return bool(label.delimiter) or not rest[:1].islower()

    def _names_a_subject(self, label: Label, rest: str) -> bool:
        """`8 Hours and availability` after 7 is a heading, though it begins like a period."""
        fits = self._fit(label) is Fit.NEXT or label.value == (1,)
        is_long = len(rest.split()) > 1 or (not rest.isascii() and len(rest) > 3)
        return fits and is_long and not label.is_glued and titles.begins_words(rest)

    # Lines with a label.

    def _numbered(self, index: int, line: Line, label: Label) -> Heading | None:
        label = self._resolve(label)
        rest = line.text[label.rest_start :].strip()
        if self._continues_sentence(index) or titles.is_reference(rest, is_glued=label.is_glued):
            return None
        form = self._form(index, rest)
        if label.scheme is Scheme.DECIMAL:
            is_open = self._takes_decimal(index, label, rest, form)
        elif label.scheme in _KEYWORDS:
            is_open = self._takes_keyword(index, label, rest, form)
        elif label.scheme in _HAN:
            is_open = self._takes_han(index, label, rest, form)
        else:
            is_open = self._takes_letter(index, label, rest, form)
        if not is_open:
            return None
        return self._build(index, line, label, rest, form)

    def _resolve(self, label: Label) -> Label:
        """`C.` after `B.` is a letter, though it is a roman numeral too."""
        if label.scheme is not Scheme.ROMAN or len(label.number) > 1:
            return label
        letter = ord(label.number) - 64
        follows_letter = self._last.get(Scheme.LETTER) == (letter - 1,)
        follows_roman = self._last.get(Scheme.ROMAN) == (label.value[0] - 1,)
        if follows_letter or (not follows_roman and label.number != "I"):
            return replace(label, scheme=Scheme.LETTER, value=(letter,))
        return label

    def _form(self, index: int, rest: str) -> _Form:
        if not rest:
            return _Form.ALONE
        line = self._lines[index]
        following = None if line.is_before_blank else self._text(index + 1)
        if self._label(index + 1) is not None:
            following = None
        return _Form.TITLE if titles.is_title(rest, following) else _Form.CLAUSE

    def _fit(self, label: Label) -> Fit:
        last, value = self._decimal, label.value
        if last is None:
            return Fit.FIRST
        fit = follow(last, value)
        begins = value[-1] == 1 and (len(value) <= 2 or self._container is Scheme.ANNEX)
        return Fit.RESTART if fit is Fit.BACK and self._is_fresh and begins else fit

    def _takes_decimal(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        is_titled = form is _Form.TITLE and self._names_a_subject(label, rest)
        if label.value[0] > 200 or (titles.is_measure(rest) and not is_titled):
            return False
        if len(label.value) == 1:
            return self._takes_top_decimal(index, label, rest, form)
        return self._takes_deep_decimal(index, label, rest, form)

    def _takes_deep_decimal(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        fit = self._fit(label)
        line = self._lines[index]
        if form is _Form.ALONE and self._text(index + 1) is None:
            return False
        if rest[:1].islower():
            return fit is Fit.NEXT and self._stands_free(index)
        if fit is Fit.AHEAD:
            return label.value[-1] <= MAX_DEEP_GAP or form is _Form.TITLE
        if fit is Fit.FIRST:
            is_first_of_its_kind = label.value[-1] == 1 or not self._is_mostly_marked()
            return is_first_of_its_kind and label.value[-1] <= MAX_DEEP_GAP
        if fit is Fit.FAR:
            return form is _Form.TITLE and line.is_after_blank
        return fit in (Fit.NEXT, Fit.RESTART)

    def _takes_top_decimal(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        if self._is_list_item(index, label, rest, form):
            return False
        fit = self._fit(label)
        if form is _Form.ALONE:
            following = self._text(index + 1)
            is_titled = following is not None and titles.is_title(following, None)
            return label.delimiter == "." and fit in (Fit.FIRST, Fit.NEXT) and is_titled
        if not titles.begins_words(rest) or (not label.delimiter and titles.is_table_row(rest)):
            return False
        if fit is Fit.NEXT:
            return form is _Form.TITLE or self._may_be_clause(index, label)
        if fit is Fit.FIRST and label.value == (1,):
            return form is _Form.TITLE or self._may_be_clause(index, label)
        if fit is Fit.RESTART:
            return form is _Form.TITLE or self._container in _CONTAINERS
        is_titled = form is _Form.TITLE or titles.run_in_title(rest) is not None
        return is_titled and fit in (Fit.FIRST, Fit.AHEAD) and self._stands_free(index)

    def _may_be_clause(self, index: int, label: Label) -> bool:
        if not self._holds_clauses:
            return False
        if label.delimiter:
            return True
        expected = (label.value[0] + 1,)
        return self._decimal is not None or any(
            other is not None and other.value == expected and other.delimiter == label.delimiter
            for other in self._labels[index + 1 : index + 60]
        )

    def _is_list_item(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        """Whether `1.` is an item inside the section that is open, not a section."""
        line, value = self._lines[index], label.value[0]
        if self._is_mostly_marked() or self._container in _ARTICLES:
            return True
        if self._top_indent is not None and line.indent > self._top_indent + _MAX_INDENT_STEP:
            return True
        fit = self._fit(label)
        runs_on = self._list_run and value == self._list_run + 1
        if runs_on and not self._leaves_list(index, rest, form, fit):
            self._list_run, self._list_line = value, index
            return True
        if value == 1 and self._begins_list(index, form, fit):
            self._list_run, self._list_line = 1, index
            return True
        return False

    def _begins_list(self, index: int, form: _Form, fit: Fit) -> bool:
        line, following = self._lines[index], self._label(index + 1)
        if fit is Fit.BACK or (following is not None and following.value == (1,)):
            return True
        if line.kind is BlockKind.LIST_ITEM and self._marked_count and form is _Form.CLAUSE:
            return True
        return self._follows_lead_in(index) and not self._begins_clauses(index, fit)

    def _begins_clauses(self, index: int, fit: Fit) -> bool:
        """Whether `the parties agree as follows:` leads to the clauses of the whole document.

        They are long, as the items of a list are not.
        """
        if fit not in (Fit.FIRST, Fit.RESTART) or not self._holds_clauses:
            return False
        starts, expected = [self._lines[index].start], 2
        for other, label in enumerate(self._labels[index + 1 :], index + 1):
            if label is not None and label.value == (expected,):
                starts.append(self._lines[other].start)
                expected += 1
        return len(starts) >= 3 and starts[-1] - starts[0] >= _CLAUSE_LENGTH * (len(starts) - 1)

    def _leaves_list(self, index: int, rest: str, form: _Form, fit: Fit) -> bool:
        """Whether a number that goes on with a list rather goes on with the sections."""
        if fit is not Fit.NEXT or form is not _Form.TITLE:
            return False
        item = self._lines[self._list_line].text
        differs = titles.ends_closed(item) and not titles.ends_closed(rest)
        return differs or self._lines[index].is_after_blank or index - self._list_line > 1

    def _takes_keyword(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        line = self._lines[index]
        if self._is_mostly_marked() and (form is _Form.CLAUSE or not line.is_after_blank):
            return False
        if rest[:1].islower() and label.delimiter not in (":", "–", "—", "-"):
            return False
        if form is _Form.ALONE and label.delimiter == "." and not self._stands_free(index):
            return False
        fit = self._keyword_fit(label)
        if form is _Form.CLAUSE:
            follows = bool(label.delimiter) or fit in (Fit.FIRST, Fit.NEXT)
            return follows and self._stands_free(index)
        if fit is Fit.BACK:
            return self._is_fresh or line.is_after_blank or label.scheme is Scheme.ANNEX
        return True

    def _takes_han(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        line = self._lines[index]
        if label.scheme is not Scheme.HAN_ARTICLE:
            return form is not _Form.CLAUSE
        fit = self._keyword_fit(label)
        if fit is Fit.BACK:
            return label.value == (1,) and (self._is_fresh or line.is_after_blank)
        return not label.is_glued or self._stands_free(index)

    def _keyword_fit(self, label: Label) -> Fit:
        last = self._last.get(label.scheme)
        if last is None:
            return Fit.FIRST
        if label.value == last:
            return Fit.BACK
        return follow(last, label.value) if label.value > last else Fit.BACK

    def _takes_letter(self, index: int, label: Label, rest: str, form: _Form) -> bool:
        if self._is_mostly_marked() or rest[:1].islower() or form is _Form.ALONE:
            return False
        if label.scheme is Scheme.HAN_ENUMERATION:
            return self._takes_han_enumeration(index, label, form)
        last = self._last.get(label.scheme)
        if label.scheme is Scheme.LETTERED_DECIMAL:
            is_first = last is None and label.value[-1] == 1
            return is_first or (last is not None and label.value > last)
        if form is not _Form.TITLE or self._follows_lead_in(index):
            return False
        if last is not None and label.value == (last[0] + 1,):
            return True
        if label.scheme is Scheme.ROMAN:
            return last is None or (label.value == (1,) and self._is_fresh)
        return label.value == (1,) and self._comes_later(index, Scheme.LETTER, (2,))

    def _takes_han_enumeration(self, index: int, label: Label, form: _Form) -> bool:
        """`一、` is a section of a guideline, but an item inside an article or after a colon."""
        if self._container is Scheme.HAN_ARTICLE or self._follows_lead_in(index):
            return False
        last = self._last.get(Scheme.HAN_ENUMERATION)
        if last is not None and label.value == (last[0] + 1,):
            return True
        begins = label.value == (1,) and (last is None or self._is_fresh)
        return begins and (form is _Form.TITLE or self._holds_clauses)

    def _comes_later(self, index: int, scheme: Scheme, value: tuple[int, ...]) -> bool:
        return any(
            label is not None and label.scheme is scheme and label.value == value
            for label in self._labels[index + 1 :]
        )

    # Lines without a label.

    def _unnumbered(self, index: int, line: Line) -> Heading | None:
        following = self._text(index + 1)
        if index == 0 or following is None or not line.is_after_blank:
            return None
        if self._is_plain:
            is_heading = self._is_plain_heading(index, line)
        else:
            is_heading = line.is_bold and self._marked_count <= 1 and _is_short(line, ":")
        if not is_heading:
            return None
        return Heading(line.start, line.end, None, titles.tidy_title(line.text.rstrip(":")))

    def _is_plain_heading(self, index: int, line: Line) -> bool:
        if not _is_short(line) or is_contents_title(line.text) or self._is_first_block(index):
            return False
        if line.text.isupper() and sum(char.isalpha() for char in line.text) > 2:
            return True
        if self._is_numbered or not titles.is_title(line.text, None):
            return False
        body = self._lines[index + 1].text
        if line.is_before_blank:
            return titles.ends_closed(self._paragraph_end(index + 1)) or len(body) > 80
        return titles.is_title_case(line.text) and len(line.text.split()) <= 6 and len(body) >= 40

    def _is_first_block(self, index: int) -> bool:
        return not any(line.is_after_blank for line in self._lines[1 : index + 1])

    def _paragraph_end(self, index: int) -> str:
        while index + 1 < len(self._lines) and not self._lines[index].is_before_blank:
            index += 1
        return self._lines[index].text

    # What stands around a line.

    def _text(self, index: int) -> str | None:
        return self._lines[index].text if index < len(self._lines) else None

    def _label(self, index: int) -> Label | None:
        return self._labels[index] if index < len(self._labels) else None

    def _is_mostly_marked(self) -> bool:
        return self._marked_count >= 2

    def _continues_sentence(self, index: int) -> bool:
        """Whether the line before cannot end there, so this one goes on with it."""
        if index == 0 or self._lines[index].is_after_blank or index - 1 in self._heading_lines:
            return False
        return titles.announces_number(self._lines[index - 1].text)

    def _stands_free(self, index: int) -> bool:
        line = self._lines[index]
        if index == 0 or line.is_after_blank or index - 1 in self._heading_lines:
            return True
        return index - 1 == self._skip or titles.ends_closed(self._lines[index - 1].text)

    def _follows_lead_in(self, index: int) -> bool:
        if index == 0 or index - 1 in self._heading_lines:
            return False
        return titles.is_lead_in(self._lines[index - 1].text)

    # Building.

    def _build(self, index: int, line: Line, label: Label, rest: str, form: _Form) -> Heading:
        is_decimal = label.scheme is Scheme.DECIMAL
        restarts = is_decimal and self._fit(label) is Fit.RESTART
        if form is _Form.TITLE:
            if self._is_childless_clause(index, label, rest):
                return Heading(line.start, line.start, label, None, restarts=restarts)
            title = titles.tidy_title(rest)
            return Heading(line.start, line.end, label, title, restarts=restarts)
        if form is _Form.ALONE:
            return self._build_alone(index, line, label, restarts)
        run_in = titles.run_in_title(rest)
        if run_in is None or run_in[1] >= len(rest):
            return Heading(line.start, line.start, label, None, restarts=restarts)
        body_start = line.start + line.text.index(rest, label.rest_start) + run_in[1]
        return Heading(line.start, body_start, label, run_in[0], restarts=restarts)

    def _build_alone(self, index: int, line: Line, label: Label, restarts: bool) -> Heading:
        """A label on a line of its own: the next line may be its title."""
        following = self._lines[index + 1] if index + 1 < len(self._lines) else None
        if following is None or following.kind is not line.kind or not self._titles(index + 1):
            return Heading(line.start, line.end, label, None, restarts=restarts)
        self._skip = index + 1
        title = titles.tidy_title(following.text)
        return Heading(line.start, following.end, label, title, restarts=restarts)

    def _titles(self, index: int) -> bool:
        line = self._lines[index]
        if self._labels[index] is not None or index + 1 >= len(self._lines):
            return False
        following = None if line.is_before_blank else self._text(index + 1)
        return titles.is_title(line.text, following)

    def _is_childless_clause(self, index: int, label: Label, rest: str) -> bool:
        """A line with neither text nor deeper numbers below it is the clause itself.

        Short ones and ones in title case stay titles.
        """
        following = self._label(index + 1)
        if index + 1 < len(self._lines):
            if following is None or self._lines[index + 1].level is not None:
                return False
            if following.scheme is not label.scheme or len(following.value) > len(label.value):
                return False
        if label.scheme is Scheme.HAN_ARTICLE:
            return True
        return len(rest.split()) >= 5 and not titles.is_title_case(rest)

    def _remember(self, heading: Heading, line: Line) -> None:
        self._list_run = 0
        label = heading.label
        if label is None:
            self._is_fresh = True
            self._container = None
            self._holds_clauses = False
            return
        if label.scheme is Scheme.DECIMAL:
            self._decimal = label.value
            self._is_fresh = False
            if len(label.value) == 1:
                self._top_indent = line.indent
            return
        self._last[label.scheme] = label.value
        self._is_fresh = True
        self._container = label.scheme
        self._holds_clauses = True
        self._top_indent = None
        if label.scheme in (Scheme.ANNEX, Scheme.HAN_SUPPLEMENT):
            self._decimal = None
            for scheme in (Scheme.ROMAN, Scheme.LETTER, Scheme.HAN_ENUMERATION):
                self._last.pop(scheme, None)


def _is_short(line: Line, allowed_end: str = "") -> bool:
    text = line.text.rstrip(allowed_end) if allowed_end else line.text
    if (
        len(text.split()) > _MAX_PLAIN_WORDS
        or len(text) > 80
        or text.endswith(tuple(".,;:!。，；：！"))
    ):
        return False
    return text[:1].isalpha() and not text[0].islower()


def _numbered_lines(labels: Sequence[Label | None]) -> int:
    return sum(
        label is not None
        and (label.scheme not in (Scheme.DECIMAL, Scheme.LETTER) or len(label.value) > 1
             or bool(label.delimiter))
        for label in labels
    )  # fmt: skip
