"""Pages whose text runs up, down or upside down, read as if the sheet were turned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from documents.ingestion.parsers.pdf.page import Word
from documents.records import Box

_MOST = 0.6  # of the letters must run this way


def main_rotation(words: Iterable[Word]) -> int:
    """The direction of reading of most letters: 0, 90, 180 or 270; 0 where none prevails."""
    letters: Counter[int] = Counter()
    for word in words:
        letters[word.rotation] += len(word.text)
    if not letters:
        return 0
    rotation, count = letters.most_common(1)[0]
    return rotation if rotation % 90 == 0 and count >= _MOST * sum(letters.values()) else 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Between a page as shown and the same page turned so that its text runs to the right."""

    rotation: int
    width: float
    height: float

    def words(self, words: Sequence[Word]) -> list[Word]:
        """Words with their places on the turned page."""
        if self.rotation == 0:
            return list(words)
        return [
            replace(
                word, box=self.box(word.box), baseline=self._baseline(word.baseline), rotation=0
            )
            for word in words
        ]

    @property
    def turned_height(self) -> float:
        """The height of the turned page."""
        return self.width if self.rotation in (90, 270) else self.height

    def box(self, box: Box) -> Box:
        """A shown box on the turned page."""
        left, top, right, bottom = box
        if self.rotation == 90:
            return top, self.width - right, bottom, self.width - left
        if self.rotation == 180:
            return self.width - right, self.height - bottom, self.width - left, self.height - top
        if self.rotation == 270:
            return self.height - bottom, left, self.height - top, right
        return box

    def shown(self, box: Box) -> Box:
        """A box of the turned page as shown."""
        left, top, right, bottom = box
        if self.rotation == 90:
            return self.width - bottom, left, self.width - top, right
        if self.rotation == 180:
            return self.box(box)
        if self.rotation == 270:
            return top, self.height - right, bottom, self.height - left
        return box

    def _baseline(self, baseline: float) -> float:
        if self.rotation == 90:
            return self.width - baseline
        return self.height - baseline if self.rotation == 180 else baseline
