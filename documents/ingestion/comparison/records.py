"""What a comparison takes and gives: sections, the changes between them, and marked words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """What became of a section; the values are what the API shows."""

    UNCHANGED = "unchanged"
    RENUMBERED = "renumbered"  # another number or heading over the same words
    CHANGED = "changed"
    MOVED = "moved"
    MOVED_AND_CHANGED = "moved_and_changed"
    SPLIT = "split"
    MERGED = "merged"
    ADDED = "added"
    REMOVED = "removed"


class PieceKind(StrEnum):
    """Whether words stand in both texts, or in one of them."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ComparedSection:
    """One section's own words, without those of the sections below it.

    `key` names the section to whoever asked for the comparison, `parent` the section that
    encloses it (None: the root). Neither needs to be among those that are compared.
    """

    key: str
    parent: str | None
    number: str | None
    title: str
    path: tuple[str, ...]
    text: str

    @property
    def heading(self) -> str:
        """The section as a reader names it."""
        return self.path[-1] if self.path else self.title


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a section. `SAME` and `ADDED` ones make the newer text, to the character."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True)
class SectionChange:
    """What became of one section; several stand on one side where it was split or merged.

    `is_moved` is true where it stands elsewhere among its neighbours or under another heading,
    not where others were merely put in before it.
    """

    old: tuple[ComparedSection, ...]
    new: tuple[ComparedSection, ...]
    is_moved: bool
    is_renumbered: bool
    is_retitled: bool
    is_reworded: bool
    pieces: tuple[Piece, ...]

    @property
    def kind(self) -> ChangeKind:
        """The one word for it."""
        if not self.old:
            return ChangeKind.ADDED
        if not self.new:
            return ChangeKind.REMOVED
        if len(self.new) > 1:
            return ChangeKind.SPLIT
        if len(self.old) > 1:
            return ChangeKind.MERGED
        if self.is_moved:
            return ChangeKind.MOVED_AND_CHANGED if self.is_reworded else ChangeKind.MOVED
        if self.is_reworded:
            return ChangeKind.CHANGED
        is_same = not (self.is_renumbered or self.is_retitled)
        return ChangeKind.UNCHANGED if is_same else ChangeKind.RENUMBERED


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes, in the order of the newer text; what was removed stands where it was."""

    changes: tuple[SectionChange, ...]

    @property
    def counts(self) -> Mapping[ChangeKind, int]:
        """How many there are of each kind."""
        return Counter(change.kind for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return all(change.kind is ChangeKind.UNCHANGED for change in self.changes)
