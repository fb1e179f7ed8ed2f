"""On which pages a stretch of the canonical text stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from documents.records import ParsedDocument


class Paging:
    """The pages of a document's words; of its blocks, where words have no boxes."""

    def __init__(self, parsed: ParsedDocument) -> None:
        spans = [
            (word.start, word.end, page.number) for page in parsed.pages for word in page.words
        ]
        if not spans:
            spans = [
                (block.start, block.end, block.page)
                for block in parsed.blocks
                if block.page is not None
            ]
        spans.sort()
        self._starts = [start for start, _, _ in spans]
        self._spans = spans

    def pages(self, start: int, end: int) -> tuple[int, ...]:
        """The pages that `text[start:end]` touches, in order; empty where there are none."""
        if not self._spans:
            return ()
        first = max(bisect_right(self._starts, start) - 1, 0)
        stop = bisect_left(self._starts, end)
        touched = {page for begin, after, page in self._spans[first:stop] if after > start}
        if not touched and stop > first:
            touched = {self._spans[first][2]}  # between two words: where the one before stands
        return tuple(sorted(touched))
