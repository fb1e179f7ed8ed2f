"""Promise 2 in random worlds: every door tells exactly what an independent model allows."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from django.test import override_settings

from documents import actions
from qa.tests.fake_claude import FakeClaude
from tests.worlds import build, changes, compare, doors, generate, model, unfiltered
from tests.worlds.shapes import Who, World
from tests.worlds.shrink import shrink
from tests.worlds.tally import Difference, Kind, Tally
from tests.worlds.visit import Visit, rolled_back, surroundings

pytestmark = pytest.mark.django_db

FULL_WORLDS, MOMENT_WORLDS, MOMENTS = (0,), 6, 50


@pytest.fixture(autouse=True)
def _surrounded(settings) -> Iterator[None]:
    settings.PAGE_IMAGES_DIR = settings.FILES_DIR / "images"
    with surroundings():
        yield


def test_every_door_tells_exactly_what_the_model_allows():
    tally = Tally()
    with FakeClaude() as claude:
        for seed in FULL_WORLDS:
            world = generate.world(seed)
            with rolled_back():
                made = build.build(world)
                readers = generate.readers(world, days=1)
                compare.visit_all(world, made, readers, doors.EVERY, tally, claude=claude, most=2)
                random = Random(seed)  # noqa: S311 - worlds, not secrets
                done = [changes.change(random, world, made) for _ in range(12)]
                after = (doors.stored, doors.runs, doors.asks)
                compare.visit_all(world, made, readers[::2], after, tally, most=4)
            assert not tally.differences, f"{done}\n{tally.report()}"
    assert not tally.differences, tally.report()
    assert tally.checks >= 10_000
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
                if moment % 4 == 0:
                    compare.visit_all(world, made, readers[1:], doors.DIRECT[1:], tally, most=3)
                assert not tally.differences, f"seed {seed}: {done[-5:]}\n{tally.report()}"
    assert len(done) == MOMENT_WORLDS * MOMENTS
    assert tally.checks >= 40_000  # with those at every door: 50,000


def test_without_the_applications_own_filter_the_database_leaks_nothing():
    tally = Tally()
    with unfiltered.no_filters():
        for seed in (5_001,):
            world = generate.world(seed)
            with rolled_back():
                made = build.build(world)
                readers = generate.readers(world, days=1)
                chosen = (*doors.DIRECT, doors.lists, doors.searches)
                compare.visit_all(world, made, readers, chosen, tally, most=2)
    assert not tally.leaks, tally.report()
    assert not tally.differences, tally.report()
    assert tally.checks >= 4_000


# That the comparison can fail


def _found(seed: int, *which: doors.Door) -> list[Difference]:
    tally, world = Tally(), generate.world(seed)
    with rolled_back():
        made = build.build(world)
        compare.visit_all(world, made, generate.readers(world, days=1), which, tally)
    return tally.differences


def test_an_open_table_is_found_in_its_rows():
    with unfiltered.no_row_security("documents_chunk"):
        found = _found(0, doors.rows)

    assert Kind.LEAK in {one.kind for one in found}


def test_a_search_without_any_filter_is_found():
    with (
        unfiltered.no_row_security("documents_chunk"),
        unfiltered.no_row_security("documents_chunkterms"),
        unfiltered.no_filters(),
    ):
        found = _found(0, doors.candidates)

    assert Kind.LEAK in {one.kind for one in found}


def test_a_door_that_forgets_to_ask_is_found(monkeypatch):
    monkeypatch.setattr("documents.access.originals._is_all_readable", lambda readable: True)

    assert {one.door for one in _found(3, doors.originals)} >= {"files"}


def test_a_stored_answer_that_outlives_a_right_is_found(monkeypatch):
    monkeypatch.setattr("documents.access.are_readable", lambda reading, chunks: True)
    tally, world = Tally(), generate.world(1)
    with rolled_back():
        made = build.build(world)
        who = next(w for w in generate.readers(world, days=0) if Visit(world, made, w).sights)
        compare.visit_all(world, made, [who], [doors.asks], tally)
        for policy in world.policies:
            for version in policy.versions:
                if version.state == "published":
                    version.state = "withdrawn"
                    pk = made.versions[policy.slug, version.number]
                    actions.withdraw_version(pk, actor=None, note="error")
        compare.visit_all(world, made, [who], [doors.stored], tally)

    assert Kind.LEAK in {one.kind for one in tally.differences}


def test_a_model_that_allows_too_much_is_found_and_shrunk_to_what_matters(monkeypatch):
    monkeypatch.setattr(model, "admits", lambda labels, holder: True)

    def is_failing(world: World) -> bool:
        tally = Tally()
        with rolled_back():
            made = build.build(world)
            compare.visit_all(world, made, [who], [doors.rows], tally)
        return Kind.LOSS in {one.kind for one in tally.differences}

    world, who = generate.world(6), Who("person0")
    assert is_failing(world)
    small = shrink(world, who, is_failing, most=40)

    assert is_failing(small)
    assert len(small.policies) == 1
    assert len(small.words) < len(world.words) // 3
