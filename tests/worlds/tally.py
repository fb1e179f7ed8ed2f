"""Counts comparisons with the model, and keeps every difference.

A check is one comparison: of one word of the world with what a list told (told or not, as the
model says), of what one page or object told with the exact set that it may tell, or of two
responses that must be the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.worlds.shapes import Who, World, words_in
from tests.worlds.visit import Told


class Kind(Enum):
    LEAK = "told, and may not be read"
    LOSS = "may be read, and was not told"
    DIFFERS = "told apart"


@dataclass(frozen=True)
class Difference:
    """Where a door and the model disagree."""

    kind: Kind
    door: str
    who: Who
    what: str
    words: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.door} for {self.who}: {self.what} {self.kind.value} {sorted(self.words)}"


def _first_difference(one: str, other: str) -> str:
    """The words around the place where two texts part."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    begin = max(0, at - 40)
    return f"{one[begin : at + 80]!r} and {other[begin : at + 80]!r}"


@dataclass
class Tally:
    """What was compared so far."""

    checks: int = 0
    responses: int = 0
    by_door: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)

    def _count(self, door: str, checks: int) -> None:
        self.responses += 1
        self.checks += checks
        self.by_door[door] = self.by_door.get(door, 0) + checks

    def listed(
        self,
        door: str,
        who: Who,
        world: World,
        told: Told | str,
        must: Collection[str],
        may: Iterable[str] = (),
    ) -> None:
        """Each word of the world against a response that may hold many."""
        self._count(door, len(world.words))
        self._compare(door, who, "a list", told, set(must), set(may))

    def thing(
        self,
        door: str,
        who: Who,
        what: str,
        told: Told | str,
        must: Collection[str],
        may: Iterable[str] = (),
    ) -> None:
        """The words of a response about one thing."""
        self._count(door, 1)
        self._compare(door, who, what, told, set(must), set(may))

    def same(self, door: str, who: Who, what: str, one: Any, other: Any) -> None:
        """Two responses that nobody may tell apart."""
        self._count(door, 1)
        if one != other:
            shown = f"{what} ({_first_difference(str(one), str(other))})"
            self.differences.append(Difference(Kind.DIFFERS, door, who, shown))

    def _compare(
        self, door: str, who: Who, what: str, told: Told | str, must: set[str], may: set[str]
    ) -> None:
        found = words_in(told if isinstance(told, str) else told.text)
        for kind, words in ((Kind.LEAK, found - must - may), (Kind.LOSS, must - found)):
            if words:
                self.differences.append(Difference(kind, door, who, what, frozenset(words)))

    @property
    def leaks(self) -> list[Difference]:
        return [one for one in self.differences if one.kind is not Kind.LOSS]

    def report(self) -> str:
        """The first differences, in words."""
        return "\n".join(map(str, self.differences[:10]))
