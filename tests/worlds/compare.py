"""A world and its readers at the doors: builds, asks, and tallies."""

from __future__ import annotations

from collections.abc import Iterable

from django.test import override_settings

from qa.tests.fake_claude import FakeClaude
from tests.worlds.build import Built
from tests.worlds.doors import Door
from tests.worlds.shapes import Who, World
from tests.worlds.tally import Tally
from tests.worlds.visit import Visit


def visit_all(
    world: World,
    made: Built,
    readers: Iterable[Who],
    doors: Iterable[Door],
    tally: Tally,
    *,
    claude: FakeClaude | None = None,
    most: int = 1_000_000,
) -> None:
    """Send these readers to these doors."""
    chosen = tuple(doors)
    with override_settings(EVERYONE_LABEL=world.everyone):
        for who in readers:
            visit = Visit(world, made, who, claude, most)
            for door in chosen:
                door(visit, tally)
