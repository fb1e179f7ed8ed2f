"""What stands around a line: the lines before and after it, and the labels still to come."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto

from documents.ingestion import titles
from documents.ingestion.contents import contents_lines
from documents.ingestion.lines import Line, read_lines
from documents.ingestion.numbering import Label, Scheme, parse_label
from documents.records import BlockKind, MediaType, ParsedDocument

TEXT_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})
_MIN_NUMBERED_LINES = 3
_MIN_MARKED = 2
_MIN_RUN = 2
_MAIN_RUN = 4
_LONG_RUN = 8
_ITEM_SCHEMES = frozenset({Scheme.DECIMAL, Scheme.LETTER, Scheme.ROMAN})


class Form(Enum):
    """What follows a label on its line."""

    TITLE = auto()
    CLAUSE = auto()
    ALONE = auto()


class Surroundings:
    """The lines of one document with their labels, and questions about neighbours."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._media_type = parsed.media_type
        self.lines = read_lines(parsed)
        self.labels = [
            _label(line) if line.kind in TEXT_KINDS or line.level else None for line in self.lines
        ]
        self.marked_count = sum(line.level is not None for line in self.lines)
        self.marked_schemes = self._find_marked_schemes()
        self.contents = contents_lines(self.lines, self.labels)
        self.is_numbered = _numbered_lines(self.labels) >= _MIN_NUMBERED_LINES
        self.heading_lines: set[int] = set()  # that hold no words of a clause
        self.skip = -1  # a line that was taken as the title of the one before
        self._places = self._find_labels()
        self._runs = self._find_runs()
        self.is_mostly_marked = self._trusts_marks()
        self._bold_tops = self._find_bold_tops()
        self._bold_lines = {index for run in self._bold_tops for index in run}
        self._bold_starts = [run[0] for run in self._bold_tops]
        self._bold_ends = self._find_bold_ends()
        self.bold_texts = Counter(line.text.casefold() for line in self.lines if line.is_bold)
        self._dividing = self._find_dividing()
        self._first_after_blank = next(
            (i for i, line in enumerate(self.lines) if i and line.is_after_blank), len(self.lines)
        )

    def _find_labels(self) -> dict[tuple[Scheme, tuple[int, ...]], list[int]]:
        places: dict[tuple[Scheme, tuple[int, ...]], list[int]] = defaultdict(list)
        for index, label in enumerate(self.labels):
            if label is not None and index not in self.contents:
                places[label.scheme, label.value].append(index)
        return places

    def _find_marked_schemes(self) -> set[Scheme]:
        """The schemes of which the format marks most of the lines that could be headings."""
        marked: Counter[Scheme] = Counter()
        for line, label in zip(self.lines, self.labels, strict=True):
            if label is not None:
                marked[label.scheme] += 1 if line.level is not None else -1
        seen = {
            label.scheme
            for line, label in zip(self.lines, self.labels, strict=True)
            if label is not None and line.level is not None
        }
        return {scheme for scheme in seen if marked[scheme] >= 0}

    def _find_runs(self) -> dict[tuple[Scheme, str], int]:
        """For each way to number the longest run of single numbers that no mark singles out."""
        lengths: dict[tuple[Scheme, str, int], int] = {}
        runs: dict[tuple[Scheme, str], int] = {}
        for index, label in enumerate(self.labels):
            line = self.lines[index]
            if label is None or len(label.value) > 1 or index in self.contents or line.level:
                continue
            rest = line.text[label.rest_start :].strip()
            if label.scheme is not Scheme.DECIMAL or titles.begins_words(rest):
                style = (label.scheme, label.delimiter)
                value = label.value[0]
                lengths[*style, value] = lengths.get((*style, value - 1), 0) + 1
                runs[style] = max(runs.get(style, 0), lengths[*style, value])
        return runs

    def _find_dividing(self) -> list[int]:
        """Where the headings stand that are marked, or numbered and bold."""
        return [
            line.start
            for index, line in enumerate(self.lines)
            if line.level is not None
            or (line.is_bold and self.labels[index] is not None and index not in self.contents)
        ]

    def stretch(self, index: int) -> int:
        """The characters between the headings around a line that mark or number shows."""
        position = bisect_right(self._dividing, self.lines[index].start)
        first = self._dividing[position - 1] if position else 0
        is_last = position == len(self._dividing)
        return (self.lines[-1].end if is_last else self._dividing[position]) - first

    def _find_bold_tops(self) -> list[list[int]]:
        """Runs of bold lines, four or more, that count from 1 upwards without a gap."""
        runs: list[list[int]] = []
        last = 0
        for index, (line, label) in enumerate(zip(self.lines, self.labels, strict=True)):
            if label is None or label.scheme is not Scheme.DECIMAL or len(label.value) > 1:
                continue
            if not line.is_bold or line.level or not label.delimiter or index in self.contents:
                continue
            value = label.value[0]
            if value == 1:
                runs.append([index])
            elif runs and value == last + 1:
                runs[-1].append(index)
            else:
                continue
            last = value
        return [run for run in runs if len(run) >= _MAIN_RUN]

    def _find_bold_ends(self) -> list[int]:
        """For each of those runs the line where the section of its last number ends."""
        ends = []
        for run in self._bold_tops:
            end = run[-1] + 1
            while end < len(self.lines) and self._is_inside(end):
                end += 1
            ends.append(end)
        return ends

    def _is_inside(self, index: int) -> bool:
        line, label = self.lines[index], self.labels[index]
        is_item = label is None or label.scheme in _ITEM_SCHEMES
        return line.level is None and not line.is_bold and is_item

    def is_bold_top(self, index: int, form: Form) -> bool:
        """Whether a line is one of several in bold that number the whole text."""
        return form is Form.TITLE and index in self._bold_lines

    def is_between_bold_tops(self, index: int) -> bool:
        """Whether a number stands in a section of those, and so counts its items."""
        position = bisect_right(self._bold_starts, index) - 1
        is_inside = position >= 0 and index < self._bold_ends[position]
        return is_inside and index not in self._bold_lines

    def is_of_minor_style(self, label: Label) -> bool:
        """Whether a top number is closed otherwise than the numbers that run through the text."""
        tops = {mark: run for (scheme, mark), run in self._runs.items() if scheme is label.scheme}
        is_minor = tops.get(label.delimiter, 0) < _MIN_RUN
        return is_minor and max(tops.values(), default=0) >= _MAIN_RUN

    def _trusts_marks(self) -> bool:
        """Whether what the format marks is all that opens sections.

        In a PDF a mark is but a larger font: a long run of numbers without it weighs more.
        """
        if self.marked_count < _MIN_MARKED:
            return False
        longest = max(self._runs.values(), default=0)
        return self._media_type is not MediaType.PDF or longest <= max(self.marked_count, _LONG_RUN)

    def text(self, index: int) -> str | None:
        """The text of a line, None after the last one."""
        return self.lines[index].text if index < len(self.lines) else None

    def label(self, index: int) -> Label | None:
        """The label of a line, None after the last one."""
        return self.labels[index] if index < len(self.labels) else None

    def form(self, index: int, rest: str) -> Form:
        """How the words after the label read."""
        if not rest:
            return Form.ALONE
        following = None if self.lines[index].is_before_blank else self.text(index + 1)
        if self.label(index + 1) is not None:
            following = None
        return Form.TITLE if titles.is_title(rest, following) else Form.CLAUSE

    def next_place(self, index: int, scheme: Scheme, value: tuple[int, ...]) -> int | None:
        """The line after `index` that has this label, if there is one."""
        places = self._places.get((scheme, value), [])
        position = bisect_right(places, index)
        return places[position] if position < len(places) else None

    def counts_on(self, index: int, label: Label, steps: int) -> bool:
        """Whether the next numbers (or the first number inside this one) come later, in order."""
        inner = self.next_place(index, label.scheme, (*label.value, 1))
        place: int | None = index
        for step in range(1, steps + 1):
            value = (*label.value[:-1], label.value[-1] + step)
            place = self.next_place(place, label.scheme, value) if place is not None else None
        return place is not None or inner is not None

    def comes_in_its_place(self, index: int, label: Label, last: tuple[int, ...]) -> bool:
        """Whether this number comes again later, after the one that ought to come first.

        Then it is only mentioned here, as `第十五條` is after 第七條 where 第八條 and another
        第十五條 are still to come.
        """
        if not last or label.value[0] <= last[0] + 1:
            return False
        place = self.next_place(index, label.scheme, (last[0] + 1,))
        return place is not None and self.next_place(place, label.scheme, label.value) is not None

    def continues_sentence(self, index: int) -> bool:
        """Whether the line before cannot end there, so this one goes on with it."""
        if index == 0 or self.lines[index].is_after_blank or index - 1 in self.heading_lines:
            return False
        return titles.announces_number(self.lines[index - 1].text)

    def stands_free(self, index: int) -> bool:
        """Whether the line before ends there."""
        line = self.lines[index]
        if index == 0 or line.is_after_blank or index - 1 in self.heading_lines:
            return True
        return index - 1 == self.skip or titles.ends_closed(self.lines[index - 1].text)

    def follows_lead_in(self, index: int) -> bool:
        """Whether the line before introduces this one, as `the following:` does."""
        if index == 0 or index - 1 in self.heading_lines:
            return False
        return titles.is_lead_in(self.lines[index - 1].text)

    def is_first_block(self, index: int) -> bool:
        """Whether no blank line stands before."""
        return index < self._first_after_blank

    def paragraph_end(self, index: int) -> str:
        """The last line of the paragraph that the line is in."""
        while index + 1 < len(self.lines) and not self.lines[index].is_before_blank:
            index += 1
        return self.lines[index].text


def _label(line: Line) -> Label | None:
    """The label of a line, before which its title may stand."""
    label = parse_label(line.text[line.lead :])
    return replace(label, rest_start=label.rest_start + line.lead) if label and line.lead else label


def _numbered_lines(labels: Sequence[Label | None]) -> int:
    return sum(
        label is not None
        and (label.scheme not in (Scheme.DECIMAL, Scheme.LETTER) or len(label.value) > 1
             or bool(label.delimiter))
        for label in labels
    )  # fmt: skip
