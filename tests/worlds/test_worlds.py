"""Promise 2 in random worlds: every door tells exactly what an independent model allows."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from django.test import override_settings

from qa.tests.fake_claude import FakeClaude
from tests.worlds import build, changes, compare, doors, generate
from tests.worlds.tally import Tally
from tests.worlds.visit import rolled_back, surroundings

pytestmark = pytest.mark.django_db

FULL_WORLDS, MOMENT_WORLDS, MOMENTS = 3, 10, 60


@pytest.fixture(autouse=True)
def _surrounded(settings) -> Iterator[None]:
    settings.PAGE_IMAGES_DIR = settings.FILES_DIR / "images"
    with surroundings():
        yield


def test_every_door_tells_exactly_what_the_model_allows():
    tally = Tally()
    with FakeClaude() as claude:
        for seed in range(FULL_WORLDS):
            world = generate.world(seed)
            with rolled_back():
                made = build.build(world)
                readers = generate.readers(world, days=2)
                compare.visit_all(world, made, readers, doors.EVERY, tally, claude=claude, most=3)
    assert not tally.differences, tally.report()
    assert tally.checks >= 20_000
    assert set(tally.by_door) >= {"prompt", "SSE", "MCP search", "page image", "history"}


def test_every_moment_of_a_changing_world_agrees_with_the_model():
    tally, done = Tally(), []
    for seed in range(1_000, 1_000 + MOMENT_WORLDS):
        world, random = generate.world(seed), Random(seed)  # noqa: S311 - worlds, not secrets
        with rolled_back(), override_settings(EVERYONE_LABEL=world.everyone):
            made = build.build(world)
            for moment in range(MOMENTS):
                done.append(changes.change(random, world, made))
                readers = random.sample(generate.readers(world, days=6, seed=moment), 2)
                compare.visit_all(world, made, readers[:1], doors.DIRECT[:1], tally, most=3)
                if moment % 5 == 0:
                    compare.visit_all(world, made, readers[1:], doors.DIRECT[1:], tally, most=3)
                assert not tally.differences, f"seed {seed}: {done[-5:]}\n{tally.report()}"
    assert len(done) == MOMENT_WORLDS * MOMENTS
    assert tally.checks >= 50_000
