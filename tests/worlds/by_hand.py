"""The long run of `python -m tests.worlds`: many worlds, each in many moments, at every door."""

from __future__ import annotations

import sys
import time
from collections import Counter
from random import Random

import pytest
from django.test import override_settings

from qa.tests.fake_claude import FakeClaude
from tests.worlds import build, changes, compare, doors, generate
from tests.worlds.settings import Long
from tests.worlds.shapes import World
from tests.worlds.shrink import shrink
from tests.worlds.tally import Difference, Tally
from tests.worlds.visit import rolled_back, surroundings


@pytest.mark.django_db
def test_by_hand(settings):
    settings.PAGE_IMAGES_DIR = settings.FILES_DIR / "images"
    run, total, began = Long.of_environment(), Tally(), time.monotonic()
    with surroundings(), FakeClaude() as claude:
        for seed in range(run.seed, run.seed + run.worlds):
            differences = _world(seed, run, total, claude)
            if differences:
                _explain(seed, differences[0])
                pytest.fail(f"{len(differences)} differences in the world of seed {seed}")
            if time.monotonic() - began > run.seconds:
                break
    _say(f"{total.checks:,} checks in {total.responses:,} responses, no difference")
    _say(f"worlds {run.seed} to {seed}, {time.process_time():,.0f} s of CPU")
    for door, checks in Counter(total.by_door).most_common():
        _say(f"  {door:20} {checks:,}")


def _world(seed: int, run: Long, total: Tally, claude: FakeClaude) -> list[Difference]:
    """One world at every door, then each of its moments at the doors in this process."""
    world, random = generate.world(seed), Random(seed)  # noqa: S311 - worlds, not secrets
    with rolled_back(), override_settings(EVERYONE_LABEL=world.everyone):
        made = build.build(world)
        readers = generate.readers(world, days=2)
        compare.visit_all(world, made, readers, doors.EVERY, total, claude=claude, most=2)
        for moment in range(run.moments):
            told = changes.change(random, world, made)
            if total.differences:
                break
            chosen = random.sample(generate.readers(world, days=6, seed=moment), 2)
            compare.visit_all(world, made, chosen, (*doors.DIRECT, doors.stored), total, most=3)
            if total.differences:
                _say(f"after: {told}")
    return total.differences


def _explain(seed: int, difference: Difference) -> None:
    """The difference, and the smallest world found in which the same door differs."""
    _say(f"\n{difference}\nreplay: python -m tests.worlds --worlds 1 --seed {seed}\n")

    def is_failing(world: World) -> bool:
        tally = Tally()
        with rolled_back():
            made = build.build(world)
            compare.visit_all(world, made, [difference.who], doors.EVERY, tally, most=2)
        return difference.door in {one.door for one in tally.differences}

    world = generate.world(seed)
    if is_failing(world):
        _say(f"smallest world: {shrink(world, difference.who, is_failing)}")
    else:
        _say("The world as it was made shows no difference: a change of it did.")


def _say(text: str) -> None:
    sys.__stdout__.write(text + "\n")  # type: ignore[union-attr]  # a terminal is there by hand
    sys.__stdout__.flush()  # type: ignore[union-attr]  # as above
